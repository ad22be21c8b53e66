/* SPDX-License-Identifier: BSD-3-Clause */

/* Collective buffering in two phases; see the header. */

#include "lib/io/exchange.h"

#include "lib/io/access/pane.h"
#include "lib/io/access/watch.h"
#include "lib/io/file_operation.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* A rank's part of one aggregator's window. */
struct part {
    struct tern_series_head head;
    struct tern_series *series; /* all of them; kept for the next round */
    int64_t room;
    int64_t position; /* where this round's data begin in the stream */
    char *data;       /* where they lie: in `packed`, or in the user's memory */
    char *packed;
    int64_t packed_room;
    int64_t received; /* reads: bytes that have come */
};

struct tern_exchange {
    int aggregators;
    int64_t begin, end;     /* of the range in the file */
    int64_t domain, window; /* bytes of an aggregator's domain, and of it in a round */
    int64_t round, rounds;  /* the round whose data are exchanged, and their number */
    /* the round whose runs the ranks send to the aggregators: `round`, or the next if `ahead` */
    int64_t asked;
    int index;              /* this rank's number among the aggregators, or -1 */
    /* for each aggregator: position in the stream up to which it has been told the runs */
    int64_t *told;
    struct part *parts[2];     /* one for each aggregator; the second ones only if `ahead` */
    struct tern_pane panes[2]; /* of an aggregator; the second one only if it overlaps */
    bool ahead;    /* on all ranks: a round is read while the data of the one before are sent */
    bool overlaps; /* one pane is read or written while the other one is sent or received */
    struct tern_pane *busy; /* the pane that the worker reads or writes; NULL: none */
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
    int32_t nodes = topology ? topology->nodes : 1, each = (x->aggregators + nodes - 1) / nodes;
    if (!topology || each > topology->smallest)
        return (int)((int64_t)i * tern_file_size(op->file) / x->aggregators);
    if (each == 1)
        return tern_topology_rank(topology, (int32_t)((int64_t)i * nodes / x->aggregators), 0);
    int32_t node = i / each; /* neighbours in the file are on one node */
    return tern_topology_rank(topology, node, i % each * (topology->node[node].size / each));
}

