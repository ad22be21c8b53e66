/* SPDX-License-Identifier: BSD-3-Clause */
/* Mapping has four steps: how many ranks each host gets; at which object of its host each rank
 * sits; in which order the ranks are numbered; to which processors each rank is bound. A rankfile
 * or a sequence of hosts replaces the first three.
 *
 * What an Open MPI user expects: up to two ranks are mapped and bound by core, more by socket. A
 * mapping that the user asked for binds to the same kind of object. If there are more ranks than
 * processors, ranks are not bound at all unless the user asked for it; they then share as evenly as
 * possible.
 *
 * Objects of a level may differ: a control group may leave three cores of one socket and one of the
 * other, or efficient cores share a cache by four. So mapping and binding count laps: an object of
 * four cores is on its first lap until it has four ranks. A rank is mapped to the next object in
 * turn among those on the earliest lap, and bound to the one of these with the fewest ranks. If all
 * objects are alike, this is round robin. If a rank's object has too few free processors for PE=N,
 * the rank takes free ones elsewhere: two ranks share a processor only if there are too few for
 * all. */
#include "mpirun/plan/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/error.h"
#include "mpirun/base/strings.h"
#include "mpirun/plan/slots.h"

/* The state of a mapping. */
struct mapping {
    const struct tern_map_request *request;
    const struct tern_host *hosts;
    int host_count;
    int *host_ranks;      /* by host: ranks so far */
    enum tern_map_level unit; /* core or hardware thread: what PE=N counts */
    int pe;
    struct tern_map *map;
};

static int ppr_capacity(const struct mapping *m)
{
    int capacity = 0;
    for (int h = 0; h < m->host_count; h++)
        capacity += m->request->per_object * tern_host_objects(&m->hosts[h], m->request->per_level);
    return capacity;
}

static int too_few_places(const struct tern_map_request *request, int ranks)
{
    if (request->fixed_by)
        return tern_error(TERN_ERR_ARG, "the rankfile %s says where %d rank%s run%s, not all of %d",
                          request->fixed_by, request->fixed_count,
                          request->fixed_count == 1 ? "" : "s",
                          request->fixed_count == 1 ? "s" : "", ranks);
    return tern_error(TERN_ERR_ARG,
                      "--map-by seq: %d ranks, and %d host%s named; each rank needs one of its own",
                      ranks, request->fixed_count, request->fixed_count == 1 ? " is" : "s are");
}

/* Stores the number of ranks of each program: as given, or as many as fit. Returns 0 or
 * TERN_ERR_ARG. */
static int count_ranks(const struct mapping *m, int *ret_app_np)
{
    const struct tern_map_request *request = m->request;
    int capacity = request->fixed        ? request->fixed_count
                   : request->per_object ? ppr_capacity(m)
                                         : m->map->slots;
    int64_t total = 0;
    for (int a = 0; a < request->apps; a++) {
        ret_app_np[a] = request->np[a];
        if (request->np[a] < 0)
            return tern_error(TERN_ERR_ARG, "%d ranks cannot be started; give at least 1",
                              request->np[a]);
        if (request->np[a] == 0) {
            if (request->apps > 1 && !request->per_object)
                return tern_error(TERN_ERR_ARG,
                                  "program %d has no -np; with several programs each needs one",
                                  a + 1);
            ret_app_np[a] = capacity;
        } else if (request->per_object && request->np[a] > capacity) {
            return tern_error(
                TERN_ERR_ARG, "-np %d does not fit: %d per %s on %d host%s gives %d ranks",
                request->np[a], request->per_object, tern_map_level_name(request->per_level),
                m->host_count, m->host_count == 1 ? "" : "s", capacity);
        }
        total += ret_app_np[a];
    }
    if (total > 1 << 20)
        return tern_error(TERN_ERR_ARG, "%lld ranks are more than this version can start",
                          (long long)total);
    if (request->fixed && total > request->fixed_count)
        return too_few_places(request, (int)total);
    m->map->size = (int)total;
    return 0;
}

/* Returns true if the host may get one more rank; `over` also allows ranks beyond its slots. */
static bool has_room(const struct mapping *m, int h, bool over)
{
    const struct tern_host *host = &m->hosts[h];
    if (host->max_slots && m->host_ranks[h] >= host->max_slots)
        return false;
    return over || m->host_ranks[h] < tern_host_slots(host, m->request->hwthreads);
}

