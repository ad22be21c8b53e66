/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/peer.h"

#include "lib/btl/btl.h"
#include "lib/btl/choice.h"
#include "lib/btl/path.h"
#include "lib/rte/jobs.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <stdlib.h>
#include <string.h>

/* A lane's peers in a hash table by (job, rank), which doubles when it fills. */
static struct table {
    struct tern_peer **buckets;
    uint32_t mask, count;
} tables[TERN_LANES_MAX];
static struct tern_peer *all; /* the newest peer */
uint32_t tern_peer_eager_limit = UINT32_MAX;

static uint32_t hash(uint32_t job, uint32_t rank)
{
    return rank * 2654435761u ^ job * 40503u;
}

static int grow(struct table *table)
{
    uint32_t size = table->buckets ? (table->mask + 1) * 2 : 16;
    struct tern_peer **larger = calloc(size, sizeof *larger);
    if (!larger)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a table of %u peers", size);
    for (uint32_t i = 0; table->buckets && i <= table->mask; i++)
        for (struct tern_peer *peer = table->buckets[i], *next; peer; peer = next) {
            next = peer->hash_next;
            struct tern_peer **bucket = &larger[hash(peer->job, peer->rank) & (size - 1)];
            peer->hash_next = *bucket;
            *bucket = peer;
        }
    free(table->buckets);
    table->buckets = larger;
    table->mask = size - 1;
    return 0;
}

