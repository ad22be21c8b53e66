/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_WINDOW_H
#define TERN_WINDOW_H

/*
 * One-sided communication (MPI-4.1 chapter 12) below the MPI objects: what a window is to its
 * ranks, epochs, and operations. docs/windows.md is the essay. lib/mpi/win/win.h is the object
 * around it.
 *
 * Each rank of a window is a target of each other rank. The way to a target is chosen once, when
 * the window is made:
 *
 *   mapped   the target's memory is mapped here: loads, stores and atomic instructions
 *   pulled   the target is on this node: the kernel copies (process_vm_readv, _writev)
 *   device   the target is on this node, and its device memory is open here: the driver copies
 *   asked    the target gets messages, and applies them itself, if need be in its progress thread;
 *            a put or get of one run may be copied by a network instead, if that can reach the
 *            target's memory (direct)
 *
 * Accumulates from all ranks and by all ways are atomic to each other, element by element
 * (lib/rma/atomics.h).
 *
 * Functions return 0, or TERN_ERR_* with text. Locks: each function takes the lock of the window's
 * lane itself, where needed. The caller holds that lane, the library's lock or none.
 */

#include "lib/btl/btl.h"
#include "lib/pml/context.h"
#include "lib/pml/request.h"
#include "lib/rma/guard.h"
#include "lib/rma/regions.h"
#include "lib/type/reduction.h"
#include "lib/type/type.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* The ways to a target (lib/rma/reach.h). */
struct tern_rma_way;
extern TERN_OURS const struct tern_rma_way tern_rma_mapped, tern_rma_pulled, tern_rma_device,
    tern_rma_asked;

/* The access epoch of a window. */
enum tern_rma_access {
    TERN_RMA_NO_ACCESS,
    TERN_RMA_FENCE,    /* between two fences */
    TERN_RMA_START,    /* MPI_Win_start to MPI_Win_complete */
    TERN_RMA_LOCK,     /* some targets are locked by MPI_Win_lock */
    TERN_RMA_LOCK_ALL, /* MPI_Win_lock_all to MPI_Win_unlock_all */
};

/* A rank of the window, as this rank sees it. */
struct tern_rma_target {
    const struct tern_rma_way *way;
    char *base; /* the target's memory, where it is mapped in this process; NULL: it is not */
    /* where the memory begins in the target; 0 for a dynamic window, whose displacements are
     * addresses */
    uint64_t address;
    int64_t size;      /* bytes */
    int64_t disp_unit; /* bytes */
    /* Where the target has the node's memory, and how much of it by now: memory that is attached to
     * a dynamic window may lie there. NULL: the target is not pulled, or shares no memory. */
    uint64_t node_address;
    const uint64_t *node_bytes;
    struct tern_rma_control *control; /* NULL: only the target itself reaches it */
    struct tern_rma_turf turf;        /* for accumulates, unless `serial`; valid with control */
    int32_t pid;                      /* of the target, if pulled */
    /* the target's memory in a device, as this rank reaches it; NULL: it is elsewhere, or not
     * reached */
    char *device;
    void *import; /* behind `device`, of struct tern_device_access; NULL: this rank's own memory */
    int32_t node_rank;                /* its local rank on this node; -1: another node */
    bool serial;  /* accumulates take control->serial: some rank pulls from this target */
    bool started; /* named in MPI_Win_start */
    uint8_t locked; /* MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE by MPI_Win_lock; 0: not locked */
    bool holds;     /* this rank holds the target's lock word */
    uint32_t taking; /* 1: a thread takes it, and may wait for it */
    /* asked: how a network reaches the target's memory (struct tern_exposure), if `direct` */
    uint64_t direct_address, direct_key;
    uint32_t direct_lane;
    bool direct;
    bool flushed; /* MPI_Win_flush was called in this epoch of MPI_Win_lock */
    /* asked: messages sent since the last flush whose effect nobody has reported yet */
    uint32_t unflushed;
    /* asked: parts under way that use memory of this rank, or that the target will report */
    uint32_t local, remote;
};

struct tern_rma_server; /* lib/rma/serve.c */

