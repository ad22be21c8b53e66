/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_RECEPTION_H
#define TERN_TCP_RECEPTION_H

/*
 * How connections come about: this process's door (listener.h), who is sought at which address
 * (search.h), calls to others and visitors, with the handshake (dial.h). All lanes share it; it has
 * a lock of its own, within which no other is taken but a lane's list of arrivals.
 *
 * A call begins with the peer's addresses, which are fetched without waiting. They are tried one
 * after the other, the next one when 30 ms have brought no connection, or a quarter of a second no
 * answer; the first to prove that the wanted rank of this job is there is taken. So an address that
 * leads nowhere, or to somebody else, costs that time, and but once: the interface that connections
 * have come about by is tried first from then on. When two ranks call each other the lower one's
 * call is taken.
 */

#include "lib/btl/tcp/link.h"

#include <stdbool.h>
#include <stdint.h>

/* Opens the door, publishes the addresses. 0 or TERN_ERR_*, with text. */
int tern_tcp_reception_announce(void);
/* The same, if it has not been done, and gets ready to call and to be called. */
int tern_tcp_reception_open(void);
void tern_tcp_reception_close(void);

/* A link between my lane `tag` and that of a rank is wanted. 0: it is being made, or is on its way
 * to the lane; TERN_ERR_UNREACHABLE with text: it cannot be. */
int tern_tcp_reception_call(uint32_t rank, uint8_t tag);
/* A link that was handed over is no more. */
void tern_tcp_reception_ended(uint32_t rank, uint8_t tag, uint8_t index);

/* Goes on with whatever has come; what is done is handed to tern_tcp_arrive. Returns how many
 * things happened; does nothing while another thread is in there. */
int tern_tcp_reception_progress(void);

/* Ends all calls of ours that are under way; for leaving. */
void tern_tcp_reception_hang_up(void);
/* Publishes the addresses again, as the launcher may have forgotten them while this process was
 * away. */
int tern_tcp_reception_publish(void);

/* tcp.c: takes a link whose handshake is done. Called with reception's lock. */
void tern_tcp_arrive(struct tern_tcp_link *link);
/* lane_links.c: returns the lanes that our lane `index` serves, a bit for each of TERN_LANES_MAX.
 * Two processes may have different numbers of lanes; both understand these bits. */
uint32_t tern_tcp_lanes_of(uint32_t index);
/* lane_links.c: reports that no connection with a rank can be made in these lanes, for the reason
 * `text`. The lanes lose the peer with their next progress. Takes only the lock of the lanes'
 * arrivals. */
void tern_tcp_unreached(uint32_t rank, uint32_t lanes, const char *text);

#endif
