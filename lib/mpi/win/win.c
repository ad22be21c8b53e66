/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Makes and frees windows (MPI-4.1 sections 12.2.1 to 12.2.5).
 *
 * Each rank gets its memory, tells the others where it lies (tern_rma_offer), and opens its side.
 * Then all ranks tell whether they succeeded; this is also the barrier before the first operation.
 * A rank that fails goes on to the end with the others, so that nobody waits for it.
 *
 * MPI_Win_allocate takes the memory from the node's memory, so that the ranks of the node have it
 * mapped. Each rank takes and touches its own part, so the system places it near the rank.
 */

#include "lib/mpi/win/win.h"

#include "lib/mpi/object/attr.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/fortran.h"
#include "lib/mpi/object/info.h"
#include "lib/mpi/procedures.h"
#include "lib/node/free_memory.h"
#include "lib/node/pieces.h"
#include "lib/node/segment.h"
#include "lib/node/shared_block.h"
#include "lib/rma/epoch.h"
#include "lib/rma/sync.h"
#include "lib/util/base/error.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { PAGE = 4096 };
#define MAX_BYTES (INT64_MAX / 2) /* of one rank's memory; no system maps so many */

uint64_t tern_win_private_count;

/* ---- the object ---- */

static void free_object(struct tern_win *win)
{
    if (win->comm)
        tern_comm_release(win->comm);
    if (win->hints)
        tern_info_release(win->hints);
    tern_errhandler_release(win->errhandler);
    tern_fortran_drop(&win->obj);
    tern_object_free(&win->obj);
}

/* Makes the object and its hidden communicator. Collective. */
static int new_object(struct tern_comm *comm, int flavor, struct tern_info *info,
                      struct tern_win **ret_win)
{
    if (tern_comm_inter(comm))
        return tern_error(TERN_ERR_COMM, "comm is an intercommunicator; a window needs an "
                                         "intracommunicator, as MPI_Intercomm_merge makes");
    struct tern_win *win = calloc(1, sizeof *win);
    if (!win)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a window");
    tern_object_init(&win->obj, TERN_MAGIC_WIN);
    win->flavor = flavor;
    win->model = MPI_WIN_UNIFIED;
    win->errhandler = &tern_errhandler_errors_are_fatal;
    tern_errhandler_retain(win->errhandler);
    int rc = tern_comm_make(comm, comm->group, &win->comm);
    if (!rc) {
        snprintf(win->comm->name, sizeof win->comm->name, "a window");
        rc = tern_win_take_hints(win, info);
    }
    if (rc)
        free_object(win);
    else
        *ret_win = win;
    return rc;
}

static void set_unit(struct tern_win *win, MPI_Count unit)
{
    win->unit = unit;
    win->disp_unit = unit < INT_MAX ? (int)unit : INT_MAX;
}

/* ---- memory ---- */

static void give_memory(struct tern_win *win)
{
    if (win->memory == TERN_WIN_MEMORY_OWN)
        free(win->base);
    else if (win->memory == TERN_WIN_MEMORY_NODE)
        tern_shared_block_give(win->base);
    else if (win->memory == TERN_WIN_MEMORY_SHARED && win->comm->group->rank == 0 && win->taken)
        tern_segment_unclaim(win->offset, win->taken);
    win->memory = TERN_WIN_MEMORY_USER;
}

static size_t in_pages(int64_t bytes)
{
    return ((size_t)(bytes > 0 ? bytes : 1) + PAGE - 1) / PAGE * PAGE;
}

/* Takes memory for this rank: of the node's if possible. */
static int take_memory(struct tern_win *win, int64_t size)
{
    size_t bytes = in_pages(size), alignment = tern_info_alignment(win->hints);
    alignment = alignment > PAGE ? alignment : PAGE;
    int rc = tern_shared_block_take(bytes, alignment, true, &win->base);
    if (!rc)
        win->memory = TERN_WIN_MEMORY_NODE;
    if (rc != TERN_ERR_UNSUPPORTED)
        return rc;
    if ((rc = tern_free_memory_check(bytes)))
        return rc;
    if (posix_memalign(&win->base, alignment, bytes) != 0)
        return tern_free_memory_unmapped("a window", bytes, true);
    memset(win->base, 0, bytes);
    win->memory = TERN_WIN_MEMORY_OWN;
    if (tern_segment.base)
        __atomic_fetch_add(&tern_win_private_count, 1, __ATOMIC_RELAXED);
    return 0;
}

