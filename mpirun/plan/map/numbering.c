/* SPDX-License-Identifier: BSD-3-Clause */
/* --rank-by: in which order the ranks of a mapping (map.c) are numbered. Each program keeps its
 * rank numbers; its places are handed to them in another order:
 *
 *   slot            host after host, on each as mapped
 *   node            from host to host, a rank of each in turn
 *   OBJECT          host after host, on each from object to object: a rank in turn of those mapped
 *                   to a place that covers the object. A core takes the first rank of its socket.
 *   OBJECT:SPAN     the same, from object to object of all hosts
 *   OBJECT:FILL     host after host, object after object: all ranks of an object before the next
 *   SPAN, FILL      likewise, for the objects that ranks are mapped to */
#include <stdlib.h>
#include <string.h>

#include "mpirun/base/strings.h"
#include "mpirun/plan/map/mapping.h"

/* A number in the making: the places of one program that are still to be handed out. */
struct numbering {
    const struct tern_mapping *m;
    const struct tern_rank_place *places; /* of the program, as mapped */
    int size;
    enum tern_map_level level; /* of the objects */
    int *by_host;  /* indexes of places: host after host, on each as mapped */
    int *start;    /* by host: where its places begin in `by_host`; one more entry for the end */
    int *next;     /* by place: the next one at the same object of the same host, or -1 */
    int *order;    /* the result: indexes of places */
    int ordered;   /* how many are in `order` */
};

/* The places of one host: by the object that they were mapped to, the first that is left, or -1. */
struct queues {
    int *first;
    int left; /* places left in all of them */
};

static void sort_by_host(struct numbering *n)
{
    for (int i = 0; i < n->size; i++)
        n->start[n->places[i].host + 1]++;
    for (int h = 0; h < n->m->host_count; h++)
        n->start[h + 1] += n->start[h];
    for (int i = 0; i < n->size; i++)
        n->by_host[n->start[n->places[i].host]++] = i;
    for (int h = n->m->host_count; h > 0; h--) /* each start has moved to the next one's place */
        n->start[h] = n->start[h - 1];
    n->start[0] = 0;
}

static int objects_mapped_to(const struct numbering *n, int h)
{
    enum tern_map_level by = n->m->map->by;
    return by < TERN_MAP_LEVEL_NODE ? tern_host_objects(&n->m->hosts[h], by) : 1;
}

static struct queues make_queues(struct numbering *n, int h)
{
    int objects = objects_mapped_to(n, h);
    struct queues queues = {.first = tern_must_alloc(objects * sizeof *queues.first)};
    for (int o = 0; o < objects; o++)
        queues.first[o] = -1;
    queues.left = n->start[h + 1] - n->start[h];
    for (int at = n->start[h + 1] - 1; at >= n->start[h]; at--) {
        int i = n->by_host[at], *first = &queues.first[objects > 1 ? n->places[i].object : 0];
        n->next[i] = *first;
        *first = i;
    }
    return queues;
}

/* Hands out the first place left, in the order of the mapping, that covers object `id` of
 * `level`. Returns false if there is none. */
static bool hand_out(struct numbering *n, int h, struct queues *queues, enum tern_map_level level,
                     int id)
{
    const struct tern_host *host = &n->m->hosts[h];
    bool one = objects_mapped_to(n, h) == 1;
    int *best = NULL;
    for (int c = 0; c < host->cpu_count; c++) {
        if (level != TERN_MAP_LEVEL_NODE && host->cpus[c].id[level] != id)
            continue;
        int *first = &queues->first[one ? 0 : host->cpus[c].id[n->m->map->by]];
        if (*first >= 0 && (!best || *first < *best))
            best = first;
    }
    if (!best)
        return false;
    n->order[n->ordered++] = *best;
    *best = n->next[*best];
    queues->left--;
    return true;
}

/* Hands out the places left. No object covers them: a machine may be described in part only. */
static void hand_out_rest(struct numbering *n, int h, struct queues *queues)
{
    for (int o = 0; o < objects_mapped_to(n, h); o++)
        for (int i = queues->first[o]; i >= 0; i = n->next[i])
            n->order[n->ordered++] = i;
    queues->left = 0;
}

