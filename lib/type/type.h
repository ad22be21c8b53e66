/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TYPE_H
#define TERN_TYPE_H

/*
 * The layout of a datatype as a flat program, and cursors that move bytes through it.
 *
 * This room knows bytes, not MPI objects: envelope, name, attributes belong to struct tern_datatype
 * (lib/mpi/datatype/datatype.h), which embeds a struct tern_type. A type is compiled once, when it
 * is made, into a program of contiguous, strided and indexed runs; a cursor packs or unpacks from
 * any byte offset of the packed stream, so that pipelines can stop anywhere.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/* Class of a basic element, for reductions and for external32. TERN_BASIC_NONE: mixed or none. */
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
    TERN_BASIC_LOGICAL64, /* Fortran LOGICAL, C bool */
    TERN_BASIC_BYTE,      /* MPI_BYTE: no arithmetic but bitwise */
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
    TERN_BASIC_2DOUBLE, /* MAXLOC, MINLOC pairs */
    TERN_BASIC_2FLOAT_COMPLEX,
    TERN_BASIC_2DOUBLE_COMPLEX,  /* no reductions in the standard */
    TERN_BASIC_FLOAT128_COMPLEX, /* complex*32 */
    TERN_BASIC_COUNT
};

struct tern_program; /* private to lib/type (program.h) */

struct tern_type {
    int64_t size;       /* bytes of data in one element */
    int64_t lb, extent; /* bytes */
    int64_t true_lb, true_extent;
    /* basic elements in one of this type; a pair such as MPI_DOUBLE_INT is two */
    int64_t elements;
    /* bytes that one element has less in external32, where some types are shorter */
    int64_t narrowed;
    int64_t start;     /* where the program begins, in bytes; of a gapless type true_lb */
    int32_t alignment; /* of the strictest basic element, bytes */
    /* enum tern_basic of all basic elements, or TERN_BASIC_NONE: not all the same */
    uint8_t basic;
    bool gapless;    /* one element is one run of `size` bytes at true_lb */
    bool contiguous; /* gapless, and so are `count` elements for every count: extent == size */
    bool committed;  /* may be used in communication */
    bool lb_marked;  /* lb was set by MPI_LB or a resize, so that it prevails over unmarked parts of
                        a larger type */
    bool ub_marked;
    struct tern_program *program; /* NULL: gapless (or empty). A reference of its own, shared with
                                     types made from it */
};

/* What the library itself sends: bytes. */
extern const struct tern_type tern_type_bytes;

/* A position in the packed stream of `count` elements at `base`. Owns nothing; base and type must
 * outlive it. */
struct tern_cursor {
    const struct tern_type *type;
    char *base; /* user's buffer; of a send it is only read */
    int64_t count;
    int64_t length; /* packed bytes in all: type->size * count */
    int64_t offset; /* packed bytes already passed; the whole position */
};

/* Cursor at offset 0. type->size * count fits int64_t. */
static inline void tern_cursor_init(struct tern_cursor *cursor, const struct tern_type *type,
                                    const void *base, int64_t count)
{
    *cursor = (struct tern_cursor){type, (char *)base, count, type->size * count, 0};
}

/* Moves to any offset 0..length. Costs nothing: the next pack, unpack or runs finds the place in
 * O(depth of the program + log of indexed runs). */
static inline void tern_cursor_seek(struct tern_cursor *cursor, int64_t offset)
{
    cursor->offset = offset;
}

/* Copies up to `max` bytes of the packed stream to `out` and advances; returns the bytes copied
 * (less only at the end). */
size_t tern_cursor_pack(struct tern_cursor *cursor, void *out, size_t max);
/* The reverse: takes `length` packed bytes from `in`; returns the bytes taken (less only at the
 * end). */
size_t tern_cursor_unpack(struct tern_cursor *cursor, const void *in, size_t length);
/* Describes the next up to `max_bytes` bytes by at most `max_runs` runs of memory, adjacent runs
 * merged, and advances. Returns the number of runs; *ret_bytes (may be NULL) is how much they
 * cover. */
int tern_cursor_runs(struct tern_cursor *cursor, struct iovec *runs, int max_runs, size_t max_bytes,
                     size_t *ret_bytes);

/* Does `count` elements at `base` lie in one run? If so *ret_start is its first byte. The test of
 * the fast path. */
static inline bool tern_type_run(const struct tern_type *type, const void *base, int64_t count,
                                 void **ret_start)
{
    if (!(type->contiguous || (type->gapless && count == 1)))
        return false;
    /* Integers, for base may be NULL (MPI_BOTTOM) and true_lb an address. */
    *ret_start = (void *)((uintptr_t)base + (uintptr_t)type->true_lb);
    return true;
}

/* Copies min(source, destination) bytes of one typed buffer to another, in the same process (not
 * overlapping). Returns the bytes copied. */
int64_t tern_type_copy(void *to, int64_t to_count, const struct tern_type *to_type,
                       const void *from, int64_t from_count, const struct tern_type *from_type);

#endif
