/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/datatype/datatype_named.h"

/* Datatypes without a name in mpi.h, or whose name is no valid handle there. */
extern struct ompi_datatype_t ompi_mpi_ldblcplex, ompi_mpi_real2, ompi_mpi_integer16, ompi_mpi_lb,
    ompi_mpi_ub;

#define TERN_DATATYPE_TABLE(symbol, text, layout)                                                  \
    struct tern_datatype tern_datatype_##symbol = {                                                \
        .obj = {.handle = (struct tern_handle *)&ompi_mpi_##symbol, .refs = 1},                    \
        .type = layout,                                                                            \
        .predefined = true,                                                                        \
        .handles = 1,                                                                              \
        .name = text,                                                                              \
    };
TERN_DATATYPES(TERN_DATATYPE_TABLE)
