/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 16 */
/* MPI_Alltoallv and MPI_Alltoallw with random lengths, gaps, orders, types and in place. */
#include "check.h"

static int length_of(int round, int from, int to)
{
    uint64_t seed = (uint64_t) (round * 10007 + from * 101 + to);
    (void) random_next(&seed);
    int kind = random_below(&seed, 4);
    return kind == 0 ? 0 : kind == 1 ? 1 + random_below(&seed, 5) : random_below(&seed, 300)
           * (round == 3 ? 50 : 1);
}

static int value_of(int from, int to, int i)
{
    return from * 100003 + to * 1009 + i;
}

static void check_received(const int *in, int round, const int counts[], const int places[])
{
    for (int r = 0; r < size; r++) {
        CHECK_INT(counts[r], length_of(round, r, rank));
        CHECK_INT(in[places[r] - 1], -1);
        for (int i = 0; i < counts[r]; i++)
            CHECK_INT(in[places[r] + i], value_of(r, rank, i));
        CHECK_INT(in[places[r] + counts[r]], -1);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int round = 0; round < 6; round++) {
        int sends[64], send_at[64], receives[64], receive_at[64], bytes[64], in_bytes[64];
        MPI_Datatype types[64], bytes_types[64];
        int out_total = 1, in_total = 1;
        for (int k = 0; k < size; k++) {
            int r = round % 2 ? size - 1 - k : k;
            sends[r] = length_of(round, rank, r);
            receives[r] = length_of(round, r, rank);
            send_at[r] = out_total;
            receive_at[r] = in_total;
            out_total += sends[r] + r % 2;
            in_total += receives[r] + 1;
        }
        int *out = allocate((size_t) out_total * 4), *in = allocate((size_t) in_total * 4 + 4);
        for (int r = 0; r < size; r++)
            for (int i = 0; i < sends[r]; i++)
                out[send_at[r] + i] = value_of(rank, r, i);
        memset(in, -1, (size_t) in_total * 4 + 4);
        CHECK_OK(MPI_Alltoallv(out, sends, send_at, MPI_INT, in, receives, receive_at, MPI_INT,
                               MPI_COMM_WORLD));
        check_received(in, round, receives, receive_at);
        /* The same with displacements in bytes and types that differ by side. */
        MPI_Datatype single;
        CHECK_OK(MPI_Type_contiguous(1, MPI_INT, &single));
        CHECK_OK(MPI_Type_commit(&single));
        for (int r = 0; r < size; r++) {
            types[r] = MPI_INT;
            bytes_types[r] = single;
            bytes[r] = send_at[r] * 4;
            in_bytes[r] = receive_at[r] * 4;
        }
        memset(in, -1, (size_t) in_total * 4 + 4);
        CHECK_OK(MPI_Alltoallw(out, sends, bytes, types, in, receives, in_bytes, bytes_types,
                               MPI_COMM_WORLD));
        check_received(in, round, receives, receive_at);
        CHECK_OK(MPI_Type_free(&single));
        free(out);
        free(in);
        /* In place: what goes to r comes back from r with the same length. */
        int at[64], counts[64], total = 0;
        for (int r = 0; r < size; r++) {
            counts[r] = length_of(round, rank < r ? rank : r, rank < r ? r : rank);
            at[r] = total;
            total += counts[r];
        }
        in = allocate((size_t) total * 4);
        for (int r = 0; r < size; r++)
            for (int i = 0; i < counts[r]; i++)
                in[at[r] + i] = value_of(rank, r, i);
        CHECK_OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in, counts, at, MPI_INT,
                               MPI_COMM_WORLD));
        for (int r = 0; r < size; r++)
            for (int i = 0; i < counts[r]; i++)
                CHECK_INT(in[at[r] + i], value_of(r, rank, i));
        free(in);
    }
    return end();
}
