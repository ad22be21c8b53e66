/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WHERE_CIRCLES_H
#define TERN_MPIRUN_WHERE_CIRCLES_H

/* Finds circles of ranks of several jobs that wait for each other. Each job's mpirun writes the
 * waits of its ranks as text; the one that asks reads the texts of all jobs. Pure functions. */

#include "mpirun/where/where_table.h"

/* A wait of one rank for another. */
struct tern_where_wait {
    int job, rank;         /* the rank that waits */
    int for_job, for_rank; /* the rank that it waits for */
    int tag;
    char procedure[40];
    bool gone; /* used by tern_where_circles */
};

/* All waits that are known. All zero: none. The owner frees `list`. */
struct tern_where_waits {
    struct tern_where_wait *list;
    int count, room;
};

/* Returns the waits of a job's ranks as lines of text, or "" if none waits for a rank of another
 * job. `job`: the job's number. The caller frees the text. */
char *tern_where_write_waits(const struct tern_where_rank *ranks, int size, int job);
/* Appends the waits that such a text has. Ignores lines that are damaged. */
void tern_where_read_waits(struct tern_where_waits *waits, const char *text);
/* Returns a line for each circle across jobs, up to three. The lines begin as those of
 * where_table.h. Sorts the list. The caller frees the text. */
char *tern_where_circles(struct tern_where_waits *waits);

#endif
