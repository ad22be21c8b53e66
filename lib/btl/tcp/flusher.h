/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_FLUSHER_H
#define TERN_TCP_FLUSHER_H

/*
 * A thread that writes what links hold, some 50 us after it was put there, if the rank goes to
 * compute. Starts when a link first holds something, and sleeps while none does. While ranks write
 * by themselves it looks ever more rarely (lib/util/pause.h): a rank that goes away after that is
 * noticed after an eighth of that time, or after 5 ms.
 */

struct tern_tcp_link;

/* The link holds something. With its out_lock. */
void tern_tcp_flusher_add(struct tern_tcp_link *link);
/* The link is about to be freed. Without its out_lock. */
void tern_tcp_flusher_forget(struct tern_tcp_link *link);
/* Ends the thread; the next link starts another. */
void tern_tcp_flusher_stop(void);

#endif
