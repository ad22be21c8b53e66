/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COUNTER_H
#define COUNTER_H

/* Counters of MPI_T, for tests that look at how something was done. */

#include "check.h"

#include <mpi.h>

struct counter {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
};

/* From this call on, of what happened or of bytes. `level` as of MPI_Init_thread: MPI_T may be the first to start. */
static inline struct counter counter_open(const char *name, int level)
{
    struct counter counter;
    int index, count, provided;
    CHECK_OK(MPI_T_init_thread(level, &provided));
    CHECK_OK(MPI_T_pvar_session_create(&counter.session));
    if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS)
        CHECK_OK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_AGGREGATE, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(counter.session, index, NULL, &counter.handle, &count));
    CHECK_OK(MPI_T_pvar_start(counter.session, counter.handle));
    return counter;
}

static inline unsigned long long counter_read(const struct counter *counter)
{
    unsigned long long value;
    CHECK_OK(MPI_T_pvar_read(counter->session, counter->handle, &value));
    return value;
}

static inline void counter_close(struct counter *counter)
{
    CHECK_OK(MPI_T_pvar_session_free(&counter->session));
    CHECK_OK(MPI_T_finalize());
}

#endif