/* Goes once over the objects of a host. If that hands out nothing, hands out all that is left. */
static void go_over(struct numbering *n, int h, struct queues *queues, bool fill)
{
    enum tern_map_level level = n->level;
    int objects = level == TERN_MAP_LEVEL_NODE ? 1 : tern_host_objects(&n->m->hosts[h], level);
    int before = n->ordered;
    for (int o = 0; o < objects && queues->left; o++) {
        while (hand_out(n, h, queues, level, o) && fill)
            ;
    }
    if (n->ordered == before)
        hand_out_rest(n, h, queues);
}

/* Orders host after host or, if `span`, in turns over all of them. */
static void order_by_objects(struct numbering *n, bool span, bool fill)
{
    int hosts = n->m->host_count;
    struct queues *queues = tern_must_alloc(hosts * sizeof *queues);
    for (int h = 0; h < hosts; h++)
        queues[h] = make_queues(n, h);
    while (n->ordered < n->size) {
        for (int h = 0; h < hosts; h++) {
            do
                go_over(n, h, &queues[h], fill);
            while (!span && queues[h].left);
        }
    }
    for (int h = 0; h < hosts; h++)
        free(queues[h].first);
    free(queues);
}

/* Returns the level of the objects over which ranks are numbered. */
static enum tern_map_level level_of(const struct tern_mapping *m)
{
    const struct tern_map_request *request = m->request;
    bool asked = request->rank_by != TERN_MAP_LEVEL_DEFAULT;
    /* how many ranks a host gets was decided before they go from host to host */
    if (!asked && request->per_object && request->by == TERN_MAP_LEVEL_NODE)
        return TERN_MAP_LEVEL_NODE;
    /* a later program may begin at another object than the first one: it is numbered from there */
    if (!asked && request->apps > 1 && request->by < TERN_MAP_LEVEL_NODE)
        return request->by;
    if (!request->rank_mapped)
        return request->rank_by;
    return m->map->by < TERN_MAP_LEVEL_NODE ? m->map->by
           : request->rank_fill             ? TERN_MAP_LEVEL_SLOT
                                            : TERN_MAP_LEVEL_NODE;
}

/* Numbers the ranks from `first` on, `count` of them, which belong to one program. */
static void number_program(struct tern_mapping *m, int first, int count)
{
    const struct tern_map_request *request = m->request;
    struct tern_rank_place *places = &m->map->places[first];
    struct tern_rank_place *old = tern_must_alloc(count * sizeof *old);
    struct numbering n = {.m = m, .places = old, .size = count, .level = level_of(m)};
    memcpy(old, places, count * sizeof *old);
    n.by_host = tern_must_alloc(count * sizeof *n.by_host);
    n.start = tern_must_alloc((m->host_count + 1) * sizeof *n.start);
    n.next = tern_must_alloc(count * sizeof *n.next);
    n.order = tern_must_alloc(count * sizeof *n.order);
    sort_by_host(&n);
    if (n.level == TERN_MAP_LEVEL_SLOT)
        memcpy(n.order, n.by_host, count * sizeof *n.order);
    else
        order_by_objects(&n, n.level == TERN_MAP_LEVEL_NODE || request->rank_span,
                         n.level != TERN_MAP_LEVEL_NODE && request->rank_fill);
    for (int i = 0; i < count; i++) {
        places[i].host = old[n.order[i]].host;
        places[i].object = old[n.order[i]].object;
    }
    free(n.by_host);
    free(n.start);
    free(n.next);
    free(n.order);
    free(old);
}

void tern_mapping_number(struct tern_mapping *m)
{
    enum tern_map_level level = level_of(m);
    if ((level >= TERN_MAP_LEVEL_COUNT && level != TERN_MAP_LEVEL_SLOT) || m->request->fixed)
        return;
    for (int first = 0, end; first < m->map->size; first = end) {
        for (end = first + 1;
             end < m->map->size && m->map->places[end].app == m->map->places[first].app; end++)
            ;
        number_program(m, first, end - first);
    }
}
