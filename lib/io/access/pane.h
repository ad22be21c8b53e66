/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PANE_H
#define TERN_PANE_H

/*
 * What an aggregator has of its window in one round of an exchange (exchange.h): the bytes of the
 * window, and the runs and data of each rank. An aggregator has two panes if it receives for one
 * while the other one is written.
 */

#include "lib/io/access/access.h"

#include <stdbool.h>
#include <stdint.h>

/* Equal runs of the file at equal distances. */
struct tern_series {
    int64_t at, bytes; /* the first run */
    int64_t stride, count;
};

/* What a rank tells an aggregator in a round: the runs of its data in the aggregator's window. Most
 * are few series; if there are more, all of them follow in a message of their own. */
enum { TERN_FEW_SERIES = 4 };
struct tern_series_head {
    int64_t bytes, series;
    struct tern_series few[TERN_FEW_SERIES];
};

/* What an aggregator has of one rank. */
struct tern_pane_source {
    struct tern_series_head head;
    struct tern_series *series;
    int64_t room;
    char *data;    /* a part of the pane's `data` */
    int64_t ready; /* reads: bytes for this rank */
};

/* A pane. */
struct tern_pane {
    int64_t begin, end; /* the window in the file */
    int ranks;
    struct tern_pane_source *sources; /* one for each rank */
    char *buffer;                     /* the window's bytes; NULL: there was no memory */
    uint64_t *covered;                /* a bit for each byte of it that was written */
    char *data;                       /* the data of all ranks, one behind the other */
    int64_t data_room;
    int error;      /* of the last access, or 0 */
    char text[488]; /* its text */
};

/* Makes a pane for windows of up to `bytes` bytes. Without memory for these bytes the aggregator
 * takes part all the same, and fails when it accesses the file: others wait for it. Returns 0, or
 * TERN_ERR_NO_MEM if there was not even memory for the sources. */
int tern_pane_make(struct tern_pane *pane, int ranks, int64_t bytes);
/* Frees what a pane has. Does nothing for a pane of zeros. */
void tern_pane_drop(struct tern_pane *pane);

/* Makes room for the series and data that the heads of all ranks announce. Returns false if there
 * is no memory; then no rank has any room. */
bool tern_pane_make_room(struct tern_pane *pane);

/* Write: puts the data of all ranks into the window, and writes those bytes of it, no others. Read:
 * reads the part of the window that ranks want, and packs it for each of them. Work in any thread.
 * The outcome is in pane->error. */
void tern_pane_write(struct tern_pane *pane, const struct tern_access *access);
void tern_pane_read(struct tern_pane *pane, const struct tern_access *access);

#endif
