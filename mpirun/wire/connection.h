/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WIRE_CONNECTION_H
#define TERN_MPIRUN_WIRE_CONNECTION_H

/* The TCP connection beneath a link that ssh carries. It belongs to ssh or sshd; the kernel's
 * tables tell how it does. */

#include <stdbool.h>
#include <sys/types.h>

/* Does the other host's kernel acknowledge what is sent? `ssh`: the process here that has the
 * connection; 0: we were started by sshd, and SSH_CONNECTION names it. False also where that cannot
 * be told. Does not block. */
bool tern_connection_answers(pid_t ssh);

/* The same of a TCP socket of ours. */
bool tern_socket_answers(int fd);

/* One line of /proc/net/tcp or tcp6. False: it is none. */
struct tern_connection_line {
    char local[33], remote[33]; /* hexadecimal digits */
    unsigned local_port, remote_port;
    unsigned state;
    unsigned unanswered; /* retransmissions or probes since the last acknowledgement */
    unsigned long inode;
};
bool tern_connection_line_read(const char *text, struct tern_connection_line *ret_line);
/* Is it the one of "CLIENT PORT SERVER PORT", seen from the server? */
bool tern_connection_is(const struct tern_connection_line *line, const char *ssh_connection);

#endif
