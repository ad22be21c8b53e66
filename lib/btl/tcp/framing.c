/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/framing.h"

bool tern_tcp_frame_sane(const struct tern_tcp_frame *frame)
{
    uint32_t length = frame->length;
    if (frame->check != (TERN_TCP_CHECK ^ length))
        return false;
    switch (frame->packet.kind) {
    case TERN_PACKET_EAGER:
        return length <= TERN_TCP_EAGER_MOST;
    case TERN_PACKET_EAGER_SYNC:
        return length <= TERN_TCP_PACKET_MAX;
    case TERN_PACKET_DATA:
        return length > 0 && length <= TERN_TCP_PIECE_MAX;
    case TERN_PACKET_RENDEZVOUS:
        return length == sizeof(struct tern_rendezvous);
    case TERN_PACKET_MATCHED:
    case TERN_PACKET_PULLED:
    case TERN_PACKET_CLEAR:
    case TERN_PACKET_CANCEL:
    case TERN_PACKET_CANCELLED:
    case TERN_PACKET_CREDIT:
        return length == sizeof(struct tern_reply);
    case TERN_TCP_BYE:
        return length == 0;
    default:
        return false;
    }
}
