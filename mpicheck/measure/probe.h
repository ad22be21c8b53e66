/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_PROBE_H
#define TERN_MPICHECK_PROBE_H

/* The measuring program of mpicheck: plain MPI-3.1 and Linux, so that it also builds with other MPI
 * libraries (mpicheck --mpi). mpicheck starts it as a short job for each phase:
 *
 *     mpicheck-probe PHASE [ids=0,1,...] [dead=0-3,...] [items=0-1,...] [nics=eth0,...]
 *         [NAME=NUMBER]...
 *
 * Each rank prints records, lines that begin with "@ ", whole lines at a time. The records are
 * listed in measured.h. Hosts have the numbers that mpicheck gave them (`ids`), not ranks.
 *
 * A rank that has printed `done` waits until mpicheck ends the job: a broken network might hang
 * MPI_Finalize. A stage that takes too long prints `hang`, and mpicheck ends the job. */

#include <stdbool.h>
#include <stddef.h>

/* What the command line says; the same on all ranks. */
struct probe_job {
    int rank, size;
    int *ids;       /* by rank: the host's number */
    bool *dead;     /* [a * size + b]: ranks a and b must not exchange messages; NULL: all may */
    int (*items)[2]; /* pairs of ranks to measure one after the other */
    int item_count;
    int rounds;     /* of the tournament: 0: all */
    int samples;    /* how often each item is measured */
    int sample_ms;  /* how long a sample of bandwidth lasts */
    int limit_s;    /* how long a stage may take */
    int minutes;    /* of the soak */
    bool verify;    /* every long message is compared */
    const char *nics; /* interfaces to measure by TCP, "eth0,eth1"; NULL: none */
    int gpu;        /* long messages are in its memory; -1: in the host's */
};

/* Prints a record. */
void probe_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Starts the clock of a stage between this rank and rank `peer`. If the next call of this function
 * or of probe_watch_end does not come within the job's limit, prints `hang` and stops the rank. A
 * rank that lacked a processor prints `slow` instead and goes on, a few times. */
void probe_watch(const struct probe_job *job, int peer, const char *stage);
void probe_watch_end(void);

/* Returns the seconds of a clock that only goes forward. */
double probe_now(void);

/* Returns the seconds for which this process was ready to run and had no processor. May be called
 * from a signal handler. */
double probe_waited(void);

/* The phases. Each prints its records and returns. */
void probe_facts(const struct probe_job *job);    /* without MPI */
void probe_node(const struct probe_job *job);     /* without MPI */
void probe_gpus(const struct probe_job *job);     /* without MPI */
void probe_reach(const struct probe_job *job);
void probe_clock(const struct probe_job *job);
void probe_pairs(const struct probe_job *job);
void probe_alone(const struct probe_job *job);
void probe_together(const struct probe_job *job);
void probe_soak(const struct probe_job *job);

/* Prints a record for each TCP connection of this process to another host: interface, addresses,
 * segments sent and segments sent again. Prints at most `most` records. */
void probe_print_sockets(const struct probe_job *job, int most);

struct door;
/* Calls `take` with the own address of each TCP connection of this process to another host. */
void probe_each_address(void (*take)(struct door *door, const char *text), struct door *door);

/* Two ranks that are connected call each other by TCP, outside of MPI. Prints `call` if nobody
 * answers. Prints `net` for each of the job's interfaces that connects the two. Both call it at
 * the same time. */
void probe_calls(const struct probe_job *job, int peer);

/* The text that came with the last MPI error; "" if there was none. */
const char *probe_error_text(void);

#endif
