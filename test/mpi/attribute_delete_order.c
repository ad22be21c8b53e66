/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* MPI_Finalize first deletes MPI_COMM_SELF's attributes, last set first, while MPI still works. */
#include "check.h"

static int order[8], deleted;

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    int flag = -1, sum = 0, one = 1;
    (void) key;
    (void) extra;
    CHECK(comm == MPI_COMM_SELF);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size);
    order[deleted++] = (int) (intptr_t) value;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int keys[5];
    for (int i = 0; i < 5; i++)
        CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &keys[i], NULL));
    static const int set_order[] = { 2, 0, 4, 1, 3 };
    for (int i = 0; i < 5; i++)
        CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, keys[set_order[i]],
                                   (void *) (intptr_t) set_order[i]));
    for (int i = 0; i < 5; i++)
        CHECK_OK(MPI_Comm_free_keyval(&keys[i]));
    CHECK_OK(MPI_Finalize());
    CHECK_INT(deleted, 5);
    for (int i = 0; i < 5; i++)
        CHECK_INT(order[i], set_order[4 - i]);
    return 0;
}
