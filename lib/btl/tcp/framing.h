/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_FRAMING_H
#define TERN_TCP_FRAMING_H

/* The format on a link after the handshake: frames. A frame is a packet's header, the number of
 * bytes of its payload, and the payload. Byte order and sizes are the host's; the handshake has
 * compared them. */

#include "lib/btl/packet.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    TERN_TCP_LINKS_MAX = 8,           /* most links between two lanes of two ranks */
    /* in place of a link's index: only the peer sends by this link */
    TERN_TCP_LINK_SECOND = 255,
    /* largest payload of a packet that is not streamed DATA ... */
    TERN_TCP_PACKET_MAX = 256 * 1024,
    /* ... and of an eager message that the system takes as a whole at once */
    TERN_TCP_EAGER_MOST = 1 << 20,
    TERN_TCP_PIECE_MAX = 4 << 20,     /* largest payload of streamed DATA */
};

/* A packet kind of the link itself: the sender has left MPI, and may end. If it comes back, other
 * frames follow. */
enum { TERN_TCP_BYE = 200 };

/* What stands before a payload. */
struct tern_tcp_frame {
    struct tern_packet packet;
    uint32_t length; /* bytes of the payload */
    /* TERN_TCP_CHECK ^ length; if wrong, the two ends disagree about where frames begin */
    uint32_t check;
};
#define TERN_TCP_CHECK 0x7e52c0deu

/* Returns the frame of a packet with `length` bytes of payload. */
static inline struct tern_tcp_frame tern_tcp_frame_of(const struct tern_packet *packet,
                                                      size_t length)
{
    return (struct tern_tcp_frame){*packet, (uint32_t)length, TERN_TCP_CHECK ^ (uint32_t)length};
}

/* Returns true if kind, lengths and check are possible. The pml checks the payload. */
bool tern_tcp_frame_sane(const struct tern_tcp_frame *frame);

#endif
