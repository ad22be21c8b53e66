/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WIRE_CONNECTION_H
#define TERN_MPIRUN_WIRE_CONNECTION_H

/* The TCP connection below a link that ssh carries. The socket belongs to ssh or sshd, so its state
 * is read from the kernel's tables. */

#include <stdbool.h>
#include <sys/types.h>

/* Returns true if the other host's kernel acknowledges what is sent. `ssh` is the local process
 * that has the connection; 0 means that sshd started this process, and SSH_CONNECTION names the
 * connection. Returns false also if the state cannot be found out. Does not block. */
bool tern_connection_answers(pid_t ssh);

/* Returns true if the peer of `fd`, a TCP socket of this process, acknowledges what is sent. */
bool tern_socket_answers(int fd);

/* A line of /proc/net/tcp or tcp6. */
struct tern_connection_line {
    char local[33], remote[33]; /* hexadecimal digits */
    unsigned local_port, remote_port;
    unsigned state;
    unsigned unanswered; /* retransmissions or probes since the last acknowledgement */
    unsigned long inode;
};
/* Parses a line. Returns false if it does not describe a connection. */
bool tern_connection_line_read(const char *text, struct tern_connection_line *ret_line);
/* Returns true if the line is the server's end of "CLIENT PORT SERVER PORT", the format of
 * SSH_CONNECTION. */
bool tern_connection_is(const struct tern_connection_line *line, const char *ssh_connection);

#endif
