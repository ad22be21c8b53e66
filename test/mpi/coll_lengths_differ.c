/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4; env: OMPI_MCA_check_level=basic */
/* A broadcast of which the root sends fewer bytes than another rank expects is an error there, and
 * so is one that sends more: in the first calls, which use messages, and in later ones, which use
 * the node's memory. What came is in the buffer, the rest is as it was, and the next calls are
 * right. A gather of less than there is room for is none; where more comes, it is an error. The
 * numbers are near each other, because ranks choose the way by the number of bytes. */
#include "check.h"

enum { MOST = 100, TIMES = 60 };
static int buf[4 * MOST], mine[MOST];

/* All ranks know how many have got an error. Those that got none have passed a message on. */
static void check_codes(int line, int code, int class, int at_all)
{
    int wrong = code != MPI_SUCCESS, total;
    if (wrong)
        check_class(__FILE__, line, "class", code, class);
    CHECK_OK(MPI_Allreduce(&wrong, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (total < 1 || (at_all && total != at_all))
        check_fail(__FILE__, line, "%d ranks got an error, expected %d", total, at_all);
}

static int bcast(int how, int count, MPI_Request *prepared)
{
    MPI_Request request;
    switch (how) {
    case 0: return MPI_Bcast(buf, count, MPI_INT, 0, MPI_COMM_WORLD);
    case 1:
        CHECK_OK(MPI_Ibcast(buf, count, MPI_INT, 0, MPI_COMM_WORLD, &request));
        return MPI_Wait(&request, MPI_STATUS_IGNORE);
    default: CHECK_OK(MPI_Start(prepared));
        return MPI_Wait(prepared, MPI_STATUS_IGNORE);
    }
}

static void broadcasts(int how, int root_count, int count)
{
    MPI_Request prepared = MPI_REQUEST_NULL;
    int own = rank ? count : root_count, less = count < root_count ? count : root_count;
    if (how == 2)
        CHECK_OK(MPI_Bcast_init(buf, own, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &prepared));
    for (int k = 0; k < TIMES; k++) {
        for (int i = 0; i < MOST; i++)
            buf[i] = rank ? -1 : k + i;
        int code = bcast(how, own, &prepared);
        check_codes(__LINE__, code, root_count < count ? MPI_ERR_NOT_SAME : MPI_ERR_TRUNCATE,
                    size < 4 ? size - 1 : 0);
        for (int i = 0; rank && i < less; i++)
            CHECK_INT(buf[i], k + i);
        for (int i = count; rank && i < MOST; i++)
            CHECK_INT(buf[i], -1);
        for (int i = less; i < count && rank && size < 4; i++)
            CHECK_INT(buf[i], -1);
    }
    if (how == 2)
        CHECK_OK(MPI_Request_free(&prepared));
}

static void gathers(int sent, int room)
{
    for (int k = 0; k < TIMES; k++) {
        for (int i = 0; i < 4 * MOST; i++)
            buf[i] = -1;
        for (int i = 0; i < sent; i++)
            mine[i] = k + rank + i;
        int code = MPI_Gather(mine, rank ? sent : room, MPI_INT, buf, room, MPI_INT, 0, MPI_COMM_WORLD);
        if (sent > room)
            check_codes(__LINE__, code, MPI_ERR_TRUNCATE, 1);
        else
            CHECK_OK(code);
        for (int r = 1; !rank && r < size && size < 4; r++)
            for (int i = 0; i < room; i++)
                CHECK_INT(buf[r * room + i], i < sent ? k + r + i : -1);
    }
}

static void reductions(void)
{
    int count = rank ? 10 : 5;
    for (int k = 0; k < TIMES; k++) {
        int code = MPI_Allreduce(mine, buf, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD), class = MPI_SUCCESS;
        if (code != MPI_SUCCESS)
            MPI_Error_class(code, &class);
        check_codes(__LINE__, code, class == MPI_ERR_TRUNCATE ? class : MPI_ERR_NOT_SAME, 0);
    }
}

int main(int argc, char **argv)
{
    static const int counts[][2] = {{5, 10}, {1, 28}};
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    for (int how = 0; how < 3; how++)
        for (int i = 0; i < 2; i++) {
            broadcasts(how, counts[i][0], counts[i][1]);
            broadcasts(how, counts[i][1], counts[i][0]);
        }
    for (int i = 0; i < 2; i++) {
        gathers(counts[i][0], counts[i][1]);
        gathers(counts[i][1], counts[i][0]);
    }
    reductions();
    return end();
}
