/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CHECK_H
#define TERN_CHECK_H

/*
 * What is checked beyond the arguments of one call (docs/checking.md): the parameter check_level.
 *
 * Entry points call in here only through a branch that is never taken at the levels none and basic:
 * tern_gate, the same word that says whether MPI runs. So the level costs nothing where it is not
 * full. At level full every call notes its name, looks at handles before it touches them, records
 * the handles it makes, and a collective asks the others whether they do the same.
 */

#include "lib/mpi/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/op.h"
#include "lib/util/atomic.h"
#include "lib/util/handle.h"
#include "lib/util/ints.h"

#include <mpi.h>
#include <stdbool.h>

struct tern_request;

enum tern_check_level {
    TERN_CHECK_NONE,  /* arguments one by one */
    TERN_CHECK_BASIC, /* and every element of arrays */
    TERN_CHECK_FULL,  /* and everything below */
};
extern TERN_OURS _Atomic int tern_checks;

/* Read without order: another thread may set it that starts the library. */
static inline enum tern_check_level tern_check_level(void)
{
    return __atomic_load_n(&tern_checks, __ATOMIC_RELAXED);
}

static inline bool tern_check_full(void)
{
    return TERN_UNLIKELY(tern_check_level() == TERN_CHECK_FULL);
}

/* Nonzero: an entry point has more to do than look at its arguments, for MPI does not run or the
 * level is full. */
extern TERN_OURS _Atomic int tern_gate;
static inline bool tern_gated(void)
{
    return TERN_UNLIKELY(__atomic_load_n(&tern_gate, __ATOMIC_RELAXED) != 0);
}
/* Sets it again after tern_running has changed. */
void tern_gate_update(void);

/* Reads the level; before anything else when the library starts. The reverse says what the user has never freed. */
void tern_check_init(void);
void tern_check_finalize(void);

/* ---- every call (check_handles.c) ---- */

/* What an entry point does first when tern_gate is set: ends the program if MPI does not run and
 * has to; notes the procedure. */
void tern_check_enter(const char *procedure, bool always_allowed);
/* The procedure noted last in this thread, and in any. */
const char *tern_check_procedure(void), *tern_check_newest_procedure(void);

/* Is the handle one that must not be looked into, or that the user has freed? NULL is not. */
bool tern_check_bad_handle(const void *handle);
/* The same of an array: index of the first, or -1. */
int64_t tern_check_find_bad_handle(const void *handles, int64_t n);
/* Why not: "a handle that was freed by MPI_Type_free", ... For tern_entry_refuse_handle. */
const char *tern_check_handle_fault(const void *handle);

/* The user got a handle from the procedure noted last, or gave it back there. Predefined and null handles are
 * passed over. */
void tern_check_handle_made(const void *handle);
void tern_check_handle_gone(const void *handle);
/* A callback gets a handle that the user may have given back meanwhile. */
void tern_check_handle_lent(const void *handle);

/* Says which handles were never freed, by kind and procedure that made them, and forgets all. */
void tern_check_say_leaks(void);

/* The communicator is given up: says what was sent on it and never received. Does a round of progress. */
void tern_check_say_unreceived(struct tern_comm *comm);

/* ---- buffers (check_buffers.c) ---- */

/* A buffer and what describes it; type and types are NULL where it is not significant. */
struct tern_check_part {
    const char *name, *count_name;
    const void *buffer;
    int blocks;              /* one after the other, or as displs say */
    MPI_Count count;         /* of one block, if there are no counts */
    struct tern_ints counts; /* of each block; values NULL: `count` */
    struct tern_ints displs; /* in elements, or in bytes where there are types; values NULL: none */
    const struct tern_datatype *type;
    const MPI_Datatype *types; /* of each block; NULL: `type` */
    bool output;             /* is written */
};

/* NULL: none, or no datatype, for arrays whose lengths only a topology knows are looked at later. */
const struct tern_datatype *tern_check_type_of(const struct tern_check_part *part, int block);

enum { TERN_CHECK_PARTS = 2 };

/*
 * Looks for memory that is written twice: by overlapping blocks of one buffer, by both buffers, or also by a request that is not
 * complete yet. Returns 0 or TERN_ERR_BUFFER, whose text ends with `cure` if both buffers begin at one address. Parts without
 * a name are passed over.
 */
int tern_check_buffers(const struct tern_check_part parts[TERN_CHECK_PARTS], const char *cure);