/* Returns the host of the next rank, or -1 if there is no room. One host is filled after the other.
 * With `spread`, each host gets one rank in turn; with span, each gets its share. When all slots
 * are taken, each gets one in turn. */
static int next_host(const struct mapping *m, bool spread, int *cursor)
{
    int share =
        m->request->span ? (m->map->size + m->host_count - 1) / m->host_count : m->map->size;
    bool free_slots = false;
    for (int h = 0; h < m->host_count; h++)
        free_slots |= has_room(m, h, false);
    for (int tried = 0; tried <= 2 * m->host_count; tried++) {
        int h = *cursor % m->host_count;
        bool fair = m->host_ranks[h] < share || tried > m->host_count;
        if (has_room(m, h, !free_slots) && fair) {
            if (spread || !free_slots)
                (*cursor)++;
            return h;
        }
        (*cursor)++;
    }
    return -1;
}

enum { TABLE_ROWS = 16 };

/* Returns a table of what each host offers. The caller frees it. */
static char *list_offers(const struct mapping *m)
{
    char *text = NULL;
    size_t length;
    int shown = m->host_count > TABLE_ROWS ? TABLE_ROWS : m->host_count, widest = 4;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return tern_must_copy("");
    for (int h = 0; h < shown; h++) {
        int width = (int)strlen(m->hosts[h].name);
        widest = width > widest ? width : widest;
    }
    fprintf(out, "\n    %-*s  slots  max", widest, "host");
    for (int h = 0; h < shown; h++) {
        fprintf(out, "\n    %-*s  %5d", widest, m->hosts[h].name,
                tern_host_slots(&m->hosts[h], m->request->hwthreads));
        if (m->hosts[h].max_slots)
            fprintf(out, "  %3d", m->hosts[h].max_slots);
    }
    if (shown < m->host_count)
        fprintf(out, "\n    and %d more hosts", m->host_count - shown);
    fclose(out);
    return text ? text : tern_must_copy("");
}

/* Checks for more ranks than slots. If the user said how many ranks each host gets, but gave a host
 * no slots, that number counts as its slots. Returns 0 or TERN_ERR_ARG. */
static int check_slots(const struct mapping *m)
{
    bool over = false;
    for (int h = 0; h < m->host_count && m->request->no_oversubscribe; h++)
        over |= !((m->request->per_object || m->request->fixed) && m->hosts[h].slots_implied) &&
                m->host_ranks[h] > tern_host_slots(&m->hosts[h], m->request->hwthreads);
    if (!over)
        return 0;
    char *offers = m->host_count > 1 ? list_offers(m) : tern_must_copy("");
    int error = tern_error(TERN_ERR_ARG, "%d ranks on %d slot%s, and %s%s", m->map->size,
                           m->map->slots, m->map->slots == 1 ? "" : "s",
                           m->request->over_hosts ? "--oversubscribe was not given"
                                                  : "--nooversubscribe was given",
                           offers);
    free(offers);
    return error;
}

/* `full` is the host that would get too many ranks; NULL means that all hosts are full. */
static int no_room(const struct mapping *m, const struct tern_host *full)
{
    int most = 0;
    if (full && (m->request->per_object || m->request->fixed))
        return tern_error(
            TERN_ERR_ARG,
            "the hostfile allows at most %d ranks on %s (max_slots), which would get more",
            full->max_slots, full->name);
    for (int h = 0; h < m->host_count; h++)
        most += m->hosts[h].max_slots;
    char *offers = m->host_count > 1 ? list_offers(m) : tern_must_copy("");
    int error = tern_error(TERN_ERR_ARG, "%d ranks, and the hostfile allows at most %d%s",
                           m->map->size, most, offers);
    free(offers);
    return error;
}

/* Sets host and object of rank `index` of its program under ppr. */
static void place_per_object(const struct mapping *m, int index, struct tern_rank_place *place)
{
    for (int h = 0; h < m->host_count; h++) {
        int here = m->request->per_object * tern_host_objects(&m->hosts[h], m->request->per_level);
        if (index < here) {
            place->host = h;
            place->object = index / m->request->per_object;
            return;
        }
        index -= here;
    }
}

