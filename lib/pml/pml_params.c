/* SPDX-License-Identifier: BSD-3-Clause */

/* Parameters of point to point. `mpi_info --param all all` prints them. */

#include "lib/settings/setting.h"

/* A row omits members it does not need: choices, when and scope. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct tern_setting pml[] = {
    {"progress_thread", TERN_PARAM_BOOL, "0", "",
     "Each rank has a thread that makes progress while the program computes, so that large and "
     "nonblocking transfers continue. It sleeps while nothing arrives. Then each call takes locks, "
     "and functions of the program (operations, event callbacks) may run in this thread."},
    {"pml_eager_credit", TERN_PARAM_SIZE, "1m", "bytes",
     "Total size of messages that a rank sends to another rank before the other one receives them; "
     "further messages wait in the sender's memory. Eight times as much between nodes.",
     .least = 1, .most = 1ll << 40},
    {"pml_eager_limit", TERN_PARAM_SIZE, "1g", "bytes",
     "Sends of longer messages end only when the receive has begun. Each byte mover has a limit of "
     "its own; this one can only lower it. With 0, programs hang that are right only as long as "
     "MPI keeps their messages.",
     .least = 0, .most = 1 << 30},
    {"pml_unexpected_memory", TERN_PARAM_SIZE, "16m", "bytes",
     "Memory that a rank spends on messages that arrive before their receives. Up to this size "
     "their senders get their pml_eager_credit back at once; beyond it, only when the messages are "
     "received.",
     .least = 0, .most = 1ll << 40},
    {"pml_lanes", TERN_PARAM_STRING, "8", "",
     "Number of lanes in MPI_THREAD_MULTIPLE: independent parts of the message path, among which "
     "the communicators are spread.",
     "1|2|4|8", .internal = true},
    {"pml_send_buffer", TERN_PARAM_SIZE, "256m", "bytes",
     "Memory for copies of short messages, so that their sends can return before they are "
     "transferred. Beyond this size a send waits for its receive.",
     NULL, TERN_PARAM_ANY_TIME,
     .least = 0, .most = 1ll << 40, .internal = true},
};

const struct tern_param_room tern_params_pml = {"pml", TERN_PARAM_ROWS(pml),
                                                "Point to point: matching, protocols, waiting."};
