/* SPDX-License-Identifier: BSD-3-Clause */
/* A request is kept under a number until its answer arrives. mpirun serves its own host's requests
 * in the same way as those of others, only without sending them. */
#include "mpirun/serve/pmix/server_exchange.h"

#include <stdlib.h>
#include <string.h>

#include "mpirun/serve/pmix/fence.h"
#include "mpirun/serve/pmix/names.h"
#include "mpirun/serve/pmix/pmix_bytes.h"
#include "mpirun/serve/pmix/pmix_notify.h"
#include "mpirun/serve/pmix/server_fetch.h"

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

/* A lookup that mpirun serves for a host. */
struct search {
    struct tern_asker asker;
    char **keys;
};

static struct {
    const struct tern_job *job;
    void (*send)(const struct tern_frame *frame);
    void (*met)(void); /* tern_exchange_meet's */
    bool is_agent, alone;
    uint64_t last_id;
    struct request *requests;
} exchange;

void tern_exchange_open(const struct tern_job *job, bool is_agent,
                        void (*send)(const struct tern_frame *frame))
{
    exchange.job = job;
    exchange.is_agent = is_agent;
    exchange.send = send;
    exchange.alone = job->host_count == 1 && job->here == 0 && !is_agent;
}

static struct tern_reader read_frame(const struct tern_frame *frame)
{
    return (struct tern_reader){ .at = frame->data, .left = frame->size };
}

/* ---- requests of this host ---- */

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
        tern_pmix_pack_proc(&who, &procs[i]);
    tern_parcel_blob(&parcel, who.bytes, who.size);
    tern_parcel_blob(&parcel, data, size);
    tern_parcel_free(&who);
    free(data);
    struct request *request = new_request(TERN_FRAME_FENCE, answer_data);
    request->answer.modex = answer;
    send_request(request, -1, &parcel);
}

/* Ends the fence of tern_exchange_meet. */
static void all_have_met(pmix_status_t status, const char *data, size_t size, void *context,
                         pmix_release_cbfunc_t release, void *release_context)
{
    (void)status, (void)data, (void)size, (void)context;
    if (release)
        release(release_context);
    exchange.met();
}

void tern_exchange_meet(void (*met)(void))
{
    pmix_proc_t everybody = { .rank = PMIX_RANK_WILDCARD };
    exchange.met = met;
    memcpy(everybody.nspace, exchange.job->nspace, sizeof everybody.nspace);
    tern_exchange_fence(&everybody, 1, NULL, 0, all_have_met, NULL);
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
    tern_pmix_pack_proc(&parcel, proc);
    tern_pmix_pack_array(&parcel, infos, info_count, PMIX_INFO);
    struct request *request = new_request(TERN_FRAME_PUBLISH, answer_data);
    request->answer.done = answer;
    send_request(request, -1, &parcel);
}

void tern_exchange_lookup(char **keys, const pmix_info_t infos[], size_t info_count,
                          pmix_lookup_cbfunc_t answer, void *answer_data)
{
    if (!exchange.is_agent) {
        tern_names_lookup(keys, infos, info_count, answer, answer_data);
        return;
    }
    struct tern_parcel parcel = { 0 };
    tern_pmix_pack_keys(&parcel, keys);
    tern_pmix_pack_array(&parcel, infos, info_count, PMIX_INFO);
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
    tern_pmix_pack_proc(&parcel, proc);
    tern_pmix_pack_keys(&parcel, keys);
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
    tern_pmix_pack_proc(&parcel, source);
    tern_parcel_number(&parcel, range);
    tern_pmix_pack_array(&parcel, infos, info_count, PMIX_INFO);
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

/* ---- answers to them ---- */

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
    pmix_pdata_t *names = tern_pmix_read_array(&reader, sizeof *names, PMIX_PDATA, &count);
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

/* ---- requests that mpirun serves ---- */

static void answer_fence(const struct tern_fence *fence)
{
    for (int i = 0; i < fence->arrived; i++)
        answer(fence->askers[i].host, fence->askers[i].id, PMIX_SUCCESS, fence->data.bytes,
               fence->data.size);
}

static void serve_fence(const struct tern_frame *frame)
{
    struct tern_reader reader = read_frame(frame);
    size_t who_size, data_size;
    const char *who = tern_read_blob(&reader, &who_size);
    const char *data = tern_read_blob(&reader, &data_size);
    if (!reader.bad)
        tern_fence_arrive(exchange.job, (struct tern_asker){frame->host, frame->id}, who, who_size,
                          data, data_size, answer_fence);
}

static void fetched(void *context, int status, const char *data, size_t size)
{
    struct tern_asker *asker = context;
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
    struct tern_asker *asker = tern_must_alloc(sizeof *asker);
    *asker = (struct tern_asker){ host, id };
    tern_server_fetch(exchange.job->nspace, rank, fetched, asker);
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
    tern_pmix_read_proc(&reader, &proc);
    pmix_info_t *infos = tern_pmix_read_array(&reader, sizeof *infos, PMIX_INFO, &count);
    answer(frame->host, frame->id, tern_names_publish(&proc, infos, count), NULL, 0);
    tern_pmix_free_infos(infos, count);
}

static void found(pmix_status_t status, pmix_pdata_t names[], size_t count, void *context)
{
    struct search *search = context;
    struct tern_parcel parcel = { 0 };
    tern_pmix_pack_array(&parcel, names, count, PMIX_PDATA);
    answer(search->asker.host, search->asker.id, status, parcel.bytes, parcel.size);
    tern_parcel_free(&parcel);
    tern_pmix_free_keys(search->keys);
    free(search);
}

static void serve_lookup(const struct tern_frame *frame)
{
    struct tern_reader reader = read_frame(frame);
    struct search *search = tern_must_alloc(sizeof *search);
    *search = (struct search){ { frame->host, frame->id }, tern_pmix_read_keys(&reader) };
    size_t count;
    pmix_info_t *infos = tern_pmix_read_array(&reader, sizeof *infos, PMIX_INFO, &count);
    tern_names_lookup(search->keys, infos, count, found, search);
    tern_pmix_free_infos(infos, count);
}

static void serve_unpublish(const struct tern_frame *frame)
{
    struct tern_reader reader = read_frame(frame);
    pmix_proc_t proc;
    tern_pmix_read_proc(&reader, &proc);
    char **keys = tern_pmix_read_keys(&reader);
    answer(frame->host, frame->id, tern_names_unpublish(&proc, keys), NULL, 0);
    tern_pmix_free_keys(keys);
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
            tern_pmix_notify(&notice);
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
    tern_fences_close();
}

static bool is_host(int host)
{
    return host >= 0 && host < exchange.job->host_count;
}

/* Handles a frame from mpirun. Returns false if it is of another kind. */
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
        tern_pmix_notify(frame);
        return true;
    default:
        return false;
    }
}

/* Handles a frame from an agent. Returns false if it is of another kind. */
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