static void decide_defaults(const struct mapping *m, bool crowded)
{
    const struct tern_map_request *request = m->request;
    struct tern_map *map = m->map;
    enum tern_map_level usual = map->size <= 2 || m->pe > 1 ? m->unit : TERN_MAP_LEVEL_SOCKET;
    map->by = request->per_object ? request->per_level : request->by;
    if (map->by == TERN_MAP_LEVEL_DEFAULT)
        map->by = crowded || m->pe > 1 || request->fixed ? TERN_MAP_LEVEL_SLOT : usual;
    /* Ranks with several processors take them in order: an object of one processor would be too
     * small. */
    if (m->pe > 1 && map->by <= m->unit)
        map->by = TERN_MAP_LEVEL_SLOT;
    map->bind = request->bind;
    if (map->bind != TERN_MAP_LEVEL_DEFAULT)
        return;
    bool asked = request->by != TERN_MAP_LEVEL_DEFAULT || request->per_object;
    if (crowded)
        map->bind = TERN_MAP_LEVEL_NONE;
    else if (asked && map->by < TERN_MAP_LEVEL_NODE && m->pe == 1)
        map->bind = map->by;
    else
        map->bind = usual;
}

/* Finds the first host with more ranks than processors. This is possible before the mapping level
 * is decided, because the counts per host do not depend on objects. */
static void count_crowds(struct mapping *m, const struct tern_rank_place *places)
{
    m->map->crowded_host = -1;
    for (int i = 0; i < m->map->size && m->map->crowded_host < 0; i++) {
        int h = places[i].host;
        int units = tern_host_units(&m->hosts[h], m->unit == TERN_MAP_LEVEL_HWTHREAD);
        if ((int64_t)m->host_ranks[h] * m->pe > units) {
            m->map->crowded_host = h;
            m->map->crowded_ranks = m->host_ranks[h];
            m->map->crowded_units = units;
        }
    }
}

static int place_on_hosts(struct mapping *m, const int *app_np)
{
    bool spread = m->request->by == TERN_MAP_LEVEL_NODE;
    int cursor = 0, rank = 0;
    for (int a = 0; a < m->request->apps; a++) {
        for (int i = 0; i < app_np[a]; i++, rank++) {
            struct tern_rank_place *place = &m->map->places[rank];
            place->app = a;
            place->app_rank = i;
            if (m->request->fixed)
                place->host = m->request->fixed[rank].host;
            else if (m->request->per_object)
                place_per_object(m, i, place);
            else
                place->host = next_host(m, spread, &cursor);
            if (place->host < 0)
                return no_room(m, NULL);
            if (++m->host_ranks[place->host] > m->hosts[place->host].max_slots &&
                m->hosts[place->host].max_slots)
                return no_room(m, &m->hosts[place->host]);
        }
    }
    return check_slots(m);
}

/* Returns the number of cores or hardware threads of each object of a level. The caller frees
 * it. */
static int *count_units(const struct tern_host *host, enum tern_map_level level,
                        enum tern_map_level unit)
{
    int *units = tern_must_alloc(host->cpu_count * sizeof *units);
    /* 1 + the number of the unit's object */
    int *seen = tern_must_alloc(host->cpu_count * sizeof *seen);
    for (int c = 0; c < host->cpu_count; c++) {
        const int *id = host->cpus[c].id;
        if (seen[id[unit]] != id[level] + 1)
            units[id[level]]++;
        seen[id[unit]] = id[level] + 1;
    }
    free(seen);
    return units;
}

/* Returns the lap of an object that has `ranks` ranks and gets one more. */
static int lap(int ranks, int pe, int units)
{
    return (int)((((int64_t)ranks + 1) * pe - 1) / (units > 0 ? units : 1));
}

static void place_at_objects_of(const struct mapping *m, int h)
{
    const struct tern_host *host = &m->hosts[h];
    int objects = tern_host_objects(host, m->map->by), next = 0;
    int *ranks = tern_must_alloc(objects * sizeof *ranks);
    int *units = count_units(host, m->map->by, m->unit);
    for (int i = 0; i < m->map->size; i++) {
        if (m->map->places[i].host != h)
            continue;
        int best = next;
        for (int tried = 1; tried < objects; tried++) {
            int at = (next + tried) % objects;
            if (lap(ranks[at], m->pe, units[at]) < lap(ranks[best], m->pe, units[best]))
                best = at;
        }
        m->map->places[i].object = best;
        ranks[best]++;
        next = (best + 1) % objects;
    }
    free(ranks);
    free(units);
}

