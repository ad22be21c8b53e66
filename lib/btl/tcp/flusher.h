/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_FLUSHER_H
#define TERN_TCP_FLUSHER_H

/*
 * A thread that writes what links hold, some 50 us after it was put there, whatever the program does meanwhile. Started when
 * a link first holds something, asleep while none does.
 */

struct tern_tcp_link;

/* The link holds something. With its out_lock. */
void tern_tcp_flusher_add(struct tern_tcp_link *link);
/* The link is about to be freed. Without its out_lock. */
void tern_tcp_flusher_forget(struct tern_tcp_link *link);
/* Ends the thread; the next link starts another. */
void tern_tcp_flusher_stop(void);

#endif
