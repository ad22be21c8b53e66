/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A request is kept under a number until its answer comes. mpirun serves its own host's requests in
 * the same way as those of others: they only do not travel. Fences are told apart by who takes part
 * in them; a host cannot begin the next one of the same processes before it has had the answer to
 * this one, so at most one of each kind is being gathered. Every host's data are passed on as they
 * are: PMIx takes them one behind the other.
 */
#include "mpirun/serve/server_exchange.h"

#include <pmix.h>
#include <stdlib.h>
#include <string.h>

#include "mpirun/serve/names.h"
#include "mpirun/serve/server.h"

struct request {
    struct request *next;
    uint64_t id;
    enum tern_frame_kind kind;
    union {
        pmix_op_cbfunc_t done;
        pmix_modex_cbfunc_t modex;
        pmix_lookup_cbfunc_t lookup;
    } answer;
    void *answer_data;
};

/* A request that mpirun serves for a host. */
struct asker {
    int host;
    uint64_t id;
    char **keys;
};

struct gathering {
    struct gathering *next;
    struct tern_parcel who, data;
    struct asker *askers;
    int arrived, expected;
};

static struct {
    const struct tern_job *job;
    void (*send)(const struct tern_frame *frame);
    bool is_agent, alone;
    uint64_t last_id;
    struct request *requests;
    struct gathering *gatherings;
} exchange;

void tern_exchange_open(const struct tern_job *job, bool is_agent,
                        void (*send)(const struct tern_frame *frame))
{
    exchange.job = job;
    exchange.is_agent = is_agent;
    exchange.send = send;
    exchange.alone = job->host_count == 1 && job->here == 0 && !is_agent;
}

/* ---- PMIx's structures as bytes ---- */

static void pack(struct tern_parcel *parcel, const void *items, size_t count, pmix_data_type_t type)
{
    pmix_data_buffer_t buffer = PMIX_DATA_BUFFER_STATIC_INIT;
    pmix_byte_object_t bytes = { 0 };
    tern_parcel_number(parcel, (int64_t)count);
    if (count)
        PMIx_Data_pack(NULL, &buffer, (void *)items, (int32_t)count, type);
    PMIx_Data_unload(&buffer, &bytes);
    tern_parcel_blob(parcel, bytes.bytes, bytes.size);
    free(bytes.bytes);
}

/* An array of `item_bytes` each, malloc'ed; NULL with *ret_count 0 where there is none. */
static void *unpack(struct tern_reader *reader, size_t item_bytes, pmix_data_type_t type,
                    size_t *ret_count)
{
    size_t size;
    int count = tern_read_int(reader, 0, 1 << 20);
    const char *packed = tern_read_blob(reader, &size);
    *ret_count = 0;
    if (reader->bad || !count)
        return NULL;
    pmix_data_buffer_t buffer = PMIX_DATA_BUFFER_STATIC_INIT;
    pmix_byte_object_t bytes = { .bytes = tern_must_alloc(size), .size = size };
    memcpy(bytes.bytes, packed, size);
    void *items = tern_must_alloc(count * item_bytes);
    int32_t got = count;
    PMIx_Data_load(&buffer, &bytes);
    if (PMIx_Data_unpack(NULL, &buffer, items, &got, type) == PMIX_SUCCESS)
        *ret_count = got;
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
    return items;
}

static void free_infos(pmix_info_t *infos, size_t count)
{
    for (size_t i = 0; i < count; i++)
        PMIX_INFO_DESTRUCT(&infos[i]);
    free(infos);
}

static void pack_proc(struct tern_parcel *parcel, const pmix_proc_t *proc)
{
    tern_parcel_string(parcel, proc->nspace);
    tern_parcel_number(parcel, proc->rank);
}

static void read_proc(struct tern_reader *reader, pmix_proc_t *proc)
{
    const char *nspace = tern_read_string(reader);
    memset(proc, 0, sizeof *proc);
    strncpy(proc->nspace, nspace ? nspace : "", PMIX_MAX_NSLEN);
    proc->rank = (pmix_rank_t)tern_read_number(reader);
}

static struct tern_reader read_frame(const struct tern_frame *frame)
{
    return (struct tern_reader){ .at = frame->data, .left = frame->size };
}