/* Returns true if all ranks of the window are on this node and share memory. */
static bool all_near(const struct tern_win *win)
{
    uint32_t local;
    for (int rank = 0; rank < win->comm->p2p.size; rank++)
        if (!tern_window_is_near(&win->comm->p2p, rank, &local))
            return false;
    return true;
}

/* What rank 0 tells about the piece of memory that all share. */
struct piece {
    uint64_t offset;
    int32_t error;
    int32_t unused;
};

static struct piece claim_piece(int64_t total)
{
    struct piece piece = {0};
    piece.error = tern_segment_claim(in_pages(total), true, &piece.offset);
    return piece;
}

/* Says why rank 0 could not claim the piece. Only rank 0 knows what its own addresses lack. */
static int refuse_piece(const struct tern_comm *comm, int error, size_t bytes)
{
    if (error == TERN_ERR_NO_SPACE)
        return tern_segment_refuse(bytes);
    if (comm->p2p.rank == 0)
        return tern_free_memory_unmapped("a window", bytes, false);
    return tern_error(TERN_ERR_NO_MEM,
                      "rank 0 of comm cannot map the %zu MiB of a window; its own error says why",
                      bytes >> 20);
}

/* Finds this rank's part of the piece: all parts lie one after the other, in the order of ranks. */
static int take_part(struct tern_win *win, const int64_t *sizes, int64_t size)
{
    struct tern_comm *comm = win->comm;
    bool apart = tern_win_hint(win, "alloc_shared_noncontig");
    int64_t before = 0, total = 0;
    for (int rank = 0; rank < comm->p2p.size; rank++) {
        if (rank == comm->p2p.rank)
            before = total;
        if (__builtin_add_overflow(total, apart ? (int64_t)in_pages(sizes[rank]) : sizes[rank],
                                   &total))
            total = INT64_MAX; /* which no node has */
    }
    struct piece piece = {0};
    if (comm->p2p.rank == 0)
        piece = claim_piece(total);
    int rc = tern_comm_bcast_bytes(comm, &piece, sizeof piece, 0);
    if (rc)
        return rc;
    if (piece.error)
        return refuse_piece(comm, piece.error, in_pages(total));
    win->memory = TERN_WIN_MEMORY_SHARED;
    win->offset = piece.offset;
    win->taken = in_pages(total);
    if (!tern_segment_reach(piece.offset + win->taken))
        return tern_free_memory_unmapped("a window", win->taken, false);
    win->base = tern_segment.base + piece.offset + before;
    return size ? tern_segment_fill(piece.offset + (uint64_t)before, (size_t)size) : 0;
}

static int take_shared_memory(struct tern_win *win, int64_t size)
{
    struct tern_comm *comm = win->comm;
    if (comm->p2p.size == 1)
        return take_memory(win, size);
    if (!all_near(win))
        return tern_error(TERN_ERR_RMA_SHARED,
                          "%s", tern_segment.base
                                    ? "not all ranks of comm share memory; make a communicator of "
                                      "the ranks of one node first: MPI_Comm_split_type with "
                                      "MPI_COMM_TYPE_SHARED"
                                    : "no ranks share memory, because the parameter btl leaves out "
                                      "shm; add it: --mca btl shm,tcp,self");
    int64_t *sizes = malloc((size_t)comm->p2p.size * sizeof *sizes);
    int64_t none = sizes ? 0 : -1, mine = sizes ? size : none;
    if (!sizes)
        return tern_comm_bcast_failure(comm, sizeof mine, 0,
                                       tern_error(TERN_ERR_NO_MEM, "no memory for a window"));
    int rc = tern_comm_allgather_bytes(comm, &mine, sizes, sizeof mine);
    if (!rc)
        rc = take_part(win, sizes, size);
    free(sizes);
    return rc;
}

/* ---- opening ---- */

static int check_offers(const struct tern_win *win, const struct tern_rma_offer *offers, int mine)
{
    if (mine)
        return mine;
    for (int rank = 0; rank < win->comm->p2p.size; rank++)
        if (offers[rank].error)
            return tern_error(TERN_ERR_NO_MEM, "rank %d has no memory for its part of the window",
                              rank);
    return 0;
}

/* Tells all ranks whether this one succeeded. Returns `mine`, or an error if another rank failed.
 * No rank returns before all ranks have called. */
