/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4; needs: MPI_Bcast_init; env: OMPI_MCA_check_level=full */
#include "intercomm_insignificant.c"