/* A window. */
struct tern_window {
    struct tern_context *context; /* its messages; belongs to the window alone */
    int rank, size;
    bool dynamic;
    bool unlockable; /* the hint no_locks: passive target calls are refused */
    enum tern_rma_access access;
    bool everywhere;  /* access to every target is open */
    bool used;        /* an operation was started since the last fence */
    bool exposed;     /* MPI_Win_post to MPI_Win_wait */
    bool nocheck;     /* the epoch was opened with MPI_MODE_NOCHECK: locks are not taken */
    bool any_asked;   /* the way to some target is `asked` */
    bool on_device;   /* this rank's memory is in a device's, or may be */
    uint64_t device_key; /* by which others open it (lib/rma/device_mapped.h); 0: they do not */
    int locks;        /* targets that MPI_Win_lock has locked, or is locking */
    int started_count, exposed_count;
    int *started_ranks, *exposed_ranks; /* owned; those of MPI_Win_start and MPI_Win_post */
    struct tern_request **completions;  /* owned: messages of MPI_Win_complete that are awaited */
    struct tern_rma_target *targets;    /* owned; `size` of them */
    struct tern_rma_regions regions;    /* attached to this dynamic window by this rank */
    struct tern_rma_regions *copies;    /* owned; by rank: those of ranks that are pulled from */
    uint32_t next_id;  /* number of the next dialogue with a target */
    uint32_t sending;  /* messages that have not left yet and own their memory */
    int fault;         /* error of an operation that no call has returned yet; 0: none */
    char fault_text[256];
    struct tern_rma_server *server; /* NULL: no rank asks this one */
    bool has_thread;                /* the progress thread runs for this window, too */
    struct tern_exposure exposure; /* of this rank's memory to a network */
    /* control words: of all ranks of the window on this node if controls_near; else of this rank */
    struct tern_rma_control *control;
    bool controls_near, leads; /* leads: this rank gives the control words back */
    uint64_t control_offset;
    struct tern_rma_guards guards;
};

#define TERN_RMA_NOT_THERE (~0ull)

/* Whether a rank can read the memory of all ranks of the window on its node. That is not known
 * until they have started MPI. */
enum tern_rma_pulls { TERN_RMA_PULLS_NOT, TERN_RMA_PULLS, TERN_RMA_PULLS_UNKNOWN };

/* What one rank tells the others when a window is made. */
struct tern_rma_offer {
    uint64_t address; /* of the window's memory in this rank */
    /* of that memory in the node's memory; TERN_RMA_NOT_THERE: it lies elsewhere */
    uint64_t offset;
    int64_t size, disp_unit;
    uint64_t node_address; /* of the node's memory in this rank; 0: it has none */
    int32_t pid;
    int32_t pulls; /* enum tern_rma_pulls; no longer unknown when the window is opened */
    int32_t error; /* this rank has no memory for the window: TERN_ERR_*; 0: it has */
    int32_t fences; /* tern_rma_join_fences */
    int32_t device; /* the memory is in a device's, or, of a dynamic window, may be */
    /* how a network reaches the memory (struct tern_exposure), if `direct` */
    int32_t direct;
    uint64_t direct_address, direct_key;
    uint32_t direct_lane;
    uint32_t unused;
    uint64_t key; /* of memory in a device (lib/rma/device_mapped.h); 0: it cannot be opened */
};

/* Fills in this rank's offer: `size` bytes at `base`; NULL and 0: of a dynamic window. Exposes the
 * memory to a network if other ranks may use it so, until tern_window_close. `window` has only
 * zeros. */
void tern_window_offer(struct tern_window *window, struct tern_context *context, void *base,
                       int64_t size, int64_t disp_unit, struct tern_rma_offer *ret_offer);

/* Returns whether this rank can read the memory of the others. Known once they have made their
 * offers. */
enum tern_rma_pulls tern_window_pulls(const struct tern_context *context);

/* Returns true if rank `rank` of the context is a process of this node's memory. Sets *ret_local to
 * its local rank. */
bool tern_window_is_near(const struct tern_context *context, int rank, uint32_t *ret_local);

/* Finds `length` bytes at `address` of a target of a dynamic window: returns where they are mapped
 * here, or NULL if they are not. */
char *tern_window_find_near(const struct tern_rma_target *target, uint64_t address,
                            int64_t length);

