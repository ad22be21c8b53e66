/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CHECK_MESSAGE_H
#define TERN_CHECK_MESSAGE_H

/*
 * The messages by which ranks compare their collectives: records and notes. They travel over a
 * context that all processes of the job share. Private to lib/mpi/check.
 *
 * The messages move in the progress of one lane. A call that waits for a verdict may hold another
 * lane. So such a call only queues what it wants to send, and the progress of that one lane sends
 * it.
 */

#include "lib/mpi/check/check_record.h"

struct tern_lane;

/* What a message says. The value is the tag of the message. */
enum tern_check_tag {
    TERN_CHECK_RECORD,  /* to the judge: a struct tern_record */
    TERN_CHECK_VERDICT, /* from the judge: a text; if empty, the rank may go on */
    TERN_CHECK_WHO,     /* to the judge: who is missing? */
    /* from the judge: how many ranks are missing, and the places of some of them */
    TERN_CHECK_MISSING,
    TERN_CHECK_WHERE, /* to a missing rank: what are you doing? */
    TERN_CHECK_HERE,  /* from a missing rank: a text */
};

/* The most places of missing ranks that a note names. */
enum { TERN_CHECK_MISSING_MOST = 8 };

/* The contents of every message that is not a record. */
struct tern_check_note {
    struct tern_occasion occasion; /* the call that the note is about */
    int32_t place; /* WHO: the place of the sender; WHERE, HERE: of the missing rank */
    int32_t count; /* MISSING: the number of missing ranks, or TERN_SAID_BY_ANOTHER */
    int32_t places[TERN_CHECK_MISSING_MOST]; /* MISSING: the places of the first missing ranks */
    char text[TERN_CHECK_TEXT]; /* only the bytes of the text are sent */
};

/* Opens the context and registers `poll` with the progress of its lane. Call it once, with the
 * library's lock. Returns 0 or TERN_ERR_*. */
int tern_check_open_messages(int (*poll)(struct tern_lane *lane));
/* Returns the lane of the context, or NULL while the context is not open. */
struct tern_lane *tern_check_message_lane(void);

/* Send a copy to a rank of MPI_COMM_WORLD. If there is no memory they send nothing and report that.
 * Call them only in the progress of the lane. */
void tern_check_send_record(const struct tern_record *record, int rank);
void tern_check_send_note(const struct tern_check_note *note, enum tern_check_tag tag, int rank);

/* Handles a message that has arrived from rank `from`. `bytes` is a struct tern_record or a struct
 * tern_check_note. */
typedef void tern_check_take(enum tern_check_tag tag, const void *bytes, int from);

/* Begins to receive the messages that have arrived. Call it only in the progress of the lane. */
void tern_check_receive_messages(void);
/* Passes each complete message to `take`, and frees the messages that are sent. Returns the number
 * of messages of both kinds. Call it only in the progress of the lane. */
int tern_check_reap_messages(tern_check_take *take);

/* Returns true if this rank of MPI_COMM_WORLD cannot be reached any more. */
bool tern_check_rank_is_lost(int rank);

#endif
