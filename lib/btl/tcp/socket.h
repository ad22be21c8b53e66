/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_SOCKET_H
#define TERN_TCP_SOCKET_H

#include <stdbool.h>

/* Reads the parameters btl_tcp_sndbuf and btl_tcp_rcvbuf; call it before the first
 * tern_tcp_set_options. */
void tern_tcp_socket_init(void);
/* Sets the options of a socket that is to become a link. same_host: the peer runs on this host. */
void tern_tcp_set_options(int fd, bool same_host);

#endif
