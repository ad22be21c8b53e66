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

#include <stdbool.h>
#include <stdint.h>

/* Takes the figures. */
void tern_lines_init(void);

/* Called for each long message that this rank copies from `peer`: measures, or takes what another
 * rank has measured. */
void tern_lines_count(const struct tern_segment_rank *peer);

/* Returns true if a sender whose buffer another rank has read pays for that, when it writes there
 * again, more than two copies take. Then its messages go by the rings rather. */
bool tern_lines_owner_pays(void);

/* Returns the time in us that such a sender takes to write `bytes` bytes again. */
uint64_t tern_lines_paid_us(uint64_t bytes);

#endif
