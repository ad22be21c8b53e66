/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; env: OMPI_MCA_progress_thread=1 */
/* With a progress thread transfers that need answers of both sides, and nonblocking collectives, end while no rank calls
 * MPI. The thread level stays what was asked for, and the thread comes and goes with the library's users. */
#include "check.h"

#include <time.h>

enum { LARGE = 4 << 20, ROUNDS = 20, PATIENCE_S = 60 };

/* Without MPI: until the byte has come; nothing orders that by the book. */
__attribute__((no_sanitize("thread")))
static void await_byte(const volatile unsigned char *byte, unsigned char value)
{
    time_t end = time(NULL) + PATIENCE_S;
    while (*byte != value) {
        CHECK(time(NULL) < end);
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
}

static void exchange_large(unsigned char *out, unsigned char *in, int round)
{
    MPI_Request requests[2];
    int other = rank ^ 1;
    memset(out, round, LARGE);
    MPI_Irecv(in, LARGE, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, LARGE, MPI_BYTE, other, 1, MPI_COMM_WORLD, &requests[1]);
    await_byte(&in[LARGE - 1], (unsigned char)round);
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < LARGE; i++)
        CHECK(in[i] == (unsigned char)round);
}

/* Several rounds of messages, each begun by the arrival of the one before. */
static void reduce(int round)
{
    MPI_Request request;
    unsigned char one = 1, sum = 0;
    MPI_Iallreduce(&one, &sum, 1, MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD, &request);
    if (round % 2)
        await_byte(&sum, (unsigned char)size);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(sum, size);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Session session;
    start(&argc, &argv);
    CHECK_OK(MPI_Query_thread(&level));
    CHECK_INT(level, MPI_THREAD_SINGLE);
    unsigned char *out = allocate(LARGE), *in = allocate(LARGE);
    for (int round = 1; round <= ROUNDS; round++) {
        exchange_large(out, in, round);
        reduce(round);
    }
    free(out);
    free(in);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        CHECK_OK(MPI_Session_finalize(&session));
    }
    return end();
}
