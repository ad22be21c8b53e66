/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LAUNCHER_H
#define TERN_LAUNCHER_H

#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

/* What our mpirun and its ranks tell each other and PMIx has no words for. */

enum {
    /* A PMIx event: the sender is in MPI_Init, and waits there for all ranks of the job. Sent with
     * PMIX_RANGE_NAMESPACE, because PMIx 4.2 does not pass on events for PMIX_RANGE_RM. Sessions
     * wait for nobody, so they do not send the event. */
    TERN_LAUNCHER_WORLD = -31501,
};

/*
 * Ranks need little of PMIx: to report how far they are and how other hosts reach them, and to
 * learn that of others. They exchange records for these, and libpmix stays unloaded.
 *
 * All ranks inherit one socket (SOCK_SEQPACKET) of their launcher: mpirun, or the agent of the
 * node. Through it each program of a rank passes the launcher one end of its own socket pair. All
 * later records use that pair, in both directions; when the pair closes, the program has ended.
 * Together with the first pair the rank passes the far end of a lifeline (lib/util/net/lifeline.h),
 * by which the kernel ends the program after the launcher has ended. A program that has lost the
 * inherited descriptor finds the same socket, TERN_REPORTS_NAME, in the job's directory.
 *
 * TERN_REPORTS contains, separated by colons: the descriptor, its inode, the job's directory (or
 * -), the process that starts the ranks, and the number of the program in the command line.
 */
#define TERN_REPORTS "TERN_REPORTS"
#define TERN_REPORTS_NAME "reports"

/* Sets the address of a socket in a directory that is open. The address is short, however long the
 * directory's name is, and /proc/net/unix does not show that name. */
static inline void tern_directory_address(int directory, const char *name,
                                          struct sockaddr_un *ret_address)
{
    *ret_address = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(ret_address->sun_path, sizeof ret_address->sun_path, "/proc/self/fd/%d/%s", directory,
             name);
}

/* Kinds of records. First what a rank sends, then the launcher's replies. */
enum tern_report_kind {
    /* Sent by the common socket, `value` is the rank. A struct tern_ancestry stands in place of a
     * card: the program's process, and those between it and the process that starts the ranks.
     * Carries descriptors: the launcher's end of the pair, and from a new process the launcher's
     * end of the lifeline. */
    TERN_REPORT_CONNECTED,
    TERN_REPORT_WORLD, /* the rank is in MPI_Init; like TERN_LAUNCHER_WORLD */
    /* how to reach this rank: a struct tern_card; `value` is 0 for this program's first card */
    TERN_REPORT_CARD,
    TERN_REPORT_SEEK, /* asks how to reach rank `value` */
    TERN_REPORT_MEET, /* asks for TERN_REPLY_MET when all ranks of the job have sent this */
    TERN_REPORT_FINALIZED, /* this program has left MPI */
    TERN_REPORT_ABORTED, /* the rank aborts the job with exit status `value` */
    /* this rank cannot connect to rank `value`, and the launcher must tell that rank: a struct
     * tern_card, whose `own` is lanes (a bit each) + an enum tern_unreached << 32 */
    TERN_REPORT_UNREACHED,
    /* the rank has read the last TERN_REPLY_UNREACHED: the launcher may send the next */
    TERN_REPORT_HEARD,
    /* a remark about the whole job: `value` is an enum tern_remark; the text stands in place of a
     * card */
    TERN_REPORT_REMARK,
    /* signal `value` is about to end this program; the text stands in place of a card */
    TERN_REPORT_CRASHED,
    /* `value` is an enum tern_joined; the text, in place of a card, names this rank's job and those
     * that it is connected to by words. Before a word, TERN_JOINED_PARTS: it is about to disconnect
     * from that job */
    TERN_REPORT_JOINED,
    /* a part of a question to mpirun (lib/util/net/question.h), in place of a card; `value` is 1
     * for the last part. The answer arrives at the port that the question names */
    TERN_REPORT_ASK,
    TERN_REPORT_KINDS,
    /* the launcher's replies */
    /* reply to a card: this is MPI program number `value` of those that run one after the other in
     * the rank's place */
    TERN_REPLY_NUMBER = 100,
    /* how to reach rank `value`: a struct tern_card. Sent when the rank's program of the same
     * number has published its card */
    TERN_REPLY_CARD,
    TERN_REPLY_MET, /* all ranks have sent TERN_REPORT_MEET */
    /* rank `value` cannot connect to this rank: a copy of that rank's report */
    TERN_REPLY_UNREACHED,
};

/* What a rank that cannot connect to another rank tells that rank. */
enum tern_unreached {
    TERN_UNREACHED_LOST,    /* nothing will arrive: fail what waits for the sender */
    TERN_UNREACHED_CALL,    /* the first tries have failed: please connect to the sender */
    TERN_UNREACHED_GAVE_UP, /* all tries have failed: only the receiver may still connect */
};

