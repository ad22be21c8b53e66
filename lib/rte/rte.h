/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RTE_H
#define TERN_RTE_H

/*
 * Who am I, who are the others, how is that one reached, abort: the launcher's client. A program
 * without PMIX_NAMESPACE and PMIX_RANK is a job of one rank and asks nobody. A rank of our mpirun
 * reads the roster (lib/util/roster.h) and talks with it (lib/rte/report.h); it connects to PMIx,
 * which is loaded by dlopen, when a function below needs to ask what PMIx alone knows. Under other
 * launchers PMIx is all there is.
 */

#include "lib/util/launcher.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_rte {
    bool managed;             /* a launcher started us */
    char job[256];            /* PMIx namespace, or singleton.PID */
    uint32_t rank, size;      /* in MPI_COMM_WORLD */
    uint32_t local_rank, local_size; /* among the ranks on this node */
    uint32_t node, node_count;       /* this node's number (of several: its lowest rank) */
    uint32_t universe_size;   /* slots in all */
    uint32_t appnum;          /* which program of an MPMD command line */
    const uint32_t *local_ranks; /* local_size of them, ascending: the ranks on this node */
    char host[256];
    int cpus;                 /* processors this process may run on */
    int node_memory_fd;       /* memfd inherited from our launcher, or -1 */
    size_t node_memory_size;
    char session_dir[512];    /* directory of the job on this node, or "" */
};

extern struct tern_rte tern_rte;

/* Connects to the launcher and fills tern_rte. 0 or TERN_ERR_OTHER with text. Takes ~ms where PMIx
 * is needed (its own init). */
int tern_rte_init(void);
/* Both may be called before tern_rte_init too; they read the environment that the launcher gave and
 * connect to nobody. tern_rte_processes_alike returns how many processes were started with this
 * one's part of the command line; 0 if the launcher does not say. tern_rte_own_host writes the
 * launcher's name of this host, else the system's. */
uint32_t tern_rte_processes_alike(void);
void tern_rte_own_host(char *name, size_t room);
/* Tells our launcher that this process starts the World Model, where it waits for all others. Does
 * not block. */
void tern_rte_tell_world(void);
/* A barrier of the launcher for all processes of the job. `notify` is called, by any thread, when
 * it is over: then the second function says so, and how it went. One at a time. */
int tern_rte_meet(void (*notify)(void));
bool tern_rte_has_met(int *ret_error);
/* Leaves the launcher: for the launcher this process may end now. What was learnt stays;
 * tern_rte_init connects again. */
int tern_rte_finalize(void);

/* Index in local_ranks of a rank of this job, or -1: it is on another node. */
int64_t tern_rte_local_rank(uint32_t rank);

/* Index of the node that a rank of this job is on, or -1: the launcher does not say. */
int64_t tern_rte_node_of(uint32_t rank);

/* Name of the host a rank runs on, or "?". */
void tern_rte_host_of(uint32_t rank, char *name, size_t room);

/* Makes known to the other ranks of the job how this one is reached: `own`, and bytes that are
 * mostly the same for all ranks of a node (at most TERN_CARD_MOST). Again after coming back, when
 * the launcher may have forgotten it. Waits for nobody. */
int tern_rte_publish(const void *bytes, size_t length, uint64_t own);
/* Number of this MPI program among those that run in this rank's place one after the other, from 1
 * on; published with the first card. 0: not known yet. */
uint32_t tern_rte_program(void);

/* A value of another rank that is being fetched; it comes when that rank has published it, which
 * may be never. */
struct tern_rte_fetch {
    bool done; /* atomic; the rest is valid then */
    int error; /* TERN_ERR_OTHER: `text` says why it never comes */
    void *value; /* malloc'ed, to be freed by whoever started it */
    size_t length;
    char text[200];
    void (*notify)(void); /* called then, by any thread; may be NULL */
    /* rte's own: */
    struct tern_rte_fetch *next;
    uint32_t rank;
    bool asked;
};
/* How is a rank reached? The value is a struct tern_card (lib/util/launcher.h), of the same program
 * as this one. `fetch` must stay where it is until it is done. Does not block. With `notify` filled
 * in. `anew`: not what was fetched before, which may have changed. */
int tern_rte_seek(uint32_t rank, bool anew, struct tern_rte_fetch *fetch);
/* It is not wanted any more. True: its memory may be used for something else; else it must be left
 * alone for ever. */
bool tern_rte_forget(struct tern_rte_fetch *fetch);

/* Where answers come by a descriptor: it (else -1), and what is to be called when it can be read.
 * False: nothing will come by it any more. */
int tern_rte_fd(void);
bool tern_rte_attend(void);

/* Tells a rank that this one cannot connect to it; `lanes` are the bits of those concerned, of as
 * many as there can be. Only our launcher passes it on, to the program of the same number, as soon
 * as that is in MPI. Does not block. */
void tern_rte_tell_unreached(uint32_t rank, uint32_t lanes, const char *text);
/* Sets what is called, by any thread, when another rank has told this one so. It must not call rte.
 */
void tern_rte_on_unreached(void (*heard)(uint32_t rank, uint32_t lanes, const char *text));

/* ---- by PMIx, as under launchers other than ours ---- */

/* Publishes a value under `key` for the other ranks of the job (not visible before the fence, or
 * tern_rte_publish). */
int tern_rte_put(const char *key, const void *value, size_t length);
/* Barrier over the job; with `collect` the values put are exchanged. */
int tern_rte_fence(bool collect);
/* Value of a rank, blocking; *ret_value is malloc'ed. */
int tern_rte_get(uint32_t rank, const char *key, void **ret_value, size_t *ret_length);
/* Starts to fetch it, like tern_rte_seek. */
int tern_rte_fetch(uint32_t rank, const char *key, bool anew, struct tern_rte_fetch *fetch);

/* Writes the job's secret as text (lib/util/hmac.h), by which connections are proven. Returns false
 * if the launcher gave none, as another one than ours: then rank 0 makes one
 * (lib/btl/tcp/listener.c). */
bool tern_rte_secret(char *text, size_t room);

/* Says `text` on standard error if it is the first remark of this kind: of the job, where the
 * launcher is ours and this process is connected to it; else of this process. */
void tern_rte_remark(enum tern_remark remark, const char *text);

/* Ends the job: all ranks with exit status `status`. Does not return. */
_Noreturn void tern_rte_abort(int status, const char *message);

/* Ends this process alone; what becomes of the others is the launcher's decision. Does not return.
 */
_Noreturn void tern_rte_abort_self(int status, const char *message);

/* Number of processors this process may run on now (affinity and cgroup quota, at least 1). */
int tern_rte_cpus(void);

#endif
