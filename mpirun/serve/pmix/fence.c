/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/serve/pmix/fence.h"

#include <pmix_server.h>
#include <stdlib.h>
#include <string.h>

#include "mpirun/serve/pmix/pmix_bytes.h"

static struct tern_fence *fences; /* fences that wait for some host */

/* Returns the number of hosts with ranks that take part. */
static int count_hosts(const struct tern_job *job, const struct tern_parcel *who)
{
    const struct tern_map *map = job->map;
    struct tern_reader reader = {.at = who->bytes, .left = who->size};
    bool *takes_part = tern_must_alloc(job->host_count * sizeof *takes_part);
    int64_t count = tern_read_number(&reader);
    for (int64_t i = 0; i < count && !reader.bad; i++) {
        pmix_proc_t proc;
        tern_pmix_read_proc(&reader, &proc);
        for (int rank = 0; rank < map->size; rank++) {
            if (proc.rank == PMIX_RANK_WILDCARD || proc.rank == (pmix_rank_t)rank)
                takes_part[map->places[rank].host] = true;
        }
    }
    int hosts = 0;
    for (int host = 0; host < job->host_count; host++)
        hosts += takes_part[host];
    free(takes_part);
    return hosts;
}

static struct tern_fence **find(const struct tern_job *job, const char *who, size_t size)
{
    struct tern_fence **link = &fences;
    while (*link && ((*link)->who.size != size || memcmp((*link)->who.bytes, who, size)))
        link = &(*link)->next;
    if (!*link) {
        struct tern_fence *fence = tern_must_alloc(sizeof *fence);
        tern_parcel_raw(&fence->who, who, size);
        fence->askers = tern_must_alloc(job->host_count * sizeof *fence->askers);
        fence->expected = count_hosts(job, &fence->who);
        *link = fence;
    }
    return link;
}

static bool has_come(const struct tern_fence *fence, int host)
{
    for (int i = 0; i < fence->arrived; i++)
        if (fence->askers[i].host == host)
            return true;
    return false;
}

static void free_fence(struct tern_fence *fence)
{
    tern_parcel_free(&fence->who);
    tern_parcel_free(&fence->data);
    free(fence->askers);
    free(fence);
}

void tern_fence_arrive(const struct tern_job *job, struct tern_asker asker, const char *who,
                       size_t who_size, const char *data, size_t data_size,
                       void (*complete)(const struct tern_fence *fence))
{
    struct tern_fence **link = find(job, who, who_size), *fence = *link;
    if (has_come(fence, asker.host))
        return;
    tern_parcel_raw(&fence->data, data, data_size);
    fence->askers[fence->arrived++] = asker;
    if (fence->arrived < fence->expected)
        return;
    *link = fence->next;
    complete(fence);
    free_fence(fence);
}

void tern_fences_close(void)
{
    while (fences) {
        struct tern_fence *fence = fences;
        fences = fence->next;
        free_fence(fence);
    }
}
