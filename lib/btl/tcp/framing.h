/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_FRAME_H
#define TERN_TCP_FRAME_H

/* What travels on a link after the handshake: frames, each a packet's header, the number of bytes
 * of its payload, and the payload. Byte order and sizes are the host's; the handshake has compared
 * them. */

#include "lib/btl/packet.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    TERN_TCP_LINKS_MAX = 8,           /* between two lanes of two ranks */
    /* in place of a link's index: the peer sends by it, we do not */
    TERN_TCP_LINK_SECOND = 255,
    /* payload of any packet that is not DATA, and of DATA that is not streamed */
    TERN_TCP_PACKET_MAX = 256 * 1024,
    TERN_TCP_PIECE_MAX = 4 << 20,     /* of DATA */
};

/* A kind that is the link's own: its sender has left MPI, and may end. If it comes back, other
 * frames follow. */
enum { TERN_TCP_BYE = 200 };

struct tern_tcp_frame {
    struct tern_packet packet;
    uint32_t length; /* of the payload */
    uint32_t check;  /* TERN_TCP_CHECK ^ length: where it is wrong, the two ends have lost step */
};
#define TERN_TCP_CHECK 0x7e52c0deu

static inline struct tern_tcp_frame tern_tcp_frame_of(const struct tern_packet *packet,
                                                      size_t length)
{
    return (struct tern_tcp_frame){*packet, (uint32_t)length, TERN_TCP_CHECK ^ (uint32_t)length};
}

/* Is it a frame that a sane peer sends? What its payload says is for the pml to check. */
bool tern_tcp_frame_sane(const struct tern_tcp_frame *frame);

#endif
