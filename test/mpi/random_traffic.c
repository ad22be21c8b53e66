/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8; long: 8 16; args: 1 400; long-args: 99 5000 */
/* Random point-to-point traffic: sizes, tags, modes, wildcards, types and orders from one seed that
 * all ranks share, so each knows what must come. args: seed, messages per round. */
#include "check.h"

enum { TAGS = 5, MOST = 300000, ROUNDS = 3 };

struct message { int from, to, tag, bytes, mode; };

static int draw_bytes(uint64_t *seed)
{
    switch (random_below(seed, 8)) {
    case 0: return random_below(seed, 3) * 4;
    case 1: case 2: case 3: return random_below(seed, 40) * 4;
    case 4: case 5: return random_below(seed, 2000) * 4;
    case 6: return random_below(seed, 20000) * 4;
    default: return random_below(seed, MOST / 4) * 4;
    }
}

/* Sends as bytes or as a strided type over the same pattern: data then lies in every second int. */
static void send_one(const struct message *m, int index, void **buffer, MPI_Request *request)
{
    MPI_Datatype type = MPI_BYTE;
    int count = m->bytes, strided = m->mode >= 3;
    int *data = allocate((size_t) m->bytes * 2);
    if (strided) {
        unsigned char *packed = allocate((size_t) m->bytes);
        fill(packed, (size_t) m->bytes, index);
        for (int i = 0; i < m->bytes / 4; i++)
            memcpy(data + 2 * i, packed + 4 * i, 4);
        free(packed);
        CHECK_OK(MPI_Type_vector(m->bytes / 4, 4, 8, MPI_BYTE, &type));
        CHECK_OK(MPI_Type_commit(&type));
        count = 1;
    } else {
        fill(data, (size_t) m->bytes, index);
    }
    *buffer = data;
    if (m->mode % 3 == 1)
        CHECK_OK(MPI_Issend(data, count, type, m->to, m->tag, MPI_COMM_WORLD, request));
    else
        CHECK_OK(MPI_Isend(data, count, type, m->to, m->tag, MPI_COMM_WORLD, request));
    if (strided)
        CHECK_OK(MPI_Type_free(&type));
}

/* The first message of a source and tag that has not come yet must be the one that came. */
static void check_one(const struct message *list, char *done, int n, const MPI_Status *status,
                      const void *buffer)
{
    int count;
    CHECK_OK(MPI_Get_count(status, MPI_BYTE, &count));
    for (int i = 0; i < n; i++) {
        const struct message *m = &list[i];
        if (m->to != rank || m->from != status->MPI_SOURCE || m->tag != status->MPI_TAG || done[i])
            continue;
        CHECK_INT(count, m->bytes);
        CHECK_FILLED(buffer, (size_t) count, i);
        done[i] = 1;
        return;
    }
    FAIL("a message from %d with tag %d that nobody sent", status->MPI_SOURCE, status->MPI_TAG);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    uint64_t seed = (uint64_t) argument(argc, argv, 1), own = seed * 1000 + (uint64_t) rank;
    int n = argc > 2 ? atoi(argv[2]) : 400;
    CHECK(n >= 0);
    struct message *list = allocate((size_t) n * sizeof *list);
    MPI_Request *requests = allocate((size_t) n * sizeof *requests);
    void **buffers = allocate((size_t) n * sizeof *buffers);
    char *in = allocate(MOST), *done = allocate((size_t) n);
    for (int round = 0; round < ROUNDS; round++) {
        int sent = 0, expected = 0, received = 0, next = 0;
        for (int i = 0; i < n; i++) {
            list[i] = (struct message) { random_below(&seed, size), random_below(&seed, size),
                                         random_below(&seed, TAGS), draw_bytes(&seed),
                                         random_below(&seed, 6) };
            expected += list[i].to == rank;
        }
        memset(done, 0, (size_t) n);
        while (next < n || received < expected) {
            MPI_Status status;
            int flag = 1;
            if (next < n && random_below(&own, 3)) {
                if (list[next].from == rank) {
                    send_one(&list[next], next, &buffers[sent], &requests[sent]);
                    sent++;
                }
                next++;
                continue;
            }
            int source = random_below(&own, 2) ? MPI_ANY_SOURCE : random_below(&own, size);
            int tag = random_below(&own, 2) ? MPI_ANY_TAG : random_below(&own, TAGS);
            if (received == expected)
                continue;
            CHECK_OK(MPI_Iprobe(source, tag, MPI_COMM_WORLD, &flag, &status));
            if (!flag)
                continue;
            CHECK_OK(MPI_Recv(in, MOST, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status));
            check_one(list, done, n, &status, in);
            received++;
        }
        CHECK_OK(MPI_Waitall(sent, requests, MPI_STATUSES_IGNORE));
        while (sent > 0)
            free(buffers[--sent]);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    free(list);
    free(requests);
    free(buffers);
    free(in);
    free(done);
    return end();
}
