/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/type/device_reduce.h"

#include "lib/accel/device_kernel.h"
#include "lib/accel/device_spare.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

enum {
    PIECE = 1 << 20,        /* bytes of a piece; more if one element is longer */
    KERNEL_BYTES = 1024, /* less is not worth a kernel */
};

static char *at(const void *base, int64_t bytes)
{
    return (char *)((uintptr_t)base + (uintptr_t)bytes);
}

/* A buffer of which pieces are copied to the host. */
struct side {
    char *base;    /* the user's buffer */
    enum tern_type_memory memory;
    char *room;    /* memory for a piece; NULL: the buffer is on the host */
};

/* Returns the address of `count` elements from number `first` on, on the host. */
static char *fetch(const struct side *side, const struct tern_type *type, int64_t first,
                   int64_t count, int *error)
{
    char *base = at(side->base, first * type->extent);
    if (!side->memory)
        return base;
    char *host = at(side->room, (type->true_lb & 15) - type->true_lb); /* aligned as ever */
    int64_t copied = tern_type_copy(host, count, type, base, count, type);
    if (copied < 0)
        *error = (int)copied;
    return host;
}

static int reduce_pieces(const struct tern_type *type, const struct side *in,
                         const struct side *inout, int64_t count, int64_t piece,
                         tern_host_reduce *reduce, void *state)
{
    int error = 0;
    for (int64_t done = 0; done < count && !error; done += piece) {
        int64_t n = count - done < piece ? count - done : piece;
        char *from = fetch(in, type, done, n, &error), *to = fetch(inout, type, done, n, &error);
        if (error)
            break;
        reduce(state, from, to, n);
        if (inout->memory) {
            int64_t copied =
                tern_type_copy(at(inout->base, done * type->extent), n, type, to, n, type);
            error = copied < 0 ? (int)copied : 0;
        }
    }
    return error;
}

/* The types of numbers for kernels; the others have none. 1 is added, so that 0 means none. */
static const uint8_t numbers[TERN_BASIC_COUNT] = {
    [TERN_BASIC_INT8] = TERN_PTX_S8 + 1,
    [TERN_BASIC_INT16] = TERN_PTX_S16 + 1,
    [TERN_BASIC_INT32] = TERN_PTX_S32 + 1,
    [TERN_BASIC_INT64] = TERN_PTX_S64 + 1,
    [TERN_BASIC_LONG] = TERN_PTX_S64 + 1,
    [TERN_BASIC_UINT8] = TERN_PTX_U8 + 1,
    [TERN_BASIC_UINT16] = TERN_PTX_U16 + 1,
    [TERN_BASIC_UINT32] = TERN_PTX_U32 + 1,
    [TERN_BASIC_UINT64] = TERN_PTX_U64 + 1,
    [TERN_BASIC_UNSIGNED_LONG] = TERN_PTX_U64 + 1,
    [TERN_BASIC_FLOAT] = TERN_PTX_F32 + 1,
    [TERN_BASIC_DOUBLE] = TERN_PTX_F64 + 1,
    [TERN_BASIC_FLOAT_COMPLEX] = TERN_PTX_COMPLEX_F32 + 1,
    [TERN_BASIC_DOUBLE_COMPLEX] = TERN_PTX_COMPLEX_F64 + 1,
    [TERN_BASIC_LOGICAL8] = TERN_PTX_U8 + 1,
    [TERN_BASIC_LOGICAL16] = TERN_PTX_U16 + 1,
    [TERN_BASIC_LOGICAL32] = TERN_PTX_U32 + 1,
    [TERN_BASIC_LOGICAL64] = TERN_PTX_U64 + 1,
    [TERN_BASIC_BYTE] = TERN_PTX_U8 + 1,
    [TERN_BASIC_CHARACTER] = TERN_PTX_S8 + 1,
    [TERN_BASIC_FLOAT_INT] = TERN_PTX_PAIR_F32_S32 + 1,
    [TERN_BASIC_DOUBLE_INT] = TERN_PTX_PAIR_F64_S32 + 1,
    [TERN_BASIC_LONG_INT] = TERN_PTX_PAIR_S64_S32 + 1,
    [TERN_BASIC_2INT] = TERN_PTX_PAIR_S32_S32 + 1,
    [TERN_BASIC_SHORT_INT] = TERN_PTX_PAIR_S16_S32 + 1,
    [TERN_BASIC_2FLOAT] = TERN_PTX_PAIR_F32_F32 + 1,
    [TERN_BASIC_2DOUBLE] = TERN_PTX_PAIR_F64_F64 + 1,
};
_Static_assert((int)TERN_PTX_MAX == (int)TERN_REDUCE_MAX &&
                   (int)TERN_PTX_BXOR == (int)TERN_REDUCE_BXOR &&
                   (int)TERN_PTX_MINLOC == (int)TERN_REDUCE_MINLOC,
               "operations have the same numbers");

