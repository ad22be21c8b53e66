/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 4; args: 100 1; long-args: 10000 1; limit: 3600 */
/* Random windows and blocks of MPI_Alloc_mem of 4 KiB to 2 GiB, made and freed in any order, beside
 * a count of the memory that they take: none is refused that fits, all are zero and apart, and what
 * is freed is free for the next. Arguments: number of steps, seed. At most HELD bytes exist. */
#include "counter.h"

#include <stdbool.h>

enum { PIECES = 40 };
#define HELD ((MPI_Aint)5 << 29) /* 2.5 GiB */

static struct piece {
    MPI_Aint bytes;
    MPI_Win win; /* MPI_WIN_NULL: memory of MPI_Alloc_mem, of rank `owner` */
    int owner, mark;
    char *base;
} pieces[PIECES];
static int count;
static MPI_Aint held; /* bytes of all windows */
static uint64_t seed;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % below;
}

static MPI_Aint draw_bytes(void)
{
    MPI_Aint bytes = (MPI_Aint)4096 << draw(20);
    bytes += (MPI_Aint)draw((uint64_t)bytes);
    return bytes < (MPI_Aint)1 << 31 ? bytes : (MPI_Aint)1 << 31;
}

/* The places of a piece that are touched. */
static MPI_Aint place(const struct piece *piece, int i)
{
    return i == 0 ? 0 : i == 1 ? piece->bytes - 1 : piece->bytes / 2 + i;
}

static void write_marks(struct piece *piece, bool zero)
{
    for (int i = 0; i < 4; i++) {
        if (zero)
            CHECK_INT(piece->base[place(piece, i)], 0);
        piece->base[place(piece, i)] = (char)piece->mark;
    }
}

static void check_marks(const struct piece *piece)
{
    for (int i = 0; i < 4; i++)
        CHECK_INT(piece->base[place(piece, i)], (char)piece->mark);
}

static void make_window(struct piece *piece, bool shared)
{
    MPI_Aint mine = rank == piece->owner ? piece->bytes : 0, length;
    int unit;
    CHECK_OK((shared ? MPI_Win_allocate_shared
                     : MPI_Win_allocate)(mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &piece->base,
                                         &piece->win));
    if (shared)
        CHECK_OK(MPI_Win_shared_query(piece->win, piece->owner, &length, &unit, &piece->base));
    if (rank != piece->owner && !shared)
        piece->base = NULL;
    if (rank == piece->owner)
        write_marks(piece, true);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* before others look */
    held += piece->bytes;
}

static void make_one(int step)
{
    struct piece *piece = &pieces[count++];
    *piece = (struct piece){.bytes = draw_bytes(), .win = MPI_WIN_NULL, .mark = step % 100 + 1,
                            .owner = (int)draw((uint64_t)size)};
    int kind = (int)draw(3);
    if (kind > 0 && held + piece->bytes <= HELD) {
        make_window(piece, kind == 1);
        return;
    }
    if (rank == piece->owner) {
        CHECK_OK(MPI_Alloc_mem(piece->bytes, MPI_INFO_NULL, &piece->base));
        write_marks(piece, false);
    }
}

static void free_one(void)
{
    struct piece *piece = &pieces[draw((uint64_t)count)];
    if (piece->base)
        check_marks(piece);
    if (piece->win != MPI_WIN_NULL) {
        held -= piece->bytes;
        CHECK_OK(MPI_Win_free(&piece->win)); /* a barrier: all have looked */
    } else if (piece->base) {
        CHECK_OK(MPI_Free_mem(piece->base));
    }
    *piece = pieces[--count];
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    struct counter private_windows = counter_open("rma_private_windows", MPI_THREAD_SINGLE);
    int steps = argc > 1 ? atoi(argv[1]) : 400;
    seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    for (int step = 0; step < steps; step++) {
        if (count == 0 || (count < PIECES && draw(2)))
            make_one(step);
        else
            free_one();
    }
    while (count)
        free_one();
    CHECK_INT((long long)counter_read(&private_windows), 0);
    counter_close(&private_windows);
    return end();
}