/* Opens the window over `context`, whose `size` ranks have given `offers`. The memory of this rank
 * stays the caller's. Collective: all ranks call it, then must meet (a barrier) before they use the
 * window. Returns 0, TERN_ERR_NO_MEM or TERN_ERR_OTHER. */
int tern_window_open(struct tern_window *window, struct tern_context *context, bool dynamic,
                     bool unlockable, const struct tern_rma_offer *offers);
/* Completes all operations of this rank. Call it before the ranks meet for the last time.
 * Blocks. */
int tern_window_finish(struct tern_window *window);
/* Closes the window after the ranks have met. */
void tern_window_close(struct tern_window *window);

/* Attach memory to a dynamic window, and detach it. Return 0, TERN_ERR_RMA_ATTACH or
 * TERN_ERR_NO_MEM. */
int tern_window_attach(struct tern_window *window, void *base, int64_t size);
int tern_window_detach(struct tern_window *window, const void *base);
/* Returns the address of `length` bytes at displacement `at`, in bytes, of this rank's own memory.
 * Returns NULL if the bytes are not part of the window. Call with the lane's lock held. */
char *tern_window_memory(const struct tern_window *window, uint64_t at, int64_t length);
/* Finds what `rank` has attached to a dynamic window, if this rank reaches that without its help.
 * Call with the lane's lock held. Returns 0, TERN_ERR_NO_MEM or TERN_ERR_OTHER. */
int tern_window_find_regions(struct tern_window *window, int rank,
                             const struct tern_rma_regions **ret_regions);

/* ---- operations ---- */

/* The buffer of an operation at its origin. */
struct tern_rma_buffer {
    const void *base;
    int64_t count;
    const struct tern_type *type;
};

/* The target's side of an operation. */
struct tern_rma_place {
    int rank;        /* a rank of the window */
    int64_t disp;    /* in units of the target */
    int64_t count;
    const struct tern_type *type;
};

/* Start operations. They are complete after the next flush or the end of the epoch. *ret_request is
 * a fresh request that completes as MPI_Rput and its kin say; ret_request may be NULL. Return 0,
 * TERN_ERR_RMA_SYNC, TERN_ERR_RMA_RANGE, TERN_ERR_TYPE, TERN_ERR_OP, TERN_ERR_NO_MEM or
 * TERN_ERR_UNREACHABLE.
 *
 * tern_window_fetch is MPI_Get_accumulate, and MPI_Accumulate if `result` is NULL. `compare`: NULL,
 * or the value to compare with; then `op` is TERN_REDUCE_REPLACE and count 1. */
int tern_window_put(struct tern_window *window, const struct tern_rma_buffer *origin,
                    const struct tern_rma_place *place, struct tern_request **ret_request);
int tern_window_get(struct tern_window *window, const struct tern_rma_buffer *result,
                    const struct tern_rma_place *place, struct tern_request **ret_request);
int tern_window_fetch(struct tern_window *window, const struct tern_rma_buffer *origin,
                      const void *compare, const struct tern_rma_buffer *result,
                      const struct tern_rma_place *place, enum tern_reduce_op op,
                      struct tern_request **ret_request);

/* The same for one predefined element, as MPI_Fetch_and_op and MPI_Compare_and_swap want it. */
int tern_window_fetch_one(struct tern_window *window, const void *origin, const void *compare,
                          void *result, const struct tern_type *type, int rank, int64_t disp,
                          enum tern_reduce_op op);

/* For the library's own windows (shared file pointers): adds `add` to the 64-bit integer at
 * displacement `disp` of rank `rank`, in one step, and gives the value before. Needs no help of
 * that rank and no epoch. Blocks until the value is here. */
int tern_window_fetch_add(struct tern_window *window, int rank, int64_t disp, int64_t add,
                          int64_t *ret_before);

/* ---- completion ---- */

/* Wait until all operations to `rank` (-1: to all ranks) have had their effect; `local`: only until
 * their buffers may be used again. Block. Return 0, or the error of an operation. */
int tern_window_flush(struct tern_window *window, int rank, bool local);

/* Orders this rank's loads and stores before and after: MPI_Win_sync. */
static inline void tern_window_sync(void)
{
    tern_fence();
}

#endif
