/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_pml_eager_credit=64k OMPI_MCA_pml_unexpected_memory=1m; needs: MPI_T_pvar_handle_alloc */
/* The same in MPI_THREAD_MULTIPLE: one lane may use all of that memory. */
#define LEVEL MPI_THREAD_MULTIPLE
#include "unexpected_memory.c"
