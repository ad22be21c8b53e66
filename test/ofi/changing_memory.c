/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks send each other long messages from and to memory that changes all the time: it is given back to the system, moved,
 * emptied, and comes again at the same addresses. No byte may be of an earlier page. Argument: the number of messages. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LEAST = 32 << 10, MOST = 256 << 10, PLACES = 6 };

/* Memory of the program, by one of the ways to get some. */
struct place {
    char *start;
    size_t length;
    int mapped; /* by mmap, not malloc */
};

static uint64_t state;

static uint64_t next(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static void *map(size_t length)
{
    void *start = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        abort();
    return start;
}

static void drop(struct place *place)
{
    if (place->mapped && place->start)
        munmap(place->start, place->length);
    else
        free(place->start);
    *place = (struct place){0};
}

static void get(struct place *place)
{
    place->length = LEAST + next() % (MOST - LEAST);
    place->mapped = (int)(next() % 2);
    place->start = place->mapped ? map(place->length) : malloc(place->length);
}

/* Changes what is at the addresses of a place, or not. */
static void change(struct place *place)
{
    if (!place->start) {
        get(place);
        return;
    }
    switch (next() % 6) {
    case 0:
        drop(place);
        get(place);
        break;
    case 1:
        if (place->mapped)
            madvise(place->start, place->length, MADV_DONTNEED);
        break;
    case 2:
        if (place->mapped) { /* to another place, and new memory where it was */
            char *to = map(place->length), *was = place->start;
            place->start = mremap(place->start, place->length, place->length, MREMAP_MAYMOVE | MREMAP_FIXED, to);
            if (mmap(was, place->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == was) {
                munmap(place->start, place->length);
                place->start = was;
            }
        }
        break;
    case 3:
        if (place->mapped) /* new memory over the old */
            mmap(place->start, place->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        break;
    default:
        break; /* as it is: here a registration can be used again */
    }
}

int main(int argc, char **argv)
{
    struct place places[2][PLACES] = {0};
    int rank, times = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    state = (uint64_t)rank + 1;
    for (int i = 0; i < times; i++) {
        struct place *from = &places[0][next() % PLACES], *to = &places[1][next() % PLACES];
        MPI_Status status;
        int count;
        change(from);
        change(to);
        memset(from->start, i + rank, from->length);
        memset(to->start, 0xff, to->length);
        MPI_Sendrecv(from->start, LEAST, MPI_CHAR, 1 - rank, 0, to->start, (int)to->length, MPI_CHAR,
                     1 - rank, 0, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        for (int k = 0; k < count; k++)
            if (to->start[k] != (char)(i + 1 - rank)) {
                printf("FAILED %s:%d: message %d, byte %d of %d is %d, expected %d\n", __FILE__, __LINE__, i, k, count, to->start[k],
                       (char)(i + 1 - rank));
                MPI_Abort(MPI_COMM_WORLD, 1);
            }
    }
    for (int i = 0; i < 2 * PLACES; i++)
        drop(&places[i / PLACES][i % PLACES]);
    MPI_Finalize();
    printf("done\n");
    return 0;
}
