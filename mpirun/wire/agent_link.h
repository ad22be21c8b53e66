/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WIRE_AGENT_LINK_H
#define TERN_MPIRUN_WIRE_AGENT_LINK_H

/* A link carries frames between two neighbours of the tree. It uses any two descriptors: ssh's
 * standard input and output on one side, those of the agent on the other. */

#include <stdbool.h>
#include <stdint.h>

#include "mpirun/base/loop.h"
#include "mpirun/wire/frame.h"

/* The reason when the other end has closed the link. */
#define TERN_LINK_ENDED "its connection has ended"

/* A link. Zero it and fill in the callbacks before tern_agent_link_open. */
struct tern_agent_link {
    struct tern_watch in, out;
    struct tern_parcel incoming, outgoing;
    size_t sent; /* bytes of `outgoing` that have been written */
    int64_t heard_ms, spoke_ms; /* when bytes last arrived, and were last written */
    bool open, busy; /* busy: its bytes are being read, so `incoming` must not be freed */
    struct tern_timer beat; /* next check for silence, and next beat */
    int silence_ms;  /* longest time that the other side may be silent; 0: no limit */
    int64_t beat_ms; /* when `beat` was set */
    bool excused;    /* the other side has announced that it will be silent, because it stops */
    /* Returns true if the other side's host is alive although nothing arrives; then the link is
     * kept. NULL if that cannot be found out. */
    bool (*answers)(struct tern_agent_link *link);
    /* Takes a line of text that arrives before the first frame: greetings of login shells, and last
     * the agent's own. Returns true if frames follow. NULL: frames from the beginning. */
    bool (*line)(struct tern_agent_link *link, const char *line);
    void (*received)(struct tern_agent_link *link, const struct tern_frame *frame);
    /* Called once, after the link was closed. `why` is TERN_LINK_ENDED or another reason. */
    void (*lost)(struct tern_agent_link *link, const char *why);
};

/* Opens the link and owns both descriptors from now on. Fill in the callbacks before. Returns 0 or
 * TERN_ERR_OTHER. */
int tern_agent_link_open(struct tern_agent_link *link, int in_fd, int out_fd);
/* From now on sends beats, and loses the link if nothing arrives for `silence_ms`. 0: never. */
void tern_agent_link_watch_silence(struct tern_agent_link *link, int silence_ms);
/* Tells the other side that this process is about to be stopped (`stops`), or runs again. */
void tern_agent_link_excuse(struct tern_agent_link *link, bool stops);
/* Sends a frame. Drops it if the link is closed. Does not block. */
void tern_agent_link_send(struct tern_agent_link *link, const struct tern_frame *frame);
/* Waits until everything is written, for at most `timeout_ms`. Blocks. */
void tern_agent_link_flush(struct tern_agent_link *link, int timeout_ms);
/* Closes the link and both descriptors. Does nothing if it is closed. `lost` is not called. */
void tern_agent_link_close(struct tern_agent_link *link);

#endif