/* The request of the call uses its buffers; a persistent one as soon as it is started. */
void tern_check_request_made(struct tern_request *request,
                             const struct tern_check_part parts[TERN_CHECK_PARTS]);
/* Before a start: 0, or TERN_ERR_BUFFER as above. */
int tern_check_request_started(struct tern_request *request);
/* It was completed, or freed: its buffers are the user's again. TERN_ERR_BUFFER if the user has changed what
 * was to be sent meanwhile. */
int tern_check_request_done(struct tern_request *request, bool freed);

/* Requests named in one call: TERN_ERR_SESSION if they are of different sessions. They are requests or null. */
int tern_check_requests(int64_t count, const MPI_Request requests[]);

/* What a program asserts by the hint mpi_assert_exact_length: a message is as long as its receive buffer. TERN_ERR_COUNT if not.
 * Requests are looked at when they are done, blocking receives by the first. */
int tern_check_received(const struct tern_comm *comm, const struct tern_check_part *part, const MPI_Status *status);
int tern_check_length(int64_t expected, const MPI_Status *status);

/* Blocks of a part that has one for each rank, or one for each neighbour. */
int tern_check_ranks(const struct tern_comm *comm);
int tern_check_neighbors(const struct tern_comm *comm, bool output);

/* ---- what ranks must agree on (check_collective.c, check_exchange.c) ---- */

/* An argument that must be the same on all ranks: `n` values of `size` bytes each. */
struct tern_check_same {
    const char *name; /* NULL: ends the list */
    const void *values;
    int n;
    int size;
};

/* Whose data must agree with whose. */
enum tern_check_pattern {
    TERN_CHECK_NO_DATA,
    TERN_CHECK_ONE_BLOCK, /* all blocks alike: bcast, gather, scatter, allgather, alltoall */
    TERN_CHECK_OPERANDS,  /* reductions */
    TERN_CHECK_BLOCKS,    /* one for each rank: gatherv, scatterv, allgatherv */
    TERN_CHECK_PAIRS,     /* one for each pair of ranks: alltoallv, alltoallw */
    TERN_CHECK_COUNTS,    /* reductions whose counts are the same in the whole group: reduce_scatter */
    TERN_CHECK_NEIGHBORS, /* one for each edge of a topology */
};

enum tern_check_way {
    TERN_CHECK_BLOCKING,
    TERN_CHECK_NONBLOCKING, /* tern_check_take_permit gives what its request waits for */
    TERN_CHECK_PERSISTENT,  /* prepared, which blocks; tern_check_take_permit gives what each start waits for */
    TERN_CHECK_DETACHED,    /* nobody waits for the answer: a difference is said, no more */
};

enum { TERN_CHECK_SAMES = 6 };

struct tern_check_call {
    enum tern_check_way way;
    enum tern_check_pattern pattern;
    bool rooted;
    int root;
    const struct tern_op *op; /* NULL: none */
    struct tern_check_part parts[TERN_CHECK_PARTS];
    struct tern_check_same same[TERN_CHECK_SAMES + 1];
};

/*
 * Compares the call with those of the other ranks of `comm`; the procedure is the one noted last.
 * No lane is held; may block and progress. 0, TERN_ERR_NOT_SAME with what differs, TERN_ERR_BUFFER,
 * TERN_ERR_NO_MEM.
 */
int tern_check_collective(struct tern_comm *comm, const struct tern_check_call *call);

/* What the nonblocking or persistent call of this thread that tern_check_collective saw last must wait for before it
 * communicates, now the caller's; NULL: nothing. */
struct tern_permit *tern_check_take_permit(void);

/*
 * The same for calls that only processes of `group` make, all of them in the intracommunicator `comm`, and this one among them; or
 * the two leaders that join two groups over `comm`. `tag` is for people, "tag 5", and tells such calls apart. What
 * differs is said as soon as ranks that have no further threads wait for each other.
 */
int tern_check_group(struct tern_comm *comm, struct tern_group *group, const char *tag);
int tern_check_leaders(struct tern_comm *comm, int remote_leader, const char *tag);

/* Start of talking to the others, after the rooms below. The lock is held. 0 or TERN_ERR_*. */
int tern_check_open(void);
/* Until everything is said that this process has to say. */
void tern_check_flush(void);

/* A number that two types share if and only if the sequences of their basic elements are the same
 * (but for accidents, 1 in 2^64): `count` elements of `type`. */
uint64_t tern_check_signature(const struct tern_datatype *type, int64_t count);

#endif
