/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank without MPI: speaks with the launcher's PMIx server directly. Usage: pmix_rank ACTION
 * [ARGUMENT]; prints what it finds. */
#include <pmix.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../lib/util/net/launcher.h"

static pmix_proc_t self;

/* Returns the status as a word: PMIx 4 says NOT-FOUND, PMIx 5 PMIX_ERR_NOT_FOUND. */
static const char *word(pmix_status_t status)
{
    switch (status) {
    case PMIX_SUCCESS:
        return "success";
    case PMIX_ERR_NOT_FOUND:
        return "not found";
    case PMIX_ERR_NOT_SUPPORTED:
        return "not supported";
    default:
        return PMIx_Error_string(status);
    }
}

static void must(const char *what, pmix_status_t status)
{
    if (status != PMIX_SUCCESS) {
        fprintf(stderr, "%s: %s\n", what, PMIx_Error_string(status));
        exit(99);
    }
}

static pmix_value_t *ask(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc = self;
    pmix_value_t *value;
    proc.rank = rank;
    must(key, PMIx_Get(&proc, key, NULL, 0, &value));
    return value;
}

static uint32_t ask_u32(pmix_rank_t rank, const char *key)
{
    pmix_value_t *value = ask(rank, key);
    if (value->type != PMIX_UINT32 && value->type != PMIX_PROC_RANK && value->type != PMIX_UINT16) {
        fprintf(stderr, "%s has type %d\n", key, value->type);
        exit(98);
    }
    return value->type == PMIX_UINT16 ? value->data.uint16 : value->data.uint32;
}

static const char *ask_string(pmix_rank_t rank, const char *key)
{
    pmix_value_t *value = ask(rank, key);
    if (value->type != PMIX_STRING) {
        fprintf(stderr, "%s has type %d\n", key, value->type);
        exit(98);
    }
    return value->data.string;
}

static void fence(void)
{
    pmix_proc_t all = self;
    pmix_info_t collect;
    bool yes = true;
    all.rank = PMIX_RANK_WILDCARD;
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    must("fence", PMIx_Fence(&all, 1, &collect, 1));
}

/* All that the server tells about the job and each rank. */
static void print_facts(void)
{
    pmix_rank_t job = PMIX_RANK_WILDCARD;
    uint32_t size = ask_u32(job, PMIX_JOB_SIZE);
    printf("rank %u of %u, universe %u, max %u, local %u, peers %s, nodes %u, apps %u\n", self.rank,
           size, ask_u32(job, PMIX_UNIV_SIZE), ask_u32(job, PMIX_MAX_PROCS),
           ask_u32(job, PMIX_LOCAL_SIZE), ask_string(job, PMIX_LOCAL_PEERS),
           ask_u32(job, PMIX_NUM_NODES), ask_u32(job, PMIX_JOB_NUM_APPS));
    uint32_t nodes = ask_u32(job, PMIX_NUM_NODES);
    for (uint32_t r = 0; r < size; r++) {
        /* PMIx 4 tells the numbers of other nodes to nobody */
        uint32_t node = nodes > 1 && r != self.rank ? 0 : ask_u32(r, PMIX_NODEID);
        printf("  %u: local %u node %u nodeid %u app %u host %s locality %s\n", r,
               ask_u32(r, PMIX_LOCAL_RANK), ask_u32(r, PMIX_NODE_RANK), node,
               ask_u32(r, PMIX_APPNUM), ask_string(r, PMIX_HOSTNAME),
               ask_string(r, PMIX_LOCALITY_STRING));
    }
    const char *directory = ask_string(job, PMIX_NSDIR);
    if (access(directory, W_OK) || strcmp(directory, getenv("TERN_SESSION_DIR")))
        printf("session directory %s is not right\n", directory);
}

static void exchange(void)
{
    char key[32], text[64];
    uint32_t size = ask_u32(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), right = (self.rank + 1) % size;
    pmix_value_t value = { .type = PMIX_STRING, .data.string = text };
    snprintf(key, sizeof key, "card-%u", self.rank);
    snprintf(text, sizeof text, "from %u", self.rank);
    must("put", PMIx_Put(PMIX_GLOBAL, key, &value));
    must("commit", PMIx_Commit());
    fence();
    snprintf(key, sizeof key, "card-%u", right);
    printf("%s\n", ask_string(right, key));
}

/* What ranks have put, without a fence: whoever has it is asked. */
static void ask_directly(void)
{
    char text[64];
    uint32_t size = ask_u32(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE);
    pmix_value_t value = { .type = PMIX_STRING, .data.string = text };
    snprintf(text, sizeof text, "from %u", self.rank);
    if (self.rank + 1 == size) /* the others ask before it is there */
        usleep(200000);
    must("put", PMIx_Put(PMIX_GLOBAL, "card", &value));
    must("commit", PMIx_Commit());
    for (uint32_t rank = 0; rank < size; rank++)
        printf("%u has %s\n", rank, ask_string(rank, "card"));
    fence();
}

static volatile int noticed;

