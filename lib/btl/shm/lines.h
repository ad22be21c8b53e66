/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_LINES_H
#define TERN_SHM_LINES_H

/*
 * What lines cost on this node that two cores use in turn, and what follows for messages. The costs
 * are figures (lib/settings/figures.h). On a node for which none are stored, one rank measures them
 * when it has received some long messages, in a few ms, and leaves them in the node's memory. Until
 * then, and where nothing can be measured, the built-in figures count, which are safe: no processor
 * is much slower with them.
 */

#include "lib/node/segment.h"
#include "lib/util/base/atomic.h"
#include "lib/util/machine/line_costs.h"

#include <stdbool.h>
#include <stdint.h>

/* The costs in force. Read them by tern_lines(). */
extern TERN_OURS const struct tern_line_costs *tern_lines_now;

/* Takes the figures, and ends what was begun. */
void tern_lines_init(void);
void tern_lines_finalize(void);

/* Called for each long message that this rank copies from `peer`: measures, or takes what another
 * rank has measured. */
void tern_lines_count(const struct tern_segment_rank *peer);

static inline const struct tern_line_costs *tern_lines(void)
{
    /* acquire: pairs with the change to what was measured */
    return __atomic_load_n(&tern_lines_now, __ATOMIC_ACQUIRE);
}

/* Returns true if a sender whose buffer another rank has read pays for that, when it writes there
 * again, more than two copies take. Then its messages go by the rings rather. */
static inline bool tern_lines_owner_pays(void)
{
    const struct tern_line_costs *lines = tern_lines();
    return lines->again > 2 * lines->take;
}

#endif
