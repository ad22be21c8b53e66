/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_CONGESTION_H
#define TERN_TCP_CONGESTION_H

/*
 * The congestion control of connections: btl_tcp_congestion, or one that does not pace packets.
 * Within a host there is no network to protect. Between the hosts of a job latency is short and
 * known, so that pacing by an estimate of the bandwidth, as bbr does, only delays.
 */

#include <stdbool.h>

/* Reads the parameter. If the system does not permit its value, prints that once in a job. */
void tern_tcp_choose_congestion(void);

/* Sets the congestion control of a socket. Call it before the connection is made, and on the
 * listening socket for accepted ones: a socket that began with bbr stays paced. */
void tern_tcp_set_congestion(int fd, bool same_host);

#endif
