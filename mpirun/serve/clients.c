/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/serve/clients.h"

#include <stddef.h>

void tern_client_tell(const struct tern_client_listener *listener, int act, int rank, int number,
                      const char *text)
{
    switch (act) {
    case TERN_CLIENT_CONNECTED:
        listener->connected(rank);
        break;
    case TERN_CLIENT_WORLD:
        listener->world(rank);
        break;
    case TERN_CLIENT_FINALIZED:
        listener->finalized(rank);
        break;
    case TERN_CLIENT_LOST:
        listener->lost(rank);
        break;
    case TERN_CLIENT_ABORTED:
        listener->aborted(rank, number, text);
        break;
    case TERN_CLIENT_SIGNALLED:
        listener->signalled(rank, number);
        break;
    case TERN_CLIENT_REMARKED:
        listener->remarked(rank, number, text ? text : "");
        break;
    case TERN_CLIENT_CRASHED:
        listener->crashed(rank, number, text ? text : "");
        break;
    case TERN_CLIENT_JOINED:
        listener->joined(rank, (enum tern_joined)number, text ? text : "");
        break;
    case TERN_CLIENT_ASKED:
        listener->asked(rank, number != 0, text ? text : "");
        break;
    }
}
