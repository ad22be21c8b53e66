/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_PORTS_H
#define TERN_TCP_PORTS_H

#include <stdint.h>

/* Reads at which ports ranks may listen (btl_tcp_port_min_v4, btl_tcp_port_range_v4); 0 and 0 if
 * the system chooses. Returns 0, or TERN_ERR_ARG if a range that the user gave ends behind the last
 * port; then the values are not set. */
int tern_tcp_ports_read(int64_t *ret_first, int64_t *ret_last);

#endif
