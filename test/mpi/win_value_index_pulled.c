/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; needs: MPI_Type_get_value_index; env: OMPI_MCA_rma_mechanism=pulled */
#include "win_value_index.c"
