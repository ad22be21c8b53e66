/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* MPI_Alloc_mem gives memory at a multiple of what mpi_minimum_memory_alignment asks for; nonsense is
 * no error; memory that cannot be had is MPI_ERR_NO_MEM and leaves the pointer alone. */
#include "check.h"

int main(int argc, char **argv)
{
    static const char *const hints[] = {"1", "8", "48", "64", "4096", "100000", "2097152"};
    static const char *const nonsense[] = {"none", "-64", "64k", "99999999999999999999999", "0", ""};
    MPI_Info info;
    char *block, *untouched = (char *)&info;
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    CHECK_OK(MPI_Info_create(&info));
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        uintptr_t wanted = (uintptr_t)atoll(hints[i]), multiple = 1;
        while (multiple < wanted)
            multiple *= 2;
        CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", hints[i]));
        for (MPI_Aint bytes = 0; bytes < 3000; bytes += 997) {
            CHECK_OK(MPI_Alloc_mem(bytes, info, &block));
            CHECK_INT((uintptr_t)block % multiple, 0);
            memset(block, 1, (size_t)bytes);
            CHECK_OK(MPI_Free_mem(block));
        }
    }
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", nonsense[i]));
        CHECK_OK(MPI_Alloc_mem(10, info, &block));
        CHECK_OK(MPI_Free_mem(block));
    }
    block = untouched;
    CHECK_CLASS(MPI_Alloc_mem((MPI_Aint)1 << 62, MPI_INFO_NULL, &block), MPI_ERR_NO_MEM);
    CHECK(block == untouched);
    CHECK_CLASS(MPI_Alloc_mem(-1, MPI_INFO_NULL, &block), MPI_ERR_ARG);
    CHECK_OK(MPI_Info_free(&info));
    return end();
}
