/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_btl=self; exit: nonzero; output: cannot reach rank [01]: the parameter btl is .self., which excludes shm and tcp */
/* What users of Open MPI type where it does not fit: who cannot reach whom, why, and what to change. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