static int agree(struct tern_win *win, int mine)
{
    int size = win->comm->p2p.size, own = mine;
    int *all = malloc((size_t)size * sizeof *all);
    if (!all)
        return mine ? mine : tern_error(TERN_ERR_NO_MEM, "no memory for a window");
    int rc = tern_comm_allgather_bytes(win->comm, &own, all, sizeof own);
    for (int rank = 0; rank < size && !rc && !mine; rank++)
        if (all[rank])
            rc = tern_error(TERN_ERR_NO_MEM, "rank %d could not open its part of the window",
                            rank);
    free(all);
    return mine ? mine : rc;
}

/* Some ranks may have made their offers before others had started MPI. All have now: completes what
 * the offers could not say. All ranks see the same offers, so they agree whether this is needed. */
static int settle_pulls(struct tern_win *win, struct tern_rma_offer *offers)
{
    const struct tern_context *context = &win->comm->p2p;
    struct tern_rma_offer mine = offers[context->rank];
    bool unknown = false;
    for (int rank = 0; rank < context->size; rank++)
        unknown |= offers[rank].pulls == TERN_RMA_PULLS_UNKNOWN;
    mine.pulls = tern_window_pulls(context);
    return unknown ? tern_comm_allgather_bytes(win->comm, &mine, offers, sizeof mine) : 0;
}

static int exchange(struct tern_win *win, int error, struct tern_rma_offer *offers)
{
    struct tern_rma_offer mine;
    tern_window_offer(&win->window, &win->comm->p2p, error ? NULL : win->base,
                      error ? 0 : (int64_t)win->size, win->unit, &mine);
    mine.error = error;
    int rc = tern_comm_allgather_bytes(win->comm, &mine, offers, sizeof mine);
    if (!rc)
        rc = settle_pulls(win, offers);
    return rc ? rc : check_offers(win, offers, error);
}

/* Opens a window whose memory is known; `error`: that of this rank's memory. Frees the object if
 * that fails on some rank. */
static int open_window(struct tern_win *win, int error, struct tern_win **ret_win)
{
    struct tern_rma_offer *offers = calloc((size_t)win->comm->p2p.size, sizeof *offers);
    int rc = offers ? exchange(win, error, offers)
                    : tern_error(TERN_ERR_NO_MEM, "no memory for a window");
    if (!rc) {
        rc = tern_window_open(&win->window, &win->comm->p2p,
                              win->flavor == MPI_WIN_FLAVOR_DYNAMIC,
                              tern_win_hint(win, "no_locks"), offers);
        rc = agree(win, rc);
    }
    free(offers);
    if (rc) {
        tern_window_close(&win->window);
        give_memory(win);
        free_object(win);
        return rc;
    }
    *ret_win = win;
    return 0;
}

/* Checks memory that the program gives to a window. */
static int check_memory(const void *base, MPI_Aint size)
{
    if (size && !base)
        return tern_error(TERN_ERR_BASE, "base is a NULL pointer and size is %lld",
                          (long long)size);
    if ((uintptr_t)size > UINTPTR_MAX - (uintptr_t)base || size > MAX_BYTES)
        return tern_error(TERN_ERR_SIZE, "size is %lld; no process has so much memory at %p",
                          (long long)size, base);
    return 0;
}

int tern_mpi_win_create(void *base, MPI_Aint size, MPI_Count disp_unit, struct tern_info *info,
                        struct tern_comm *comm, struct tern_win **ret_win)
{
    struct tern_win *win;
    int rc = new_object(comm, MPI_WIN_FLAVOR_CREATE, info, &win);
    if (rc)
        return rc;
    win->base = base;
    win->size = size;
    set_unit(win, disp_unit);
    return open_window(win, check_memory(base, size), ret_win);
}

int tern_mpi_win_allocate(MPI_Aint size, MPI_Count disp_unit, struct tern_info *info,
                          struct tern_comm *comm, void *baseptr, struct tern_win **ret_win)
{
    struct tern_win *win;
    int rc = new_object(comm, MPI_WIN_FLAVOR_ALLOCATE, info, &win);
    if (rc)
        return rc;
    win->size = size;
    set_unit(win, disp_unit);
    int error = take_memory(win, size);
    rc = open_window(win, error, &win);
    if (rc)
        return rc;
    memcpy(baseptr, &win->base, sizeof win->base);
    *ret_win = win;
    return 0;
}