/* Lets a kernel reduce. `from` is where `in` is; NULL: in host memory, so it is copied first.
 * Returns TERN_ERR_UNSUPPORTED if there is no such kernel. */
static int reduce_there(enum tern_reduce_op op, enum tern_ptx_number number, const void *in,
                        const struct tern_accel_place *from, void *inout,
                        const struct tern_accel_place *to, int64_t count)
{
    size_t bytes = (size_t)count * tern_ptx_size(number);
    struct tern_accel_batch batch;
    void *spare = from ? NULL : tern_accel_spare_take(to, bytes);
    if (!from && !spare)
        return TERN_ERR_UNSUPPORTED;
    tern_accel_begin(&batch, inout, to);
    if (spare)
        tern_accel_copy_in(&batch, spare, in, bytes);
    int rc = tern_accel_start_reduce(&batch, (enum tern_ptx_op)op, number, spare ? spare : in,
                                     inout, count);
    int error = tern_accel_end(&batch);
    if (spare)
        tern_accel_spare_give(spare);
    return rc ? rc : error;
}

/* Does the same for a typed buffer, if it is long enough to be worth it. */
static int try_kernel(const struct tern_type *type, const struct side *from,
                      const struct tern_accel_place *from_place, const struct side *to,
                      const struct tern_accel_place *to_place, int64_t count,
                      enum tern_reduce_op op)
{
    uint64_t misaligned = ((uintptr_t)from->base | (uintptr_t)to->base) %
                          (uint64_t)type->alignment;
    int number = type->basic < TERN_BASIC_COUNT ? numbers[type->basic] - 1 : -1;
    if (to->memory != TERN_TYPE_DEVICE || from->memory == TERN_TYPE_MIXED || number < 0 ||
        op > TERN_REDUCE_MINLOC || count * type->extent < KERNEL_BYTES || type->true_lb ||
        (size_t)type->extent != tern_ptx_size((enum tern_ptx_number)number) || misaligned ||
        !tern_ptx_defined((enum tern_ptx_op)op, (enum tern_ptx_number)number) ||
        (from->memory == TERN_TYPE_DEVICE && !tern_accel_same(from_place, to_place)))
        return TERN_ERR_UNSUPPORTED;
    return reduce_there(op, (enum tern_ptx_number)number, from->base,
                        from->memory == TERN_TYPE_DEVICE ? from_place : NULL, to->base, to_place,
                        count);
}

int tern_device_reduce(const struct tern_type *type, const void *in, void *inout, int64_t count,
                       enum tern_reduce_op op, tern_host_reduce *reduce, void *state)
{
    struct tern_accel_place from_place, to_place;
    struct side from = {(char *)in, tern_type_find_memory(type, in, count, &from_place), NULL},
                to = {inout, tern_type_find_memory(type, inout, count, &to_place), NULL};
    if (!from.memory && !to.memory) {
        reduce(state, in, inout, count);
        return 0;
    }
    int rc = try_kernel(type, &from, &from_place, &to, &to_place, count, op);
    if (rc != TERN_ERR_UNSUPPORTED)
        return rc;
    /* an extent may be negative, or shorter than the element */
    int64_t stride = type->extent < 0 ? -type->extent : type->extent;
    int64_t each = stride > type->true_extent ? stride : type->true_extent;
    int64_t piece = each > 0 && each < PIECE ? PIECE / each : 1;
    piece = piece < count ? piece : count;
    size_t bytes = (size_t)((piece - 1) * stride + type->true_extent) + 16;
    /* with a negative extent the elements go downwards */
    int64_t shift = type->extent < 0 ? ((piece - 1) * stride + 15) & -16 : 0;
    bytes += 16 + (15 & -bytes); /* room to align, in both halves */
    char *room = malloc(2 * bytes + 1);
    if (!room)
        return tern_error(TERN_ERR_NO_MEM, "no memory to reduce %lld elements of device memory",
                          (long long)piece);
    from.room = room + shift;
    to.room = room + bytes + shift;
    int error = reduce_pieces(type, &from, &to, count, piece, reduce, state);
    free(room);
    return error;
}
