/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TYPE_H
#define TERN_TYPE_H

/*
 * The layout of a datatype as a flat program, and cursors that move bytes through it.
 *
 * This room knows bytes, not MPI objects. Envelope, name and attributes belong to struct
 * tern_datatype (lib/mpi/datatype/datatype.h), which contains a struct tern_type. A type is
 * compiled once, when it is made, into a program of contiguous, strided and indexed runs. A cursor
 * packs or unpacks from any byte offset of the packed stream, so that pipelines can stop anywhere.
 */

#include "lib/accel/accel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Class of a basic element, for reductions and for external32. TERN_BASIC_NONE: elements of several
 * classes, or no elements. */
enum tern_basic {
    TERN_BASIC_NONE,
    TERN_BASIC_INT8,
    TERN_BASIC_INT16,
    TERN_BASIC_INT32,
    TERN_BASIC_INT64,
    TERN_BASIC_LONG, /* 64 bits here, 32 in external32 */
    TERN_BASIC_INT128,
    TERN_BASIC_UINT8,
    TERN_BASIC_UINT16,
    TERN_BASIC_UINT32,
    TERN_BASIC_UINT64,
    TERN_BASIC_UNSIGNED_LONG,
    TERN_BASIC_FLOAT,
    TERN_BASIC_DOUBLE,
    TERN_BASIC_LONG_DOUBLE,
    TERN_BASIC_FLOAT128, /* real*16 */
    TERN_BASIC_FLOAT_COMPLEX,
    TERN_BASIC_DOUBLE_COMPLEX,
    TERN_BASIC_LONG_DOUBLE_COMPLEX,
    TERN_BASIC_LOGICAL8,
    TERN_BASIC_LOGICAL16,
    TERN_BASIC_LOGICAL32,
    TERN_BASIC_LOGICAL64, /* Fortran LOGICAL (all four), C bool */
    TERN_BASIC_BYTE,      /* MPI_BYTE: bitwise operations only */
    TERN_BASIC_PACKED,    /* no reductions */
    TERN_BASIC_CHARACTER, /* MPI_CHAR, MPI_CHARACTER */
    TERN_BASIC_WCHAR,     /* no reductions */
    TERN_BASIC_FLOAT_INT,
    TERN_BASIC_DOUBLE_INT,
    TERN_BASIC_LONG_INT,
    TERN_BASIC_2INT,
    TERN_BASIC_SHORT_INT,
    TERN_BASIC_LONG_DOUBLE_INT,
    TERN_BASIC_2FLOAT,
    TERN_BASIC_2DOUBLE, /* the pairs of MAXLOC and MINLOC, from FLOAT_INT on */
    TERN_BASIC_2FLOAT_COMPLEX,
    TERN_BASIC_2DOUBLE_COMPLEX,  /* the standard defines no reductions */
    TERN_BASIC_FLOAT128_COMPLEX, /* complex*32 */
    TERN_BASIC_COUNT
};

struct tern_program; /* private to lib/type (type_program.h) */

/* A type: its bounds and its program. */
struct tern_type {
    int64_t size;       /* bytes of data in one element */
    int64_t lb, extent; /* in bytes */
    int64_t true_lb, true_extent; /* in bytes */
    /* number of basic elements in one of this type; a pair such as MPI_DOUBLE_INT counts as two */
    int64_t elements;
    int64_t narrowed; /* bytes by which one element is shorter in external32 */
    int64_t start; /* offset of the program's first byte, in bytes; for a gapless type true_lb */
    int32_t alignment; /* in bytes, of the basic element with the strictest alignment */
    /* enum tern_basic of all basic elements; TERN_BASIC_NONE if they differ or if there are none */
    uint8_t basic;
    /* 1 + the number of the pair that all elements are (tern_reduce_pair_number); else 0. The basic
     * elements of such a pair are its two parts */
    uint8_t pair;
    bool gapless;    /* one element is one run of `size` bytes at true_lb */
    bool contiguous; /* gapless with extent == size: any number of elements is one run */
    bool committed;  /* may be used in communication */
    /* lb was set by MPI_LB or a resize, and prevails over unmarked parts of a larger type */
    bool lb_marked;
    bool ub_marked; /* likewise the upper bound */
    /* NULL: gapless or empty. Holds a reference; types made from this one share the program */
    struct tern_program *program;
};

/* Bytes, the type of everything that the library itself sends. */
extern const struct tern_type tern_type_bytes;

/* Where a typed buffer is. */
enum tern_type_memory {
    TERN_TYPE_HOST,   /* the processor may touch all of it */
    TERN_TYPE_DEVICE, /* all of it is in device or managed memory */
    TERN_TYPE_MIXED,  /* some runs are in host memory, others on a device; or on several devices */
};

/* A position in the packed stream of `count` elements at `base`. Owns nothing: base and type must
 * outlive the cursor. */
struct tern_cursor {
    const struct tern_type *type;
    char *base; /* the user's buffer; a send only reads it */
    int64_t count;
    int64_t length; /* bytes of the packed stream: type->size * count */
    int64_t offset; /* bytes of the packed stream already passed; this is the whole position */
    /* enum tern_type_memory. If it is not TERN_TYPE_HOST, nobody may use the runs of the cursor as
     * addresses: only pack and unpack move the bytes */
    uint8_t memory;
    int error; /* of the first copy from or to device memory that failed, TERN_ERR_*; else 0 */
    /* where a buffer of TERN_TYPE_DEVICE is; must outlive the cursor. NULL: the driver is asked */
    const struct tern_accel_place *place;
    struct tern_device_stage *stage; /* see tern_cursor_stage; NULL: none */
};

