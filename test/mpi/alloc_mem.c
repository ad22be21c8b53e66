/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* MPI_Alloc_mem gives usable, aligned memory of any size; zero bytes can be freed as well. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    static const MPI_Aint sizes[] = { 1, 7, 8, 4096, 100000, 20000000 };
    void *blocks[6], *none = NULL;
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "no_such_hint", "1"));
    for (int i = 0; i < 6; i++) {
        CHECK_OK(MPI_Alloc_mem(sizes[i], i % 2 ? info : MPI_INFO_NULL, &blocks[i]));
        CHECK(blocks[i] != NULL);
        if (sizes[i] >= 8)
            CHECK_INT((uintptr_t) blocks[i] % 8, 0);
        fill(blocks[i], (size_t) sizes[i], i);
    }
    CHECK_OK(MPI_Sendrecv_replace(blocks[4], 100000, MPI_BYTE, (rank + 1) % size, 1,
                                  (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 6; i++) {
        CHECK_FILLED(blocks[i], (size_t) sizes[i], i);
        CHECK_OK(MPI_Free_mem(blocks[i]));
    }
    CHECK_OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &none));
    if (none != NULL)
        CHECK_OK(MPI_Free_mem(none));
    CHECK(MPI_Alloc_mem(-1, MPI_INFO_NULL, &none) != MPI_SUCCESS);
    CHECK_OK(MPI_Info_free(&info));
    return end();
}
