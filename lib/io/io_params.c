/* SPDX-License-Identifier: BSD-3-Clause */

/* Parameters of files. Hints that a program gives prevail over them. */

#include "lib/util/param_table.h"

/* A row leaves out fields that it does not need: choices, when and scope. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct tern_param io[] = {
    {"io_aggregators", TERN_PARAM_INT, "0", "",
     "Number of ranks that read and write for the others in a collective access with exchange. 0: "
     "one on each node, or on a single node up to four. The hint cb_nodes prevails.",
     .least = 0, .most = 1 << 20},
    {"io_buffer_size", TERN_PARAM_SIZE, "4m", "bytes",
     "Bytes that such a rank reads or writes at a time. The hint cb_buffer_size prevails.",
     .least = 4096, .most = 1 << 30},
    {"io_sieve_size", TERN_PARAM_SIZE, "4m", "bytes",
     "Bytes that a read of one rank takes at a time where it reads gaps along. The hint "
     "ind_rd_buffer_size prevails.",
     .least = 4096, .most = 1 << 30},
};

const struct tern_param_room tern_params_io = {"io", TERN_PARAM_ROWS(io), "Files."};
