/* SPDX-License-Identifier: BSD-3-Clause */

/* Parameters of point to point. `mpi_info --param all all` prints them. */

#include "lib/util/param_table.h"

/* A row omits members it does not need: choices, when and scope. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct tern_param pml[] = {
    {"progress_thread", TERN_PARAM_BOOL, "0", "",
     "A thread of each rank makes progress while the program computes, so that large and "
     "nonblocking transfers go on; it sleeps while "
     "nothing comes. Every call then takes locks, and functions of the program (operations, event "
     "callbacks) may run in that thread."},
    {"pml_eager_credit", TERN_PARAM_SIZE, "1m", "bytes",
     "Messages that a rank sends to another before that has received them, in all; beyond, they "
     "wait in the sender's memory. Between nodes "
     "eight times as much.",
     .least = 1, .most = 1ll << 40},
    {"pml_unexpected_memory", TERN_PARAM_SIZE, "16m", "bytes",
     "Messages that came before their receives for which a rank lets their senders send as much "
     "again, in all; beyond, each sender has its "
     "pml_eager_credit.",
     .least = 0, .most = 1ll << 40},
    {"pml_lanes", TERN_PARAM_STRING, "8", "",
     "Independent parts of the message path in MPI_THREAD_MULTIPLE, each for a part of the "
     "communicators.",
     "1|2|4|8"},
    {"pml_send_buffer", TERN_PARAM_SIZE, "256m", "bytes",
     "Memory for short messages that wait in the sender although their send has returned; beyond, "
     "a send waits for its receive.",
     NULL, TERN_PARAM_ANY_TIME,
     .least = 0, .most = 1ll << 40},
};

const struct tern_param_room tern_params_pml = {"pml", TERN_PARAM_ROWS(pml),
                                                "Point to point: matching, protocols, waiting."};
