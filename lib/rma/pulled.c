/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Operations on the memory of another process of this node, which the kernel copies. They are
 * complete when they return, and need no help of the target. An accumulate reads, combines and
 * writes while it holds target->control->serial. All ranks of the window, the target included, take
 * that lock around their accumulates on a target that some rank pulls from (target->serial).
 *
 * Memory of a device that is open here the driver copies instead (device_mapped.c).
 */

#define _GNU_SOURCE
#include "lib/rma/device_mapped.h"
#include "lib/rma/reach.h"

#include "lib/accel/accel.h"
#include "lib/util/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { RUNS = 64, BYTES = 1 << 30 };

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

int tern_rma_pulled_put(const struct tern_rma_operation *operation)
{
    if (TERN_UNLIKELY(operation->target->device != NULL))
        return tern_rma_device_put(operation);
    return move(operation, operation->origin, true);
}

int tern_rma_pulled_get(const struct tern_rma_operation *operation)
{
    if (TERN_UNLIKELY(operation->target->device != NULL))
        return tern_rma_device_get(operation);
    return move(operation, operation->result, false);
}

/* Copies `size` bytes at `at` in the target to `here`, or back (`write`). */
static int copy_elements(const struct tern_rma_operation *operation, bool write, char *here,
                         char *at, size_t size)
{
    const struct tern_rma_target *target = operation->target;
    if (target->device) {
        char *there = target->device + ((uintptr_t)at - target->address);
        return write ? tern_accel_copy(there, here, size) : tern_accel_copy(here, there, size);
    }
    struct iovec run_here = {here, size}, run_there = {at, size};
    return copy_runs(operation, write, &run_here, 1, &run_there, 1, size);
}

/* Combines elements of the target that lie one after the other; see tern_rma_next_elements. */
static int apply_some(const struct tern_rma_operation *operation, char *at, const char *origin,
                      char *before, int64_t bytes)
{
    enum { ROOM = 8 * 1024 };
    char copy[ROOM] __attribute__((aligned(16)));
    const struct tern_rma_combine *combine = operation->combine;
    size_t size = tern_rma_has_hole(combine->basic) ? (size_t)combine->span : (size_t)bytes;
    int rc = copy_elements(operation, false, copy, at, size);
    if (rc)
        return rc;
    if (operation->compare)
        tern_rma_compare_and_swap(combine, NULL, copy, origin, operation->compare, before);
    else
        tern_rma_combine_run(combine, NULL, copy, origin, before, bytes / combine->packed);
    if (combine->op == TERN_REDUCE_NO_OP)
        return 0;
    return copy_elements(operation, true, copy, at, size);
}

int tern_rma_apply_by_copies(const struct tern_rma_operation *operation,
                             struct tern_cursor *target, const char *origin, char *before,
                             int64_t bytes)
{
    int rc = 0;
    while (bytes > 0 && !rc) {
        int64_t got;
        char *at = tern_rma_next_elements(target, operation->combine, bytes, &got);
        rc = apply_some(operation, at, origin, before, got);
        bytes -= got;
        origin = origin ? origin + got : NULL;
        before = before ? before + got : NULL;
    }
    return rc;
}

int tern_rma_pulled_fetch(const struct tern_rma_operation *operation)
{
    struct tern_rma_control *control = operation->target->control;
    if (TERN_UNLIKELY(operation->target->device != NULL))
        return tern_rma_device_fetch(operation);
    tern_rma_spin(&control->serial);
    int rc = tern_rma_in_pieces(operation, tern_rma_apply_by_copies);
    tern_rma_unspin(&control->serial);
    if (!rc)
        tern_rma_complete_now(operation);
    return rc;
}
