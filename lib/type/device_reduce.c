/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/type/device_reduce.h"

#include "lib/util/error.h"

#include <stdlib.h>

enum { PIECE = 1 << 20 }; /* bytes of a piece; more if one element is longer */

static char *at(const void *base, int64_t bytes)
{
    return (char *)((uintptr_t)base + (uintptr_t)bytes);
}

/* A buffer of which pieces are copied to the host. */
struct side {
    char *base;    /* the user's buffer */
    bool device;
    char *room;    /* memory for a piece; NULL: the buffer is on the host */
};

/* Returns the address of `count` elements from number `first` on, on the host. */
static char *fetch(const struct side *side, const struct tern_type *type, int64_t first,
                   int64_t count, int *error)
{
    char *base = at(side->base, first * type->extent);
    if (!side->device)
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
        if (inout->device) {
            int64_t copied =
                tern_type_copy(at(inout->base, done * type->extent), n, type, to, n, type);
            error = copied < 0 ? (int)copied : 0;
        }
    }
    return error;
}

static bool is_device(const struct tern_type *type, const void *base, int64_t count)
{
    struct tern_accel_place place;
    return tern_type_find_memory(type, base, count, &place) != TERN_TYPE_HOST;
}

int tern_device_reduce(const struct tern_type *type, const void *in, void *inout, int64_t count,
                       tern_host_reduce *reduce, void *state)
{
    struct side from = {(char *)in, is_device(type, in, count), NULL},
                to = {inout, is_device(type, inout, count), NULL};
    if (!from.device && !to.device) {
        reduce(state, in, inout, count);
        return 0;
    }
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
