/* SPDX-License-Identifier: BSD-3-Clause */

/* Parameters of files. Hints that a program gives prevail over them. */

#include "lib/settings/setting.h"

/* A row leaves out fields that it does not need: choices, when and scope. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct tern_setting io[] = {
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
     .least = 4096, .most = 1 << 30, .internal = true},
    {"io_direct", TERN_PARAM_STRING, "auto", "",
     "Whether ranks of several hosts go around their hosts' pages (O_DIRECT) in files that they "
     "may write, on file systems where each host has pages of its own: NFS and FUSE.",
     "auto|never"},
    {"io_overlap", TERN_PARAM_STRING, "auto", "",
     "Whether a rank that accesses the file for the others in a collective access with exchange "
     "writes one buffer while it receives the next one, or reads the next one while it sends one. "
     "auto: if the file system is not this host's own, or if there are more processors than "
     "ranks.",
     "auto|always|never"},
    {"io_progress", TERN_PARAM_BOOL, "0", "",
     "Prints a line with bytes, rate and rest on standard error every two seconds of a collective "
     "access to a file."},
    {"io_progress_pause", TERN_PARAM_INT, "2000", "ms",
     "Time between two such lines; for tests.", .least = 0, .most = 1 << 30, .internal = true},
};

const struct tern_param_room tern_params_io = {"io", TERN_PARAM_ROWS(io), "Files."};
