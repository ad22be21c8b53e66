/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the ranks of a file tell each other: their facts before a collective access, and its error
 * afterwards. Both are done in rounds, of which there are the logarithm of the number of ranks. In
 * each round a rank sends what it knows to a rank `distance` below it, hears as much from the rank
 * `distance` above it, and then knows of twice as many.
 */
#include "lib/io/file_operation.h"

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- gathering ---- */

/* Puts the blocks into the order of ranks: block 0 is this rank's. */
static void put_in_order(struct tern_operation *op)
{
    size_t size = (size_t)tern_file_size(op->file), rank = (size_t)tern_file_rank(op->file);
    size_t bytes = (size_t)op->gather.bytes;
    char *blocks = op->gather.blocks, *ordered = blocks + size * bytes;
    memcpy(ordered + rank * bytes, blocks, (size - rank) * bytes);
    memcpy(ordered, blocks + (size - rank) * bytes, rank * bytes);
    memcpy(blocks, ordered, size * bytes);
}

static void gather_round(struct tern_operation *op)
{
    int size = tern_file_size(op->file), rank = tern_file_rank(op->file);
    int distance = op->gather.distance, more = size - distance;
    if (distance >= size) {
        op->step = op->gather.after;
        op->await_sends = true;
        put_in_order(op);
        return;
    }
    if (more > distance)
        more = distance;
    int64_t bytes = more * op->gather.bytes;
    tern_operation_receive(op, op->gather.blocks + distance * op->gather.bytes, bytes,
                           (rank + distance) % size, TERN_IO_GATHER, NULL);
    tern_operation_send(op, op->gather.blocks, bytes, (rank + size - distance) % size,
                        TERN_IO_GATHER);
    op->gather.distance += more;
    op->step = gather_round;
    /* the blocks move only after the last send */
    op->await_sends = op->gather.distance >= size;
}

void tern_operation_gather(struct tern_operation *op, const void *own, int64_t bytes,
                           tern_step *after)
{
    free(op->gather.blocks);
    /* twice: put_in_order needs as much, and may not fail */
    op->gather.blocks = malloc(2 * (size_t)bytes * (size_t)tern_file_size(op->file));
    if (!op->gather.blocks) { /* the other ranks wait for this one: there is no way on */
        tern_log("no memory for %ld bytes from each of %d ranks that work on a file together",
                 (long)bytes, tern_file_size(op->file));
        abort();
    }
    memcpy(op->gather.blocks, own, (size_t)bytes);
    op->gather.bytes = bytes;
    op->gather.distance = 1;
    op->gather.after = after;
    op->step = gather_round;
}

/* ---- agreeing ---- */

static void combine(struct tern_verdict *to, const struct tern_verdict *from)
{
    to->any |= from->any;
    if (from->error && (!to->error || from->rank < to->rank)) {
        to->error = from->error;
        to->rank = from->rank;
        memcpy(to->text, from->text, sizeof to->text);
    }
    for (int i = 0; i < 2; i++) {
        if (from->least[i] < to->least[i])
            to->least[i] = from->least[i];
        if (from->most[i] > to->most[i])
            to->most[i] = from->most[i];
    }
}

/* Takes over the verdict of all ranks. */
static void accept_verdict(struct tern_operation *op)
{
    const struct tern_verdict *verdict = &op->agree.own;
    op->step = op->agree.after;
    if (!verdict->error)
        return;
    op->error = verdict->error;
    if (verdict->rank == tern_file_rank(op->file))
        snprintf(op->text, sizeof op->text, "%s", verdict->text);
    else
        snprintf(op->text, sizeof op->text, "rank %d: %.440s", verdict->rank, verdict->text);
}

static void agree_round(struct tern_operation *op)
{
    int size = tern_file_size(op->file), rank = tern_file_rank(op->file);
    int distance = op->agree.distance;
    if (distance > 1)
        combine(&op->agree.own, &op->agree.received);
    if (distance >= size) {
        accept_verdict(op);
        return;
    }
    op->agree.sent = op->agree.own;
    tern_operation_receive(op, &op->agree.received, sizeof op->agree.received,
                           (rank + distance) % size, TERN_IO_VERDICT, NULL);
    tern_operation_send(op, &op->agree.sent,
                        op->agree.sent.error ? sizeof op->agree.sent
                                             : offsetof(struct tern_verdict, text),
                        (rank + size - distance) % size, TERN_IO_VERDICT);
    op->agree.distance = 2 * distance;
    op->step = agree_round;
    op->await_sends = true;
}

void tern_operation_agree(struct tern_operation *op, const int64_t values[2], tern_step *after)
{
    struct tern_verdict *own = &op->agree.own;
    memset(own, 0, sizeof *own);
    own->error = op->error;
    own->rank = tern_file_rank(op->file);
    own->any = op->agree.any;
    snprintf(own->text, sizeof own->text, "%s", op->text);
    for (int i = 0; i < 2; i++)
        own->least[i] = own->most[i] = values ? values[i] : 0;
    op->agree.distance = 1;
    op->agree.after = after;
    op->step = agree_round;
}

static void end(struct tern_operation *op)
{
    op->step = NULL;
}

int tern_file_agree(struct tern_file *file, int error, const int64_t values[2], const char *name)
{
    bool any = false;
    return tern_file_agree_and_ask(file, error, values, name, &any);
}

int tern_file_agree_and_ask(struct tern_file *file, int error, const int64_t values[2],
                            const char *name, bool *any)
{
    struct tern_operation *op;
    int rc = tern_operation_new(file, &op);
    if (rc)
        return rc;
    op->concluded = true;
    op->serial = file->serial++;
    op->agree.any = *any;
    if (error)
        tern_operation_fail(op, error);
    tern_operation_agree(op, values, end);
    rc = tern_operation_run(op);
    const struct tern_verdict *verdict = &op->agree.own;
    *any = verdict->any;
    for (int i = 0; !rc && i < 2; i++)
        if (verdict->least[i] != verdict->most[i])
            rc = tern_error(TERN_ERR_NOT_SAME,
                            "%s differs between the ranks of the file: this rank has %lld, others "
                            "%lld to %lld; pass the same on all ranks",
                            name, (long long)values[i], (long long)verdict->least[i],
                            (long long)verdict->most[i]);
    tern_operation_free(op);
    return rc;
}
