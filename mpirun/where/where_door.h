/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_WHERE_DOOR_H
#define TERN_MPIRUN_WHERE_DOOR_H

/* `mpirun --where PID` asks the mpirun with that process id where its ranks are. It calls a socket
 * in the job's directory, to which only the job's user has access. */

/* In the mpirun of the job: opens the socket in its directory. If that fails, nobody can ask. */
void tern_where_door_open(const char *directory);

/* In the one that asks: prints the answer on standard output. Returns an exit status. Blocks until
 * the answer comes, for some seconds at most. */
int tern_where_ask_process(const char *pid);

#endif
