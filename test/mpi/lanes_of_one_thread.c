/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3; env: OMPI_MCA_btl_shm_single_copy=never OMPI_MCA_pml_eager_credit=20000 */
/* One thread works on communicators of all lanes, in MPI_THREAD_MULTIPLE or not: progress in one
 * that nobody waits for, Waitany, Waitsome and Testall across them, cancelling, floods. Ranks have
 * different numbers of lanes: rank 1 has MPI_THREAD_SINGLE. */
#include "check.h"

enum { COMMS = 16, LARGE = 300000, FLOOD = 400 };

static MPI_Comm comms[COMMS];
static int next, before;

/* A large message on one communicator needs answers of the sender while that waits on another. */
static void progress_elsewhere(void)
{
    unsigned char *out = allocate(LARGE), *in = allocate(LARGE);
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm large = comms[i], small = comms[(i + 3) % COMMS];
        MPI_Request request;
        int go = -1;
        fill(out, LARGE, rank + i);
        CHECK_OK(MPI_Isend(out, LARGE, MPI_BYTE, next, 1, large, &request));
        CHECK_OK(MPI_Recv(in, LARGE, MPI_BYTE, before, 1, large, MPI_STATUS_IGNORE));
        CHECK_FILLED(in, LARGE, before + i);
        CHECK_OK(MPI_Send(&i, 1, MPI_INT, before, 2, small));
        CHECK_OK(MPI_Recv(&go, 1, MPI_INT, next, 2, small, MPI_STATUS_IGNORE));
        CHECK_INT(go, i);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    free(out);
    free(in);
}

/* Rank 0 does nothing but wait on one communicator; its large message on another must go. */
static void one_waits(void)
{
    unsigned char *bytes = allocate(LARGE);
    MPI_Request request, other;
    fill(bytes, LARGE, 5);
    if (rank == 0) {
        CHECK_OK(MPI_Isend(bytes, LARGE, MPI_BYTE, 1, 3, comms[2], &request));
        CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 1, 4, comms[5], MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Isend(bytes, LARGE, MPI_BYTE, 1, 3, comms[3], &request));
        CHECK_OK(MPI_Irecv(NULL, 0, MPI_INT, 1, 4, comms[6], &other));
        for (int flag = 0; !flag;)
            CHECK_OK(MPI_Test(&other, &flag, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (rank == 1) {
        for (int i = 2; i < 4; i++) {
            memset(bytes, 0, LARGE);
            CHECK_OK(MPI_Recv(bytes, LARGE, MPI_BYTE, 0, 3, comms[i], MPI_STATUS_IGNORE));
            CHECK_FILLED(bytes, LARGE, 5);
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, 4, comms[i + 3]));
        }
    }
    free(bytes);
}

static void completions(void)
{
    for (int way = 0; way < 4; way++) {
        MPI_Request requests[2 * COMMS];
        int in[COMMS], out[COMMS], index = -1, indices[2 * COMMS], count, done = 0;
        for (int i = 0; i < COMMS; i++)
            CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, before, way, comms[i], &requests[i]));
        for (int i = 0; i < COMMS; i++) {
            int k = (i * 7 + way) % COMMS;
            out[k] = 1000 * way + k;
            CHECK_OK((i % 2 ? MPI_Isend : MPI_Issend)(&out[k], 1, MPI_INT, next, way, comms[k],
                                                      &requests[COMMS + i]));
        }
        while (done < 2 * COMMS) {
            if (way == 0) {
                CHECK_OK(MPI_Waitany(2 * COMMS, requests, &index, MPI_STATUS_IGNORE));
                CHECK(index >= 0);
                done++;
            } else if (way == 1) {
                CHECK_OK(MPI_Waitsome(2 * COMMS, requests, &count, indices, MPI_STATUSES_IGNORE));
                CHECK(count > 0);
                done += count;
            } else if (way == 2) {
                CHECK_OK(MPI_Testall(2 * COMMS, requests, &count, MPI_STATUSES_IGNORE));
                done = count ? 2 * COMMS : 0;
            } else {
                CHECK_OK(MPI_Waitall(2 * COMMS, requests, MPI_STATUSES_IGNORE));
                done = 2 * COMMS;
            }
        }
        for (int i = 0; i < COMMS; i++)
            CHECK_INT(in[i], 1000 * way + i);
    }
}

/* More than the credit on every communicator, to one who does not look; then it all comes in order. */
static void flood(void)
{
    static int out[FLOOD][16], in[16];
    for (int round = 0; round < 3; round++) {
        for (int k = 0; k < FLOOD; k++) {
            out[k][0] = round * FLOOD + k;
            CHECK_OK(MPI_Send(out[k], 16, MPI_INT, next, 7, comms[k % COMMS]));
        }
        for (int i = 0; i < COMMS; i++)
            for (int k = i; k < FLOOD; k += COMMS) {
                CHECK_OK(MPI_Recv(in, 16, MPI_INT, before, 7, comms[i], MPI_STATUS_IGNORE));
                CHECK_INT(in[0], round * FLOOD + k);
            }
    }
}

static void take_back(void)
{
    for (int i = 0; i < COMMS; i++) {
        MPI_Request request;
        MPI_Status status;
        int word = i, flag = -1, there;
        CHECK_OK(MPI_Issend(&word, 1, MPI_INT, next, 8, comms[i], &request));
        CHECK_OK(MPI_Barrier(comms[(i + 1) % COMMS]));
        CHECK_OK(MPI_Cancel(&request));
        CHECK_OK(MPI_Wait(&request, &status));
        CHECK_OK(MPI_Test_cancelled(&status, &flag));
        CHECK(flag);
        CHECK_OK(MPI_Barrier(comms[(i + 1) % COMMS]));
        CHECK_OK(MPI_Iprobe(before, 8, comms[i], &there, MPI_STATUS_IGNORE));
        CHECK(!there);
    }
}

static void collectives(void)
{
    for (int i = 0; i < COMMS; i++) {
        MPI_Request requests[2];
        int sum = -1, word = rank == i % size ? i : -1;
        CHECK_OK(MPI_Iallreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[i], &requests[0]));
        CHECK_OK(MPI_Ibcast(&word, 1, MPI_INT, i % size, comms[(i + 1) % COMMS], &requests[1]));
        CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK_INT(sum, i * size);
        CHECK_INT(word, i);
    }
}

int main(int argc, char **argv)
{
    const char *rank_text = getenv("OMPI_COMM_WORLD_RANK");
    int wanted = rank_text && atoi(rank_text) == 1 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
    start_threads(&argc, &argv, wanted);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    for (int i = 0; i < COMMS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    progress_elsewhere();
    one_waits();
    completions();
    flood();
    take_back();
    collectives();
    for (int i = 0; i < COMMS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    return end();
}