/* Takes what rank `rank` tells this rank: `lanes` has a bit for each lane that is concerned, `text`
 * says why the rank cannot connect. */
typedef void tern_unreached_taker(uint32_t rank, enum tern_unreached how, uint32_t lanes,
                                  const char *text);

/* Whether a rank is connected to another job (MPI-4.1 section 11.10.4). */
enum tern_joined {
    TERN_APART,   /* it is not */
    TERN_JOINED,  /* it is */
    TERN_PARTING, /* it is about to disconnect from all, and waits for the other jobs */
};
/* The word for jobs whose names have no room: connected to each job that is connected to any. */
#define TERN_JOINED_TO_ALL "*"
#define TERN_JOINED_PARTS "-"

/* Remarks that many ranks or hosts may make at the same time. Our mpirun prints the first remark of
 * each kind and drops the others. */
enum tern_remark {
    TERN_REMARK_STRANGER, /* a process that does not belong to the job has connected */
    TERN_REMARK_NO_START, /* MPI cannot be started */
    TERN_REMARK_LIBRARY,  /* a rank has loaded another MPI library */
    TERN_REMARK_FABRIC,   /* a rank does not use the fabric */
    TERN_REMARK_RAIL,     /* a rank leaves out one of several network cards */
    TERN_REMARK_SPAWN,    /* a rank asks by PMIx to start further processes */
    TERN_REMARK_STAGED,   /* messages between devices go through the host */
    TERN_REMARK_HMEM,     /* network cards do not reach device memory */
    TERN_REMARK_PINNED,   /* the CUDA driver pins no host memory */
    TERN_REMARKS,
};

/* A record. */
struct tern_report {
    int32_t kind, value;
};

/* How to reach a rank. The launcher keeps and sends `bytes` once for all ranks of a host that have
 * equal ones. */
enum { TERN_CARD_MOST = 4000 };
struct tern_card {
    uint64_t own; /* the part that belongs to this rank alone */
    char bytes[TERN_CARD_MOST]; /* addresses of the host; a record carries only the bytes used */
};

/* TERN_REPORT_UNREACHED and TERN_REPLY_UNREACHED use a card differently: `own` has a bit for each
 * lane (of TERN_LANES_MAX) that fails, and `bytes` holds a text for people. */

/* A rank has at most this many TERN_REPORT_SEEK without a reply. Its socket has room for that many
 * replies. */
enum { TERN_SEEKS_MOST = 16 };

/*
 * The memory shared by the ranks of a node begins with a struct tern_node_head, in a file that the
 * launcher makes. The launcher writes `launcher`, and TERN_NO_PROGRAM_MORE for each rank that has
 * ended. The ranks write the rest (lib/node/programs.h).
 */
enum { TERN_NODE_HALVES = 2 };
#define TERN_NO_PROGRAM_MORE UINT32_MAX

/* The MPI programs that have run in one rank's place. */
struct tern_rank_record {
    /* process id of the rank's MPI program while it is in MPI; the negative id after it has left;
     * 0: there was no program yet */
    int32_t process;
    /* number of the newest MPI program, from 1 on; TERN_NO_PROGRAM_MORE if the rank has ended */
    uint32_t number;
    uint32_t world;  /* number of the newest program that has called MPI_Init; 0: none */
};

/* What a rank that waits long waits for. */
enum tern_wait_kind {
    TERN_WAIT_UNKNOWN, /* nothing but the procedure is known */
    TERN_WAIT_RECV,    /* a message; also a probe */
    TERN_WAIT_SEND,    /* the receiver of a message */
    TERN_WAIT_COLLECTIVE,
    TERN_WAIT_LOCK, /* the lock of a rank's part of a window */
    TERN_WAIT_PORT, /* another job, at the port that `comm` names */
    TERN_WAIT_KINDS
};

/* A message that has arrived and for which the rank has not asked. */
struct tern_unasked {
    int32_t source; /* rank in the communicator */
    int32_t world;  /* rank in MPI_COMM_WORLD; -1: not of this job */
    int32_t tag;
    int32_t unused;
    int64_t bytes;
    char comm[40]; /* name of the communicator; "" if it has none */
};
enum { TERN_UNASKED_SHOWN = 2 };

/* A rank for which a rank waits. */
struct tern_awaited {
    int32_t kind;  /* enum tern_wait_kind */
    int32_t rank;  /* in the communicator; MPI_ANY_SOURCE; -2: none or not known */
    int32_t world; /* the same in MPI_COMM_WORLD of its job; -1: none or not known */
    int32_t job;   /* 0: this job; number of another job; -1: another job without a known number */
    int32_t tag;   /* or MPI_ANY_TAG */
    /* partitioned communication: partitions that the sender has not marked as ready, of how many;
     * -1 of 0: the other rank has not called MPI_Psend_init; 0 of 0: not partitioned */
    int32_t lacking, partitions;
};
enum { TERN_AWAITED_SHOWN = 4 };