/* Finds out where a buffer is. Sets *ret_place if it is TERN_TYPE_DEVICE. */
enum tern_type_memory tern_type_find_memory(const struct tern_type *type, const void *base,
                                            int64_t count, struct tern_accel_place *ret_place);

/* Returns where a buffer is, at no cost where there is no driver. */
static inline uint8_t tern_type_memory_of(const struct tern_type *type, const void *base,
                                          int64_t count, struct tern_accel_place *ret_place)
{
    return TERN_UNLIKELY(tern_accel_watched) ? tern_type_find_memory(type, base, count, ret_place)
                                             : TERN_TYPE_HOST;
}

/* Sets a cursor to offset 0 of a buffer whose memory is known. type->size * count must fit
 * int64_t. */
static inline void tern_cursor_init_in(struct tern_cursor *cursor, const struct tern_type *type,
                                       const void *base, int64_t count, uint8_t memory)
{
    *cursor = (struct tern_cursor){.type = type,
                                   .base = (char *)base,
                                   .count = count,
                                   .length = type->size * count,
                                   .memory = memory};
}

/* Sets a cursor to offset 0, without a look at the memory: `base` is not an address, or it is known
 * to be of the host. */
static inline void tern_cursor_init_host(struct tern_cursor *cursor, const struct tern_type *type,
                                         const void *base, int64_t count)
{
    tern_cursor_init_in(cursor, type, base, count, TERN_TYPE_HOST);
}

/* Sets a cursor to offset 0 of a buffer of any memory. */
static inline void tern_cursor_init(struct tern_cursor *cursor, const struct tern_type *type,
                                    const void *base, int64_t count)
{
    struct tern_accel_place place;
    tern_cursor_init_in(cursor, type, base, count, tern_type_memory_of(type, base, count, &place));
}

/* Moves to any offset from 0 to `length`. Costs nothing here: the next pack, unpack or runs finds
 * the place in O(depth of the program + log of indexed runs). */
static inline void tern_cursor_seek(struct tern_cursor *cursor, int64_t offset)
{
    cursor->offset = offset;
}

/* Copies up to `max` bytes of the packed stream to `out` and advances. Returns the bytes copied;
 * fewer than `max` only at the end. */
size_t tern_cursor_pack(struct tern_cursor *cursor, void *out, size_t max);
/* Copies `length` packed bytes from `in` into the typed buffer and advances. Returns the bytes
 * copied; fewer than `length` only at the end. */
size_t tern_cursor_unpack(struct tern_cursor *cursor, const void *in, size_t length);

/*
 * Copies of a long message in device memory may run beside the network: after tern_cursor_stage
 * those from the device run ahead of tern_cursor_pack, and those to it behind tern_cursor_unpack,
 * so the buffer is not to be used before tern_cursor_settle, which waits for them and sets
 * cursor->error. Call it for a cursor at its first byte; does nothing if the buffer is not of
 * TERN_TYPE_DEVICE, if it is short, or if there is no pinned memory. tern_cursor_unstage ends it:
 * nothing is under way afterwards. The cursor may be copied, but only one copy may be used.
 */
void tern_cursor_stage(struct tern_cursor *cursor);
void tern_cursor_settle(struct tern_cursor *cursor);
void tern_cursor_unstage(struct tern_cursor *cursor);

/* Starts to copy `length` packed bytes from `in`, in memory of any kind, into the typed buffer as a
 * part of `batch`, and advances. `direct`: kernels in the batch's context reach `in`. Not for a
 * buffer of TERN_TYPE_MIXED. */
void tern_cursor_start_unpack(struct tern_cursor *cursor, struct tern_accel_batch *batch,
                              const void *in, size_t length, bool direct);
/* Returns true if the next `bytes` bytes are so many runs that a copy for each takes longer than a
 * copy of all to another place from where they are unpacked. */
bool tern_cursor_many_runs(const struct tern_cursor *cursor, int64_t bytes);
/* Describes up to `max_bytes` of the next bytes by at most `max_runs` runs of memory, merges
 * adjacent runs, and advances. Returns the number of runs. Sets *ret_bytes, unless NULL, to the
 * bytes that the runs cover. */
int tern_cursor_runs(struct tern_cursor *cursor, struct iovec *runs, int max_runs, size_t max_bytes,
                     size_t *ret_bytes);

/* Returns true if `count` elements at `base` are one run, in memory of any kind. Then sets
 * *ret_start to the run's first byte. */
static inline bool tern_type_one_run(const struct tern_type *type, const void *base, int64_t count,
                                     void **ret_start)
{
    if (!(type->contiguous || (type->gapless && count == 1)))
        return false;
    /* computed as integers, because base may be NULL (MPI_BOTTOM) and true_lb an address */
    *ret_start = (void *)((uintptr_t)base + (uintptr_t)type->true_lb);
    return true;
}

/* Returns true if the elements are one run that the processor may touch. The test of the fast
 * path. */
static inline bool tern_type_run(const struct tern_type *type, const void *base, int64_t count,
                                 void **ret_start)
{
    void *start;
    if (!tern_type_one_run(type, base, count, &start) || tern_accel_holds(start))
        return false;
    *ret_start = start;
    return true;
}

/* Copies one typed buffer to another in this process, as many bytes as the smaller one has. The
 * buffers must not overlap, and may be in memory of any kind. Returns the bytes copied, or
 * TERN_ERR_* if device memory could not be copied. */
int64_t tern_type_copy(void *to, int64_t to_count, const struct tern_type *to_type,
                       const void *from, int64_t from_count, const struct tern_type *from_type);

#endif