static void place_at_objects(const struct mapping *m)
{
    if (m->request->per_object || m->map->by > TERN_MAP_LEVEL_NODE)
        return;
    for (int h = 0; h < m->host_count; h++)
        place_at_objects_of(m, h);
}

/* Returns the first hardware thread of the object at which the place sits. */
static const struct tern_cpu *first_cpu(const struct mapping *m,
                                        const struct tern_rank_place *place)
{
    const struct tern_host *host = &m->hosts[place->host];
    for (int c = 0; c < host->cpu_count && m->map->by < TERN_MAP_LEVEL_COUNT; c++) {
        if (host->cpus[c].id[m->map->by] == place->object)
            return &host->cpus[c];
    }
    return &host->cpus[0];
}

struct numbering {
    int host, object, round, position;
};

static int compare_numbering(const void *left, const void *right)
{
    const struct numbering *a = left, *b = right;
    int order = a->round - b->round;
    order = order ? order : a->host - b->host;
    order = order ? order : a->object - b->object;
    return order ? order : a->position - b->position;
}

/* --rank-by LEVEL: numbers the ranks round the objects of that level. Each program keeps its rank
 * numbers; the places are assigned to them anew. */
static void number_ranks(struct mapping *m)
{
    enum tern_map_level level = m->request->rank_by;
    if (level >= TERN_MAP_LEVEL_COUNT || m->request->fixed)
        return;
    int size = m->map->size;
    struct numbering *order = tern_must_alloc(size * sizeof *order);
    struct tern_rank_place *old = tern_must_alloc(size * sizeof *old);
    memcpy(old, m->map->places, size * sizeof *old);
    for (int i = 0; i < size; i++) {
        order[i] = (struct numbering){ old[i].host, first_cpu(m, &old[i])->id[level], 0, i };
        for (int j = 0; j < i; j++)
            order[i].round += order[j].host == order[i].host && order[j].object == order[i].object;
    }
    qsort(order, size, sizeof *order, compare_numbering);
    for (int i = 0; i < size; i++) {
        m->map->places[i].host = old[order[i].position].host;
        m->map->places[i].object = old[order[i].position].object;
    }
    free(old);
    free(order);
}

static bool at_object(const struct mapping *m, const struct tern_rank_place *place,
                      const struct tern_cpu *cpu)
{
    return m->map->by >= TERN_MAP_LEVEL_NODE || cpu->id[m->map->by] == place->object;
}

static void take_object(const struct tern_host *host, enum tern_map_level level, int id,
                        struct tern_rank_place *place)
{
    for (int c = 0; c < host->cpu_count; c++) {
        if (host->cpus[c].id[level] == id)
            tern_cpus_add(&place->cpus, host->cpus[c].os_index);
    }
}

/* The objects to which ranks are bound, on one host. */
struct targets {
    enum tern_map_level level;
    /* the objects are cores or hardware threads: a rank takes as many as it wants processors */
    bool single;
    int *units;  /* by object: its number of processors */
    /* by object: what ranks have taken so far, in processors, or in ranks for wider objects */
    int *taken;
};

/* Returns the object that the place gets next: one on the earliest lap, of these one inside its own
 * object, of these the one with the fewest ranks. Returns -1 if `taken` excludes all. Objects
 * outside its own may only be single processors. */
static int least_used(const struct mapping *m, const struct tern_rank_place *place,
                      const struct targets *targets, const bool *taken)
{
    const struct tern_host *host = &m->hosts[place->host];
    bool best_inside = false;
    int best = -1, best_lap = 0;
    for (int c = 0; c < host->cpu_count; c++) {
        int id = host->cpus[c].id[targets->level];
        bool inside = at_object(m, place, &host->cpus[c]);
        if (taken[id] || (!inside && !targets->single))
            continue;
        int laps = lap(targets->taken[id], targets->single ? 1 : m->pe, targets->units[id]);
        if (best < 0 || laps < best_lap ||
            (laps == best_lap &&
             (inside > best_inside ||
              (inside == best_inside && targets->taken[id] < targets->taken[best])))) {
            best = id;
            best_lap = laps;
            best_inside = inside;
        }
    }
    return best;
}

