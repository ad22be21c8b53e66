/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Operations on the memory of another process of this node, which the kernel copies. They are
 * complete when they return, and need no help of the target. An accumulate reads, combines and
 * writes while it holds target->control->serial. All ranks of the window, the target included, take
 * that lock around their accumulates on a target that some rank pulls from (target->serial).
 */

#define _GNU_SOURCE
#include "lib/rma/reach.h"

#include "lib/accel/accel.h"
#include "lib/util/base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { RUNS = 1024, BYTES = 1 << 30 }; /* RUNS: the most that the system takes (IOV_MAX) */

static int refuse(const struct tern_rma_operation *operation, const struct iovec *there, bool write)
{
    int reason = errno;
    if (reason == EFAULT)
        return tern_error(TERN_ERR_RMA_RANGE,
                          "the target is rank %d, which has no memory at %p, or none that may be "
                          "%s", operation->rank, there->iov_base, write ? "written" : "read");
    return tern_error(TERN_ERR_OTHER, "cannot %s memory of rank %d (process %d) at %p: %s",
                      write ? "write" : "read", operation->rank, operation->target->pid,
                      there->iov_base, reason ? strerror(reason) : "nothing there");
}

/* Advances `runs` by `bytes`. */
static void advance(struct iovec **runs, int *count, size_t bytes)
{
    for (; *count && bytes >= (*runs)->iov_len; (*runs)++, (*count)--)
        bytes -= (*runs)->iov_len;
    if (bytes) {
        (*runs)->iov_base = (char *)(*runs)->iov_base + bytes;
        (*runs)->iov_len -= bytes;
    }
}

/* Copies `bytes` bytes between runs here and runs there. */
static int copy_runs(const struct tern_rma_operation *operation, bool write, struct iovec *here,
                     int here_count, struct iovec *there, int there_count, size_t bytes)
{
    while (bytes) {
        tern_count(&operation->window->context->lane->counters.system_copies, 1);
        errno = 0;
        ssize_t n = write ? process_vm_writev(operation->target->pid, here, (unsigned)here_count,
                                              there, (unsigned)there_count, 0)
                          : process_vm_readv(operation->target->pid, here, (unsigned)here_count,
                                             there, (unsigned)there_count, 0);
        if (n <= 0)
            return refuse(operation, there, write);
        advance(&here, &here_count, (size_t)n);
        advance(&there, &there_count, (size_t)n);
        bytes -= (size_t)n;
    }
    return 0;
}

static int move(const struct tern_rma_operation *operation, const struct tern_rma_buffer *buffer,
                bool write);

/* Moves a buffer in device memory, which the system's calls cannot reach, by a copy in ours. */
static int move_by_copy(const struct tern_rma_operation *operation, struct tern_cursor *here,
                        bool write)
{
    char *copy = malloc((size_t)here->length + 1);
    struct tern_rma_buffer buffer = {copy, here->length, &tern_type_bytes};
    if (!copy)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a copy of %lld bytes of device memory",
                          (long long)here->length);
    if (write)
        tern_cursor_pack(here, copy, (size_t)here->length);
    int rc = here->error ? here->error : move(operation, &buffer, write);
    if (!rc && !write)
        tern_cursor_unpack(here, copy, (size_t)here->length);
    free(copy);
    return rc ? rc : here->error;
}

static int move(const struct tern_rma_operation *operation, const struct tern_rma_buffer *buffer,
                bool write)
{
    struct tern_cursor here, there;
    char *base = (char *)(uintptr_t)(operation->target->address + operation->at);
    tern_cursor_init(&here, buffer->type, buffer->base, buffer->count);
    if (TERN_UNLIKELY(here.memory))
        return move_by_copy(operation, &here, write);
    tern_cursor_init_host(&there, operation->type, base, operation->count);
    int rc = 0;
    while (there.offset < there.length && !rc) {
        struct iovec here_runs[RUNS], there_runs[RUNS];
        size_t bytes, more;
        int64_t begin = here.offset;
        int there_count = tern_cursor_runs(&there, there_runs, RUNS, BYTES, &more);
        int here_count = tern_cursor_runs(&here, here_runs, RUNS, more, &bytes);
        if (bytes < more) { /* fewer bytes fit the runs here */
            tern_cursor_seek(&there, begin);
            there_count = tern_cursor_runs(&there, there_runs, RUNS, bytes, NULL);
        }
        rc = copy_runs(operation, write, here_runs, here_count, there_runs, there_count, bytes);
    }
    if (!rc)
        tern_rma_complete_now(operation);
    return rc;
}

