/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long-args: 400; needs: MPI_Psend_init */
/* Partitioned messages arrive whole whatever the numbers of partitions on both sides, their sizes,
 * the order in which partitions become ready, and how often the requests are started again; also
 * between types with gaps. */
#include "check.h"

/* Partitions and ints in each of both sides; the products are equal. */
static const struct shape {
    int send_partitions, send_count, recv_partitions, recv_count;
} shapes[] = {
    {1, 1, 1, 1},      {1, 12, 12, 1},       {12, 1, 1, 12},         {6, 4, 4, 6},
    {7, 9, 9, 7},      {64, 33, 64, 33},     {100, 7, 7, 100},       {3, 100000, 5, 60000},
    {1000, 3, 500, 6}, {2, 70000, 700, 200}, {1, 400000, 1, 400000}, {0, 5, 0, 5},
    {4, 0, 4, 0},      {4, 0, 2, 0},         {0, 3, 6, 0},
};
enum { ORDERS = 4, ROUNDS = 3 };

/* Says that all are ready: one after the other, backwards, by a range and a list, at random. */
static void ready(MPI_Request request, int partitions, int order, uint64_t *seed)
{
    int *list = allocate((size_t)partitions * sizeof *list), half = partitions / 2;
    for (int i = 0; i < partitions; i++)
        list[i] = i;
    if (order == 2) {
        if (half < partitions)
            CHECK_OK(MPI_Pready_range(half, partitions - 1, request));
        CHECK_OK(MPI_Pready_list(half, list, request));
        free(list);
        return;
    }
    for (int i = 0; i < partitions && order; i++) {
        int j = order == 1 ? partitions - 1 - i : random_below(seed, partitions), kept = list[i];
        if (order == 1 && j <= i)
            break;
        list[i] = list[j];
        list[j] = kept;
    }
    for (int i = 0; i < partitions; i++)
        CHECK_OK(MPI_Pready(list[i], request));
    free(list);
}

static void check_status(const MPI_Status *status, int from, int tag, int count)
{
    int got = -1;
    CHECK_INT(status->MPI_SOURCE, from);
    CHECK_INT(status->MPI_TAG, tag);
    CHECK_OK(MPI_Get_count(status, MPI_INT, &got));
    CHECK_INT(got, count);
}

/* Around a ring. `gap` ints lie behind each int of the receiver, and of the sender with another
 * number. */
static void exchange(const struct shape *shape, int order, int send_gap, int recv_gap,
                     uint64_t *seed)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, tag = 3 + order;
    int sent = shape->send_partitions * shape->send_count,
        received = shape->recv_partitions * shape->recv_count;
    int *out = allocate((size_t)(sent + 1) * (size_t)(send_gap + 1) * sizeof *out);
    int *in = allocate((size_t)(received + 1) * (size_t)(recv_gap + 1) * sizeof *in);
    MPI_Datatype send_type, recv_type;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)((send_gap + 1) * (int)sizeof(int)),
                                     &send_type));
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)((recv_gap + 1) * (int)sizeof(int)),
                                     &recv_type));
    CHECK_OK(MPI_Type_commit(&send_type));
    CHECK_OK(MPI_Type_commit(&recv_type));
    CHECK_OK(MPI_Psend_init(out, shape->send_partitions, shape->send_count, send_type, to, tag,
                            MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
    CHECK_OK(MPI_Precv_init(in, shape->recv_partitions, shape->recv_count, recv_type, from, tag,
                            MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    CHECK_OK(MPI_Type_free(&send_type));
    CHECK_OK(MPI_Type_free(&recv_type));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < sent; i++)
            out[i * (send_gap + 1)] = 1000 * rank + i + round;
        for (int i = 0; i < (received + 1) * (recv_gap + 1); i++)
            in[i] = -1;
        if (round % 2) {
            CHECK_OK(MPI_Startall(2, requests));
            ready(requests[0], shape->send_partitions, order, seed);
        } else { /* most is sent before the receiver has started */
            CHECK_OK(MPI_Start(&requests[0]));
            ready(requests[0], shape->send_partitions, order, seed);
            CHECK_OK(MPI_Start(&requests[1]));
        }
        CHECK_OK(MPI_Waitall(2, requests, statuses));
        check_status(&statuses[1], from, tag, received);
        for (int i = 0; i < received; i++)
            CHECK_INT(in[i * (recv_gap + 1)], 1000 * from + i + round);
        for (int i = 0; i < (received + 1) * (recv_gap + 1); i++)
            if (i % (recv_gap + 1) || i / (recv_gap + 1) >= received)
                CHECK_INT(in[i], -1);
        for (int i = 0; i < shape->recv_partitions; i++) { /* inactive: all are there */
            int flag = -1;
            CHECK_OK(MPI_Parrived(requests[1], i, &flag));
            CHECK_INT(flag, 1);
        }
    }
    CHECK_OK(MPI_Request_free(&requests[0]));
    CHECK_OK(MPI_Request_free(&requests[1]));
    free(out);
    free(in);
}

/* A partition of the sender ends in the middle of an element of the receiver. */
static void cut_elements(void)
{
    enum { PAIRS = 1500 };
    static int out[2 * PAIRS], in[3 * PAIRS];
    static const int parts[] = {3, 125, 3000};
    MPI_Datatype pair;
    CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pair)); /* every third int is left out */
    CHECK_OK(MPI_Type_commit(&pair));
    for (int k = 0; k < 3; k++) {
        MPI_Request requests[2];
        CHECK_OK(MPI_Psend_init(out, parts[k], 2 * PAIRS / parts[k], MPI_INT, rank, 1,
                                MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
        CHECK_OK(MPI_Precv_init(in, 5, PAIRS / 5, pair, rank, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                                &requests[1]));
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < 2 * PAIRS; i++)
                out[i] = i + round;
            memset(in, -1, sizeof in);
            CHECK_OK(MPI_Startall(2, requests));
            for (int i = parts[k] - 1; i >= 0; i--)
                CHECK_OK(MPI_Pready(i, requests[0]));
            CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
            for (int i = 0; i < 3 * PAIRS; i++)
                CHECK_INT(in[i], i % 3 == 1 ? -1 : i / 3 * 2 + (i % 3 == 2) + round);
        }
        CHECK_OK(MPI_Request_free(&requests[0]));
        CHECK_OK(MPI_Request_free(&requests[1]));
    }
    CHECK_OK(MPI_Type_free(&pair));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    uint64_t seed = 7;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (int order = 0; order < ORDERS; order++)
            exchange(&shapes[i], order, order % 2, order / 2, &seed);
    for (int i = argument(argc, argv, 20); i > 0; i--) {
        int a = 1 + random_below(&seed, 30), b = 1 + random_below(&seed, 30),
            c = 1 + random_below(&seed, 40);
        exchange(&(struct shape){a, b * c, b, a * c}, 3, random_below(&seed, 3),
                 random_below(&seed, 3), &seed);
    }
    cut_elements();
    return end();
}
