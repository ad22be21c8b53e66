/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WIRE_FRAME_H
#define TERN_MPIRUN_WIRE_FRAME_H

/* The messages between mpirun and its agents, and their format. A frame is a head of fixed size and
 * a payload that was packed into a parcel. Both ends have the same version and architecture, which
 * is checked before the first frame, so numbers travel unchanged. But every length is checked, and
 * a frame that breaks a rule ends the link. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpirun/base/strings.h"

/* The kinds of frames, and the members that each uses. */
enum tern_frame_kind {
    /* Down, from mpirun. `host` is the receiver, or TERN_EVERY_HOST. */
    TERN_FRAME_JOIN,   /* the first frame: the agent's number, and how to start other agents */
    TERN_FRAME_START,  /* start an agent on host `value` */
    TERN_FRAME_JOB,    /* the job to run; the agent makes everything ready */
    TERN_FRAME_SPAWN,  /* start the ranks */
    /* for the guardian: `value` is the message's kind, `rank` its rank, `id` its value */
    TERN_FRAME_ORDER,
    TERN_FRAME_STDIN,  /* a piece of standard input; empty: the end of it */
    TERN_FRAME_CREDIT, /* `value` bytes of output have been passed on */
    TERN_FRAME_ANSWER, /* the answer to request `id`: status `value`, and data */
    TERN_FRAME_FETCH,  /* what has `rank` put? The answer is for request `id` of host `value` */
    TERN_FRAME_NOTIFY, /* a PMIx event for the ranks */
    TERN_FRAME_SOUGHT, /* host `value` wants the card of `rank`, from its program number `id` */
    /* where are the ranks (look.h)? `value` 0: a glance, 1: a look; the answer names `id` */
    TERN_FRAME_LOOK,
    TERN_FRAME_END,    /* nothing is left to do */
    /* Up, to mpirun. `host` is the sender, unless said otherwise. */
    TERN_FRAME_UP,       /* an agent has started the agent of `host` */
    TERN_FRAME_FAILED,   /* an agent could not start the agent of `host`; the text says why */
    TERN_FRAME_LOST,     /* an agent has lost the agent of `host`; the text says why */
    TERN_FRAME_TOPOLOGY, /* name and processors of the host */
    /* `value` 0: the ranks can be started. Else they cannot: `value` is mpirun's exit status, and
     * the text says why. */
    TERN_FRAME_READY,
    /* a message of the guardian: `value` is its kind, `rank` its rank; then pid, value, step and
     * text */
    TERN_FRAME_GUARDIAN,
    /* what a rank did: `value` is an enum tern_client_act; then number and text */
    TERN_FRAME_CLIENT,
    /* output of `rank`; `value` is 1 for standard output, 2 for standard error */
    TERN_FRAME_OUTPUT,
    TERN_FRAME_CLOSED, /* a stream of `rank` has ended */
    TERN_FRAME_UNWRITTEN, /* an output file of `rank` is incomplete */
    /* the ranks have taken the last piece of standard input; `value` is not 0 if none reads on */
    TERN_FRAME_TAKEN,
    TERN_FRAME_FENCE,  /* request `id`: the processes of the fence, and this host's data */
    TERN_FRAME_MODEX,  /* request `id`: what has `rank` put? */
    /* the answer to FETCH, with status `value`: for request `id` of host `rank` */
    TERN_FRAME_FETCHED,
    TERN_FRAME_PUBLISH, /* request `id`, as are the next two */
    TERN_FRAME_LOOKUP,
    TERN_FRAME_UNPUBLISH,
    TERN_FRAME_EVENT, /* a rank's event for the ranks of all other hosts */
    /* the answer to LOOK `id`: `value` is 0 if no rank has moved since the last glance, 1 if one
     * may have, 2 for a look; then the ranks' places (rank_where.h) */
    TERN_FRAME_SEEN,
    TERN_FRAME_SEEK,  /* wanted: the card of `rank`, from its program number `id` */
    /* Both ways: */
    /* a notice: rank `value` cannot connect to `rank`, both in their program number `id` */
    TERN_FRAME_UNREACHED,
    /* The cards of one host for another. On the way up, `host` has sent the cards and `value` gets
     * them; on the way down, the reverse. */
    TERN_FRAME_CARDS,
    /* Both ways between neighbours: */
    TERN_FRAME_BEAT, /* a sign of life; `value` is 1 if the sender is about to stop */
    TERN_FRAME_KINDS
};

enum { TERN_ROOT = -1, TERN_EVERY_HOST = -2 }; /* in place of a host's number */
/* in bytes: size of the head, and largest payload */
enum { TERN_FRAME_HEAD = 32, TERN_FRAME_MOST = 1 << 28 };

/* A frame. Its kind says what the members mean. */
struct tern_frame {
    enum tern_frame_kind kind;
    int32_t host, rank, value;
    uint64_t id;
    const char *data; /* not owned */
    uint32_t size;
};

/* A growing buffer to pack data into. A zeroed struct is empty. */
struct tern_parcel {
    char *bytes;
    size_t size, room;
};

/* Append bytes, a number, bytes with their length, a string, or a list of strings. */
void tern_parcel_raw(struct tern_parcel *parcel, const void *data, size_t size);
void tern_parcel_number(struct tern_parcel *parcel, int64_t number);
void tern_parcel_blob(struct tern_parcel *parcel, const void *data, size_t size);
void tern_parcel_string(struct tern_parcel *parcel, const char *text); /* text may be NULL */
void tern_parcel_strings(struct tern_parcel *parcel, const struct tern_strings *list);
/* Frees the bytes. The parcel is empty afterwards. */
void tern_parcel_free(struct tern_parcel *parcel);

/* Reads a parcel in the order in which it was packed. If something is missing or does not fit,
 * `bad` is set, and all further reads give 0, NULL or empty: so check `bad` once, at the end. */
struct tern_reader {
    const char *at;
    size_t left;
    bool bad;
};

/* Returns the next number. */
int64_t tern_read_number(struct tern_reader *reader);
/* Returns the next number, which must be from `least` to `most`. */
int tern_read_int(struct tern_reader *reader, int least, int most);
/* Returns the next number, a count from `least` to `most` of things that take at least `bytes`
 * each. Sets `bad` if the rest is too short for that many. */
int tern_read_count(struct tern_reader *reader, int least, int most, size_t bytes);
/* Returns the next bytes, which lie inside the data being read. *ret_size is their number. */
const char *tern_read_blob(struct tern_reader *reader, size_t *ret_size);
/* Returns the next string, which lies inside the data being read, or NULL if NULL was packed. */
const char *tern_read_string(struct tern_reader *reader);
void tern_read_strings(struct tern_reader *reader, struct tern_strings *list); /* appends copies */

/* Appends the frame in its wire format. */
void tern_frame_write(struct tern_parcel *parcel, const struct tern_frame *frame);
/* Reads the first frame of `size` bytes; the frame's data point into them. Returns the frame's
 * length in bytes, 0 if the frame is incomplete, -1 if the bytes are not a frame. */
int64_t tern_frame_read(const char *bytes, size_t size, struct tern_frame *ret_frame);

#endif
