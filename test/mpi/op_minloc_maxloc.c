/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* MPI_MINLOC and MPI_MAXLOC on all pair types: the extreme value, of equals the smallest index. */
#include "check.h"

enum { N = 40 };

#define RUN(mpi_type, type) \
    do { \
        struct { type value; int at; } in[N], low[N], high[N]; \
        memset(low, 0, sizeof low); \
        memset(high, 0, sizeof high); \
        for (int i = 0; i < N; i++) { \
            in[i].value = (type) ((rank * 5 + i) % 4 - 1); \
            in[i].at = (rank * 3 + i) % 7 - 2; \
        } \
        CHECK_OK(MPI_Allreduce(in, low, N, mpi_type, MPI_MINLOC, MPI_COMM_WORLD)); \
        CHECK_OK(MPI_Allreduce(in, high, N, mpi_type, MPI_MAXLOC, MPI_COMM_WORLD)); \
        for (int i = 0; i < N; i++) { \
            type least = 100, most = -100; \
            int least_at = 0, most_at = 0; \
            for (int r = 0; r < size; r++) { \
                type v = (type) ((r * 5 + i) % 4 - 1); \
                int at = (r * 3 + i) % 7 - 2; \
                if (v < least || (v == least && at < least_at)) { \
                    least = v; \
                    least_at = at; \
                } \
                if (v > most || (v == most && at < most_at)) { \
                    most = v; \
                    most_at = at; \
                } \
            } \
            CHECK(low[i].value == least && high[i].value == most); \
            CHECK_INT(low[i].at, least_at); \
            CHECK_INT(high[i].at, most_at); \
        } \
    } while (0)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    RUN(MPI_FLOAT_INT, float);
    RUN(MPI_DOUBLE_INT, double);
    RUN(MPI_LONG_INT, long);
    RUN(MPI_2INT, int);
    RUN(MPI_SHORT_INT, short);
    RUN(MPI_LONG_DOUBLE_INT, long double);
    return end();
}
