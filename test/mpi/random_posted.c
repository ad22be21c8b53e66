/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8; long: 8; args: 7 600; long-args: 70 6000 */
/* Random receives posted before and after their messages, half of them with wildcards, must match
 * exactly as the standard's ordering says: the outcome follows from the seed. */
#include "check.h"

enum { TAGS = 3, INTS = 3000 };

/* One rank sends to one rank, so matching is determined: the first fitting receive posted. */
static void sender(uint64_t seed, int n, int to)
{
    int *data = allocate(INTS * sizeof(int));
    for (int i = 0; i < n; i++) {
        int tag = random_below(&seed, TAGS), count = 1 + random_below(&seed, INTS - 1);
        if (random_below(&seed, 3))
            count = 1 + count % 30;
        data[0] = data[count - 1] = i;
        CHECK_OK(MPI_Send(data, count, MPI_INT, to, tag, MPI_COMM_WORLD));
    }
    free(data);
}

static void receiver(uint64_t seed, int n, int from, uint64_t own)
{
    int *tags = allocate((size_t) n * sizeof(int)), *used = allocate((size_t) n * sizeof(int));
    int *data = allocate((size_t) n * INTS * sizeof(int));
    int *wanted = allocate((size_t) n * sizeof(int)), left[TAGS] = { 0 }, specific = 0;
    MPI_Request *r = allocate((size_t) n * sizeof *r);
    MPI_Status *statuses = allocate((size_t) n * sizeof *statuses);
    for (int i = 0; i < n; i++) {
        tags[i] = random_below(&seed, TAGS);
        (void) random_below(&seed, INTS - 1);
        (void) random_below(&seed, 3);
        left[tags[i]]++;
    }
    /* Receives with a tag must not starve: for each tag at most a third of its messages. */
    for (int t = 0; t < TAGS; t++)
        left[t] /= 3;
    for (int i = 0; i < n; i++) {
        int t = random_below(&own, TAGS);
        wanted[i] = MPI_ANY_TAG;
        /* The last receives take anything, so that every message finds one. */
        if (i < n / 2 && left[t] > 0 && random_below(&own, 2)) {
            wanted[i] = t;
            left[t]--;
            specific++;
        }
    }
    for (int i = 0; i < n; i++) {
        if (random_below(&own, 100) == 0)
            usleep(500);
        CHECK_OK(MPI_Irecv(data + (size_t) i * INTS, INTS, MPI_INT,
                           random_below(&own, 2) ? MPI_ANY_SOURCE : from, wanted[i], MPI_COMM_WORLD,
                           &r[i]));
    }
    CHECK_OK(MPI_Waitall(n, r, statuses));
    /* What each receive must have got: the earliest message left that it fits, in post order.
     * Both orders agree for a single source, whether receive or message came first. */
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < n && (used[k] || (wanted[i] != MPI_ANY_TAG && wanted[i] != tags[k])))
            k++;
        CHECK(k < n);
        used[k] = 1;
        CHECK_INT(statuses[i].MPI_TAG, tags[k]);
        CHECK_INT(data[(size_t) i * INTS], k);
    }
    CHECK(specific > 0);
    free(tags);
    free(used);
    free(data);
    free(wanted);
    free(r);
    free(statuses);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    uint64_t seed = (uint64_t) argument(argc, argv, 7);
    int n = argc > 2 ? atoi(argv[2]) : 600, to = (rank + 1) % size;
    for (int round = 0; round < 4; round++) {
        /* Even ranks send first, then odd ones; with an odd size the last is both in turn. */
        for (int phase = 0; phase < 3; phase++) {
            int last = size % 2 && rank == size - 1, from = (rank + size - 1) % size;
            int my_phase = last ? 2 : rank % 2;
            int its_phase = size % 2 && from == size - 1 ? 2 : from % 2;
            if (phase == my_phase)
                sender(seed + (uint64_t) (rank + 100 * round), n, to);
            if (phase == its_phase)
                receiver(seed + (uint64_t) (from + 100 * round), n, from,
                         seed * 31 + (uint64_t) rank);
        }
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return end();
}
