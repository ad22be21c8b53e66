/* SPDX-License-Identifier: BSD-3-Clause */
/* Ping-pong of derived types between ranks 0 and 1: half the round trip. The size is the bytes of
 * data. Blocks have 8, 64 or 512 bytes, with gaps of the same size between them. */
#include "bench.h"

static void make_vector(int blocks, int doubles, MPI_Datatype *ret_type)
{
    MPI_Type_vector(blocks, doubles, 2 * doubles, MPI_DOUBLE, ret_type);
}

/* Makes gaps of one half and three halves of a block in turn, so that no stride describes the
 * type. */
static void make_indexed(int blocks, int doubles, MPI_Datatype *ret_type)
{
    int *at = malloc((size_t) blocks * sizeof *at);
    if (at == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
    for (int i = 0; i < blocks; i++)
        at[i] = 2 * doubles * i - (i % 2) * (doubles + 1) / 2;
    MPI_Type_create_indexed_block(blocks, doubles, at, MPI_DOUBLE, ret_type);
    free(at);
}

/* Makes a box of three dimensions: of planes of 8 rows the middle 4 are taken, each as a whole. */
static void make_subarray(int blocks, int doubles, MPI_Datatype *ret_type)
{
    int rows = 4, planes = blocks / rows;
    int sizes[] = { planes, 2 * rows, doubles }, taken[] = { planes, rows, doubles };
    int starts[] = { 0, 2, 0 };
    if (doubles > 1) { /* takes a part of each row instead */
        sizes[1] = rows;
        starts[1] = 0;
        sizes[2] = 2 * doubles;
    }
    MPI_Type_create_subarray(3, sizes, taken, starts, MPI_ORDER_C, MPI_DOUBLE, ret_type);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*make)(int blocks, int doubles, MPI_Datatype *ret_type);
    } kinds[] = { { "vector", make_vector }, { "indexed", make_indexed },
                  { "subarray", make_subarray } };
    struct bench b = bench_start(&argc, &argv, 4 << 20);
    bench_need_ranks(2);
    struct bench_pair p = { bench_buffer(2 * (size_t) b.most_bytes), 1, MPI_DATATYPE_NULL };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        for (int block = 8; block <= 512; block *= 8) {
            for (long bytes = 65536; bytes <= b.most_bytes; bytes *= 64) {
                char name[40];
                snprintf(name, sizeof name, "%s-%d", kinds[k].name, block);
                kinds[k].make((int) (bytes / block), block / 8, &p.type);
                MPI_Type_commit(&p.type);
                bench_print(name, bytes, bench_median(&b, bench_ping_pong, &p) / 2 * 1e6, "us");
                MPI_Type_free(&p.type);
            }
        }
    }
    free(p.buffer);
    MPI_Finalize();
    return 0;
}
