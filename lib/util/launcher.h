/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LAUNCHER_H
#define TERN_LAUNCHER_H

#include <stdint.h>

/* What our mpirun and its ranks tell each other beyond what PMIx has words for. */

enum {
    /* A PMIx event, with PMIX_RANGE_NAMESPACE (what is for PMIX_RANGE_RM, PMIx 4.2 keeps to
     * itself): the sender is in MPI_Init, and all of the job are awaited there. Sessions wait for
     * nobody. */
    TERN_LAUNCHER_WORLD = -31501,
};

/*
 * Ranks need little of PMIx: to say how far they are, how they are reached from other hosts, and to
 * learn that of others. They do so in records, and libpmix stays unloaded. All ranks inherit one
 * socket (SOCK_SEQPACKET), by which each program of theirs passes the launcher, mpirun or the agent
 * of the node, one end of a pair of its own; what follows goes by that pair, in both directions,
 * and its end tells that the program has ended. With the first pair goes the far end of a lifeline
 * (lib/util/lifeline.h), by which the kernel ends the program when the launcher has ended. Who has
 * lost the descriptor on the way finds the same socket's name, an abstract one. TERN_REPORTS tells
 * them, separated by colons: the descriptor, its inode, the name, the number of the program in the
 * command line.
 */
#define TERN_REPORTS "TERN_REPORTS"

enum tern_report_kind {
    /* by the common socket, with `value` the rank and descriptors: the launcher's end of the pair,
       and, from a new process, that of the lifeline */
    TERN_REPORT_CONNECTED,
    TERN_REPORT_WORLD, /* as TERN_LAUNCHER_WORLD */
    /* how the rank is reached: a struct tern_card; `value` 0: this program's first one */
    TERN_REPORT_CARD,
    TERN_REPORT_SEEK, /* how is rank `value` reached? */
    TERN_REPORT_MEET, /* is to be told when all ranks of the job have said this */
    TERN_REPORT_FINALIZED,
    TERN_REPORT_ABORTED, /* with exit status `value` */
    /* this rank cannot connect to rank `value`, which shall hear of it: a struct tern_card, see
       below */
    TERN_REPORT_UNREACHED,
    TERN_REPORT_HEARD, /* of the last TERN_REPLY_UNREACHED: there is room for the next */
    /* something that concerns the whole job: `value` is an enum tern_remark, the text is in place
       of a card */
    TERN_REPORT_REMARK,
    TERN_REPORT_KINDS,
    /* answers */
    /* to a card: this is MPI program number `value` of those that run in the rank's place */
    TERN_REPLY_NUMBER = 100,
    /* of rank `value`, as soon as its program of the same number has said it: a struct tern_card */
    TERN_REPLY_CARD,
    TERN_REPLY_MET,
    TERN_REPLY_UNREACHED, /* rank `value` cannot connect to this rank: what it has reported */
};

/* What many ranks, or hosts, may find at the same time. Our mpirun says the first remark of each
 * kind and drops the others. */
enum tern_remark {
    TERN_REMARK_STRANGER, /* somebody called who does not belong to the job */
    TERN_REMARK_NO_START, /* MPI cannot be started */
    TERN_REMARK_NO_FILES, /* a procedure for files was called */
    TERN_REMARK_LIBRARY,  /* a rank has loaded another MPI library */
    TERN_REMARKS,
};

struct tern_report {
    int32_t kind, value;
};

/* How a rank is reached: most of it (`bytes`) is the same for the ranks of a host, and is kept and
 * sent once. */
enum { TERN_CARD_MOST = 4000 };
struct tern_card {
    uint64_t own; /* what is the rank's alone */
    char bytes[TERN_CARD_MOST]; /* as many as there are */
};

/* TERN_REPORT_UNREACHED and TERN_REPLY_UNREACHED use one for something else: `own` is a bit for
 * each lane (of TERN_LANES_MAX) that is concerned, `bytes` the text for people. */

/* A rank has at most so many questions open, for whose answers its socket has room. */
enum { TERN_SEEKS_MOST = 16 };

/*
 * The memory that the ranks of a node share begins with this, in the file that the launcher makes.
 * The launcher writes the first bytes, and TERN_NO_PROGRAM_MORE for each rank that has ended; the
 * rest is the ranks' (lib/node/programs.h).
 */
enum { TERN_NODE_HALVES = 2 };
#define TERN_NO_PROGRAM_MORE UINT32_MAX

struct tern_rank_record {
    /* of the rank's MPI program: its id while it is in MPI, the negative id when it has left; 0:
     * none has come */
    int32_t process;
    /* of the MPI program that has begun last, from 1 on; or TERN_NO_PROGRAM_MORE */
    uint32_t number;
    uint32_t world;  /* number of the program that has called MPI_Init last; 0: none */
};

struct tern_node_head {
    char launcher[64];
    /* of each half: number of the programs that use it; 0: nobody */
    uint32_t owners[TERN_NODE_HALVES];
    struct tern_rank_record ranks[];  /* of this node, in ascending order */
};

#endif
