/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_BASE_DIRECTORY_SOCKET_H
#define TERN_MPIRUN_BASE_DIRECTORY_SOCKET_H

/* Opens a listening socket `name` of kind `type` (SOCK_STREAM, SOCK_SEQPACKET) in a directory. Only
 * a user who can open the directory can connect. Returns the nonblocking descriptor, or -1 if there
 * can be no such socket here. */
int tern_directory_listen(const char *directory, const char *name, int type);

#endif
