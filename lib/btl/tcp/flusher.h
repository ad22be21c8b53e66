/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_FLUSHER_H
#define TERN_TCP_FLUSHER_H

/*
 * A thread that writes the bytes that links hold, about 50 us after they were put there, if the
 * rank goes to compute. The thread starts when a link first holds something, and sleeps while no
 * link does. While the ranks write by themselves the thread looks ever more rarely
 * (lib/util/base/pause.h). So if a rank stops after working for some time, the thread notices after
 * an eighth of that time, or after 5 ms.
 */

struct tern_tcp_link;

/* Called when the link holds something. Locks: out_lock is held. */
void tern_tcp_flusher_add(struct tern_tcp_link *link);
/* Called before the link is freed. Locks: without out_lock. */
void tern_tcp_flusher_forget(struct tern_tcp_link *link);
/* Ends the thread. The next tern_tcp_flusher_add starts it again. */
void tern_tcp_flusher_stop(void);

#endif
