/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CHECK_MESSAGE_H
#define TERN_CHECK_MESSAGE_H

/*
 * The messages by which ranks compare their collectives: records and notes, over a context that all
 * processes of the job share. Private to lib/mpi/check.
 *
 * Messages move in the progress of one lane. Calls that wait for an answer hold other lanes; so
 * they only put down what they want, and leave the sending to that lane.
 */

#include "lib/mpi/check/check_record.h"

struct tern_lane;

/* What a message says; its tag. */
enum tern_check_tag {
    TERN_CHECK_RECORD,  /* to the judge: struct tern_record */
    TERN_CHECK_VERDICT, /* from the judge: text; empty: go on */
    TERN_CHECK_WHO,     /* to the judge: who is missing? */
    TERN_CHECK_MISSING, /* from the judge: how many are missing, and the places of some */
    TERN_CHECK_WHERE,   /* to a missing rank: what do you do? */
    TERN_CHECK_HERE,    /* from a missing rank: text */
};

enum { TERN_CHECK_MISSING_MOST = 8 };

/* Every message that is not a record. */
struct tern_check_note {
    struct tern_occasion occasion;
    int32_t place; /* WHO: of the sender; WHERE, HERE: of the missing one */
    int32_t count; /* MISSING: how many, or TERN_SAID_BY_ANOTHER */
    int32_t places[TERN_CHECK_MISSING_MOST];
    char text[TERN_CHECK_TEXT]; /* only its bytes travel */
};

/* Opens the context and lets `poll` take part in the progress of its lane. Call it once, with the
 * library's lock. Returns 0 or TERN_ERR_*. */
int tern_check_open_messages(int (*poll)(struct tern_lane *lane));
/* Returns the lane of the context, or NULL while it is not open. */
struct tern_lane *tern_check_message_lane(void);

/* Send a copy to a rank of MPI_COMM_WORLD. Only in the progress of the lane. Without memory nothing
 * is sent, which is reported. */
void tern_check_send_record(const struct tern_record *record, int rank);
void tern_check_send_note(const struct tern_check_note *note, enum tern_check_tag tag, int rank);

/* A message arrived: `bytes` is a struct tern_record or a struct tern_check_note. */
typedef void tern_check_take(enum tern_check_tag tag, const void *bytes, int from);

/* Begins to receive the messages that have arrived. Only in the progress of the lane. */
void tern_check_receive_messages(void);
/* Hands over complete messages to `take`, and forgets those that are sent. Returns how many there
 * were. Only in the progress of the lane. */
int tern_check_reap_messages(tern_check_take *take);

/* Returns true if this rank of MPI_COMM_WORLD cannot be reached any more. */
bool tern_check_rank_is_lost(int rank);

#endif
