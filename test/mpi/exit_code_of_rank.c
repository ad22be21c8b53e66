/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4; exit: 3 */
/* The launcher returns the exit code of a rank that finished with MPI_Finalize and a failure. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    end();
    return rank == size - 1 ? 3 : 0;
}
