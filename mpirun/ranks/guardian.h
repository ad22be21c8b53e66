/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_GUARDIAN_H
#define TERN_MPIRUN_RANKS_GUARDIAN_H

/* The guardian: a small process between mpirun and the ranks. It starts the ranks, reports their
 * ends, and cleans up whatever happens to mpirun. Both sides exchange the messages below over a
 * socket. */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "lib/util/base/ancestry.h"

/* The kinds of messages, and the members that each uses. */
enum tern_guardian_kind {
    /* to the guardian: */
    /* comes with descriptors: the plan (`size` bytes), the node memory, and the ranks' end of the
     * report socket, if there is one */
    TERN_GUARDIAN_PLAN = 1,
    /* start `rank`, with three descriptors: stdin, stdout, stderr; offsets say where its data are
     * in the plan */
    TERN_GUARDIAN_SPAWN,
    /* send signal `value` to the process group of `rank`; -1: of every rank */
    TERN_GUARDIAN_SIGNAL,
    /* The process of `rank` has ended, but its program is the first process of `line`. Take that,
     * or the one that gets its exit status, for the rank's process: answer STARTED, and EXITED when
     * it ends. If it has ended, answer both, and the program is `pid`. If the rank's own process
     * got that status, answer EXITED only. An empty line: take any process that the rank has
     * left. */
    TERN_GUARDIAN_ADOPT,
    /* The process of `rank` has ended, and its program may come from one that it has left behind:
     * answer ALONE as soon as none of these is left. */
    TERN_GUARDIAN_AWAIT,
    TERN_GUARDIAN_FINISH, /* all ranks have ended: answer GONE as soon as nothing is left */
    TERN_GUARDIAN_NAME,   /* answer LEFT for each process that holds a rank's output open */
    /* send SIGTERM to all that is left; `value` not 0: answer LEFT for each process */
    TERN_GUARDIAN_ASK,
    /* kill all that is left of the job, then answer GONE; `value` not 0: first answer LEFT for
     * each process */
    TERN_GUARDIAN_KILL,
    TERN_GUARDIAN_CLEAN,  /* remove the session directory and end */
    /* from the guardian: */
    TERN_GUARDIAN_READY,   /* `text`: the session directory */
    TERN_GUARDIAN_REFUSED, /* `text`: why there is no session directory; the guardian exits */
    TERN_GUARDIAN_STARTED, /* `rank` is process `pid` */
    TERN_GUARDIAN_FAILED,  /* `rank` could not be started: errno `value` in step `step` */
    /* the process of `rank`, `pid`, ended with wait status `value`; `pid` 0: it was
     * the only one */
    TERN_GUARDIAN_EXITED,
    TERN_GUARDIAN_ALONE, /* `rank` has ended, and has left no process behind, or none any more */
    /* process `pid`, whose command is `text`, is left of `rank` (-1: unknown); `value` is the
     * signal that it gets now, or 0 */
    TERN_GUARDIAN_LEFT,
    /* never sent, but passed to tern_local_answered: the guardian, process `pid`, has been
     * killed */
    TERN_GUARDIAN_LOST,
    /* nothing of the job is left; `value` is not 0 if some process cannot be killed; sent once */
    TERN_GUARDIAN_GONE,
};

/* Steps between fork and exec that can fail. */
enum tern_guardian_step {
    TERN_STEP_FORK,
    TERN_STEP_GROUP,
    TERN_STEP_DESCRIPTORS,
    TERN_STEP_WDIR,
    TERN_STEP_EXEC
};

/* A message in either direction. Its kind says which members count. */
struct tern_guardian_message {
    int32_t kind;
    int32_t rank;
    int32_t pid;
    int32_t value;
    int32_t step;
    uint64_t size;
    /* Offsets in the plan, 0 for none. Each is of a string, or of a list: a uint32_t count, then
     * the strings. */
    uint64_t path, wdir, argv, shared_env, own_env;
    uint64_t cpus; /* offset of a struct tern_cpus to bind to */
    struct tern_ancestry line;
    char text[600];
};

/* What the guardian must know when it is forked. */
struct tern_guardian_start {
    const char *parent; /* the process that forks it, for messages: "mpirun" or "the agent" */
    const char *token;              /* names the session directory */
    int node_memory_fd; /* the descriptor number at which a rank finds the node's memory */
    int reports_fd; /* the descriptor number at which a rank finds the report socket */
    /* the descriptor number of a rank's end of the lifeline, whose other end the guardian holds */
    int lifeline_fd;
    /* the limit that mpirun was started with; the ranks get it back */
    struct rlimit descriptor_limit;
    bool hangup_ignored;            /* mpirun was started with nohup */
};

/* Remembers where the command line of this process is in memory, so that the guardian can overwrite
 * its own. Call this once, with main's argv. */
void tern_guardian_command_line(char **argv);

/* Forks the guardian. *ret_fd is a nonblocking socket to it. Returns 0 or TERN_ERR_OTHER. */
int tern_guardian_fork(const struct tern_guardian_start *start, pid_t *ret_pid, int *ret_fd);

/* Sends a message with `fd_count` descriptors, at most 3. Blocks while the socket has no room.
 * Returns 0, or -1 if the other end has closed. */
int tern_guardian_send(int fd, const struct tern_guardian_message *message, const int *fds,
                       int fd_count);
/* Receives one message and up to three descriptors, which the caller then owns. Returns 1 if a
 * message was received, 0 if none is there now, -1 if the other end has closed. Does not block. */
int tern_guardian_receive(int fd, struct tern_guardian_message *ret_message, int ret_fds[3],
                          int *ret_fd_count);

#endif