/* Some ranks of a communicator: first, first + stride, ... in MPI_COMM_WORLD. */
struct tern_members {
    int32_t first, stride, count;
};
enum { TERN_MEMBERS_SHOWN = 8 };

/* A test is noted at most so often; a rank that has noted none for so long does something else. */
enum { TERN_TESTS_NOTED_MS = 250, TERN_TESTS_OVER_MS = 2000 };

/*
 * What a rank waits for, in the node's memory, where the launcher reads it even if the rank is
 * stopped. A rank writes it when it has slept in vain for a while, so a short wait costs nothing.
 */
struct tern_wait_record {
    uint32_t changes; /* odd while the rank writes */
    uint32_t waits;   /* nonzero: the rank sleeps in this wait now */
    int32_t process;  /* process id of the program that has written this */
    int32_t kind;     /* enum tern_wait_kind */
    uint64_t began_ms; /* beginning of the wait, on CLOCK_MONOTONIC */
    /* id of the communicator, which all its ranks share; 0: there is none */
    uint64_t comm_id;
    int64_t bytes;  /* of the buffer; -1: not known */
    /* collective: its place among the communicator's, from 1 on; lock: the number of ranks that
     * share it, 0: one rank alone has it, -1: not known */
    int64_t number;
    int64_t exclusive; /* lock: nonzero: an exclusive one is wanted */
    int32_t comm_size;
    int32_t requests;      /* requests that the call waits for; 0: not such a call */
    int32_t any;            /* nonzero: one of these requests ends the wait */
    /* nonzero: no wait, but tests or probes that find nothing, while no message comes or goes */
    int32_t tests;
    int32_t thread;         /* id of the thread that waits or tests, as `process` */
    uint64_t tested_ms; /* the last time that such a test was noted, on CLOCK_MONOTONIC */
    uint64_t messages;  /* sent and received by all threads so far, at the last sleep or test */
    uint32_t unasked_count; /* messages that have arrived and nobody asked for */
    /* The ranks that are awaited: one, or that of each of the first requests. A lock: `rank` is the
     * rank whose part of the window it is, `world` the rank that took it last. */
    struct tern_awaited awaited[TERN_AWAITED_SHOWN];
    int32_t awaited_count; /* valid elements */
    /* of a collective: the communicator's ranks of this job; run_count may be more than what has
     * room here */
    int32_t run_count;
    struct tern_members members[TERN_MEMBERS_SHOWN];
    /* of all ranks of the communicator, also if `members` is empty: several communicators may have
     * one id and one name */
    uint64_t members_hash;
    /* bytes that this rank has sent to another rank and that host does not acknowledge; 0: none */
    int64_t unheard_bytes;
    uint64_t unheard_since_ms; /* on CLOCK_MONOTONIC */
    int32_t unheard_world;     /* that rank in MPI_COMM_WORLD; -1: of another job */
    int32_t unused;
    char comm[40];         /* name of the communicator; "" if it has none */
    char procedure[56];
    struct tern_unasked unasked[TERN_UNASKED_SHOWN]; /* the first of these messages */
};

/* Returns nonzero if it is not the program's first thread that waits or tests. */
static inline int tern_wait_is_beside(const struct tern_wait_record *record)
{
    return record->thread != record->process;
}

/*
 * Each half of the memory has two parts. The core holds what all ranks need all the time: rings,
 * boards, words of windows. Every rank maps it when it starts. The arena behind it holds the
 * program's memory: windows, blocks of MPI_Alloc_mem. Each rank maps as much of it as it needs. The
 * file is sparse, so an arena that is larger than any memory costs nothing.
 */
#define TERN_NODE_ARENA_BYTES ((uint64_t)16 << 40)
static inline uint64_t tern_node_core_bytes(uint64_t ranks)
{
    return ((uint64_t)1 << 30) + ranks * ranks * (64 << 10) + ranks * (4 << 20);
}

/* The first bytes of the shared memory. Behind the records of all ranks, from the next multiple of
 * 64 on, come their wait records. */
struct tern_node_head {
    char launcher[64]; /* "TERNSHM1" and the token (lib/rte/node_memory.h) */
    /* for each half of the memory: number of the programs that use the half; 0: unused */
    uint32_t owners[TERN_NODE_HALVES];
    struct tern_rank_record ranks[];  /* one for each rank of this node, in ascending order */
};

/* Returns the offset of a rank's wait record; of `local_size`: of the end of all records. */
static inline uint64_t tern_wait_record_offset(uint32_t local_size, uint32_t local_rank)
{
    uint64_t records = sizeof(struct tern_node_head) +
                       (uint64_t)local_size * sizeof(struct tern_rank_record);
    return (records + 63) / 64 * 64 + (uint64_t)local_rank * sizeof(struct tern_wait_record);
}

#endif
