/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_AGENT_PORT_H
#define TERN_MPIRUN_TREE_AGENT_PORT_H

/* The port at which agents that a resource manager has started call mpirun; open only until all
 * have come. Whoever connects proves that it knows the secret (lib/util/handshake.h) before
 * anything else that it says is read. */

#include "lib/util/handshake.h"
#include "mpirun/base/strings.h"

/* What is spoken between an agent and mpirun; the greeting begins with the number of the agent's
 * host, an int32_t. */
enum tern_agent_verdict {
    TERN_AGENT_WELCOME = 1,
    TERN_AGENT_RELAYED, /* the agent has reached somebody who passes the connection on */
};
extern const struct tern_service tern_agent_service;

/* `came` gets the numbers of those who have proved it, and the socket, which it owns; hosts are
 * numbered from 0 to `hosts` - 1. The parameters oob_tcp_if_include, oob_tcp_if_exclude and
 * oob_tcp_dynamic_ipv4_ports (ipv6 likewise) say at which addresses and ports. 0, TERN_ERR_ARG or
 * TERN_ERR_OTHER. */
int tern_door_open(const unsigned char secret[TERN_SECRET_BYTES], int hosts,
                   void (*came)(int host, int fd), int *ret_port);
void tern_door_close(void);

/* The addresses at which this host may be reached, numeric, loopback and link-local ones left out.
 * After tern_door_open. */
void tern_door_addresses(struct tern_strings *ret_addresses);

#endif
