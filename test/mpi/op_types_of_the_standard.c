/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; env: OMPI_MCA_check_level=full */
/* check_level full refuses every pair of operation and type that is not in the standard's table. */
#define STANDARD_ONLY
#include "op_types_allowed.c"
