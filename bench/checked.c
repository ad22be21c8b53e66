/* SPDX-License-Identifier: BSD-3-Clause */
/* Broadcasts whose arguments take long to check: 512 elements of a struct with holes, one struct of
 * 512 members, 64 columns of a matrix. Run it with --mca check_level full and without: the ratio is
 * the cost of the checks. The size is the bytes of data. */
#include "bench.h"

#include <stddef.h>

struct record { int a; double b[2]; char c; float d; };

static double broadcast(int repetitions, void *state)
{
    struct bench_pair *p = state;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++)
        MPI_Bcast(p->buffer, p->count, p->type, 0, MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

static void measure(const struct bench *b, const char *name, int count, MPI_Datatype type)
{
    int bytes;
    MPI_Aint lb, extent;
    MPI_Type_commit(&type);
    MPI_Type_size(type, &bytes);
    MPI_Type_get_true_extent(type, &lb, &extent);
    struct bench_pair p = { bench_buffer((size_t) count * 64 + (size_t) extent), count, type };
    bench_print(name, (long) bytes * count, 1e6 * bench_median(b, broadcast, &p), "us");
    free(p.buffer);
    MPI_Type_free(&type);
}

static MPI_Datatype make_record(void)
{
    int lengths[] = { 1, 2, 1, 1 };
    MPI_Aint at[] = { offsetof(struct record, a), offsetof(struct record, b), offsetof(struct record, c),
                      offsetof(struct record, d) };
    MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_FLOAT }, made, record;
    MPI_Type_create_struct(4, lengths, at, types, &made);
    MPI_Type_create_resized(made, 0, sizeof(struct record), &record);
    MPI_Type_free(&made);
    return record;
}

enum { MEMBERS = 512 };

static MPI_Datatype make_members(void)
{
    int lengths[MEMBERS];
    MPI_Aint at[MEMBERS];
    MPI_Datatype types[MEMBERS], made;
    for (int i = 0; i < MEMBERS; i++) {
        lengths[i] = 1 + i % 3;
        at[i] = 32 * i;
        types[i] = i % 2 ? MPI_INT : MPI_DOUBLE;
    }
    MPI_Type_create_struct(MEMBERS, lengths, at, types, &made);
    return made;
}

static MPI_Datatype make_column(void)
{
    MPI_Datatype made, column;
    MPI_Type_vector(64, 1, 64, MPI_DOUBLE, &made);
    MPI_Type_create_resized(made, 0, sizeof(double), &column);
    MPI_Type_free(&made);
    return column;
}

int main(int argc, char **argv)
{
    struct bench b = bench_start(&argc, &argv, 0);
    measure(&b, "structs-512", 512, make_record());
    measure(&b, "members-512", 1, make_members());
    measure(&b, "columns-64", 64, make_column());
    MPI_Finalize();
    return 0;
}