/* ---- who asks ---- */

static void serve(const struct tern_frame *frame);

static struct request *new_request(enum tern_frame_kind kind, void *answer_data)
{
    struct request *request = tern_must_alloc(sizeof *request);
    request->id = ++exchange.last_id;
    request->kind = kind;
    request->answer_data = answer_data;
    request->next = exchange.requests;
    exchange.requests = request;
    return request;
}

static void send_request(const struct request *request, int rank, struct tern_parcel *parcel)
{
    struct tern_frame frame = { .kind = request->kind,
                                .host = exchange.job->here,
                                .rank = rank,
                                .id = request->id,
                                .data = parcel->bytes,
                                .size = (uint32_t)parcel->size };
    if (exchange.is_agent)
        exchange.send(&frame);
    else
        serve(&frame);
    tern_parcel_free(parcel);
}

void tern_exchange_fence(const pmix_proc_t *procs, size_t proc_count, char *data, size_t size,
                         pmix_modex_cbfunc_t answer, void *answer_data)
{
    if (exchange.alone) {
        answer(PMIX_SUCCESS, data, size, answer_data, free, data);
        return;
    }
    struct tern_parcel who = { 0 }, parcel = { 0 };
    tern_parcel_number(&who, (int64_t)proc_count);
    for (size_t i = 0; i < proc_count; i++)
        pack_proc(&who, &procs[i]);
    tern_parcel_blob(&parcel, who.bytes, who.size);
    tern_parcel_blob(&parcel, data, size);
    tern_parcel_free(&who);
    free(data);
    struct request *request = new_request(TERN_FRAME_FENCE, answer_data);
    request->answer.modex = answer;
    send_request(request, -1, &parcel);
}

void tern_exchange_modex(int rank, pmix_modex_cbfunc_t answer, void *answer_data)
{
    struct tern_parcel parcel = { 0 };
    if (exchange.alone || rank < 0 || rank >= exchange.job->map->size) {
        answer(PMIX_ERR_NOT_FOUND, NULL, 0, answer_data, NULL, NULL);
        return;
    }
    struct request *request = new_request(TERN_FRAME_MODEX, answer_data);
    request->answer.modex = answer;
    send_request(request, rank, &parcel);
}

void tern_exchange_publish(const pmix_proc_t *proc, const pmix_info_t infos[], size_t info_count,
                           pmix_op_cbfunc_t answer, void *answer_data)
{
    if (!exchange.is_agent) {
        answer(tern_names_publish(proc, infos, info_count), answer_data);
        return;
    }
    struct tern_parcel parcel = { 0 };
    pack_proc(&parcel, proc);
    pack(&parcel, infos, info_count, PMIX_INFO);
    struct request *request = new_request(TERN_FRAME_PUBLISH, answer_data);
    request->answer.done = answer;
    send_request(request, -1, &parcel);
}

static void pack_keys(struct tern_parcel *parcel, char **keys)
{
    int count = 0;
    while (keys && keys[count])
        count++;
    tern_parcel_number(parcel, keys ? count : -1);
    for (int i = 0; i < count; i++)
        tern_parcel_string(parcel, keys[i]);
}

void tern_exchange_lookup(char **keys, const pmix_info_t infos[], size_t info_count,
                          pmix_lookup_cbfunc_t answer, void *answer_data)
{
    if (!exchange.is_agent) {
        tern_names_lookup(keys, infos, info_count, answer, answer_data);
        return;
    }
    struct tern_parcel parcel = { 0 };
    pack_keys(&parcel, keys);
    pack(&parcel, infos, info_count, PMIX_INFO);
    struct request *request = new_request(TERN_FRAME_LOOKUP, answer_data);
    request->answer.lookup = answer;
    send_request(request, -1, &parcel);
}

void tern_exchange_unpublish(const pmix_proc_t *proc, char **keys, pmix_op_cbfunc_t answer,
                             void *answer_data)
{
    if (!exchange.is_agent) {
        answer(tern_names_unpublish(proc, keys), answer_data);
        return;
    }
    struct tern_parcel parcel = { 0 };
    pack_proc(&parcel, proc);
    pack_keys(&parcel, keys);
    struct request *request = new_request(TERN_FRAME_UNPUBLISH, answer_data);
    request->answer.done = answer;
    send_request(request, -1, &parcel);
}

