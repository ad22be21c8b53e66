/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WIRE_AGENT_LINK_H
#define TERN_MPIRUN_WIRE_AGENT_LINK_H

/* A link carries frames between two neighbours of the tree, over any two descriptors: the standard
 * input and output of ssh on one side, those of the agent on the other. */

#include <stdbool.h>
#include <stdint.h>

#include "mpirun/base/loop.h"
#include "mpirun/wire/frame.h"

/* Why a link was lost whose other end closed it. */
#define TERN_LINK_ENDED "its connection has ended"

struct tern_agent_link {
    struct tern_watch in, out;
    struct tern_parcel incoming, outgoing;
    size_t sent; /* of outgoing */
    int64_t heard_ms, spoke_ms;
    bool open, busy;
    struct tern_timer beat;
    int silence_ms;  /* longest that the other side may be silent; 0: no limit */
    int64_t beat_ms; /* when beat was set */
    bool excused;    /* the other side has said that it will be silent (it stops) */
    /* Is the other side's host seen to live, although nothing is heard? Then the link is kept.
     * NULL: that cannot be told. */
    bool (*answers)(struct tern_agent_link *link);
    /* Lines of text that come before the first frame: greetings of login shells, and at last the
     * agent's own. True: frames follow. NULL: frames from the beginning. */
    bool (*line)(struct tern_agent_link *link, const char *line);
    void (*received)(struct tern_agent_link *link, const struct tern_frame *frame);
    /* Called once, with the reason; the link is closed already. */
    /* TERN_LINK_ENDED, or something else */
    void (*lost)(struct tern_agent_link *link, const char *why);
};

/* Owns both descriptors from now on; the callbacks have been filled in. 0 or TERN_ERR_OTHER. */
int tern_agent_link_open(struct tern_agent_link *link, int in_fd, int out_fd);
/* From now on both sides show a sign of life in time, and the link is lost when the other doesn't.
 */
void tern_agent_link_watch_silence(struct tern_agent_link *link, int silence_ms);
/* Says that we are about to be stopped, or go on. */
void tern_agent_link_excuse(struct tern_agent_link *link, bool stops);
/* Never blocks. What is sent on a closed link is dropped. */
void tern_agent_link_send(struct tern_agent_link *link, const struct tern_frame *frame);
/* Waits until all is sent, at most so long. */
void tern_agent_link_flush(struct tern_agent_link *link, int timeout_ms);
void tern_agent_link_close(struct tern_agent_link *link);

#endif
