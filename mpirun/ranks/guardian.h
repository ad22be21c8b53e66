/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_GUARDIAN_H
#define TERN_MPIRUN_RANKS_GUARDIAN_H

/* The guardian: a small process between mpirun and the ranks, which starts them, tells of their
 * ends, and cleans up whatever happens to mpirun. Both sides speak over a socket in the messages
 * below. */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum tern_guardian_kind {
    /* to the guardian */
    /* with descriptors: the plan (`size` bytes), the node memory, and what ranks report on */
    TERN_GUARDIAN_PLAN = 1,
    TERN_GUARDIAN_SPAWN,  /* start `rank`, with three descriptors: stdin, stdout, stderr; places say
                             where in the plan */
    TERN_GUARDIAN_SIGNAL, /* send signal `value` to the group of `rank`; -1: of every rank */
    TERN_GUARDIAN_KILL,   /* kill whatever is left of the job, answer GONE */
    TERN_GUARDIAN_CLEAN,  /* remove the session directory and end */
    /* from the guardian */
    TERN_GUARDIAN_READY,   /* `text`: the session directory */
    TERN_GUARDIAN_REFUSED, /* `text`: why there is no session directory; the guardian ends */
    TERN_GUARDIAN_STARTED, /* `rank` is process `pid` */
    TERN_GUARDIAN_FAILED,  /* `rank` could not be started: errno `value` in step `step` */
    TERN_GUARDIAN_EXITED,  /* `rank` ended with wait status `value` */
    TERN_GUARDIAN_LOST,   /* (never sent) the guardian itself, process `pid`, has been killed */
    TERN_GUARDIAN_GONE, /* nothing of the job is left (`value` != 0: something cannot be killed) */
};

/* Steps between fork and exec that can fail. */
enum tern_guardian_step {
    TERN_STEP_FORK,
    TERN_STEP_GROUP,
    TERN_STEP_DESCRIPTORS,
    TERN_STEP_WDIR,
    TERN_STEP_EXEC
};

struct tern_guardian_message {
    int32_t kind;
    int32_t rank;
    int32_t pid;
    int32_t value;
    int32_t step;
    uint64_t size;
    /* offsets in the plan, 0 for none: a string, or a list (uint32_t count, then the strings) */
    uint64_t path, wdir, argv, shared_env, own_env;
    uint64_t cpus; /* a struct tern_cpus to bind to */
    char text[600];
};

/* What the guardian needs to know from the start. */
struct tern_guardian_start {
    const char *parent;             /* what it is forked from, for messages */
    const char *token;              /* names the session directory */
    int node_memory_fd;             /* descriptor number at which ranks find the node's memory; */
    int reports_fd;                 /* what they report on; */
    int lifeline_fd;                /* their end of the lifeline that the guardian holds */
    struct rlimit descriptor_limit; /* as mpirun found it, for the ranks */
    bool hangup_ignored;            /* mpirun was started with nohup */
};

/* Tells where the command line of this process is, so that the guardian can have another one. Call
 * it once, with main's argv. */
void tern_guardian_command_line(char **argv);

/* Forks the guardian. *ret_fd is the socket to it (nonblocking). 0 or TERN_ERR_OTHER. */
int tern_guardian_fork(const struct tern_guardian_start *start, pid_t *ret_pid, int *ret_fd);

/* Sends a message with `fd_count` descriptors, waiting for room. 0, or -1 when the other end has
 * gone. */
int tern_guardian_send(int fd, const struct tern_guardian_message *message, const int *fds,
                       int fd_count);
/* Receives one message and up to three descriptors. 1: received, 0: nothing there now, -1: the
 * other end has gone. */
int tern_guardian_receive(int fd, struct tern_guardian_message *ret_message, int ret_fds[3],
                          int *ret_fd_count);

#endif