void tern_exchange_event(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                         const pmix_info_t infos[], size_t info_count)
{
    if (exchange.alone)
        return;
    struct tern_parcel parcel = { 0 };
    pack_proc(&parcel, source);
    tern_parcel_number(&parcel, range);
    pack(&parcel, infos, info_count, PMIX_INFO);
    struct tern_frame frame = { .kind = TERN_FRAME_EVENT,
                                .host = exchange.job->here,
                                .value = code,
                                .data = parcel.bytes,
                                .size = (uint32_t)parcel.size };
    if (exchange.is_agent)
        exchange.send(&frame);
    else
        serve(&frame);
    tern_parcel_free(&parcel);
}

/* ---- the answer ---- */

static void take_data(const struct request *request, const struct tern_frame *frame)
{
    char *data = tern_must_alloc(frame->size);
    if (frame->size)
        memcpy(data, frame->data, frame->size);
    request->answer.modex(frame->value, data, frame->size, request->answer_data, free, data);
}

static void take_names(const struct request *request, const struct tern_frame *frame)
{
    struct tern_reader reader = read_frame(frame);
    size_t count;
    pmix_pdata_t *names = unpack(&reader, sizeof *names, PMIX_PDATA, &count);
    request->answer.lookup(frame->value, names, count, request->answer_data);
    for (size_t i = 0; i < count; i++)
        PMIX_PDATA_DESTRUCT(&names[i]);
    free(names);
}

static void take_answer(const struct tern_frame *frame)
{
    struct request **link = &exchange.requests;
    while (*link && (*link)->id != frame->id)
        link = &(*link)->next;
    struct request *request = *link;
    if (!request)
        return;
    *link = request->next;
    if (request->kind == TERN_FRAME_FENCE || request->kind == TERN_FRAME_MODEX)
        take_data(request, frame);
    else if (request->kind == TERN_FRAME_LOOKUP)
        take_names(request, frame);
    else
        request->answer.done(frame->value, request->answer_data);
    free(request);
}

static void answer(int host, uint64_t id, int status, const void *data, size_t size)
{
    struct tern_frame frame = { .kind = TERN_FRAME_ANSWER,
                                .host = host,
                                .value = status,
                                .id = id,
                                .data = data,
                                .size = (uint32_t)size };
    if (host == exchange.job->here)
        take_answer(&frame);
    else
        exchange.send(&frame);
}

/* ---- mpirun serves ---- */

/* Hosts with ranks that take part. */
static int count_hosts(const struct tern_parcel *who)
{
    const struct tern_map *map = exchange.job->map;
    struct tern_reader reader = { .at = who->bytes, .left = who->size };
    bool *takes_part = tern_must_alloc(exchange.job->host_count * sizeof *takes_part);
    int64_t count = tern_read_number(&reader);
    for (int64_t i = 0; i < count && !reader.bad; i++) {
        pmix_proc_t proc;
        read_proc(&reader, &proc);
        for (int rank = 0; rank < map->size; rank++) {
            if (proc.rank == PMIX_RANK_WILDCARD || proc.rank == (pmix_rank_t)rank)
                takes_part[map->places[rank].host] = true;
        }
    }
    int hosts = 0;
    for (int host = 0; host < exchange.job->host_count; host++)
        hosts += takes_part[host];
    free(takes_part);
    return hosts;
}

static struct gathering **find_gathering(const char *who, size_t size)
{
    struct gathering **link = &exchange.gatherings;
    while (*link && ((*link)->who.size != size || memcmp((*link)->who.bytes, who, size)))
        link = &(*link)->next;
    if (!*link) {
        struct gathering *gathering = tern_must_alloc(sizeof *gathering);
        tern_parcel_raw(&gathering->who, who, size);
        gathering->askers = tern_must_alloc(exchange.job->host_count * sizeof *gathering->askers);
        gathering->expected = count_hosts(&gathering->who);
        *link = gathering;
    }
    return link;
}

static bool has_come(const struct gathering *gathering, int host)
{
    for (int i = 0; i < gathering->arrived; i++)
        if (gathering->askers[i].host == host)
            return true;
    return false;
}