bool tern_win_hides_base(const struct tern_win *win, MPI_Aint size)
{
    return size == 0 && win->flavor == MPI_WIN_FLAVOR_SHARED &&
           tern_win_hint(win, "alloc_shared_noncontig");
}

int tern_mpi_win_allocate_shared(MPI_Aint size, MPI_Count disp_unit, struct tern_info *info,
                                 struct tern_comm *comm, void *baseptr, struct tern_win **ret_win)
{
    struct tern_win *win;
    int rc = new_object(comm, MPI_WIN_FLAVOR_SHARED, info, &win);
    if (rc)
        return rc;
    win->size = size;
    set_unit(win, disp_unit);
    int error = take_shared_memory(win, size);
    if (error && tern_error_class(error) == MPI_ERR_RMA_SHARED) { /* all ranks say so */
        free_object(win);
        return error;
    }
    rc = open_window(win, error, &win);
    if (rc)
        return rc;
    void *base = tern_win_hides_base(win, size) ? NULL : win->base;
    memcpy(baseptr, &base, sizeof base);
    *ret_win = win;
    return 0;
}

int tern_mpi_win_create_dynamic(struct tern_info *info, struct tern_comm *comm,
                                struct tern_win **ret_win)
{
    struct tern_win *win;
    int rc = new_object(comm, MPI_WIN_FLAVOR_DYNAMIC, info, &win);
    if (rc)
        return rc;
    set_unit(win, 1);
    return open_window(win, 0, ret_win);
}

/* ---- freeing ---- */

int tern_mpi_win_free(struct tern_win **win)
{
    struct tern_win *mine = *win;
    int rc = tern_epoch_check_free(&mine->window, tern_check_full());
    if (!rc)
        rc = tern_attrs_delete_all(TERN_ATTR_WIN, &mine->obj, &mine->attrs);
    if (rc)
        return rc;
    rc = tern_window_finish(&mine->window);
    int barrier_rc = tern_coll_barrier(&mine->comm->coll);
    tern_window_close(&mine->window);
    give_memory(mine);
    free_object(mine);
    *win = NULL;
    return rc ? rc : barrier_rc;
}

/* ---- memory of windows ---- */

static int check_dynamic(const struct tern_win *win)
{
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return 0;
    return tern_error(TERN_ERR_RMA_FLAVOR, "win was not made by MPI_Win_create_dynamic; memory is "
                                           "attached to and detached from dynamic windows only");
}

int tern_mpi_win_attach(struct tern_win *win, void *base, MPI_Aint size)
{
    int rc = check_dynamic(win);
    if (!rc)
        rc = check_memory(base, size);
    if (!rc && size && !win->window.on_device && tern_accel_holds(base))
        rc = tern_error(TERN_ERR_RMA_ATTACH,
                        "base is in device memory, but this process had loaded no driver when the "
                        "window was made; make the window afterwards");
    return rc ? rc : tern_window_attach(&win->window, base, size);
}

int tern_mpi_win_detach(struct tern_win *win, const void *base)
{
    int rc = check_dynamic(win);
    return rc ? rc : tern_window_detach(&win->window, base);
}

/* Finds the rank that MPI_PROC_NULL means: the first one with memory. */
static int first_with_memory(const struct tern_win *win)
{
    for (int rank = 0; rank < win->window.size; rank++)
        if (win->window.targets[rank].size > 0)
            return rank;
    return MPI_PROC_NULL;
}

int tern_mpi_win_shared_query(struct tern_win *win, int rank, MPI_Aint *size,
                              MPI_Count *ret_disp_unit, void *baseptr)
{
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return tern_error(TERN_ERR_RMA_FLAVOR, "win was made by MPI_Win_create_dynamic, whose "
                                               "memory has no single address");
    void *base = NULL;
    MPI_Aint bytes = 0;
    MPI_Count unit = 0;
    if (rank == MPI_PROC_NULL)
        rank = first_with_memory(win);
    if (rank != MPI_PROC_NULL && (rank == win->window.rank || win->window.targets[rank].base)) {
        const struct tern_rma_target *target = &win->window.targets[rank];
        base = tern_win_hides_base(win, target->size) ? NULL : target->base;
        bytes = target->size;
        unit = target->disp_unit;
    }
    memcpy(baseptr, &base, sizeof base);
    *size = bytes;
    *ret_disp_unit = unit;
    return 0;
}
