/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_CONGESTION_H
#define TERN_TCP_CONGESTION_H

/*
 * Which congestion control connections use: btl_tcp_congestion, or one that does not pace. Within a
 * host no network is to be spared. Between the hosts of a job latency is short and known, so that
 * pacing by an estimate of the bandwidth, as bbr does, only delays.
 */

#include <stdbool.h>

/* Reads the parameter; says once in a job when the system does not permit what it names. */
void tern_tcp_choose_congestion(void);

/* Before a connection comes about, and on the port for those that come: a socket that bbr has begun
 * with is paced for ever. */
void tern_tcp_set_congestion(int fd, bool same_host);

#endif
