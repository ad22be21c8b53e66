/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TREE_AGENT_PORT_H
#define TERN_MPIRUN_TREE_AGENT_PORT_H

/* The port at which agents that a resource manager has started connect to mpirun. It is open only
 * until all of them have connected. Each connection must first prove that it knows the secret
 * (lib/util/net/handshake.h); nothing else that it sends is read before that. */

#include "lib/util/net/handshake.h"
#include "mpirun/base/strings.h"

/* mpirun's answers in the handshake with an agent. The agent's greeting begins with the number of
 * its host, an int32_t. */
enum tern_agent_verdict {
    TERN_AGENT_WELCOME = 1,
    /* some process in between passes the connection on to mpirun, so it cannot be trusted */
    TERN_AGENT_RELAYED,
};
/* The service's name and version in the handshake. */
extern const struct tern_service tern_agent_service;

/* Opens the port. `came` gets the socket of each agent that has proved itself, and its host's
 * number, from 0 to `hosts` - 1; `came` then owns the socket. The parameters oob_tcp_if_include,
 * oob_tcp_if_exclude, oob_tcp_dynamic_ipv4_ports and oob_tcp_dynamic_ipv6_ports limit addresses and
 * ports. Returns 0, TERN_ERR_ARG or TERN_ERR_OTHER. */
int tern_agent_port_open(const unsigned char secret[TERN_SECRET_BYTES], int hosts,
                         void (*came)(int host, int fd), int *ret_port);
/* Closes the port and all connections that have not proved themselves. */
void tern_agent_port_close(void);

/* Adds the numeric addresses at which agents may connect to this host, without loopback and
 * link-local ones. Call it after tern_agent_port_open. */
void tern_agent_port_addresses(struct tern_strings *ret_addresses);

#endif
