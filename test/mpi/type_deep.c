/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; libs: -lpthread; args: 20000; long-args: 200000 */
/* Types of types of types, thousands of levels deep: made, packed, sent, counted, freed, all within
 * a small stack. */
#include "check.h"
#include <pthread.h>

static int levels;
static char form[] = "external32";

/* One more level of a kind around `old`, which is freed. */
static MPI_Datatype wrap(int kind, int i, MPI_Datatype old)
{
    MPI_Datatype type, types[2] = { MPI_CHAR, old };
    int lengths[2] = { 1, 1 }, zero = 0, one = 1;
    MPI_Aint places[2] = { i, 0 }, lb, extent;
    switch (kind) {
    case 0: CHECK_OK(MPI_Type_contiguous(1, old, &type)); break;
    case 1: CHECK_OK(MPI_Type_vector(1, 1, 3, old, &type)); break;
    case 2: CHECK_OK(MPI_Type_indexed(1, &one, &zero, old, &type)); break;
    case 3: CHECK_OK(MPI_Type_dup(old, &type)); break;
    case 4:
        CHECK_OK(MPI_Type_get_extent(old, &lb, &extent));
        CHECK_OK(MPI_Type_create_resized(old, lb, extent + 1, &type));
        break;
    case 5: CHECK_OK(MPI_Type_create_struct(1, lengths + 1, places + 1, types + 1, &type)); break;
    /* A byte more at each level: of another kind than the rest, in front of what was there. */
    default: CHECK_OK(MPI_Type_create_struct(2, lengths, places, types, &type)); break;
    }
    CHECK_OK(MPI_Type_free(&old));
    return type;
}

static void check_kind(int kind)
{
    MPI_Datatype type;
    /* Every other byte, from the end, then an int at its place behind them. */
    CHECK_OK(MPI_Type_create_hindexed_block(1, 1, (MPI_Aint[]) { 2 * levels + 8 }, MPI_INT, &type));
    for (int i = 0; i < levels; i++)
        type = wrap(kind, 2 * i, type);
    CHECK_OK(MPI_Type_commit(&type));
    int bytes, expected = 4 + (kind == 6 ? levels : 0), position = 0, got = 0, elements;
    CHECK_OK(MPI_Type_size(type, &bytes));
    CHECK_INT(bytes, expected);
    size_t span = 2 * (size_t) levels + 12;
    char *memory = allocate(span), *back = allocate(span), *packed = allocate((size_t) bytes);
    for (int i = 0; i < levels; i++)
        memory[2 * i] = (char) (i * 7);
    memcpy(memory + 2 * levels + 8, &(int) { 12345 }, 4);
    CHECK_OK(MPI_Pack(memory, 1, type, packed, bytes, &position, MPI_COMM_SELF));
    for (int i = 0; i < bytes - 4; i++)
        CHECK_INT(packed[i], memory[2 * (levels - 1 - i)]);
    memcpy(&got, packed + bytes - 4, 4);
    CHECK_INT(got, 12345);

    MPI_Status status;
    CHECK_OK(MPI_Sendrecv(memory, 1, type, (rank + 1) % size, 1, back, 1, type,
                          (rank + size - 1) % size, 1, MPI_COMM_WORLD, &status));
    memcpy(&got, back + 2 * levels + 8, 4);
    CHECK_INT(got, 12345);
    CHECK_OK(MPI_Get_elements(&status, type, &elements));
    CHECK_INT(elements, expected - 3);
    CHECK_OK(MPI_Status_set_elements(&status, type, expected - 4 > 0 ? expected - 4 : 1));
    CHECK_OK(MPI_Get_elements(&status, type, &elements));
    CHECK_INT(elements, expected - 4 > 0 ? expected - 4 : 1);

    MPI_Aint external, at = 0;
    CHECK_OK(MPI_Pack_external_size(form, 1, type, &external));
    CHECK_INT(external, bytes);
    CHECK_OK(MPI_Pack_external(form, memory, 1, type, packed, bytes, &at));
    CHECK_INT((unsigned char) packed[bytes - 2], 12345 >> 8);
    CHECK_INT((unsigned char) packed[bytes - 1], 12345 & 255);
    CHECK_OK(MPI_Type_free(&type));
    free(memory);
    free(back);
    free(packed);
}

static void *check_kinds(void *none)
{
    for (int kind = 0; kind <= 6; kind++)
        check_kind(kind);
    return none;
}

int main(int argc, char **argv)
{
    pthread_attr_t attributes;
    pthread_t thread;
    start_threads(&argc, &argv, MPI_THREAD_SERIALIZED);
    levels = argument(argc, argv, 20000);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 512 * 1024);
    CHECK(pthread_create(&thread, &attributes, check_kinds, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    return end();
}