static void bind_place(const struct mapping *m, struct tern_rank_place *place,
                       struct targets *targets)
{
    const struct tern_host *host = &m->hosts[place->host];
    place->bound = true;
    int wanted = targets->single ? m->pe : 1;
    bool *taken = tern_must_alloc(host->cpu_count * sizeof *taken);
    while (wanted > 0) {
        int id = least_used(m, place, targets, taken);
        if (id < 0)
            break;
        int part = targets->units[id] < wanted ? targets->units[id] : wanted;
        taken[id] = true;
        targets->taken[id] += part;
        wanted -= part;
        take_object(host, targets->level, id, place);
    }
    free(taken);
}

/* Binds a rank as the rankfile says. Returns 0 or TERN_ERR_ARG. */
static int bind_as_said(const struct mapping *m, int rank)
{
    const struct tern_fixed_place *fixed = &m->request->fixed[rank];
    struct tern_rank_place *place = &m->map->places[rank];
    char *where = tern_must_format("%s, line %d", m->request->fixed_by, fixed->line);
    int error = tern_slots_find(&m->hosts[place->host], fixed->slots, m->request->hwthreads, where,
                                &place->cpus);
    place->bound = true;
    free(where);
    return error;
}

static int bind_ranks_of(const struct mapping *m, int h)
{
    const struct tern_host *host = &m->hosts[h];
    enum tern_map_level bind = m->map->bind;
    bool free_to_move = bind >= TERN_MAP_LEVEL_NODE;
    struct targets targets = { .level = free_to_move ? TERN_MAP_LEVEL_NODE : bind,
                               .single = bind <= TERN_MAP_LEVEL_CORE };
    int local = 0, error = 0;
    targets.units = count_units(host, targets.level, bind < m->unit ? bind : m->unit);
    targets.taken = tern_must_alloc(host->cpu_count * sizeof *targets.taken);
    for (int i = 0; i < m->map->size && !error; i++) {
        struct tern_rank_place *place = &m->map->places[i];
        if (place->host != h)
            continue;
        place->local_rank = local++;
        if (m->request->fixed && m->request->fixed[i].slots &&
            m->request->bind != TERN_MAP_LEVEL_NONE)
            error = bind_as_said(m, i);
        else if (free_to_move)
            take_object(host, TERN_MAP_LEVEL_NODE, 0, place);
        else
            bind_place(m, place, &targets);
    }
    free(targets.units);
    free(targets.taken);
    return error;
}

static int bind_ranks(const struct mapping *m)
{
    int error = 0;
    for (int h = 0; h < m->host_count && !error; h++)
        error = bind_ranks_of(m, h);
    return error;
}

int tern_map_ranks(const struct tern_map_request *request, const struct tern_host *hosts,
                   int host_count, struct tern_map *ret_map)
{
    struct tern_map map = { 0 };
    struct mapping m = { .request = request,
                         .hosts = hosts,
                         .host_count = host_count,
                         .unit = request->hwthreads || request->by == TERN_MAP_LEVEL_HWTHREAD
                                     ? TERN_MAP_LEVEL_HWTHREAD
                                     : TERN_MAP_LEVEL_CORE,
                         .pe = request->pe > 1 ? request->pe : 1,
                         .map = &map };
    for (int h = 0; h < host_count; h++)
        map.slots += tern_host_slots(&hosts[h], request->hwthreads);
    int *app_np = tern_must_alloc(request->apps * sizeof *app_np);
    int error = count_ranks(&m, app_np);
    if (error) {
        free(app_np);
        return error;
    }
    m.host_ranks = tern_must_alloc(host_count * sizeof *m.host_ranks);
    map.places = tern_must_alloc(map.size * sizeof *map.places);
    error = place_on_hosts(&m, app_np);
    if (!error) {
        count_crowds(&m, map.places);
        decide_defaults(&m, map.crowded_host >= 0);
        place_at_objects(&m);
        number_ranks(&m);
        error = bind_ranks(&m);
    }
    free(app_np);
    free(m.host_ranks);
    if (error)
        free(map.places);
    else
        *ret_map = map;
    return error;
}

void tern_map_free(struct tern_map *map)
{
    free(map->places);
    *map = (struct tern_map){ 0 };
}

int tern_map_ranks_on(const struct tern_map *map, int host)
{
    int ranks = 0;
    for (int rank = 0; rank < map->size; rank++)
        ranks += map->places[rank].host == host;
    return ranks;
}
