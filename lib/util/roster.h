/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ROSTER_H
#define TERN_ROSTER_H

/*
 * The roster: who is in a job, and on which host. Our launcher writes it once into a file that all
 * ranks of a node map (behind the memory that they share, lib/rte/node_memory.h), so that it is
 * there once for all of them however many ranks the job has.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_roster {
    uint32_t size;       /* ranks */
    uint32_t host_count;
    uint32_t here;       /* index of the host it was written for */
    uint32_t universe_size;
    const char *job;     /* its name, and ... */
    /* ... what its processes prove to each other that they know: 64 hexadecimal digits */
    const char *secret;
    const uint32_t *host_of; /* by rank */
    /* The ranks of host h are ranks[begin[h]] to ranks[begin[h + 1] - 1], ascending. Reading fills
     * them in, writing finds them. */
    const uint32_t *begin, *ranks;
    const char *names;   /* of the hosts, each closed by 0 */
    const uint32_t *name_at; /* by host: where in `names` */
};

/* As bytes, malloc'ed, a multiple of a page of 4 KiB; `names` are those of the hosts, in place of
 * the roster's own. NULL: no memory. */
void *tern_roster_write(const struct tern_roster *roster, const char *const *names,
                        size_t *ret_length);
/* Everything then lies in `bytes`, which must stay as they are. False: it is no roster. */
bool tern_roster_read(const void *bytes, size_t length, struct tern_roster *ret_roster);

/* Of a host that there is. */
static inline const char *tern_roster_name(const struct tern_roster *roster, uint32_t host)
{
    return roster->names + roster->name_at[host];
}

#endif
