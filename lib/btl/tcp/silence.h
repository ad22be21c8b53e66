/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_SILENCE_H
#define TERN_TCP_SILENCE_H

/*
 * Finds out that the host of a peer is gone, or the network to it, when nothing tells us: no packet
 * comes any more.
 *
 * A host that is up acknowledges what it receives even if the peer's process is stopped or computes
 * for hours. Its system also asks on an idle connection whether we are still there (keepalive). So
 * some segment arrives at least every third of btl_tcp_timeout, whatever the two processes do.
 * TCP_USER_TIMEOUT must not be used for a link: the system also applies it when the peer has no
 * room for more, although the peer's host answers every probe.
 */

#include <stdbool.h>
#include <stdint.h>

/* What is known of one connection; all zero at first. */
struct tern_tcp_silence {
    uint32_t segments; /* that had arrived at the last look */
    uint32_t silent_ms;
};

/* Sets the time after which a silent connection is dead: btl_tcp_timeout, at least 3 s, because
 * keepalive counts seconds. */
void tern_tcp_silence_set_limit(int timeout_s);

/* Asks the system to end this connection if its handshake, or an idle time later, finds the peer's
 * host silent. */
void tern_tcp_silence_watch(int fd);
/* Called when the handshake is over: from now on our own looks replace TCP_USER_TIMEOUT. */
void tern_tcp_silence_begin(int fd);

/* How often to look. */
uint64_t tern_tcp_silence_period_ms(void);

/* Looks at a connection, `elapsed_ms` after the last look. Returns true if something waits for an
 * acknowledgement and no segment has arrived for the whole limit. A connection where nothing waits
 * is left to keepalive. */
bool tern_tcp_silence_look(struct tern_tcp_silence *silence, int fd, uint64_t elapsed_ms);

/* The same from what a look has seen. */
bool tern_tcp_silence_note(struct tern_tcp_silence *silence, bool waits, uint32_t segments,
                           uint64_t elapsed_ms);

#endif
