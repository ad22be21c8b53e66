/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_DOOR_H
#define TERN_TCP_DOOR_H

/*
 * This process's door: the port at which others reach it, the addresses it has, the record in which
 * it publishes them, and the secret by which whoever comes is known. It stays open as long as the
 * process: others remember the port, and come while this one is between two sessions. With
 * reception's lock.
 */

#include "lib/btl/tcp/address.h"
#include "lib/util/hmac.h"

struct tern_tcp_door {
    int fd; /* listens; -1: not open */
    struct tern_tcp_address own[TERN_TCP_ADDRESSES_MAX]; /* with the port */
    int own_count;
};
extern struct tern_tcp_door tern_tcp_door;

/* Opens it, and finds the own addresses that may be used. 0, TERN_ERR_ARG or TERN_ERR_OTHER with
 * text. */
int tern_tcp_door_open(void);
/* btl_tcp_rcvbuf, in bytes, raised to what a connection works with; 0: the system chooses. */
int tern_tcp_rcvbuf(void);
/* Publishes them, again if need be, as the launcher may have forgotten them while this process was
 * away. 0 or TERN_ERR_OTHER. */
int tern_tcp_door_publish(void);

/* The job's secret; NULL: not known yet, or not which program this is, which a handshake tells
 * likewise. Asks for it the first time, and rings the doorbell when it has come. */
const unsigned char *tern_tcp_secret(void);

/* "eth0, 192.0.2.2:1024 here and 192.0.2.3:1025 there" */
enum { TERN_TCP_ENDS = 200 };
void tern_tcp_describe_ends(int fd, char text[TERN_TCP_ENDS]);

#endif