static void free_gathering(struct gathering *gathering)
{
    tern_parcel_free(&gathering->who);
    tern_parcel_free(&gathering->data);
    free(gathering->askers);
    free(gathering);
}

static void serve_fence(const struct tern_frame *frame)
{
    struct tern_reader reader = read_frame(frame);
    size_t who_size, data_size;
    const char *who = tern_read_blob(&reader, &who_size);
    const char *data = tern_read_blob(&reader, &data_size);
    if (reader.bad)
        return;
    struct gathering **link = find_gathering(who, who_size), *gathering = *link;
    if (has_come(gathering, frame->host))
        return;
    tern_parcel_raw(&gathering->data, data, data_size);
    gathering->askers[gathering->arrived++] = (struct asker){ frame->host, frame->id, NULL };
    if (gathering->arrived < gathering->expected)
        return;
    *link = gathering->next;
    for (int i = 0; i < gathering->arrived; i++)
        answer(gathering->askers[i].host, gathering->askers[i].id, PMIX_SUCCESS,
               gathering->data.bytes, gathering->data.size);
    free_gathering(gathering);
}

static void fetched(void *context, int status, const char *data, size_t size)
{
    struct asker *asker = context;
    if (!exchange.is_agent) {
        answer(asker->host, asker->id, status, data, size);
    } else {
        struct tern_frame frame = { .kind = TERN_FRAME_FETCHED,
                                    .host = exchange.job->here,
                                    .rank = asker->host,
                                    .value = status,
                                    .id = asker->id,
                                    .data = data,
                                    .size = (uint32_t)size };
        exchange.send(&frame);
    }
    free(asker);
}

static void fetch(int rank, int host, uint64_t id)
{
    struct asker *asker = tern_must_alloc(sizeof *asker);
    *asker = (struct asker){ host, id, NULL };
    tern_server_fetch(rank, fetched, asker);
}

static void serve_modex(const struct tern_frame *frame)
{
    if (frame->rank < 0 || frame->rank >= exchange.job->map->size)
        return;
    int owner = exchange.job->map->places[frame->rank].host;
    if (owner == exchange.job->here) {
        fetch(frame->rank, frame->host, frame->id);
        return;
    }
    exchange.send(&(struct tern_frame){ .kind = TERN_FRAME_FETCH,
                                        .host = owner,
                                        .rank = frame->rank,
                                        .value = frame->host,
                                        .id = frame->id });
}

static void serve_publish(const struct tern_frame *frame)
{
    struct tern_reader reader = read_frame(frame);
    pmix_proc_t proc;
    size_t count;
    read_proc(&reader, &proc);
    pmix_info_t *infos = unpack(&reader, sizeof *infos, PMIX_INFO, &count);
    answer(frame->host, frame->id, tern_names_publish(&proc, infos, count), NULL, 0);
    free_infos(infos, count);
}

/* malloc'ed; NULL: all. */
static char **read_keys(struct tern_reader *reader)
{
    int count = tern_read_int(reader, -1, 1 << 20);
    if (count < 0)
        return NULL;
    char **keys = tern_must_alloc((count + 1) * sizeof *keys);
    for (int i = 0; i < count && !reader->bad; i++) {
        const char *key = tern_read_string(reader);
        keys[i] = tern_must_copy(key ? key : "");
    }
    return keys;
}

static void free_keys(char **keys)
{
    for (int i = 0; keys && keys[i]; i++)
        free(keys[i]);
    free(keys);
}

static void found(pmix_status_t status, pmix_pdata_t names[], size_t count, void *context)
{
    struct asker *asker = context;
    struct tern_parcel parcel = { 0 };
    pack(&parcel, names, count, PMIX_PDATA);
    answer(asker->host, asker->id, status, parcel.bytes, parcel.size);
    tern_parcel_free(&parcel);
    free_keys(asker->keys);
    free(asker);
}

static void serve_lookup(const struct tern_frame *frame)
{
    struct tern_reader reader = read_frame(frame);
    struct asker *asker = tern_must_alloc(sizeof *asker);
    *asker = (struct asker){ frame->host, frame->id, read_keys(&reader) };
    size_t count;
    pmix_info_t *infos = unpack(&reader, sizeof *infos, PMIX_INFO, &count);
    tern_names_lookup(asker->keys, infos, count, found, asker);
    free_infos(infos, count);
}

