/* SPDX-License-Identifier: BSD-3-Clause */

/* Collective buffering in two phases; see the header. */

#include "lib/io/exchange.h"

#include "lib/coll/price/topology.h"
#include "lib/io/covered.h"
#include "lib/io/file_operation.h"
#include "lib/util/error.h"

#include <stdlib.h>
#include <string.h>

/* Equal runs of the file at equal distances. */
struct series {
    int64_t at, bytes; /* the first run */
    int64_t stride, count;
};

/* What a rank tells an aggregator in a round: the runs of its data in the aggregator's window. Most
 * are few series; if there are more, all of them follow in a message of their own. */
enum { FEW = 4 };
struct head {
    int64_t bytes, series;
    struct series few[FEW];
};

/* A rank's part of one aggregator's window. */
struct part {
    struct head head;
    struct series *series; /* all of them; kept for the next round */
    int64_t room;
    int64_t next;     /* position in the stream up to which this aggregator has what it needs */
    int64_t position; /* where this round's data begin in the stream */
    char *data;       /* where they lie: in `packed`, or in the user's memory */
    char *packed;
    int64_t packed_room;
    int64_t received; /* reads: bytes that have come */
};

/* What an aggregator has of one rank in a round. */
struct source {
    struct head head;
    struct series *series;
    int64_t room;
    char *data; /* a part of the exchange's `data` */
    int64_t ready; /* reads: bytes for this rank */
};

struct tern_exchange {
    int aggregators;
    int64_t begin, end;     /* of the range in the file */
    int64_t domain, window; /* bytes of an aggregator's domain, and of it in a round */
    int64_t round, rounds;
    int index;            /* this rank's number among the aggregators, or -1 */
    struct part *parts;   /* one for each aggregator */
    /* The rest is of an aggregator. */
    int ranks;
    struct source *sources; /* one for each rank */
    char *buffer;           /* the window */
    uint64_t *covered;      /* a bit for each byte of it that was written */
    char *data;             /* the data of all ranks, one behind the other */
    int64_t data_room;
    void (*after)(struct tern_operation *op);
};

