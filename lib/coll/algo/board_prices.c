/* SPDX-License-Identifier: BSD-3-Clause */

/* The prices of collectives by way of the board (board_collectives.c), in stages
 * (lib/coll/price/price.h). */

#include "lib/coll/plan/plan.h"

/* Adds `turns` turns, in which a rank copies and reduces the bytes of `all` in total. `senders`:
 * number of ranks that all others wait for. */
static void add_turns(const struct tern_shape *shape, struct tern_stages *stages, double turns,
                      struct tern_stage all)
{
    all.repeat = turns;
    all.messages = shape->size - 1; /* a rank that takes from all looks at all of them */
    all.reduced = (int64_t)((double)all.reduced / turns);
    all.copied = (int64_t)((double)all.copied / turns);
    all.board = true;
    tern_stages_add(stages, all);
}

enum { PRICED_SHEET = 64 << 10 }; /* the longest sheet of lib/coll/run/boards.c */

/* Returns how often all ranks wait for all. Two ranks are never far apart. */
static double waits(const struct tern_shape *shape, int64_t posted)
{
    return shape->size > 2 && posted > 2 * PRICED_SHEET ? (double)posted / (2 * PRICED_SHEET) : 1;
}

/* Returns the bytes that are posted before the first reader begins. Later pieces are posted while
 * earlier ones are read. */
static int64_t first_piece(const struct tern_shape *shape)
{
    int64_t piece = shape->segment_bytes > 0 ? shape->segment_bytes : shape->bytes;
    if (shape->sheet > 0 && shape->sheet < piece)
        piece = shape->sheet;
    return piece < shape->bytes ? piece : shape->bytes;
}

void tern_board_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_turns(shape, stages, waits(shape, shape->bytes),
              (struct tern_stage){.senders = shape->size, .copied = shape->bytes * shape->size});
}

void tern_board_apart_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t all = shape->bytes * shape->size;
    add_turns(shape, stages, waits(shape, all),
              (struct tern_stage){
                  .senders = shape->size, .copied = 2 * (all - shape->bytes), .apart = true});
}

void tern_board_bcast_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_turns(shape, stages, 1, (struct tern_stage){.senders = 1});
    /* piece by piece; the root writes while the other ranks read */
    tern_stages_add(stages, (struct tern_stage){.repeat = 1,
                                                .senders = shape->size,
                                                .copied = shape->bytes + first_piece(shape),
                                                .board = true});
}

/* Gather and scatter. */
void tern_board_rooted_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_turns(shape, stages, 1,
              (struct tern_stage){.senders = 1,
                                  .copied = shape->bytes * (shape->size - 1) + first_piece(shape)});
}

/* The root copies one post, and combines the others with it while it reads them. Of short posts, up
 * to half a sheet, the reading counts besides: the first piece has nothing to overlap with
 * (docs/notes/2026-11-27-posts-between-far-cores.md, prices of reduce). */
void tern_board_reduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    enum { SHORT = PRICED_SHEET / 2 };
    int64_t others = shape->size - 1, first = shape->bytes < SHORT ? shape->bytes : SHORT;
    int64_t copied = first * others + shape->bytes - first;
    add_turns(shape, stages, 1,
              (struct tern_stage){.senders = 1,
                                  .copied = copied + first_piece(shape),
                                  .reduced = shape->bytes * others});
}

/* A rank reads and reduces the posts of the ranks before it: half of all, on average. */
void tern_board_scan_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t half = shape->bytes * (shape->size - 1) / 2;
    add_turns(shape, stages, waits(shape, shape->bytes),
              (struct tern_stage){.senders = shape->size,
                                  .copied = half + first_piece(shape),
                                  .reduced = half});
}

void tern_board_allreduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    add_turns(shape, stages, waits(shape, shape->bytes),
              (struct tern_stage){.senders = shape->size,
                                  .copied = shape->bytes * shape->size,
                                  .reduced = shape->bytes * (shape->size - 1)});
}

void tern_board_reduce_scatter_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t all = shape->bytes * shape->size;
    add_turns(
        shape, stages, waits(shape, all),
        (struct tern_stage){
            .senders = shape->size, .copied = all, .reduced = all - shape->bytes, .apart = true});
}

/* If there are fewer units than ranks, not all ranks have a slice. Those with a slice reduce all
 * posts; the others wait for the slices. */
void tern_slices_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    int64_t units = tern_units(shape->bytes, shape->unit);
    if (units >= shape->size) {
        struct tern_stage slices = {.senders = shape->size, .copied = shape->bytes};
        add_turns(shape, stages, waits(shape, shape->bytes), slices);
        slices.reduced = shape->bytes;
        slices.apart = true;
        add_turns(shape, stages, waits(shape, shape->bytes), slices);
        return;
    }
    add_turns(shape, stages, 1,
              (struct tern_stage){.senders = units,
                                  .copied = shape->bytes,
                                  .reduced = shape->unit * (shape->size - 1)});
    add_turns(shape, stages, 1, (struct tern_stage){.senders = 1, .copied = shape->bytes});
}

/* Besides, the root takes the slices of all ranks. */
void tern_slices_reduce_stages(const struct tern_shape *shape, struct tern_stages *stages)
{
    tern_slices_stages(shape, stages);
    if (tern_units(shape->bytes, shape->unit) >= shape->size)
        tern_stages_add(
            stages,
            (struct tern_stage){.repeat = 1, .senders = 1, .copied = shape->bytes, .board = true});
}
