/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_SILENCE_H
#define TERN_TCP_SILENCE_H

/*
 * Detects that a peer's host has failed, or the network to it: no segment arrives any more.
 *
 * A host that is up acknowledges what it receives, even if the peer's process is stopped or
 * computes for hours. Its system also probes an idle connection (keepalive). So some segment
 * arrives at least every third of btl_tcp_timeout, whatever the two processes do. TCP_USER_TIMEOUT
 * must not be used for a link: the system also applies it while the peer has no room for more,
 * although the peer's host answers every probe.
 */

#include <stdbool.h>
#include <stdint.h>

/* What is known of one connection. All zero at first. */
struct tern_tcp_silence {
    uint32_t segments; /* segments that had arrived at the last look */
    uint32_t silent_ms; /* for how long none has arrived, in milliseconds */
    /* bytes that were sent and that the peer's host has not acknowledged since; 0: none, or
     * segments arrive. Bytes for which the peer has no room do not count. */
    int64_t unheard;
};

/* Sets the time after which a silent connection is dead: btl_tcp_timeout, at least 3 s, because
 * keepalive counts seconds. */
void tern_tcp_silence_set_limit(int timeout_s);

/* Lets the system end this connection if the peer's host is silent, during the handshake or later
 * while the connection is idle. */
void tern_tcp_silence_watch(int fd);
/* Called when the handshake is complete. From now on our own looks replace TCP_USER_TIMEOUT. */
void tern_tcp_silence_begin(int fd);

/* Returns the time between two looks: a second at most, because mpirun tells its user of a silent
 * connection. */
uint64_t tern_tcp_silence_period_ms(void);

/* Looks at a connection, `elapsed_ms` after the last look. Returns true if sent bytes wait for an
 * acknowledgement and no segment has arrived for the whole limit. If nothing waits, keepalive
 * watches the connection. */
bool tern_tcp_silence_look(struct tern_tcp_silence *silence, int fd, uint64_t elapsed_ms);

/* Decides this from what a look has seen. Returns true like tern_tcp_silence_look. */
bool tern_tcp_silence_note(struct tern_tcp_silence *silence, bool waits, uint32_t segments,
                           uint64_t elapsed_ms);

#endif
