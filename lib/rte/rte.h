/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RTE_H
#define TERN_RTE_H

/*
 * The launcher's client: this process's rank, the other ranks, how to reach each of them, and
 * abort.
 *
 * A program without PMIX_NAMESPACE and PMIX_RANK is a job of one rank and asks nobody. A rank of
 * our mpirun reads the roster (lib/util/net/roster.h) and exchanges records with mpirun
 * (lib/rte/report.h). Such a rank connects to PMIx, which dlopen loads, only when a function below
 * needs what PMIx alone knows. Under other launchers everything comes from PMIx.
 */

#include "lib/rte/cpus.h"
#include "lib/util/net/launcher.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* This process and its job. */
struct tern_rte {
    bool managed;             /* true if a launcher started us */
    char job[256];            /* PMIx namespace; singleton.PID without a launcher */
    uint32_t rank, size;      /* in MPI_COMM_WORLD */
    uint32_t local_rank, local_size; /* among the ranks on this node */
    /* this node: its lowest rank if the job has several nodes, else 0; and the number of nodes */
    uint32_t node, node_count;
    uint32_t universe_size;   /* slots of the whole allocation */
    uint32_t appnum;          /* number of this program in an MPMD command line */
    const uint32_t *local_ranks; /* the ranks on this node, ascending; local_size of them */
    char host[256];           /* name of this host */
    int cpus;                 /* number of processors on which this process may run */
    struct tern_rte_quota quota; /* limits the processor time of this process */
    int node_memory_fd;       /* memfd inherited from our launcher, or -1 */
    size_t node_memory_size;  /* bytes for the ranks */
    char session_dir[512];    /* the job's directory on this node, or "" */
};

extern struct tern_rte tern_rte;

/* Connects to the launcher and fills tern_rte. Returns 0, or TERN_ERR_OTHER with text. Takes
 * milliseconds if PMIx is needed, for PMIx's own init. */
int tern_rte_init(void);
/* The next two may also be called before tern_rte_init. They read the environment that the launcher
 * gave and connect to nobody. tern_rte_processes_alike returns how many processes the launcher
 * started for this process's part of the command line, or 0 if unknown. tern_rte_own_host writes
 * the launcher's name of this host, or else the system's. */
uint32_t tern_rte_processes_alike(void);
void tern_rte_own_host(char *name, size_t room);
/* Tells our launcher that this process initialises the World Model, and therefore waits for all
 * other ranks. Does not block. */
void tern_rte_tell_world(void);
/* Starts the launcher's barrier over all processes of the job, and returns at once. When all have
 * come, `notify` is called by any thread. tern_rte_has_met then returns true and the barrier's
 * error. One barrier at a time. */
int tern_rte_meet(void (*notify)(void));
bool tern_rte_has_met(int *ret_error);
/* Leaves the launcher, which then accepts that this process ends. tern_rte keeps its values.
 * tern_rte_init connects again. */
int tern_rte_finalize(void);

/* Returns the index of a rank in local_ranks, or -1 if the rank is on another node. */
int64_t tern_rte_local_rank(uint32_t rank);

/* Returns the index of a rank's node, or -1 if the launcher does not tell. */
int64_t tern_rte_node_of(uint32_t rank);

/* Writes the name of a rank's host, or "?". */
void tern_rte_host_of(uint32_t rank, char *name, size_t room);

/* Publishes how to reach this rank: `own`, and at most TERN_CARD_MOST `bytes` that are mostly equal
 * on all ranks of a node. Call again after coming back, because the launcher may have forgotten
 * them. Returns 0, or TERN_ERR_OTHER with text. Waits for nobody. */
int tern_rte_publish(const void *bytes, size_t length, uint64_t own);
/* Returns the number of this MPI program among those that run one after the other in this rank's
 * place, from 1 on. Known once the first card is published; 0: not known yet. */
uint32_t tern_rte_program(void);

enum { TERN_RTE_KEY = 40 }; /* room for a key, with its end */

/* A value of another rank that is being fetched. The value arrives when that rank publishes it,
 * which may be never. */
struct tern_rte_fetch {
    bool done; /* atomic: the fetch has ended, and the members below are valid */
    int error; /* 0; TERN_ERR_OTHER: no value will arrive, and `text` says why */
    void *value; /* malloc'ed; the caller of the fetch frees it */
    size_t length;
    char text[200];
    /* set by the caller: called by any thread when `done` is set; may be NULL */
    void (*notify)(void);
    /* private to lib/rte: */
    struct tern_rte_fetch *next;
    uint32_t rank;
    bool asked;
    char key[TERN_RTE_KEY];
};
/* Asks how to reach a rank. The value is a struct tern_card (lib/util/net/launcher.h) of the rank's
 * program with our program's number. Set fetch->notify before. If `anew`, a value fetched earlier
 * does not count, because it may have changed. Does not block. Owner: `fetch` must stay in place
 * until done. */
int tern_rte_seek(uint32_t rank, bool anew, struct tern_rte_fetch *fetch);
/* Cancels the fetch. Returns true if the caller may reuse `fetch`; false if a value may still be
 * written into `fetch`: then never free it. */
bool tern_rte_forget(struct tern_rte_fetch *fetch);

/* Replies of the launcher. tern_rte_fd returns the descriptor by which they arrive, or -1 if there
 * is none. When the descriptor is readable, tern_rte_attend takes the replies; it returns false if
 * none will arrive any more. */
int tern_rte_fd(void);
bool tern_rte_attend(void);

/* Tells another rank that this rank cannot connect to it, and what follows from that. `lanes` has a
 * bit for each lane that is concerned, of TERN_LANES_MAX. Our launcher passes this on to the rank's
 * program with our program's number, as soon as that program is in MPI. Returns false under other
 * launchers, which pass nothing on. Does not block. */
bool tern_rte_tell_unreached(uint32_t rank, enum tern_unreached how, uint32_t lanes,
                             const char *text);
/* Sets the function that any thread calls when another rank has told this rank so. The function
 * must not call lib/rte. NULL: keep what arrives until there is a function. */
void tern_rte_on_unreached(tern_unreached_taker *heard);

/* ---- by PMIx: under launchers other than ours ---- */

/* Publishes a value under `key` for the other ranks of the job. They see it after tern_rte_fence or
 * tern_rte_publish. */
int tern_rte_put(const char *key, const void *value, size_t length);
/* Waits for all ranks of the job; with `collect` also exchanges the published values. Blocks. */
int tern_rte_fence(bool collect);
/* Fetches a value of a rank. Blocks until the value arrives. The caller frees *ret_value. */
int tern_rte_get(uint32_t rank, const char *key, void **ret_value, size_t *ret_length);
/* Starts to fetch a value of a rank, like tern_rte_seek. */
int tern_rte_fetch(uint32_t rank, const char *key, bool anew, struct tern_rte_fetch *fetch);

/* Writes the job's secret as text (lib/util/net/hmac.h), by which connections are proven. Returns
 * false if the launcher gave none, as launchers other than ours do. Then rank 0 makes one
 * (lib/btl/secret.h). */
bool tern_rte_secret(char *text, size_t room);

/* Prints `text` on standard error if it is the first remark of its kind: the first in the job if
 * our launcher is connected, else the first of this process. */
void tern_rte_remark(enum tern_remark remark, const char *text);

/* Prints `message` and ends the whole job with exit status `status`. Does not return. */
_Noreturn void tern_rte_abort(int status, const char *message);

/* Prints `message` and ends this process alone; the launcher decides about the others. Does not
 * return. */
_Noreturn void tern_rte_abort_self(int status, const char *message);

#endif
