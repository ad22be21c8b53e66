/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; long-args: 4000000 */
/* Large messages between different non-contiguous layouts on both sides, cut at awkward places. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int elements = argument(argc, argv, 200000);
    /* Sender: {int, 3 bytes gap..., short} records; receiver: blocks of 5 and 2 bytes by turns. */
    int lengths[] = { 1, 1 }, places[] = { 0, 9 }, blocks[] = { 5, 2 };
    MPI_Aint at[] = { 0, 7 };
    MPI_Datatype types[] = { MPI_INT, MPI_SHORT }, record, sender, receiver, one;
    CHECK_OK(MPI_Type_create_struct(2, lengths, at, types, &record));
    CHECK_OK(MPI_Type_create_resized(record, 0, 11, &sender));
    CHECK_OK(MPI_Type_commit(&sender));
    CHECK_OK(MPI_Type_indexed(2, blocks, places, MPI_BYTE, &one));
    CHECK_OK(MPI_Type_create_resized(one, 0, 13, &receiver));
    CHECK_OK(MPI_Type_commit(&receiver));
    size_t bytes = (size_t) elements * 6, span_out = (size_t) elements * 11;
    size_t items = bytes / 7 + 1, span_in = items * 13;
    unsigned char *out = allocate(span_out), *in = allocate(span_in);
    fill(out, span_out, 3);
    for (int unexpected = 0; unexpected < 2; unexpected++) {
        if (rank == 0) {
            if (!unexpected)
                CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Send(out, elements, sender, 1, 1, MPI_COMM_WORLD));
        } else {
            MPI_Request request;
            memset(in, 0xbb, span_in);
            if (unexpected)
                CHECK_OK(MPI_Probe(0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Irecv(in, (int) items, receiver, 0, 1, MPI_COMM_WORLD, &request));
            if (!unexpected)
                CHECK_OK(MPI_Send(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD));
            CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            for (size_t i = 0; i < bytes; i++) {
                size_t a = i / 6 * 11 + (i % 6 < 4 ? i % 6 : 3 + i % 6);
                size_t b = i / 7 * 13 + (i % 7 < 5 ? i % 7 : 4 + i % 7);
                if (in[b] != out[a])
                    FAIL("byte %zu: got 0x%02x, expected 0x%02x", i, in[b], out[a]);
            }
            for (size_t i = 0; i < span_in; i++)
                if ((i % 13 >= 5 && i % 13 < 9) || i % 13 >= 11)
                    CHECK_INT(in[i], 0xbb);
        }
    }
    CHECK_OK(MPI_Type_free(&record));
    CHECK_OK(MPI_Type_free(&sender));
    CHECK_OK(MPI_Type_free(&one));
    CHECK_OK(MPI_Type_free(&receiver));
    free(out);
    free(in);
    return end();
}
