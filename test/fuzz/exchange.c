/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What PMIx servers of different hosts ask each other, in mpirun and on an agent: fences, values of ranks, names, events. The
 * input is a series of requests of this host, and of frames from other hosts, sound ones and wild ones. Each request of this
 * host is answered at most once; a fence exactly once when every host has come; no frame leaves for a host that is not there.
 */
#include "fuzz.h"

#include "mpirun/serve/pmix/server_exchange.h"
#include "mpirun/serve/pmix/server_fetch.h"

enum { HOSTS = 3, RANKS = 6, REQUESTS = 64 };

static struct {
    int open; /* requests of this host without an answer */
    bool answered[REQUESTS];
    int used;
} here;

static void *new_request(void)
{
    here.answered[here.used] = false;
    here.open++;
    return &here.answered[here.used++];
}

static void answered(void *request)
{
    bool *mark = request;
    MUST(!*mark);
    *mark = true;
    here.open--;
}

static void modex_answer(pmix_status_t status, const char *data, size_t size, void *request, pmix_release_cbfunc_t release,
                         void *object)
{
    (void)status;
    unsigned sum = 0;
    for (size_t i = 0; i < size; i++)
        sum += (unsigned char)data[i];
    MUST(sum <= size * 255);
    answered(request);
    if (release)
        release(object);
}

static void lookup_answer(pmix_status_t status, pmix_pdata_t names[], size_t count, void *request)
{
    (void)status;
    MUST(!count || names);
    answered(request);
}

static void done(pmix_status_t status, void *request)
{
    (void)status;
    answered(request);
}

/* In place of the PMIx server of this host: a rank's value comes at once, or is refused. */
void tern_server_fetch(const char *nspace, int rank, void (*fetched)(void *context, int status, const char *data, size_t size),
                       void *context)
{
    (void)nspace;
    if (rank & 1)
        fetched(context, PMIX_SUCCESS, "value", 5);
    else
        fetched(context, PMIX_ERR_NOT_FOUND, NULL, 0);
}

static void sent(const struct tern_frame *frame)
{
    MUST(frame->host >= 0 && frame->host < HOSTS);
    MUST(frame->kind < TERN_FRAME_KINDS && (!frame->size || frame->data));
}

/* A fence of all ranks, or of one of each host in `hosts`. */
static size_t choose(unsigned hosts, pmix_proc_t procs[HOSTS])
{
    size_t count = 0;
    memset(procs, 0, HOSTS * sizeof *procs);
    for (int host = 0; host < HOSTS; host++)
        if (hosts >> host & 1) {
            strcpy(procs[count].nspace, "tern-job");
            procs[count++].rank = (pmix_rank_t)(2 * host);
        }
    if (!count) {
        strcpy(procs[0].nspace, "tern-job");
        procs[count++].rank = PMIX_RANK_WILDCARD;
    }
    return count;
}

static void ask(struct fuzz_input *input, unsigned what)
{
    static char *keys[] = { "name", NULL };
    pmix_proc_t procs[HOSTS];
    size_t count = choose(fuzz_byte(input), procs);
    char *data;
    if (here.used == REQUESTS)
        return;
    switch (what) {
    case 0:
        data = malloc(5);
        memcpy(data, "bytes", 5);
        tern_exchange_fence(procs, count, data, 5, modex_answer, new_request());
        break;
    case 1:
        tern_exchange_modex((int)fuzz_byte(input) - 1, modex_answer, new_request());
        break;
    case 2:
        tern_exchange_lookup(keys, NULL, 0, lookup_answer, new_request());
        break;
    case 3:
        tern_exchange_unpublish(procs, keys, done, new_request());
        break;
    case 4:
        tern_exchange_publish(procs, NULL, 0, done, new_request());
        break;
    default:
        tern_exchange_event(-1, procs, PMIX_RANGE_GLOBAL, NULL, 0);
    }
}

/* A frame of kind, host and number as the input says, with a sound body or any bytes. */
static void receive(struct fuzz_input *input)
{
    struct tern_parcel body = { 0 }, who = { 0 };
    struct tern_frame frame = { .kind = fuzz_byte(input) % TERN_FRAME_KINDS,
                                .host = (int)fuzz_byte(input) % HOSTS,
                                .rank = (int)fuzz_byte(input) - 2,
                                .value = (int)fuzz_byte(input) - 2,
                                .id = fuzz_byte(input) };
    pmix_proc_t procs[HOSTS];
    unsigned shape = fuzz_byte(input);
    if (shape & 1) {
        size_t count = choose(shape >> 1, procs);
        tern_parcel_number(&who, (int64_t)count);
        for (size_t i = 0; i < count; i++) {
            tern_parcel_string(&who, procs[i].nspace);
            tern_parcel_number(&who, procs[i].rank);
        }
        tern_parcel_blob(&body, who.bytes, who.size);
        tern_parcel_blob(&body, "other", 5);
    } else {
        for (unsigned i = 0; i < shape; i++) {
            char byte = (char)fuzz_byte(input);
            tern_parcel_raw(&body, &byte, 1);
        }
    }
    frame.data = body.bytes;
    frame.size = (uint32_t)body.size;
    tern_exchange_received(&frame);
    tern_parcel_free(&who);
    tern_parcel_free(&body);
}

/* Whatever came before: a fence of all hosts that no other one is like ends when all have come. */
static void fence_holds(bool is_agent)
{
    pmix_proc_t procs[2] = { { .nspace = "last", .rank = PMIX_RANK_WILDCARD }, { .nspace = "last", .rank = 1 } };
    char *data = calloc(1, 1);
    bool *mark = new_request();
    struct tern_parcel who = { 0 }, body = { 0 };
    if (is_agent) {
        free(data);
        answered(mark);
        return;
    }
    tern_exchange_fence(procs, 2, data, 1, modex_answer, mark);
    tern_parcel_number(&who, 2);
    for (int i = 0; i < 2; i++) {
        tern_parcel_string(&who, procs[i].nspace);
        tern_parcel_number(&who, procs[i].rank);
    }
    tern_parcel_blob(&body, who.bytes, who.size);
    tern_parcel_blob(&body, "", 1);
    for (int host = 1; host < HOSTS; host++) {
        MUST(!*mark);
        for (int again = 0; again < 2; again++) /* a host that comes twice counts once */
            tern_exchange_received(&(struct tern_frame){ .kind = TERN_FRAME_FENCE,
                                                         .host = host,
                                                         .id = 1000 + (unsigned)again,
                                                         .data = body.bytes,
                                                         .size = (uint32_t)body.size });
        MUST(*mark == (host == HOSTS - 1));
    }
    tern_parcel_free(&who);
    tern_parcel_free(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tern_rank_place places[RANKS] = { { .host = 0 }, { .host = 0 }, { .host = 1 },
                                               { .host = 1 }, { .host = 2 }, { .host = 2 } };
    static const struct tern_map map = { .size = RANKS, .places = places };
    struct tern_job job = { .host_count = HOSTS, .map = &map };
    struct fuzz_input input = { data, size };
    bool is_agent = fuzz_byte(&input) & 1;
    job.here = is_agent ? 1 : 0;
    here.open = here.used = 0;
    tern_exchange_open(&job, is_agent, sent);
    while (input.left) {
        unsigned what = fuzz_byte(&input) % 12;
        if (what < 6)
            ask(&input, what);
        else
            receive(&input);
    }
    if (here.used < REQUESTS)
        fence_holds(is_agent);
    MUST(here.open >= 0);
    tern_exchange_close();
    return 0;
}
