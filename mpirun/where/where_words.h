/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WHERE_WORDS_H
#define TERN_MPIRUN_WHERE_WORDS_H

/* Says in words where one rank is, for the table of where_table.h. Private to the files of the
 * table. */

#include <stddef.h>

#include "mpirun/where/where_rank.h"

enum {
    TERN_WHERE_ANY = -1,       /* MPI_ANY_SOURCE, MPI_ANY_TAG */
    TERN_WHERE_LINE = 400,     /* bytes for the words about a rank */
    TERN_WHERE_RANK_TEXT = 48, /* bytes for a rank's name */
};

/* A growing text. All zero: empty. The owner frees `bytes`. */
struct tern_where_text {
    char *bytes;
    size_t used, room;
};
/* Appends up to twice TERN_WHERE_LINE bytes. */
void tern_where_add(struct tern_where_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Returns what the rank waits for, or NULL if it does not wait. */
const struct tern_wait_record *tern_where_wait_of(const struct tern_where_rank *ranks, int rank);
/* Returns true if the rank's first thread computes while another one waits. */
bool tern_where_works_beside(const struct tern_where *where);
/* Returns true if the rank waits until all ranks of a communicator have come. */
bool tern_where_waits_for_all(const struct tern_wait_record *record);
/* Returns what a rank has sent and the receiver's host does not acknowledge, or NULL. A stopped
 * rank does not look whether it does. */
const struct tern_wait_record *tern_where_unheard_of(const struct tern_where_rank *ranks, int rank);

/* Returns `name`, or words for a communicator without a name. */
const char *tern_where_comm_name(const char *name);
/* Returns the name of the communicator of a wait. Without a name, its size and id tell it from
 * others; all its ranks have the same id. Valid until the next call. */
const char *tern_where_comm_of(const struct tern_wait_record *record);
/* Writes "tag 7, ". The library's own tags, below ANY, mean nothing to a user. */
void tern_where_name_tag(int tag, char *words, size_t room);
/* Writes "rank 3", or "rank 3 of job 2". Returns `text`. */
const char *tern_where_rank_of(const struct tern_awaited *awaited, char text[TERN_WHERE_RANK_TEXT]);
/* Writes what partitioned communication lacks: "3 of 4 partitions lack its own MPI_Pready, ". */
void tern_where_name_partitions(const struct tern_awaited *awaited, char *words, size_t room);
/* Writes what a rank waits for, except the peer: "in MPI_Recv, tag 7, MPI_COMM_WORLD". */
void tern_where_describe_wait(const struct tern_wait_record *record, char *words, size_t room);

/* A verb for one rank and for several. */
struct tern_where_verb {
    const char *one, *many;
};
extern const struct tern_where_verb tern_where_computes, tern_where_has;
/* Describes where a rank is. Ranks in the same place get equal words and the same verb. */
void tern_where_describe(const struct tern_where_rank *rank,
                         const struct tern_where_verb **ret_verb, char *words, size_t room);

#endif
