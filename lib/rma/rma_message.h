/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RMA_MESSAGE_H
#define TERN_RMA_MESSAGE_H

/*
 * What an origin sends to a target that it must ask. A request is one message under
 * TERN_RMA_TAG_REQUEST: the head, then rows, then bytes. The pml keeps requests of one origin in
 * order, and the target handles one request after the other. So accumulates of one origin have
 * their effect in order, and the answer to a flush says that all before it is done.
 *
 * A row describes equal blocks at equal distances, so a strided part of any length is one row.
 * Answers, and the bytes of a long put, are messages of their own. Their tag holds the number that
 * the origin has given to the dialogue.
 */

#include <stdint.h>

enum tern_rma_kind {
    TERN_RMA_PUT = 1,   /* the bytes follow the rows */
    TERN_RMA_PUT_LONG,  /* one row; the bytes come under the data tag; answered when written */
    TERN_RMA_GET,       /* answered by the bytes */
    TERN_RMA_COMBINE,   /* accumulate; packed elements follow the rows */
    TERN_RMA_FETCH,     /* the same, answered by the elements before */
    TERN_RMA_SWAP,      /* compare and swap; the new value and the one to compare with follow */
    TERN_RMA_FLUSH,     /* answered by struct tern_rma_verdict */
    TERN_RMA_TAKE_LOCK, /* `op`: 1 exclusive, 0 shared; answered when the lock is taken */
    TERN_RMA_GIVE_LOCK, /* `op` likewise; also a flush: answered by struct tern_rma_verdict */
};

/* The head of a request. */
struct tern_rma_head {
    uint8_t kind; /* enum tern_rma_kind */
    uint8_t op;   /* enum tern_reduce_op */
    uint8_t basic; /* class of the elements (tern_rma_class) */
    uint8_t rows;  /* number of rows that follow */
    uint32_t id;  /* number of the dialogue, if there is an answer */
    int64_t bytes; /* of all rows, packed */
};

/* `count` blocks of `length` bytes; from one to the next it is `stride` bytes. */
struct tern_rma_row {
    uint64_t at; /* displacement of the first block, in bytes; in a dynamic window its address */
    int64_t length, stride, count;
};

/* Answer to a flush. */
struct tern_rma_verdict {
    int32_t error; /* 0, or TERN_ERR_*: an operation since the last flush had no effect */
    int32_t unused;
    uint64_t at;    /* its displacement or address */
    int64_t length; /* its bytes */
};

/* TERN_RMA_INLINE_BYTES: bytes of a request, at most. TERN_RMA_MESSAGE_BYTES: of the whole
 * message. */
enum {
    TERN_RMA_ROWS = 64,
    TERN_RMA_INLINE_BYTES = 16 * 1024,
    TERN_RMA_MESSAGE_BYTES = sizeof(struct tern_rma_head) +
                             TERN_RMA_ROWS * sizeof(struct tern_rma_row) + TERN_RMA_INLINE_BYTES,
};

/* Tags on the window's context. */
enum {
    TERN_RMA_TAG_REQUEST = -2,
    TERN_RMA_TAG_POST = -3,
    TERN_RMA_TAG_COMPLETE = -4,
    TERN_RMA_TAG_FIRST = -16,
    TERN_RMA_DIALOGUES = 1 << 29,
};

/* Return the tags of a dialogue: of what the origin sends, and of the answer. They differ, because
 * a rank may ask itself. */
static inline int tern_rma_data_tag(uint32_t id)
{
    return TERN_RMA_TAG_FIRST - 2 * (int)(id % TERN_RMA_DIALOGUES);
}

static inline int tern_rma_answer_tag(uint32_t id)
{
    return tern_rma_data_tag(id) - 1;
}

#endif