static int pulled_put(const struct tern_rma_operation *operation)
{
    return move(operation, operation->origin, true);
}

static int pulled_get(const struct tern_rma_operation *operation)
{
    return move(operation, operation->result, false);
}

/* Copies `bytes` bytes from `count` runs in the target to `copy`, where they lie one after the
 * other, or back (`write`). */
static int copy_elements(const struct tern_rma_operation *operation, bool write, char *copy,
                         const struct iovec *runs, int count, size_t bytes)
{
    const struct tern_rma_target *target = operation->target;
    int rc = 0;
    if (!target->device) {
        struct iovec here = {copy, bytes}, there[RUNS]; /* copy_runs changes what it gets */
        memcpy(there, runs, (size_t)count * sizeof *runs);
        return copy_runs(operation, write, &here, 1, there, count, bytes);
    }
    for (int i = 0; i < count && !rc; copy += runs[i++].iov_len) {
        char *there = target->device + ((uintptr_t)runs[i].iov_base - target->address);
        rc = write ? tern_accel_copy(there, copy, runs[i].iov_len)
                   : tern_accel_copy(copy, there, runs[i].iov_len);
    }
    return rc;
}

/* Combines packed elements. Elements with a hole are spread out first, as in an array. */
static void combine_copy(const struct tern_rma_operation *operation, char *copy, const char *origin,
                         char *before, int64_t bytes)
{
    const struct tern_rma_combine *combine = operation->combine;
    char one[TERN_RMA_NATURAL_MAX] __attribute__((aligned(16))) = {0};
    if (operation->compare) {
        tern_rma_compare_and_swap(combine, NULL, copy, origin, operation->compare, before);
        return;
    }
    if (!tern_rma_has_hole(combine)) {
        tern_rma_combine_run(combine, NULL, copy, origin, before, bytes / combine->packed);
        return;
    }
    for (int64_t at = 0; at < bytes; at += combine->packed) {
        tern_rma_to_natural(combine, one, copy + at);
        tern_rma_combine_run(combine, NULL, one, origin ? origin + at : NULL,
                             before ? before + at : NULL, 1);
        tern_rma_to_packed(combine, copy + at, one);
    }
}

/* Finds the runs of the next elements, at most `bytes` packed bytes of whole elements. */
static int next_runs(struct tern_cursor *target, int packed, int64_t bytes, struct iovec *runs,
                     int64_t *ret_bytes)
{
    size_t got;
    int64_t begin = target->offset;
    int count = tern_cursor_runs(target, runs, RUNS, (size_t)bytes, &got);
    if (got % (size_t)packed) { /* the last element's second run has no room */
        got -= got % (size_t)packed;
        tern_cursor_seek(target, begin);
        count = tern_cursor_runs(target, runs, RUNS, got, NULL);
    }
    *ret_bytes = (int64_t)got;
    return count;
}

/* Gaps between elements are not written: somebody else may change them meanwhile. */
int tern_rma_apply_by_copies(const struct tern_rma_operation *operation,
                             struct tern_cursor *target, const char *origin, char *before,
                             int64_t bytes)
{
    char copy[TERN_RMA_PIECE] __attribute__((aligned(16)));
    enum tern_reduce_op op = operation->combine->op;
    bool reads = op != TERN_REDUCE_REPLACE || before || operation->compare;
    int rc = 0;
    while (bytes > 0 && !rc) {
        struct iovec runs[RUNS];
        int64_t got;
        int count = next_runs(target, operation->combine->packed, bytes, runs, &got);
        if (reads)
            rc = copy_elements(operation, false, copy, runs, count, (size_t)got);
        if (rc)
            return rc;
        combine_copy(operation, copy, origin, before, got);
        if (op != TERN_REDUCE_NO_OP)
            rc = copy_elements(operation, true, copy, runs, count, (size_t)got);
        bytes -= got;
        origin = origin ? origin + got : NULL;
        before = before ? before + got : NULL;
    }
    return rc;
}

static int pulled_fetch(const struct tern_rma_operation *operation)
{
    struct tern_rma_control *control = operation->target->control;
    tern_rma_spin(&control->serial);
    int rc = tern_rma_in_pieces(operation, tern_rma_apply_by_copies);
    tern_rma_unspin(&control->serial);
    if (!rc)
        tern_rma_complete_now(operation);
    return rc;
}

const struct tern_rma_way tern_rma_pulled = {
    .put = pulled_put, .get = pulled_get, .fetch = pulled_fetch};
