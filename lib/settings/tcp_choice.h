/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_CHOICE_H
#define TERN_TCP_CHOICE_H

/* What several parameters together say about addresses and ports. */

#include <stdbool.h>
#include <stdint.h>

/* Finds out which of two parameters with lists of interfaces counts: `include` or `exclude`. If
 * both are set, the one from the environment or the command line counts, not the one from a file.
 * Returns 0, or TERN_ERR_ARG with a text that says where both are set. */
int tern_tcp_filter_choose(const char *include, const char *exclude, bool *ret_include);

/* Reads at which ports ranks may listen (btl_tcp_port_min_v4, btl_tcp_port_range_v4); 0 and 0 if
 * the system chooses. Returns 0, or TERN_ERR_ARG if a range that the user gave ends behind the last
 * port; then the values are not set. */
int tern_tcp_ports_read(int64_t *ret_first, int64_t *ret_last);

#endif
