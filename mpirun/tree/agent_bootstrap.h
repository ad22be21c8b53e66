/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_AGENT_BOOTSTRAP_H
#define TERN_MPIRUN_TREE_AGENT_BOOTSTRAP_H

/* What an agent that a resource manager starts reads from its standard input: mpirun's addresses
 * and port, and the secret by which both prove that they belong together. All hosts get the same
 * text; each finds its number by its name. The format is lines of text; the last line is "end".
 * These functions are pure. */

#include "lib/util/net/hmac.h"
#include "mpirun/base/strings.h"

/* What the text contains. */
struct tern_directions {
    unsigned char secret[TERN_SECRET_BYTES];
    int port;
    int timeout_ms;                /* for the whole attempt to connect */
    struct tern_strings addresses; /* numeric, in the order in which to try them */
    struct tern_strings hosts;     /* names by host number; "" for a host that gets no agent */
};

enum { TERN_DIRECTIONS_MOST = 1 << 26 }; /* in bytes */

/* Returns the text, which the caller frees. */
char *tern_directions_write(const struct tern_directions *directions);
/* Parses the text, and changes it meanwhile. Returns 0, or TERN_ERR_ARG if the text is not of this
 * format. */
int tern_directions_read(char *text, struct tern_directions *ret_directions);
/* Returns true if the first `size` bytes are the whole text. */
bool tern_directions_end(const char *text, size_t size);

#endif