static void notice(size_t handler, pmix_status_t code, const pmix_proc_t *source, pmix_info_t infos[],
                   size_t info_count, pmix_info_t *results, size_t result_count,
                   pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)handler, (void)code, (void)infos, (void)info_count, (void)results, (void)result_count;
    printf("event of %u\n", source->rank);
    noticed = 1;
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* Rank 0's event reaches all others. */
static void send_event(void)
{
    pmix_status_t code = -31777;
    if (self.rank) {
        pmix_status_t status = PMIx_Register_event_handler(&code, 1, NULL, 0, notice, NULL, NULL);
        if (status < 0)
            must("register", status);
    }
    fence();
    if (self.rank == 0)
        must("notify", PMIx_Notify_event(code, &self, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL));
    for (int i = 0; self.rank && !noticed && i < 2000; i++)
        usleep(5000);
    fence();
}

/* Rank 0 publishes after the others have begun to wait, as far as one can know. */
static void publish_and_look_up(void)
{
    pmix_info_t info;
    if (self.rank == 0) {
        usleep(200000);
        PMIX_INFO_LOAD(&info, "port", "here", PMIX_STRING);
        must("publish", PMIx_Publish(&info, 1));
        if (PMIx_Publish(&info, 1) == PMIX_SUCCESS)
            printf("a key can be published twice\n");
    } else {
        int wait = 1;
        pmix_pdata_t data;
        PMIX_PDATA_CONSTRUCT(&data);
        strcpy(data.key, "port");
        PMIX_INFO_LOAD(&info, PMIX_WAIT, &wait, PMIX_INT);
        must("lookup", PMIx_Lookup(&data, 1, &info, 1));
        printf("%s of %u\n", data.value.data.string, data.proc.rank);
    }
    fence();
    if (self.rank == 0) {
        char *keys[] = { "port", NULL };
        must("unpublish", PMIx_Unpublish(keys, NULL, 0));
    }
    fence();
    pmix_pdata_t data;
    PMIX_PDATA_CONSTRUCT(&data);
    strcpy(data.key, "port");
    if (PMIx_Lookup(&data, 1, NULL, 0) == PMIX_SUCCESS)
        printf("an unpublished key is still there\n");
}

/* job_control: rank 0 sends rank 1 a signal. */
static void signal_other(int number)
{
    if (self.rank == 0) {
        pmix_proc_t target = self;
        pmix_info_t info;
        target.rank = 1;
        PMIX_INFO_LOAD(&info, PMIX_JOB_CTRL_SIGNAL, &number, PMIX_INT);
        pmix_status_t status = PMIx_Job_control(&target, 1, &info, 1, NULL, NULL);
        if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
            must("job control", status);
    }
    sleep(100);
}

int main(int argc, char **argv)
{
    const char *action = argc > 1 ? argv[1] : "facts";
    int number = argc > 2 ? atoi(argv[2]) : 0;
    if (strcmp(action, "version") == 0)
        return puts(PMIx_Get_version()) < 0;
    if (strcmp(action, "never") == 0)
        return number;
    /* one rank skips PMIx_Init, the others wait for it */
    if (strcmp(action, "skip") == 0 && atoi(getenv("PMIX_RANK")) == number)
        return 0;
    must("init", PMIx_Init(&self, NULL, 0));
    if (strcmp(action, "session") != 0) /* as MPI_Init does */
        must("notify", PMIx_Notify_event(TERN_LAUNCHER_WORLD, &self, PMIX_RANGE_NAMESPACE, NULL, 0, NULL, NULL));
    if (strcmp(action, "facts") == 0) {
        print_facts();
    } else if (strcmp(action, "exchange") == 0) {
        exchange();
    } else if (strcmp(action, "direct") == 0) {
        ask_directly();
    } else if (strcmp(action, "event") == 0) {
        send_event();
    } else if (strcmp(action, "key") == 0) {
        pmix_value_t *value;
        pmix_proc_t job = self;
        job.rank = PMIX_RANK_WILDCARD;
        printf("%s\n", word(PMIx_Get(&job, argv[2], NULL, 0, &value)));
    } else if (strcmp(action, "publish") == 0) {
        publish_and_look_up();
    } else if (strcmp(action, "spawn") == 0) {
        char *argv[] = {"true", NULL}, children[PMIX_MAX_NSLEN + 1];
        pmix_app_t app = {.cmd = "true", .argv = argv, .maxprocs = 1};
        printf("%s\n", word(PMIx_Spawn(NULL, 0, &app, 1, children)));
    } else if (strcmp(action, "signal") == 0) {
        signal_other(number);
    } else if (strcmp(action, "skip") == 0) {
        fence();
    } else if (strcmp(action, "abort") == 0) {
        if (self.rank == 1)
            PMIx_Abort(number, "no way", NULL, 0);
        sleep(100);
    } else if (strcmp(action, "unfinished") == 0) {
        if (self.rank == 1)
            _exit(number);
        sleep(100);
    }
    must("finalize", PMIx_Finalize(NULL, 0));
    return 0;
}
