/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 4; args: 100 1; long-args: 10000 1 2048; limit: 3600 */
/* Random windows and blocks of MPI_Alloc_mem of 4 KiB to 2 GiB, made and freed in any order, beside
 * a count of the memory that they take: none is refused that fits, all are zero and apart, and what
 * is freed is free for the next. Arguments: number of steps, seed, and how many MiB of the node's
 * free memory windows must leave. Without the last at most HELD bytes exist. With it, phases in which
 * more is made than freed follow others, so that windows meet the end of the memory now and then. */
#include "counter.h"

#include <stdbool.h>

enum { PIECES = 200, PIECES_SMALL = 40, PHASE = 200 };
#define HELD ((MPI_Aint)5 << 29) /* 2.5 GiB */

static struct piece {
    MPI_Aint bytes;
    MPI_Win win; /* MPI_WIN_NULL: memory of MPI_Alloc_mem, of rank `owner` */
    int owner, mark;
    char *base;
} pieces[PIECES];
static int count;
static MPI_Aint held, most; /* bytes of all windows, now and at most */
static MPI_Aint spare;      /* bytes of the node's free memory to leave; 0: HELD is the limit */
static int met;             /* how often a window did not fit */
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
    if (spare && draw(8) == 0)
        bytes = 4096 + (MPI_Aint)draw((uint64_t)1 << 31);
    return bytes < (MPI_Aint)1 << 31 ? bytes : (MPI_Aint)1 << 31;
}

/* Returns the number behind `word` in a file, the first one without a word; -1 if there is none. */
static MPI_Aint read_number(const char *path, const char *word)
{
    char line[200];
    long long number = -1;
    FILE *file = fopen(path, "r");
    while (file && number < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, word, strlen(word)) == 0)
            sscanf(line + strlen(word), "%lld", &number);
    if (file)
        fclose(file);
    return (MPI_Aint)number;
}

/* Returns the bytes that the node, or the container around this job, has left. */
static MPI_Aint free_bytes(void)
{
    MPI_Aint left = read_number("/proc/meminfo", "MemAvailable:") << 10;
    MPI_Aint limit = read_number("/sys/fs/cgroup/memory.max", "");
    MPI_Aint used = read_number("/sys/fs/cgroup/memory.current", "");
    if (limit < 0) {
        limit = read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", "");
        used = read_number("/sys/fs/cgroup/memory/memory.usage_in_bytes", "");
    }
    return limit >= 0 && used >= 0 && limit - used < left ? limit - used : left;
}

/* Returns true if there is memory for a window. Other programs take some and give it back, so one
 * rank looks each time. */
static bool fits(MPI_Aint bytes)
{
    int fit = held + bytes <= HELD;
    if (spare) {
        fit = rank || bytes + bytes / 64 <= free_bytes() - spare;
        CHECK_OK(MPI_Bcast(&fit, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    met += !fit;
    return fit;
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
    most = held > most ? held : most;
}

static void make_one(int step)
{
    struct piece *piece = &pieces[count++];
    *piece = (struct piece){.bytes = draw_bytes(), .win = MPI_WIN_NULL, .mark = step % 100 + 1,
                            .owner = (int)draw((uint64_t)size)};
    int kind = (int)draw(3);
    if (kind > 0 && fits(piece->bytes)) {
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
    spare = argc > 3 ? (MPI_Aint)atoll(argv[3]) << 20 : 0;
    for (int step = 0; step < steps; step++) {
        bool more = !spare ? draw(2) : draw(8) < (step / PHASE % 2 ? 1 : 7);
        if (count == 0 || (count < (spare ? PIECES : PIECES_SMALL) && more))
            make_one(step);
        else
            free_one();
    }
    while (count)
        free_one();
    CHECK_INT((long long)counter_read(&private_windows), 0);
    counter_close(&private_windows);
    if (spare && rank == 0)
        printf("windows of up to %lld MiB; %d did not fit\n", (long long)(most >> 20), met);
    CHECK(!spare || steps < 10 * PHASE || met > 0);
    return end();
}
