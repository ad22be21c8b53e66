/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WIRE_FRAME_H
#define TERN_MPIRUN_WIRE_FRAME_H

/* What mpirun and its agents say to each other, and how it is written down: a frame is a head of
 * fixed size and a payload, which a parcel was packed into. Both ends are of the same version and
 * architecture (that is compared before the first frame), so numbers travel as they are; but every
 * length is checked, and a frame that breaks a rule ends the link. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpirun/base/strings.h"

enum tern_frame_kind {
    /* down, from mpirun: `host` is the one it is for, or TERN_EVERY_HOST */
    TERN_FRAME_JOIN,   /* the first one: who the agent is, how it starts others */
    TERN_FRAME_START,  /* start an agent on host `value` */
    TERN_FRAME_JOB,    /* what there is to run; the agent makes all ready */
    TERN_FRAME_SPAWN,  /* start the ranks */
    TERN_FRAME_ORDER,  /* for the guardian: `value` is the kind, `rank`, `id` the value */
    TERN_FRAME_STDIN,  /* a piece for those who read standard input; empty: the end */
    TERN_FRAME_CREDIT, /* `value` bytes of output have been passed on */
    TERN_FRAME_ANSWER, /* to request `id`: status `value` and data */
    TERN_FRAME_FETCH,  /* what has rank `rank` put? Tell host `value`'s request `id` */
    TERN_FRAME_NOTIFY, /* a PMIx event for the ranks */
    TERN_FRAME_SOUGHT, /* host `value` wants the card of `rank`, of its program `id` */
    TERN_FRAME_END,    /* nothing is left to do */
    /* up, to mpirun: `host` is the one it comes from */
    TERN_FRAME_UP,       /* the agent of `host` has been started (by an agent) */
    TERN_FRAME_FAILED,   /* or could not be: text */
    TERN_FRAME_LOST,     /* or has gone: text */
    TERN_FRAME_TOPOLOGY, /* name and processors of the host */
    TERN_FRAME_READY, /* the ranks can be started; or `value` != 0: mpirun's exit status and why not
                       */
    TERN_FRAME_GUARDIAN, /* an answer of the guardian: `value` is the kind, `rank`; pid, value, step
                          */
    TERN_FRAME_CLIENT, /* what a rank did by PMIx: `value` is an enum tern_client_act; number, text
                        */
    TERN_FRAME_OUTPUT, /* of `rank`; `value`: 1 standard output, 2 error */
    TERN_FRAME_CLOSED, /* a stream of `rank` has ended */
    TERN_FRAME_UNWRITTEN, /* an output file of `rank` is not complete */
    TERN_FRAME_TAKEN,  /* the readers have taken the last piece; `value` != 0: nobody reads any more
                        */
    TERN_FRAME_FENCE,  /* request `id`: signature and data of this host */
    TERN_FRAME_MODEX,  /* request `id`: what has `rank` put? */
    TERN_FRAME_FETCHED, /* the answer to FETCH: for host `rank`, its request `id`, status `value` */
    TERN_FRAME_PUBLISH, /* requests `id` */
    TERN_FRAME_LOOKUP,
    TERN_FRAME_UNPUBLISH,
    TERN_FRAME_EVENT, /* a rank's event for all others */
    TERN_FRAME_SEEK,  /* the card of `rank` is wanted, of its program `id` */
    /* both ways */
    /* rank `value` cannot connect to `rank`, both in their program `id`: what it has reported */
    TERN_FRAME_UNREACHED,
    /* those of a host, for another; the one that `host` does not name is `value` */
    TERN_FRAME_CARDS,
    /* both ways, between neighbours */
    TERN_FRAME_BEAT, /* I live */
    TERN_FRAME_KINDS
};

enum { TERN_ROOT = -1, TERN_EVERY_HOST = -2 }; /* in place of a host's number */
enum { TERN_FRAME_HEAD = 32, TERN_FRAME_MOST = 1 << 28 };

struct tern_frame {
    enum tern_frame_kind kind;
    int32_t host, rank, value;
    uint64_t id;
    const char *data; /* not owned */
    uint32_t size;
};

/* Bytes that grow; a zeroed struct is empty. */
struct tern_parcel {
    char *bytes;
    size_t size, room;
};

void tern_parcel_raw(struct tern_parcel *parcel, const void *data, size_t size);
void tern_parcel_number(struct tern_parcel *parcel, int64_t number);
void tern_parcel_blob(struct tern_parcel *parcel, const void *data, size_t size);
void tern_parcel_string(struct tern_parcel *parcel, const char *text); /* or NULL */
void tern_parcel_strings(struct tern_parcel *parcel, const struct tern_strings *list);
void tern_parcel_free(struct tern_parcel *parcel);

/* Reads in the same order. What is not there, or does not fit, sets `bad` and reads as 0, NULL or
 * empty from then on: look at it once, at the end. */
struct tern_reader {
    const char *at;
    size_t left;
    bool bad;
};

int64_t tern_read_number(struct tern_reader *reader);
/* A number from `least` to `most`. */
int tern_read_int(struct tern_reader *reader, int least, int most);
/* A number of things, from `least` to `most`, that take at least `bytes` each: that many can
 * follow. */
int tern_read_count(struct tern_reader *reader, int least, int most, size_t bytes);
const char *tern_read_blob(struct tern_reader *reader, size_t *ret_size);
/* Lies in what is read; NULL if it was packed so. */
const char *tern_read_string(struct tern_reader *reader);
void tern_read_strings(struct tern_reader *reader, struct tern_strings *list); /* adds copies */

/* Appends the frame. */
void tern_frame_write(struct tern_parcel *parcel, const struct tern_frame *frame);
/* Takes the first frame of `size` bytes; its data lie there. Returns how many bytes it has, 0 when
 * it is not complete, -1 when it is no frame. */
int64_t tern_frame_read(const char *bytes, size_t size, struct tern_frame *ret_frame);

#endif
