/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TRANSFER_H
#define TERN_TRANSFER_H

/* Data accesses (MPI-4.1 section 14.4): from the arguments of a procedure to an operation. */

#include "lib/io/file.h"

#include <mpi.h>
#include <stdbool.h>

struct tern_datatype;
struct tern_operation;
struct tern_request;

/* Where an access begins. */
enum tern_access_begin_at {
    TERN_AT,     /* at an offset that the caller gives */
    TERN_OWN,    /* at the rank's own pointer, which moves on */
    TERN_SHARED, /* at the common pointer, which moves on */
};

/* A data access, as a procedure's arguments say it. */
struct tern_transfer_wish {
    struct tern_file *file;
    int fault; /* TERN_ERR_* of a wrong argument, whose text is recorded, or 0; then what follows
                * `where` may not be used */
    bool writes;
    bool collective; /* all ranks make the call; at the common pointer: in the order of ranks */
    enum tern_access_begin_at where;
    MPI_Offset offset; /* for TERN_AT, in etypes */
    void *buf;
    MPI_Count count;
    struct tern_datatype *datatype;
};

/* What the arguments of a procedure ask for: one that a rank calls by itself, and one that all
 * ranks call. */
#define TERN_WISH(does_write, begins)                                                              \
    (struct tern_transfer_wish)                                                                    \
    {                                                                                              \
        .file = fh, .writes = does_write, .where = begins, .buf = (void *)buf, .count = count,     \
        .datatype = datatype                                                                       \
    }
#define TERN_WISH_OF_ALL(does_write, begins)                                                       \
    (struct tern_transfer_wish)                                                                    \
    {                                                                                              \
        .file = fh, .fault = fault, .writes = does_write, .collective = true, .where = begins,     \
        .buf = (void *)buf, .count = count, .datatype = datatype                                   \
    }

/* Do an access in one of its forms. Return 0 or TERN_ERR_* with text. tern_transfer_begin and
 * tern_transfer_end are the halves of a split collective; the wish of the second half names the
 * kind of access only. */
int tern_transfer_run(const struct tern_transfer_wish *wish, MPI_Status *status);
int tern_transfer_start(const struct tern_transfer_wish *wish, struct tern_request **ret_request);
int tern_transfer_begin(const struct tern_transfer_wish *wish);
int tern_transfer_end(const struct tern_transfer_wish *wish, MPI_Status *status);

#endif