/* A range of the file. */
struct range {
    int64_t begin, end;
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- who aggregates what ---- */

static int rank_of_aggregator(const struct tern_operation *op, int i)
{
    const struct tern_exchange *x = op->exchange;
    const struct tern_topology *topology = op->file->comm->coll.topology;
    if (topology && topology->nodes >= x->aggregators)
        return tern_topology_rank(topology,
                                  (int32_t)((int64_t)i * topology->nodes / x->aggregators), 0);
    return (int)((int64_t)i * tern_file_size(op->file) / x->aggregators);
}

/* Returns the window of aggregator i in the present round; begin >= end if it has none. */
static struct range window_of(const struct tern_exchange *x, int i)
{
    struct range w = {.begin = x->begin + i * x->domain + x->round * x->window};
    w.end = smaller(smaller(w.begin + x->window, x->begin + (i + 1) * x->domain), x->end);
    return w;
}

static void divide(struct tern_operation *op, int64_t begin, int64_t end)
{
    struct tern_exchange *x = op->exchange;
    int64_t block = op->file->hints.striping_unit;
    x->begin = begin - begin % block;
    x->end = end;
    int64_t blocks = (x->end - x->begin + block - 1) / block;
    if (x->aggregators > blocks)
        x->aggregators = (int)blocks;
    x->domain = (blocks + x->aggregators - 1) / x->aggregators * block;
    x->window = op->file->hints.cb_buffer_size;
    x->window = x->window < block ? block : x->window - x->window % block;
    x->window = smaller(x->window, x->domain);
    x->rounds = (x->domain + x->window - 1) / x->window;
}

/* ---- a rank's part ---- */

static bool add_series(struct part *part, struct series series)
{
    if (part->head.series == part->room) {
        int64_t room = part->room ? 2 * part->room : 16;
        struct series *grown = realloc(part->series, (size_t)room * sizeof *grown);
        if (!grown)
            return false;
        part->series = grown;
        part->room = room;
    }
    part->series[part->head.series++] = series;
    return true;
}

/* Adds a run. Continues the last series if the run fits in. */
static bool add_run(struct part *part, int64_t at, int64_t bytes)
{
    struct series *last = part->head.series > 0 ? &part->series[part->head.series - 1] : NULL;
    part->head.bytes += bytes;
    if (last && last->count == 1 && at == last->at + last->bytes) {
        last->bytes += bytes;
        return true;
    }
    if (last && bytes == last->bytes &&
        (last->count == 1 ? at > last->at : at == last->at + last->count * last->stride)) {
        last->stride = last->count == 1 ? at - last->at : last->stride;
        last->count++;
        return true;
    }
    return add_series(part, (struct series){at, bytes, 0, 1});
}

/* Describes what this rank has in a window. */
static void describe(struct tern_operation *op, struct part *part, struct range window)
{
    enum { AT_ONCE = 512 };
    int64_t limit = op->access.position + op->access.memory.length;
    struct iovec runs[AT_ONCE];
    struct tern_cursor file;

    part->head.bytes = part->head.series = 0;
    part->position = part->next;
    tern_view_cursor(op->access.view, part->next, &file);
    while (part->next < limit) {
        int count = tern_cursor_runs(&file, runs, AT_ONCE, (size_t)(limit - part->next), NULL);
        for (int i = 0; i < count; i++) {
            int64_t at = tern_view_offset_of(runs[i].iov_base);
            int64_t bytes = smaller((int64_t)runs[i].iov_len, window.end - at);
            if (bytes <= 0)
                return;
            if (!add_run(part, at, bytes)) {
                tern_operation_fail(op, tern_error(TERN_ERR_NO_MEM, "no memory for a collective "
                                                                    "access to a file"));
                return;
            }
            part->next += bytes;
        }
    }
}

/* Finds the memory of a part's data: the user's own if that is one run, else a buffer. */
static void find_data(struct tern_operation *op, struct part *part)
{
    struct tern_cursor *memory = &op->access.memory;
    int64_t offset = part->position - op->access.position;
    void *start;
    if (tern_type_run(memory->type, memory->base, memory->count, &start)) {
        part->data = (char *)start + offset;
        return;
    }
    if (part->packed_room < part->head.bytes) {
        free(part->packed);
        part->packed_room = part->head.bytes;
        part->packed = malloc((size_t)part->packed_room);
    }
    part->data = part->packed;
    if (!part->packed) {
        part->packed_room = part->head.bytes = part->head.series = 0;
        tern_operation_fail(op, tern_error(TERN_ERR_NO_MEM, "no memory to pack data for a file"));
    } else if (op->access.writes) {
        tern_cursor_seek(memory, offset);
        tern_cursor_pack(memory, part->packed, (size_t)part->head.bytes);
    }
}

/* Starts the messages between this rank and aggregator i. */
static void start_part(struct tern_operation *op, int i)
{
    struct part *part = &op->exchange->parts[i];
    struct range window = window_of(op->exchange, i);
    int rank = rank_of_aggregator(op, i);

    part->received = part->head.bytes = part->head.series = 0;
    if (window.begin >= window.end)
        return;
    describe(op, part, window);
    if (part->head.bytes > 0)
        find_data(op, part);
    if (part->head.series > 0 && part->head.series <= FEW)
        memcpy(part->head.few, part->series, (size_t)part->head.series * sizeof *part->series);
    tern_operation_send(op, &part->head, sizeof part->head, rank, TERN_IO_HEAD);
    if (part->head.series > FEW)
        tern_operation_send(op, part->series,
                            part->head.series * (int64_t)sizeof *part->series, rank, TERN_IO_RUNS);
    if (part->head.bytes > 0 && op->access.writes)
        tern_operation_send(op, part->data, part->head.bytes, rank, TERN_IO_DATA);
}

/* ---- an aggregator ---- */

/* Makes room for what a rank announces. */
static bool make_room(struct tern_exchange *x, int ranks)
{
    int64_t total = 0;
    for (int r = 0; r < ranks; r++) {
        struct source *source = &x->sources[r];
        if (source->head.series > source->room) {
            free(source->series);
            source->room = source->head.series;
            source->series = malloc((size_t)source->room * sizeof *source->series);
        }
        if (source->head.series > 0 && !source->series)
            return false;
        total += source->head.bytes;
    }
    if (total > x->data_room) {
        free(x->data);
        x->data_room = total;
        x->data = malloc((size_t)total);
    }
    for (int64_t r = 0, at = 0; r < ranks && x->data; at += x->sources[r++].head.bytes)
        x->sources[r].data = x->data + at;
    return x->data || total == 0;
}

/* Frees what make_room could not make whole, so that receives find no room at all. */
static void make_no_room(struct tern_operation *op, int ranks)
{
    struct tern_exchange *x = op->exchange;
    tern_operation_fail(op, tern_error(TERN_ERR_NO_MEM, "no memory for a collective access to a "
                                                        "file; make cb_buffer_size smaller"));
    for (int r = 0; r < ranks; r++) {
        free(x->sources[r].series);
        x->sources[r].series = NULL;
        x->sources[r].room = 0;
        x->sources[r].data = NULL;
    }
    free(x->data);
    x->data = NULL;
    x->data_room = 0;
}

/* Receives what the heads announce. */
static void receive_runs(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    int ranks = tern_file_size(op->file);
    bool room = make_room(x, ranks);
    if (!room)
        make_no_room(op, ranks);
    for (int r = 0; r < ranks; r++) {
        struct source *source = &x->sources[r];
        int64_t bytes = source->head.series * (int64_t)sizeof *source->series;
        if (source->head.series > FEW)
            tern_operation_receive(op, source->series, room ? bytes : 0, r, TERN_IO_RUNS, NULL);
        else if (room && source->head.series > 0)
            memcpy(source->series, source->head.few, (size_t)bytes);
        if (source->head.bytes > 0 && op->access.writes)
            tern_operation_receive(op, source->data, room ? source->head.bytes : 0, r,
                                   TERN_IO_DATA, NULL);
        if (!room)
            source->head.series = 0;
    }
}

/* Copies the runs of a series between packed data and the window, `count` of them. */
static void copy_series(const struct series *s, int64_t count, char *window, char *data,
                        bool writes)
{
    char *at = window + s->at;
    if (s->bytes == 8) { /* doubles are what most programs have */
        for (int64_t i = 0; i < count; i++, at += s->stride, data += 8)
            memcpy(writes ? at : data, writes ? data : at, 8);
        return;
    }
    for (int64_t i = 0; i < count; i++, at += s->stride, data += s->bytes)
        memcpy(writes ? at : data, writes ? data : at, (size_t)s->bytes);
}

static int no_buffer(void)
{
    return tern_error(TERN_ERR_NO_MEM, "no memory for the buffer of a collective access to a file; "
                                       "make cb_buffer_size smaller");
}

/* Puts the data of all ranks into the window, and writes those bytes of it. */
static void write_window(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    struct range window = window_of(x, x->index);
    int64_t from = 0, to = 0, length = window.end - window.begin;
    if (!x->buffer) {
        tern_operation_fail(op, no_buffer());
        return;
    }
    memset(x->covered, 0, tern_covered_bytes(length));
    for (int r = 0; r < tern_file_size(op->file); r++) {
        char *data = x->sources[r].data;
        for (int64_t i = 0; i < x->sources[r].head.series; i++) {
            struct series s = x->sources[r].series[i];
            s.at -= window.begin;
            copy_series(&s, s.count, x->buffer, data, true);
            tern_covered_add(x->covered, s.at, s.bytes, s.stride, s.count);
            data += s.bytes * s.count;
        }
    }
    while (!op->error && tern_covered_next(x->covered, length, &from, &to)) {
        int error = tern_access_write(op->access.fd, op->access.path, x->buffer + from, to - from,
                                      window.begin + from);
        if (error)
            tern_operation_fail(op, error);
        from = to;
    }
}

/* Returns how many of a source's bytes lie before `end`, and packs them. */
static int64_t pack_for(const struct source *source, char *window, int64_t begin, int64_t end)
{
    char *data = source->data;
    for (int64_t i = 0; i < source->head.series; i++) {
        struct series s = source->series[i];
        int64_t whole = s.count;
        if (s.at + (s.count - 1) * s.stride + s.bytes > end) /* the file ends in this series */
            for (whole = 0; whole < s.count && s.at + whole * s.stride + s.bytes <= end;)
                whole++;
        struct series cut = {s.at + whole * s.stride, end - (s.at + whole * s.stride), 0, 1};
        s.at -= begin;
        copy_series(&s, whole, window, data, false);
        data += whole * s.bytes;
        if (whole == s.count)
            continue;
        if (cut.bytes > 0) {
            cut.at -= begin;
            copy_series(&cut, 1, window, data, false);
            data += cut.bytes;
        }
        break;
    }
    return data - source->data;
}

/* Reads the part of the window that ranks want, and packs it for each of them. */
static void read_window(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    struct range window = window_of(x, x->index);
    struct range wanted = {window.end, window.begin};
    int64_t done = 0;
    int ranks = tern_file_size(op->file);
    for (int r = 0; r < ranks; r++) {
        const struct source *source = &x->sources[r];
        if (source->head.series == 0)
            continue;
        const struct series *first = source->series, *last = first + source->head.series - 1;
        int64_t end = last->at + (last->count - 1) * last->stride + last->bytes;
        wanted.begin = smaller(wanted.begin, first->at);
        wanted.end = end > wanted.end ? end : wanted.end;
    }
    if (wanted.begin >= wanted.end)
        return;
    int error = x->buffer ? tern_access_read(op->access.fd, op->access.path,
                                             x->buffer + (wanted.begin - window.begin),
                                             wanted.end - wanted.begin, wanted.begin, &done)
                          : no_buffer();
    if (error)
        tern_operation_fail(op, error);
    for (int r = 0; r < ranks; r++)
        x->sources[r].ready =
            error ? 0 : pack_for(&x->sources[r], x->buffer, window.begin, wanted.begin + done);
}

/* ---- rounds ---- */

static void begin_round(struct tern_operation *op);

/* Ends a round: all messages and accesses of it are complete. */
static void end_round(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    struct tern_cursor *memory = &op->access.memory;
    for (int i = 0; i < x->aggregators; i++) {
        struct part *part = &x->parts[i];
        op->access.done += op->access.writes ? part->head.bytes : part->received;
        if (!op->access.writes && part->received > 0 && part->data == part->packed) {
            tern_cursor_seek(memory, part->position - op->access.position);
            tern_cursor_unpack(memory, part->packed, (size_t)part->received);
        }
    }
    x->round++;
    if (x->round < x->rounds)
        begin_round(op);
    else
        op->step = x->after;
}

static void end_when_sent(struct tern_operation *op)
{
    op->await_sends = true;
    op->step = end_round;
}

static void receive_data(struct tern_operation *op);

/* Sends what was read to the ranks. */
static void send_data(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    for (int r = 0; r < tern_file_size(op->file); r++)
        if (x->sources[r].head.bytes > 0)
            tern_operation_send(op, x->sources[r].data, x->sources[r].ready, r, TERN_IO_DATA);
    receive_data(op);
}

static void access_window(struct tern_operation *op)
{
    if (op->access.writes) {
        end_when_sent(op);
        tern_operation_work(op, write_window);
    } else {
        op->step = send_data;
        tern_operation_work(op, read_window);
    }
}

/* Called with the heads of all ranks. */
static void take_heads(struct tern_operation *op)
{
    receive_runs(op);
    op->step = access_window;
}

/* Receives what the aggregators read. Posted when no other receive is waited for. */
static void receive_data(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    for (int i = 0; i < x->aggregators; i++)
        if (x->parts[i].head.bytes > 0)
            tern_operation_receive(op, x->parts[i].data, x->parts[i].head.bytes,
                                   rank_of_aggregator(op, i), TERN_IO_DATA, &x->parts[i].received);
    end_when_sent(op);
}

static void begin_round(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    for (int i = 0; i < x->aggregators; i++)
        start_part(op, i);
    struct range own = window_of(x, x->index < 0 ? 0 : x->index);
    if (x->index < 0 || own.begin >= own.end) {
        if (op->access.writes)
            end_when_sent(op);
        else
            receive_data(op);
        return;
    }
    for (int r = 0; r < tern_file_size(op->file); r++) {
        x->sources[r].ready = 0;
        tern_operation_receive(op, &x->sources[r].head, sizeof x->sources[r].head, r, TERN_IO_HEAD,
                               NULL);
    }
    op->step = take_heads;
}

/* ---- begin and end ---- */

void tern_exchange_free(struct tern_exchange *x)
{
    if (!x)
        return;
    for (int i = 0; x->parts && i < x->aggregators; i++) {
        free(x->parts[i].series);
        free(x->parts[i].packed);
    }
    free(x->parts);
    for (int r = 0; x->sources && r < x->ranks; r++)
        free(x->sources[r].series);
    free(x->sources);
    free(x->buffer);
    free(x->covered);
    free(x->data);
    free(x);
}

/* Makes what an aggregator needs. Without a buffer it takes part all the same, and fails later:
 * others wait for it. */
static bool make_aggregator(struct tern_exchange *x, int ranks)
{
    x->ranks = ranks;
    x->sources = calloc((size_t)ranks, sizeof *x->sources);
    x->buffer = malloc((size_t)x->window);
    x->covered = malloc(tern_covered_bytes(x->window));
    if (!x->covered) {
        free(x->buffer);
        x->buffer = NULL;
    }
    return x->sources;
}

int tern_exchange_begin(struct tern_operation *op, int64_t begin, int64_t end,
                        void (*after)(struct tern_operation *op))
{
    struct tern_exchange *x = calloc(1, sizeof *x);
    int ranks = tern_file_size(op->file);
    if (!x)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a collective access to a file");
    op->exchange = x;
    x->after = after;
    x->index = -1;
    x->aggregators = (int)op->file->hints.cb_nodes;
    divide(op, begin, end);
    x->parts = calloc((size_t)x->aggregators, sizeof *x->parts);
    for (int i = 0; x->parts && i < x->aggregators; i++) {
        x->parts[i].next = tern_view_position_within(op->access.view, op->access.position,
                                                     op->access.position + op->access.memory.length,
                                                     window_of(x, i).begin);
        if (rank_of_aggregator(op, i) == tern_file_rank(op->file))
            x->index = i;
    }
    if (!x->parts || (x->index >= 0 && !make_aggregator(x, ranks)))
        return tern_error(TERN_ERR_NO_MEM, "no memory for a collective access to a file");
    op->access.done = 0;
    begin_round(op);
    return 0;
}