static void serve_unpublish(const struct tern_frame *frame)
{
    struct tern_reader reader = read_frame(frame);
    pmix_proc_t proc;
    read_proc(&reader, &proc);
    char **keys = read_keys(&reader);
    answer(frame->host, frame->id, tern_names_unpublish(&proc, keys), NULL, 0);
    free_keys(keys);
}

struct notice {
    pmix_info_t *infos;
    size_t count;
};

static void notified(pmix_status_t status, void *context)
{
    (void)status;
    struct notice *notice = context;
    free_infos(notice->infos, notice->count);
    free(notice);
}

/* To the ranks of this host. */
static void notify(const struct tern_frame *frame)
{
    struct tern_reader reader = read_frame(frame);
    pmix_proc_t source;
    read_proc(&reader, &source);
    pmix_data_range_t range = (pmix_data_range_t)tern_read_number(&reader);
    struct notice *notice = tern_must_alloc(sizeof *notice);
    notice->infos = unpack(&reader, sizeof *notice->infos, PMIX_INFO, &notice->count);
    if (reader.bad || PMIx_Notify_event(frame->value, &source, range, notice->infos, notice->count,
                                        notified, notice) != PMIX_SUCCESS)
        notified(PMIX_ERROR, notice);
}

static void serve_event(const struct tern_frame *frame)
{
    struct tern_frame notice = *frame;
    notice.kind = TERN_FRAME_NOTIFY;
    for (int host = 0; host < exchange.job->host_count; host++) {
        if (host == frame->host)
            continue;
        notice.host = host;
        if (host == exchange.job->here)
            notify(&notice);
        else
            exchange.send(&notice);
    }
}

static void serve(const struct tern_frame *frame)
{
    switch (frame->kind) {
    case TERN_FRAME_FENCE:
        serve_fence(frame);
        break;
    case TERN_FRAME_MODEX:
        serve_modex(frame);
        break;
    case TERN_FRAME_PUBLISH:
        serve_publish(frame);
        break;
    case TERN_FRAME_LOOKUP:
        serve_lookup(frame);
        break;
    case TERN_FRAME_UNPUBLISH:
        serve_unpublish(frame);
        break;
    default:
        serve_event(frame);
    }
}

void tern_exchange_close(void)
{
    while (exchange.requests) {
        struct request *request = exchange.requests;
        exchange.requests = request->next;
        free(request);
    }
    while (exchange.gatherings) {
        struct gathering *gathering = exchange.gatherings;
        exchange.gatherings = gathering->next;
        free_gathering(gathering);
    }
}

static bool is_host(int host)
{
    return host >= 0 && host < exchange.job->host_count;
}

/* What mpirun sends to an agent. Returns false for a frame of another kind. */
static bool agent_received(const struct tern_frame *frame)
{
    switch (frame->kind) {
    case TERN_FRAME_ANSWER:
        take_answer(frame);
        return true;
    case TERN_FRAME_FETCH:
        fetch(frame->rank, frame->value, frame->id);
        return true;
    case TERN_FRAME_NOTIFY:
        notify(frame);
        return true;
    default:
        return false;
    }
}

/* What an agent sends to mpirun. Returns false for a frame of another kind. */
static bool mpirun_received(const struct tern_frame *frame)
{
    switch (frame->kind) {
    case TERN_FRAME_FETCHED: /* `rank` is the host that asked */
        if (is_host(frame->rank))
            answer(frame->rank, frame->id, frame->value, frame->data, frame->size);
        return true;
    case TERN_FRAME_FENCE:
    case TERN_FRAME_MODEX:
    case TERN_FRAME_PUBLISH:
    case TERN_FRAME_LOOKUP:
    case TERN_FRAME_UNPUBLISH:
    case TERN_FRAME_EVENT:
        if (is_host(frame->host))
            serve(frame);
        return true;
    default:
        return false;
    }
}

bool tern_exchange_received(const struct tern_frame *frame)
{
    return exchange.is_agent ? agent_received(frame) : mpirun_received(frame);
}
