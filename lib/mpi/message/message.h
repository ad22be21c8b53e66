/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MESSAGE_H
#define TERN_MESSAGE_H

/* A message that MPI_Mprobe has taken out of matching; lives until MPI_Mrecv receives it. */

#include "lib/util/base/handle.h"

struct tern_comm;
struct tern_unexpected;

/* The object of a message handle. */
struct tern_message {
    struct tern_object obj;
    struct tern_unexpected *unexpected; /* the message in lib/pml; NULL for MPI_MESSAGE_NO_PROC */
    struct tern_comm *comm;             /* a reference */
};

/* MPI_MESSAGE_NO_PROC: the message of a probe from MPI_PROC_NULL. */
extern struct tern_message tern_message_no_proc;

#endif
