/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MEETING_H
#define TERN_MEETING_H

/*
 * The ports that this process has open, and the waits for a line (lib/util/net/port.h). Packets
 * move meanwhile. Locks: all functions need the library's lock, and release it while they wait.
 */

#include "lib/mpi/dynamic/bridge.h"
#include "lib/util/net/port.h"

#include <stdbool.h>

struct tern_port;

/* Opens a port. Returns 0, or TERN_ERR_OTHER or TERN_ERR_NO_MEM with text. */
int tern_port_open(struct tern_port **ret_port, char ret_name[TERN_PORT_NAME_MOST]);
/* Finds an open port by its name. Returns NULL if this process has no such port. */
struct tern_port *tern_port_find(const char *name);
/* Closes a port, and the lines that nobody has accepted. */
void tern_port_close(struct tern_port *port);

/* Waits at a port for a line, and exchanges offers. `starter` is -1, or a descriptor: when it hangs
 * up nobody will come any more, and the call returns TERN_ERR_SPAWN with text. Returns 0, or
 * TERN_ERR_* with text. The caller frees ret_theirs->bytes. Blocks. */
int tern_port_accept(struct tern_port *port, int starter, const struct tern_bridge_offer *mine,
                     struct tern_bridge_offer *ret_theirs);
/* Calls the port of another job, and exchanges offers. Blocks until that job accepts, for at most
 * `limit_s` seconds; 0: without a limit. Returns 0, or TERN_ERR_PORT or another error with text. */
int tern_port_connect(const char *name, int64_t limit_s, const struct tern_bridge_offer *mine,
                      struct tern_bridge_offer *ret_theirs);
/* Exchanges offers on a socket that the two processes have. `calls` must differ at the two ends.
 * The socket stays open. */
int tern_port_exchange(int fd, bool calls, const unsigned char *token,
                       const struct tern_bridge_offer *mine, struct tern_bridge_offer *ret_theirs);

#endif