static void add_to_all(struct tern_peer *peer)
{
    peer->all_next = __atomic_load_n(&all, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&all, &peer->all_next, peer, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
}

const struct tern_peer *tern_peer_newest(void)
{
    return __atomic_load_n(&all, __ATOMIC_ACQUIRE);
}

struct tern_process tern_runs_process(const struct tern_run *runs, int run_count, int rank)
{
    int low = 0, high = run_count - 1;
    while (low < high) { /* find the last run that starts at `rank` or before */
        int middle = low + (high - low + 1) / 2;
        if (runs[middle].start <= rank)
            low = middle;
        else
            high = middle - 1;
    }
    return tern_run_process(&runs[low], rank - runs[low].start);
}

struct tern_peer *tern_peer_find(uint32_t lane, uint32_t job, uint32_t rank)
{
    const struct table *table = &tables[lane];
    if (table->buckets)
        for (struct tern_peer *peer = table->buckets[hash(job, rank) & table->mask]; peer;
             peer = peer->hash_next)
            if (peer->rank == rank && peer->job == job)
                return peer;
    return NULL;
}

struct tern_peer *tern_peer_get(uint32_t lane, uint32_t job, uint32_t rank)
{
    struct table *table = &tables[lane];
    struct tern_peer *peer = tern_peer_find(lane, job, rank);
    if (peer)
        return peer;
    if ((!table->buckets || table->count > table->mask) && grow(table))
        return NULL;
    peer = calloc(1, sizeof *peer);
    if (!peer) {
        tern_error(TERN_ERR_NO_MEM, "no memory for peer %u", rank);
        return NULL;
    }
    peer->job = job;
    peer->rank = rank;
    peer->lane = lane;
    tern_list_init(&peer->pending);
    tern_list_init(&peer->pending_gets);
    struct tern_peer **bucket = &table->buckets[hash(job, rank) & table->mask];
    peer->hash_next = *bucket;
    *bucket = peer;
    table->count++;
    add_to_all(peer);
    return peer;
}

/* Records which rank cannot be reached, and what would help: users of Open MPI type `--mca btl
 * tcp`. */
static int unreachable(uint32_t job, uint32_t rank)
{
    const char *list = tern_param_string("btl");
    char process[TERN_PROCESS_TEXT];
    if (job)
        return tern_error(TERN_ERR_UNREACHABLE,
                          "cannot reach %s: this process and that one were never introduced to "
                          "each other. Communicators between their jobs must be made by "
                          "MPI_Comm_connect, MPI_Comm_accept, MPI_Comm_join or "
                          "MPI_Intercomm_create",
                          tern_process_text(job, rank, process));
    bool here = tern_rte_local_rank(rank) >= 0, itself = rank == tern_rte.rank;
    const char *needed = itself ? "self, which a rank needs to send to itself"
                         : here ? "shm and tcp, one of which is needed on a node"
                                : "tcp, which is needed between nodes";
    const char *ofi = " without ofi";
    if (itself)
        ofi = "";
    else if (tern_btl_permitted("ofi"))
        ofi = ", as ofi cannot be used here (mpirun --display fabric says why)";
    return tern_error(
        TERN_ERR_UNREACHABLE,
        "cannot reach rank %u: the parameter btl is `%s`, which excludes %s%s. Possible are self, "
        "shm, ofi and tcp; set btl by --mca btl or OMPI_MCA_btl",
        rank, list ? list : "", needed, ofi);
}

static const struct tern_btl *find_btl(uint32_t job, uint32_t rank)
{
    for (const struct tern_btl *const *btl = tern_btls; *btl; btl++)
        if ((*btl)->connect && tern_btl_active(*btl) && (*btl)->reaches(job, rank))
            return *btl;
    return NULL;
}

int tern_peer_check(uint32_t job, uint32_t rank)
{
    return find_btl(job, rank) ? 0 : unreachable(job, rank);
}

/* Returns the first byte mover that can make transfers with the peer, from device memory or from
 * host memory; NULL: none can. */
static const struct tern_btl *find_bulk(struct tern_peer *peer, bool devices)
{
    for (const struct tern_btl *const *btl = tern_btls; *btl; btl++)
        if (tern_btl_active(*btl) && (*btl)->connect_bulk &&
            ((*btl)->devices == devices || (*btl)->devices_too) &&
            (*btl)->reaches(peer->job, peer->rank) && (*btl)->connect_bulk(peer) == 0)
            return *btl;
    return NULL;
}

static void find_bulks(struct tern_peer *peer)
{
    peer->bulk = find_bulk(peer, false);
    peer->device_bulk = find_bulk(peer, true);
}

/* Lets the byte mover connect the peer, and keeps its limits within ours. */
static int connect_by(struct tern_peer *peer, const struct tern_btl *btl)
{
    int rc = btl->connect(peer);
    if (rc)
        return rc;
    struct tern_limits *limits = &peer->limits;
    if (limits->eager_max > tern_peer_eager_limit)
        limits->eager_max = tern_peer_eager_limit;
    if (limits->eager_max_blocking > tern_peer_eager_limit)
        limits->eager_max_blocking = tern_peer_eager_limit;
    return 0;
}

int tern_peer_connect(struct tern_peer *peer)
{
    const struct tern_btl *btl = find_btl(peer->job, peer->rank);
    int rc = btl ? connect_by(peer, btl) : unreachable(peer->job, peer->rank);
    if (!rc)
        find_bulks(peer);
    if (!rc)
        __atomic_store_n(&peer->btl, btl, __ATOMIC_RELAXED); /* atomic: tools read it at any time */
    return rc;
}

int tern_peer_hand_over(struct tern_peer *peer)
{
    const struct tern_btl *const *btl = tern_btls;
    while (*btl && *btl != peer->btl)
        btl++;
    for (btl += *btl != NULL; *btl; btl++) {
        if (!(*btl)->connect || !tern_btl_active(*btl) ||
            !(*btl)->reaches(peer->job, peer->rank))
            continue;
        peer->endpoint = NULL;
        int rc = connect_by(peer, *btl);
        if (rc)
            return rc;
        __atomic_store_n(&peer->btl, *btl, __ATOMIC_RELAXED);
        find_bulks(peer);
        return 0;
    }
    return unreachable(peer->job, peer->rank);
}

static const char no_memory_for_text[] = "the connection with a peer is lost";

bool tern_peer_lose(struct tern_peer *peer, const char *text)
{
    if (peer->lost)
        return false;
    peer->lost = strdup(text);
    if (!peer->lost)
        peer->lost = no_memory_for_text;
    return true;
}

static void free_table(struct table *table)
{
    for (uint32_t i = 0; table->buckets && i <= table->mask; i++)
        for (struct tern_peer *peer = table->buckets[i], *next; peer; peer = next) {
            next = peer->hash_next;
            tern_path_free(&peer->path);
            if (peer->lost != no_memory_for_text)
                free((char *)peer->lost);
            free(peer);
        }
    free(table->buckets);
    *table = (struct table){0};
}

void tern_peer_free_all(void)
{
    all = NULL;
    for (int lane = 0; lane < TERN_LANES_MAX; lane++)
        free_table(&tables[lane]);
}