/* Returns the window of aggregator i in a round; begin >= end if it has none. */
static struct range window_of(const struct tern_exchange *x, int i, int64_t round)
{
    struct range w = {.begin = x->begin + i * x->domain + round * x->window};
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

/* Returns true if this rank aggregates a window in a round. */
static bool has_window(const struct tern_exchange *x, int64_t round)
{
    if (x->index < 0 || round >= x->rounds)
        return false;
    struct range w = window_of(x, x->index, round);
    return w.begin < w.end;
}

/* ---- a rank's part ---- */

/* Returns this rank's parts of a round. */
static struct part *parts_of(const struct tern_exchange *x, int64_t round)
{
    return x->parts[x->ahead ? round % 2 : 0];
}

static bool add_series(struct part *part, struct tern_series series)
{
    if (part->head.series == part->room) {
        int64_t room = part->room ? 2 * part->room : 16;
        struct tern_series *grown = realloc(part->series, (size_t)room * sizeof *grown);
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
    struct tern_series *last = part->head.series > 0 ? &part->series[part->head.series - 1] : NULL;
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
    return add_series(part, (struct tern_series){at, bytes, 0, 1});
}

/* Describes what this rank has in a window, from position *next of the stream on. */
static void describe(struct tern_operation *op, struct part *part, struct range window,
                     int64_t *next)
{
    enum { AT_ONCE = 512 };
    int64_t limit = op->access.position + op->access.memory.length;
    struct iovec runs[AT_ONCE];
    struct tern_cursor file;

    part->head.bytes = part->head.series = 0;
    part->position = *next;
    tern_view_cursor(op->access.view, *next, &file);
    while (*next < limit) {
        int count = tern_cursor_runs(&file, runs, AT_ONCE, (size_t)(limit - *next), NULL);
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
            *next += bytes;
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
    struct tern_exchange *x = op->exchange;
    struct part *part = &parts_of(x, x->asked)[i];
    struct range window = window_of(x, i, x->asked);
    int rank = rank_of_aggregator(op, i);

    part->received = part->head.bytes = part->head.series = 0;
    if (window.begin >= window.end)
        return;
    describe(op, part, window, &x->told[i]);
    if (part->head.bytes > 0)
        find_data(op, part);
    if (part->head.series > 0 && part->head.series <= TERN_FEW_SERIES)
        memcpy(part->head.few, part->series, (size_t)part->head.series * sizeof *part->series);
    tern_operation_send(op, &part->head, sizeof part->head, rank, TERN_IO_HEAD);
    if (part->head.series > TERN_FEW_SERIES)
        tern_operation_send(op, part->series,
                            part->head.series * (int64_t)sizeof *part->series, rank, TERN_IO_RUNS);
    if (part->head.bytes > 0 && op->access.writes)
        tern_operation_send(op, part->data, part->head.bytes, rank, TERN_IO_DATA);
}

/* ---- an aggregator ---- */

/* Returns the pane of a round. */
static struct tern_pane *pane_of(struct tern_exchange *x, int64_t round)
{
    return &x->panes[x->overlaps ? round % 2 : 0];
}

/* Receives what the heads announce. */
static void receive_runs(struct tern_operation *op)
{
    struct tern_pane *pane = pane_of(op->exchange, op->exchange->asked);
    bool room = tern_pane_make_room(pane);
    if (!room)
        tern_operation_fail(op, tern_error(TERN_ERR_NO_MEM, "no memory for a collective access to "
                                                            "a file; make cb_buffer_size smaller"));
    for (int r = 0; r < pane->ranks; r++) {
        struct tern_pane_source *source = &pane->sources[r];
        int64_t bytes = source->head.series * (int64_t)sizeof *source->series;
        if (source->head.series > TERN_FEW_SERIES)
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

/* Takes over the outcome of a pane's access. */
static void take_outcome(struct tern_operation *op, const struct tern_pane *pane)
{
    if (pane->error)
        tern_operation_fail(op, tern_error(pane->error, "%s", pane->text));
}

static void write_pane(struct tern_operation *op)
{
    tern_pane_write(op->exchange->busy, &op->access);
}

static void read_pane(struct tern_operation *op)
{
    tern_pane_read(op->exchange->busy, &op->access);
}

/* Ends the access of the pane that was read or written last. */
static void end_access(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    if (x->busy)
        take_outcome(op, x->busy);
    x->busy = NULL;
}

/* ---- rounds ---- */

static void begin_round(struct tern_operation *op);

static void end_rounds(struct tern_operation *op)
{
    end_access(op);
    op->step = op->exchange->after;
}

/* Ends a round: all its messages are complete, and its access, but for one that goes on beside the
 * next round. */
static void end_round(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    struct tern_cursor *memory = &op->access.memory;
    if (!x->overlaps)
        end_access(op);
    for (int i = 0; i < x->aggregators; i++) {
        struct part *part = &parts_of(x, x->round)[i];
        op->access.done += op->access.writes ? part->head.bytes : part->received;
        if (!op->access.writes && part->received > 0 && part->data == part->packed) {
            tern_cursor_seek(memory, part->position - op->access.position);
            tern_cursor_unpack(memory, part->packed, (size_t)part->received);
        }
    }
    x->round++;
    x->asked++;
    tern_file_watch_show(&op->watch, x->round, x->rounds);
    if (x->round < x->rounds) {
        begin_round(op);
    } else {
        op->await_work = true;
        op->step = end_rounds;
    }
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
    struct tern_pane *pane = pane_of(op->exchange, op->exchange->round);
    for (int r = 0; r < pane->ranks; r++)
        if (pane->sources[r].head.bytes > 0)
            tern_operation_send(op, pane->sources[r].data, pane->sources[r].ready, r,
                                TERN_IO_DATA);
}

/* Sends what was read, when it is there. */
static void send_window(struct tern_operation *op)
{
    end_access(op);
    send_data(op);
    receive_data(op);
}

/* Called when the round before the one that was asked for is read. Reads the next one while the
 * data of the former are sent. */
static void read_ahead(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    end_access(op);
    if (has_window(x, x->asked)) {
        x->busy = pane_of(x, x->asked);
        tern_operation_work_beside(op, read_pane);
    }
    if (x->asked == 0) { /* there is nothing to be sent */
        x->asked++;
        begin_round(op);
        return;
    }
    if (has_window(x, x->round))
        send_data(op);
    receive_data(op);
}

static void end_when_read(struct tern_operation *op)
{
    op->await_work = true;
    op->step = read_ahead;
}

/* Called when no pane is being written. After an error nothing more is. */
static void write_window(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    end_access(op);
    end_when_sent(op);
    if (op->error)
        return;
    x->busy = pane_of(x, x->asked);
    if (x->overlaps)
        tern_operation_work_beside(op, write_pane);
    else
        tern_operation_work(op, write_pane);
}

static void access_window(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    if (op->access.writes) {
        op->await_work = true;
        op->step = write_window;
    } else if (x->ahead) {
        end_when_read(op);
    } else {
        x->busy = pane_of(x, x->asked);
        op->step = send_window;
        tern_operation_work(op, read_pane);
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
    for (int i = 0; i < x->aggregators; i++) {
        struct part *part = &parts_of(x, x->round)[i];
        if (part->head.bytes > 0)
            tern_operation_receive(op, part->data, part->head.bytes, rank_of_aggregator(op, i),
                                   TERN_IO_DATA, &part->received);
    }
    end_when_sent(op);
}

static void begin_round(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    for (int i = 0; i < x->aggregators && x->asked < x->rounds; i++)
        start_part(op, i);
    if (!has_window(x, x->asked)) {
        if (x->ahead)
            end_when_read(op);
        else if (op->access.writes)
            end_when_sent(op);
        else
            receive_data(op);
        return;
    }
    struct range own = window_of(x, x->index, x->asked);
    struct tern_pane *pane = pane_of(x, x->asked);
    pane->begin = own.begin;
    pane->end = own.end;
    for (int r = 0; r < pane->ranks; r++)
        tern_operation_receive(op, &pane->sources[r].head, sizeof pane->sources[r].head, r,
                               TERN_IO_HEAD, NULL);
    op->step = take_heads;
}

/* ---- begin and end ---- */

static void free_exchange(struct tern_exchange *x)
{
    for (int side = 0; side < 2; side++) {
        for (int i = 0; x->parts[side] && i < x->aggregators; i++) {
            free(x->parts[side][i].series);
            free(x->parts[side][i].packed);
        }
        free(x->parts[side]);
    }
    free(x->told);
    tern_pane_drop(&x->panes[0]);
    tern_pane_drop(&x->panes[1]);
    free(x);
}

bool tern_exchange_should_overlap(const struct tern_file *file)
{
    cpu_set_t usable;
    const char *wish = tern_param_string("io_overlap");
    if (strcmp(wish, "never") == 0)
        return false;
    return strcmp(wish, "always") == 0 || file->system.kind != TERN_FILE_SYSTEM_LOCAL ||
           (sched_getaffinity(0, sizeof usable, &usable) == 0 &&
            CPU_COUNT(&usable) > file->comm->coll.ranks_per_node);
}

/* Makes what an aggregator needs. */
static int make_aggregator(struct tern_operation *op)
{
    struct tern_exchange *x = op->exchange;
    int ranks = tern_file_size(op->file);
    x->overlaps = x->ahead || (op->access.writes && x->rounds > 1 &&
                               tern_exchange_should_overlap(op->file));
    int error = tern_pane_make(&x->panes[0], ranks, x->window);
    if (!error && x->overlaps)
        error = tern_pane_make(&x->panes[1], ranks, x->window);
    return error;
}

int tern_exchange_begin(struct tern_operation *op, int64_t begin, int64_t end, bool ahead,
                        void (*after)(struct tern_operation *op))
{
    struct tern_exchange *x = calloc(1, sizeof *x);
    if (!x)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a collective access to a file");
    op->exchange = x;
    op->free_exchange = free_exchange;
    x->after = after;
    x->index = -1;
    x->aggregators = (int)op->file->hints.cb_nodes;
    divide(op, begin, end);
    x->ahead = ahead && !op->access.writes && x->rounds > 1;
    x->told = calloc((size_t)x->aggregators, sizeof *x->told);
    bool room = x->told;
    for (int side = 0; side < 1 + x->ahead; side++)
        room &= (x->parts[side] = calloc((size_t)x->aggregators, sizeof *x->parts[side])) != NULL;
    for (int i = 0; room && i < x->aggregators; i++) {
        x->told[i] = tern_view_position_within(op->access.view, op->access.position,
                                               op->access.position + op->access.memory.length,
                                               window_of(x, i, 0).begin);
        if (rank_of_aggregator(op, i) == tern_file_rank(op->file))
            x->index = i;
    }
    if (!room || (x->index >= 0 && make_aggregator(op)))
        return tern_error(TERN_ERR_NO_MEM, "no memory for a collective access to a file");
    op->access.done = 0;
    begin_round(op);
    return 0;
}
