/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_AGENT_BOOTSTRAP_H
#define TERN_MPIRUN_TREE_AGENT_BOOTSTRAP_H

/* What an agent that a resource manager starts finds on its standard input: where mpirun can be
 * called, and by which secret they know each other. The same text goes to all hosts; each finds
 * itself by its name. Lines of text, ended by "end". Pure. */

#include "lib/util/hmac.h"
#include "mpirun/base/strings.h"

struct tern_directions {
    unsigned char secret[TERN_SECRET_BYTES];
    int port;
    int timeout_ms;                /* for calling */
    struct tern_strings addresses; /* numeric, in the order in which to try them */
    struct tern_strings hosts;     /* by number; "" where no agent is awaited */
};

enum { TERN_DIRECTIONS_MOST = 1 << 26 }; /* bytes */

/* malloc'ed. */
char *tern_directions_write(const struct tern_directions *directions);
/* Changes the text. TERN_ERR_ARG: these are no directions. */
int tern_directions_read(char *text, struct tern_directions *ret_directions);
/* Are the first `size` bytes all of them? */
bool tern_directions_end(const char *text, size_t size);

#endif
