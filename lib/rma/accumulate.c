/* SPDX-License-Identifier: BSD-3-Clause */

/* Accumulates in pieces: what all ways to a target share. */

#include "lib/rma/reach.h"

char *tern_rma_next_elements(struct tern_cursor *cursor, const struct tern_rma_combine *combine,
                             int64_t bytes, int64_t *ret_bytes)
{
    struct iovec run;
    size_t got;
    int64_t offset = cursor->offset;
    bool hole = tern_rma_has_hole(combine);
    tern_cursor_runs(cursor, &run, 1, hole ? 1 : (size_t)bytes, &got);
    if (hole) {
        tern_cursor_seek(cursor, offset + combine->packed);
        got = (size_t)combine->packed;
    }
    *ret_bytes = (int64_t)got;
    return run.iov_base;
}

int tern_rma_in_pieces(const struct tern_rma_operation *operation, tern_rma_apply *apply)
{
    enum { PIECE = TERN_RMA_PIECE };
    char origin_bytes[PIECE], before_bytes[PIECE];
    struct tern_cursor origin = {0}, result = {0}, target;
    int64_t piece = PIECE / operation->combine->packed * operation->combine->packed;
    char *base = (char *)((uintptr_t)operation->target->base + (uintptr_t)operation->at);
    if (operation->target->way != &tern_rma_mapped)
        base = (char *)(uintptr_t)(operation->target->address + operation->at);
    tern_cursor_init_host(&target, operation->type, base, operation->count);
    if (operation->origin)
        tern_cursor_init(&origin, operation->origin->type, operation->origin->base,
                         operation->origin->count);
    if (operation->result)
        tern_cursor_init(&result, operation->result->type, operation->result->base,
                         operation->result->count);
    int rc = 0;
    for (int64_t done = 0; done < operation->bytes && !rc; done += piece) {
        int64_t bytes = operation->bytes - done < piece ? operation->bytes - done : piece;
        if (operation->origin)
            tern_cursor_pack(&origin, origin_bytes, (size_t)bytes);
        rc = apply(operation, &target, operation->origin ? origin_bytes : NULL,
                   operation->result ? before_bytes : NULL, bytes);
        if (!rc && operation->result)
            tern_cursor_unpack(&result, before_bytes, (size_t)bytes);
    }
    return rc;
}
