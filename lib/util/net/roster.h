/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ROSTER_H
#define TERN_ROSTER_H

/*
 * The roster: the ranks of a job, and the host of each. Our launcher writes the roster once into a
 * file that all ranks of a node map (behind the memory that they share, lib/rte/node_memory.h). So
 * a node holds one copy, however many ranks the job has.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The roster, as pointers into its bytes. */
struct tern_roster {
    uint32_t size;       /* number of ranks */
    uint32_t host_count;
    uint32_t here;       /* index of the host for which the roster was written */
    uint32_t universe_size; /* slots of the job's allocation (MPI_UNIVERSE_SIZE) */
    const char *job;     /* name of the job */
    /* 64 hexadecimal digits, by which the job's processes prove that they belong to the job */
    const char *secret;
    const uint32_t *host_of; /* host index of each rank */
    /* The ranks of host h are ranks[begin[h]] to ranks[begin[h + 1] - 1], in ascending order.
     * tern_roster_read fills in both pointers; tern_roster_write computes the tables itself. */
    const uint32_t *begin, *ranks;
    const char *names;   /* names of the hosts, each closed by a 0 byte */
    const uint32_t *name_at; /* offset in `names`, by host */
};

/* Writes the roster as bytes, a multiple of a page of 4 KiB. The host names are taken from the
 * argument `names`, not from the roster's member. Returns memory that the caller must free, or NULL
 * if there is none. */
void *tern_roster_write(const struct tern_roster *roster, const char *const *names,
                        size_t *ret_length);
/* Reads a roster from `bytes`. Returns false if they are not a roster. Afterwards the pointers in
 * *ret_roster point into `bytes`, which must live and stay unchanged as long as the roster is
 * used. */
bool tern_roster_read(const void *bytes, size_t length, struct tern_roster *ret_roster);

/* Returns the name of host `host`, 0 to host_count - 1. */
static inline const char *tern_roster_name(const struct tern_roster *roster, uint32_t host)
{
    return roster->names + roster->name_at[host];
}

#endif
