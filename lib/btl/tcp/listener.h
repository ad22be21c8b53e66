/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_LISTENER_H
#define TERN_TCP_LISTENER_H

/*
 * This process's listener (door): the port at which others connect, its addresses, and the record
 * that publishes them. The listening socket stays open as long as the process lives: other ranks
 * remember the port, and may connect while this process is between two sessions. Locks: all
 * functions need reception's lock.
 */

#include "lib/btl/tcp/address.h"
#include "lib/util/net/hmac.h"

/* The listener. */
struct tern_tcp_door {
    int fd; /* the listening socket; -1: not open */
    struct tern_tcp_address own[TERN_TCP_ADDRESSES_MAX]; /* our addresses, with the port */
    int own_count; /* number of addresses in `own` */
};
extern struct tern_tcp_door tern_tcp_door;

/* Opens the listening socket, and finds the addresses that may be used. Returns 0, or TERN_ERR_ARG
 * or TERN_ERR_OTHER with text. */
int tern_tcp_door_open(void);
/* Puts the addresses into this rank's card (lib/btl/card.h). Call again after coming back, because
 * the launcher may have forgotten them. Returns 0, or TERN_ERR_OTHER with text. */
int tern_tcp_door_put(void);

/* Describes the ends of a connection: "eth0, 192.0.2.2:1024 here and 192.0.2.3:1025 there". */
enum { TERN_TCP_ENDS = 200 };
void tern_tcp_describe_ends(int fd, char text[TERN_TCP_ENDS]);
/* Writes a socket's interface and addresses, "eth2 10.2.0.31 -> 10.2.0.8". */
void tern_tcp_describe_path(int fd, char text[TERN_TCP_ENDS]);

#endif
