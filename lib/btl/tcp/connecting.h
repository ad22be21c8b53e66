/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_CONNECTING_H
#define TERN_TCP_CONNECTING_H

/*
 * How connections are made: this process's listener (listener.h), the peers sought and their
 * addresses (search.h), outgoing and accepted connections, and the handshake (dial.h). In this room
 * the shared state is called reception, the listening socket door, an outgoing connection call, and
 * an accepted one visitor. All lanes share reception. Reception has its own lock; a thread that
 * holds it takes no other lock but that of a lane's list of arrivals.
 *
 * A call begins with the peer's addresses, which are fetched without waiting. They are tried one
 * after the other: the next one if there is no connection after 30 ms, or no answer after a quarter
 * of a second. The first address that proves to be the wanted rank of this job wins. So an address
 * that leads nowhere, or to another process, costs that time once: the interface of a successful
 * connection is tried first from then on. If two ranks call each other, the call of the lower rank
 * is kept.
 *
 * Networks may let only one of two ranks call the other. So a rank whose first round through the
 * addresses fails asks the peer, through the launcher, to call back. The two ranks lose each other
 * when both have given up.
 */

#include "lib/btl/tcp/link.h"
#include "lib/util/net/launcher.h"

#include <stdbool.h>
#include <stdint.h>

/* Opens the listening socket and publishes the addresses. Returns 0, or TERN_ERR_* with text. */
int tern_tcp_connecting_announce(void);
/* Does so if it was not done, and prepares for connections in both directions. Returns 0, or
 * TERN_ERR_* with text. */
int tern_tcp_connecting_open(void);
/* Returns true between tern_tcp_connecting_open and tern_tcp_connecting_close. */
bool tern_tcp_connecting_is_open(void);
/* Closes all connections that are being made, and the listening socket. */
void tern_tcp_connecting_close(void);

/* Asks for a link between our lane `tag` and that of a process. Returns 0 if the link is being made
 * or is on its way to the lane; TERN_ERR_UNREACHABLE with text if it cannot be made. */
int tern_tcp_connecting_start(struct tern_process process, uint8_t tag);
/* Does what the rank asks for, which cannot connect to our lane `tag`: connects to the rank, or
 * gives up if that has failed, too. */
void tern_tcp_connecting_heed(uint32_t rank, uint8_t tag, enum tern_unreached how);
/* Reports that a link which was handed over has ended. */
void tern_tcp_connecting_ended(struct tern_process process, uint8_t tag, uint8_t index);

/* Handles everything that has arrived, and hands finished links to tern_tcp_arrive. Returns the
 * number of things done. Does nothing while another thread does this. */
int tern_tcp_connecting_progress(void);

/* Ends all our calls under way, before this process leaves MPI. */
void tern_tcp_connecting_hang_up(void);
/* Publishes the addresses again, because the launcher may have forgotten them while this process
 * was not in MPI. Returns 0, or TERN_ERR_OTHER with text. */
int tern_tcp_connecting_publish(void);

#endif
