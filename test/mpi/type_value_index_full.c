/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3; needs: MPI_Type_get_value_index MPI_Reduce_init; env: OMPI_MCA_check_level=full */
/* The same where check_level full looks at each call: it knows the signatures of the pairs. */
#include "type_value_index.c"
