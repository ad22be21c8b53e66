/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One process's part of an array that is dealt out in blocks (MPI-4.1 section 5.1.4). All of HPF's
 * distributions are cyclic ones: BLOCK has blocks so long that one round is enough, NONE has one
 * process.
 */
#include "lib/type/layout.h"

#include "lib/util/base/error.h"

/* Replaces `inner`, the type of one index of a dimension, by this process's part of the whole
 * dimension: whole blocks, one round apart, then maybe the beginning of a block at the array's
 * end. */
static int deal_dimension(struct tern_type *inner, const struct tern_deal *deal, int64_t slice)
{
    int64_t turn = deal->block * deal->processes, first = deal->coordinate * deal->block;
    int64_t rest =
        deal->size > first ? deal->size - first : 0; /* from our first index to the end */
    int64_t whole = rest / turn + (rest % turn >= deal->block);
    int64_t last = rest % turn < deal->block ? rest % turn : 0;
    struct tern_type block, blocks, tail, dealt;
    int64_t lengths[] = {1, last > 0};
    int64_t places[] = {first * slice, (first + whole * turn) * slice};

    int error = tern_type_make_vector(inner, deal->block, 1, slice, &block);
    if (error)
        return error;
    error = tern_type_make_vector(&block, whole, 1, turn * slice, &blocks);
    if (error)
        goto drop_block;
    error = tern_type_make_vector(inner, last, 1, slice, &tail);
    if (error)
        goto drop_blocks;
    error = tern_type_make_struct((const struct tern_type *const[]){&blocks, &tail}, 2,
                                  (struct tern_ints){lengths, 8}, (struct tern_ints){places, 8},
                                  &dealt);
    if (error)
        goto drop_tail;
    tern_type_drop(inner);
    *inner = dealt;

drop_tail:
    tern_type_drop(&tail);
drop_blocks:
    tern_type_drop(&blocks);
drop_block:
    tern_type_drop(&block);
    return error;
}

/* Returns TERN_ERR_ARG if the whole array, with the last round, which may reach beyond its end, has
 * 2^63 bytes or more. */
static int measure(const struct tern_type *old, int dims, const struct tern_deal deals[])
{
    int64_t bytes = old->extent, turn, more;
    for (int i = 0; i < dims; i++) {
        const struct tern_deal *deal = &deals[i];
        if (__builtin_mul_overflow(deal->block, deal->processes, &turn) ||
            __builtin_add_overflow(turn, deal->size, &more) ||
            __builtin_mul_overflow(bytes, more, &bytes))
            return tern_error(TERN_ERR_ARG,
                              "the whole distributed array would have 2^63 bytes or more");
    }
    return 0;
}

int tern_type_make_distributed(const struct tern_type *old, int dims,
                               const struct tern_deal deals[], bool fortran,
                               struct tern_type *ret_type)
{
    struct tern_type part;
    int64_t slice = old->extent; /* bytes of one index of the present dimension */
    int error = measure(old, dims, deals);
    if (error)
        return error;
    tern_type_make_dup(old, &part);
    for (int i = 0; i < dims && !error; i++) {
        const struct tern_deal *deal = &deals[fortran ? i : dims - 1 - i];
        error = deal_dimension(&part, deal, slice);
        slice *= deal->size;
    }
    if (!error)
        error = tern_type_make_resized(&part, 0, slice, ret_type);
    tern_type_drop(&part);
    return error;
}
