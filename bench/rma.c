/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided operations of rank 0 on memory of rank 1, whose process waits in MPI meanwhile: each
 * with the flush, or the end of the epoch, that completes it. Then epochs with both ranks, and all
 * ranks at once on one counter of rank 0. -o names who has the memory: allocate (MPI_Win_allocate,
 * the default), shared (MPI_Win_allocate_shared) or create (MPI_Win_create of the program's). */
#include "bench.h"

/* What a batch works on. */
struct work {
    MPI_Win win;
    char *buffer; /* at the origin */
    int bytes;
    void (*operate)(const struct work *work); /* without the flush */
};

static void put(const struct work *w)
{
    MPI_Put(w->buffer, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, w->win);
}

static void get(const struct work *w)
{
    MPI_Get(w->buffer, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, w->win);
}

static void accumulate(const struct work *w)
{
    int count = w->bytes / 8;
    MPI_Accumulate(w->buffer, count, MPI_INT64_T, 1, 0, count, MPI_INT64_T, MPI_SUM, w->win);
}

static void accumulate_double(const struct work *w)
{
    int count = w->bytes / 8;
    MPI_Accumulate(w->buffer, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, MPI_SUM, w->win);
}

static void get_accumulate(const struct work *w)
{
    int count = w->bytes / 8;
    MPI_Get_accumulate(w->buffer, count, MPI_INT64_T, w->buffer + w->bytes, count, MPI_INT64_T, 1,
                       0, count, MPI_INT64_T, MPI_SUM, w->win);
}

static void fetch_and_op(const struct work *w)
{
    MPI_Fetch_and_op(w->buffer, w->buffer + 8, MPI_INT64_T, 1, 0, MPI_SUM, w->win);
}

static void compare_and_swap(const struct work *w)
{
    MPI_Compare_and_swap(w->buffer, w->buffer + 8, w->buffer + 16, MPI_INT64_T, 1, 0, w->win);
}

static void rput(const struct work *w)
{
    MPI_Request request;
    MPI_Rput(w->buffer, w->bytes, MPI_BYTE, 1, 0, w->bytes, MPI_BYTE, w->win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double flushed(int repetitions, void *state)
{
    const struct work *w = state;
    if (rank != 0)
        return 0;
    MPI_Win_lock_all(0, w->win);
    w->operate(w);
    MPI_Win_flush(1, w->win);
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        w->operate(w);
        MPI_Win_flush(1, w->win);
    }
    double seconds = MPI_Wtime() - begin;
    MPI_Win_unlock_all(w->win);
    return seconds;
}

static double locked(int repetitions, void *state)
{
    const struct work *w = state;
    if (rank != 0)
        return 0;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w->win);
        put(w);
        MPI_Win_unlock(1, w->win);
    }
    return MPI_Wtime() - begin;
}

/* Both ranks put something between fences. */
static double fenced(int repetitions, void *state)
{
    const struct work *w = state;
    double begin = MPI_Wtime();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
    for (int i = 0; i < repetitions; i++) {
        if (rank < 2)
            MPI_Put(w->buffer, w->bytes, MPI_BYTE, 1 - rank, 0, w->bytes, MPI_BYTE, w->win);
        MPI_Win_fence(0, w->win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    return MPI_Wtime() - begin;
}

/* Rank 0 puts to rank 1, which exposes its memory each time. */
static double posted(int repetitions, void *state)
{
    const struct work *w = state;
    MPI_Group world, other;
    int peer = 1 - rank;
    if (rank > 1)
        return 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &peer, &other);
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++)
        if (rank == 0) {
            MPI_Win_start(other, 0, w->win);
            put(w);
            MPI_Win_complete(w->win);
        } else {
            MPI_Win_post(other, 0, w->win);
            MPI_Win_wait(w->win);
        }
    double seconds = MPI_Wtime() - begin;
    MPI_Group_free(&other);
    MPI_Group_free(&world);
    return seconds;
}

static double counted(int repetitions, void *state)
{
    const struct work *w = state;
    MPI_Win_lock_all(0, w->win);
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        MPI_Fetch_and_op(w->buffer, w->buffer + 8, MPI_INT64_T, 0, 8, MPI_SUM, w->win);
        MPI_Win_flush(0, w->win);
    }
    double seconds = MPI_Wtime() - begin;
    MPI_Win_unlock_all(w->win);
    return seconds;
}

static void measure(const struct bench *b, struct work *w, const char *name, long bytes,
                    bench_batch batch)
{
    w->bytes = (int) bytes;
    bench_print(name, bytes, bench_median(b, batch, w) * 1e6, "us");
}

static void operations(const struct bench *b, struct work *w)
{
    static const struct {
        const char *name;
        void (*operate)(const struct work *work);
        long first, last; /* sizes */
    } all[] = {
        { "put", put, 8, 1 << 20 },
        { "get", get, 8, 1 << 20 },
        { "rput", rput, 8, 8 },
        { "accumulate", accumulate, 8, 1 << 16 },
        { "accumulate_double", accumulate_double, 8, 1 << 16 },
        { "get_accumulate", get_accumulate, 8, 8 },
        { "fetch_and_op", fetch_and_op, 8, 8 },
        { "compare_and_swap", compare_and_swap, 8, 8 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        w->operate = all[i].operate;
        for (long bytes = all[i].first; bytes <= all[i].last && bytes <= b->most_bytes; bytes *= 8)
            measure(b, w, all[i].name, bytes, flushed);
    }
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 1 << 20);
    bench_need_ranks(2);
    size_t room = (size_t) b.most_bytes + 64;
    struct work w = { .buffer = bench_buffer(2 * room) };
    void *memory = NULL, *own = NULL;
    if (b.operations && bench_listed(b.operations, "create")) {
        own = memory = bench_buffer(room);
        MPI_Win_create(memory, (MPI_Aint) room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w.win);
    } else if (b.operations && bench_listed(b.operations, "shared")) {
        MPI_Win_allocate_shared((MPI_Aint) room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w.win);
    } else {
        MPI_Win_allocate((MPI_Aint) room, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w.win);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w.win);
    memset(memory, 0, room);
    MPI_Win_unlock(rank, w.win);
    MPI_Barrier(MPI_COMM_WORLD);
    measure(&b, &w, "lock_put_unlock", 8, locked);
    measure(&b, &w, "put_fence", 8, fenced);
    measure(&b, &w, "put_post_start", 8, posted);
    bench_print("one_counter", 8, size / bench_median(&b, counted, &w), "msg/s");
    operations(&b, &w);
    MPI_Win_free(&w.win);
    free(own);
    free(w.buffer);
    MPI_Finalize();
    return 0;
}
