/* SPDX-License-Identifier: BSD-3-Clause */
/* Mapping has four steps: how many ranks each host gets; at which object of its host each rank
 * sits; in which order the ranks are numbered; to which processors each rank is bound. A rankfile
 * or a sequence of hosts replaces the first three.
 *
 * What an Open MPI user expects: up to two ranks are mapped and bound by core, more by socket, or
 * by memory domain where a socket has several. A mapping that the user asked for binds to the same
 * kind of object; PE=N binds to N cores. The ranks of a host with more ranks than slots or
 * processors are not bound unless the user asked for it; they then share as evenly as possible.
 * Ranks for which no slot is left are shared out over the hosts, from the one where the program
 * starts.
 *
 * Objects of a level may differ: a control group may leave three cores of one socket and one of the
 * other, or efficient cores share a cache by four. So mapping and binding count laps: an object of
 * four cores is on its first lap until it has four ranks. A rank is mapped to the next object in
 * turn among those on the earliest lap, and bound to the one of these with the fewest ranks. If all
 * objects are alike, this is round robin. If a rank's object has too few free processors for PE=N,
 * the rank takes free ones elsewhere: two ranks share a processor only if there are too few for
 * all. */
#include "mpirun/plan/map/mapping.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/base/error.h"
#include "mpirun/base/strings.h"

/* Returns how many slots of a host a program may use, as `limits` of the request says. */
static int limit_of(const struct tern_mapping *m, int app, int h)
{
    return m->request->limits ? m->request->limits[h * m->request->apps + app] : INT_MAX;
}

/* Returns how many ranks of a program ppr puts on host `h`. */
static int ppr_ranks_on(const struct tern_mapping *m, int app, int h)
{
    const struct tern_map_request *request = m->request;
    int objects = limit_of(m, app, h) ? tern_host_objects(&m->hosts[h], request->per_level) : 0;
    return request->per_object * objects;
}

static int ppr_capacity(const struct tern_mapping *m, int app)
{
    int capacity = 0;
    for (int h = 0; h < m->host_count; h++)
        capacity += ppr_ranks_on(m, app, h);
    return capacity;
}

static int too_few_places(const struct tern_map_request *request, int ranks)
{
    if (request->fixed_by)
        return tern_error(TERN_ERR_ARG, "the rankfile %s says where %d rank%s run%s; expected all "
                                        "%d",
                          request->fixed_by, request->fixed_count,
                          request->fixed_count == 1 ? "" : "s",
                          request->fixed_count == 1 ? "s" : "", ranks);
    return tern_error(TERN_ERR_ARG,
                      "--map-by seq needs one host for each rank: there are %d ranks, but %d "
                      "host%s",
                      ranks, request->fixed_count, request->fixed_count == 1 ? " is" : "s are");
}

/* Stores the number of ranks of each program: as given, or as many as fit. Returns 0 or
 * TERN_ERR_ARG. */
static int count_ranks(const struct tern_mapping *m, int *ret_app_np)
{
    const struct tern_map_request *request = m->request;
    int64_t total = 0;
    for (int a = 0; a < request->apps; a++) {
        int capacity = request->fixed        ? request->fixed_count
                       : request->per_object ? ppr_capacity(m, a)
                                             : m->map->slots;
        ret_app_np[a] = request->np[a];
        if (request->np[a] < 0)
            return tern_error(TERN_ERR_ARG, "the job would have %d ranks; expected at least 1",
                              request->np[a]);
        if (request->np[a] == 0) {
            if (request->apps > 1 && !request->per_object)
                return tern_error(TERN_ERR_ARG,
                                  "program %d has no -np; with several programs, each needs -np",
                                  a + 1);
            ret_app_np[a] = capacity;
        } else if (request->per_object && request->np[a] > capacity) {
            return tern_error(
                TERN_ERR_ARG, "-np is %d, but %d per %s on %d host%s gives %d ranks",
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

/* ---- how many ranks each host gets ---- */

static int slots_of(const struct tern_mapping *m, int h)
{
    return tern_host_slots(&m->hosts[h], m->request->hwthreads);
}

static int most_of(const struct tern_mapping *m, int h)
{
    return m->hosts[h].max_slots ? m->hosts[h].max_slots : INT_MAX;
}

static int lesser(int a, int b)
{
    return a < b ? a : b;
}

/* Returns how many more ranks of the program host `h` may get without more ranks than slots. */
static int free_slots(const struct tern_mapping *m, int app, int h)
{
    int left = lesser(slots_of(m, h), most_of(m, h)) - m->host_ranks[h];
    return left > 0 ? lesser(left, limit_of(m, app, h)) : 0;
}

/* SPAN: returns by host its share of `ranks` ranks, dealt out over the objects of all hosts. The
 * first objects, from those of host `start` on, get the ranks that are left. The caller frees the
 * shares. */
static int *share_out(const struct tern_mapping *m, int app, int ranks, int start)
{
    int *objects = tern_must_alloc(m->host_count * sizeof *objects), all = 0;
    enum tern_map_level by =
        m->request->by == TERN_MAP_LEVEL_DEFAULT ? TERN_MAP_LEVEL_SOCKET : m->request->by;
    for (int h = 0; h < m->host_count; h++) {
        objects[h] = limit_of(m, app, h) ? tern_host_objects(&m->hosts[h], by) : 0;
        all += objects[h];
    }
    int each = all ? ranks / all : 0, more = all ? ranks % all : 0;
    for (int i = 0; i < m->host_count; i++) {
        int *here = &objects[(start + i) % m->host_count], first_ones = lesser(more, *here);
        *here = each * *here + first_ones;
        more -= first_ones;
    }
    return objects;
}

/* Shares `extra` ranks out over the hosts that the program may use, those from `start` on getting
 * what is left, as far as max_slots allows. Stops if there is no room. */
static void add_evenly(const struct tern_mapping *m, int app, int extra, int start, int *quotas)
{
    int hosts = 0;
    for (int h = 0; h < m->host_count; h++)
        hosts += limit_of(m, app, h) != 0;
    for (bool added = hosts > 0; extra > 0 && added;) {
        int each = extra / hosts, more = extra % hosts;
        added = false;
        for (int i = 0; i < m->host_count && extra > 0; i++) {
            int h = (start + i) % m->host_count;
            if (!limit_of(m, app, h))
                continue;
            int left = most_of(m, h) - quotas[h];
            /* where there is less than one for each, the first with room get one */
            int part = lesser(lesser(!each || more-- > 0 ? each + 1 : each, left), extra);
            part = part > 0 ? part : 0;
            quotas[h] += part;
            extra -= part;
            added |= part > 0;
        }
    }
}

/* Returns by host how many ranks it may have after program `app` of `ranks` ranks, such that they
 * find a place if there is room: slots that are free, and if these are too few, as many more on
 * each host; mapped by node, as many on each host. `start` is the host at which the program starts,
 * `last` that of the last rank placed. The caller frees it. */
static int *decide_quotas(struct tern_mapping *m, int app, int ranks, int start, int last)
{
    const struct tern_map_request *request = m->request;
    int *quotas = tern_must_alloc(m->host_count * sizeof *quotas);
    int64_t slots = 0, left = ranks;
    for (int h = 0; h < m->host_count; h++)
        slots += free_slots(m, app, h);
    bool over = ranks > slots, in_turn = request->by == TERN_MAP_LEVEL_NODE;
    bool span = request->span && request->by != TERN_MAP_LEVEL_SLOT; /* as Open MPI */
    int *shares = span ? share_out(m, app, ranks, last) : NULL;
    m->none_free |= !slots && app > 0;
    for (int h = 0; h < m->host_count; h++) {
        int more = free_slots(m, app, h);
        bool cut = span && !over && shares[h] > more;
        if (over && in_turn)
            more = 0;
        else if (span && !cut)
            more = shares[h];
        if (cut) {
            m->map->cut_host = h;
            m->map->cut_ranks = shares[h];
        }
        quotas[h] = lesser(m->host_ranks[h] + more, most_of(m, h));
        left -= quotas[h] - m->host_ranks[h];
    }
    for (int h = 0; h < m->host_count && left > 0 && !over; h++) {
        int more = lesser(free_slots(m, app, h) - (quotas[h] - m->host_ranks[h]), (int)left);
        quotas[h] += more > 0 ? more : 0;
        left -= more > 0 ? more : 0;
    }
    if (left > 0)
        add_evenly(m, app, (int)left, start, quotas);
    free(shares);
    return quotas;
}

/* Returns how many ranks host `h` has more than slots. */
static int excess_of(const struct tern_mapping *m, int h)
{
    int more = m->host_ranks[h] - slots_of(m, h);
    return m->request->per_object && more > 0 ? 0 : more; /* ppr does not count them */
}

/* Returns the host at which a program starts, as Open MPI 4.1: `start`, that of the program before;
 * if that has no free slot the next one that has; if there is none, the last one of those with the
 * smallest excess. */
static int start_of(const struct tern_mapping *m, int app, int start)
{
    if (!limit_of(m, app, start))
        start = 0;
    int best = start;
    for (int i = 0; i < m->host_count; i++) {
        int h = (start + i) % m->host_count;
        if (!limit_of(m, app, h))
            continue;
        if (excess_of(m, h) < 0)
            return h;
        if (excess_of(m, h) < excess_of(m, start) && excess_of(m, h) <= excess_of(m, best))
            best = h;
    }
    return best;
}

/* Returns the same as decide_quotas under ppr. */
static int *ppr_quotas(const struct tern_mapping *m, int app, int ranks, int start)
{
    int *quotas = tern_must_alloc(m->host_count * sizeof *quotas);
    for (int i = 0; i < m->host_count; i++) {
        int h = (start + i) % m->host_count, part = lesser(ppr_ranks_on(m, app, h), ranks);
        quotas[h] = m->host_ranks[h] + part;
        ranks -= part;
    }
    return quotas;
}

/* Checks that program `app`, which names hosts of its own, has no more ranks than these have slots
 * for it. Returns 0 or TERN_ERR_ARG. */
static int check_own_slots(const struct tern_mapping *m, int app, int ranks)
{
    int64_t slots = 0;
    for (int h = 0; h < m->host_count; h++) {
        int limit = limit_of(m, app, h);
        int left = slots_of(m, h) - m->host_ranks[h];
        slots += limit && left > 0 ? lesser(limit, left) : 0;
    }
    if (ranks <= slots || !m->request->no_oversubscribe || m->request->per_object)
        return 0;
    return tern_error(TERN_ERR_ARG,
                      "program %d has %d rank%s, but the hosts that it may use have %d free slot%s "
                      "for it, and %s",
                      app + 1, ranks, ranks == 1 ? "" : "s", (int)slots, slots == 1 ? "" : "s",
                      m->request->over_hosts ? "--oversubscribe was not given"
                                             : "--nooversubscribe was given");
}

/* Returns the host of the next rank, or -1 if there is no room. One host is filled after the other;
 * with `in_turn`, each host gets one rank in turn. */
static int next_host(const struct tern_mapping *m, const int *quotas, bool in_turn, int *cursor)
{
    for (int tried = 0; tried < m->host_count; tried++, (*cursor)++) {
        int h = *cursor % m->host_count;
        if (m->host_ranks[h] < quotas[h]) {
            *cursor += in_turn;
            return h;
        }
    }
    return -1;
}

enum { TABLE_ROWS = 16 };

/* Returns a table of what each host offers. The caller frees it. */
static char *list_offers(const struct tern_mapping *m)
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
static int check_slots(const struct tern_mapping *m)
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
static int no_room(const struct tern_mapping *m, const struct tern_host *full)
{
    int most = 0;
    if (full && (m->request->per_object || m->request->fixed))
        return tern_error(
            TERN_ERR_ARG,
            "the hostfile allows at most %d ranks on %s (max_slots), but this job needs more there",
            full->max_slots, full->name);
    for (int h = 0; h < m->host_count; h++)
        most += m->hosts[h].max_slots;
    char *offers = m->host_count > 1 ? list_offers(m) : tern_must_copy("");
    int error = tern_error(TERN_ERR_ARG, "the job has %d ranks, but the hostfile allows at most "
                                         "%d%s",
                           m->map->size, most, offers);
    free(offers);
    return error;
}

/* Returns true if ranks are mapped to memory domains rather than sockets: if a host has several in
 * a socket. */
static bool several_numa_in_a_socket(const struct tern_mapping *m)
{
    for (int h = 0; h < m->host_count; h++)
        if (tern_host_objects(&m->hosts[h], TERN_MAP_LEVEL_NUMA) >
            tern_host_objects(&m->hosts[h], TERN_MAP_LEVEL_SOCKET))
            return true;
    return false;
}

/* Returns true if the user said how many ranks there are. */
static bool is_counted(const struct tern_map_request *request)
{
    bool counted = request->per_object || request->fixed;
    for (int app = 0; app < request->apps; app++)
        counted |= request->np[app] > 0;
    return counted;
}

/* Returns the level to which ranks are bound unless the user names one. `few`: there are one or two
 * ranks; `wide`: the level for more. */
static enum tern_map_level default_binding(const struct tern_mapping *m, bool few,
                                           enum tern_map_level wide)
{
    const struct tern_map_request *request = m->request;
    if (request->pe)
        return m->unit;
    if (request->fixed && !request->fixed_by) /* --map-by seq */
        return TERN_MAP_LEVEL_NONE;
    if (request->by != TERN_MAP_LEVEL_DEFAULT && m->map->by < TERN_MAP_LEVEL_NODE)
        return m->map->by;
    if (request->by_implied && request->span)
        return TERN_MAP_LEVEL_SOCKET;
    return few ? m->unit : wide;
}

/* As Open MPI 4.1: two ranks, or all slots of a batch job, go to single cores, other jobs to
 * memory domains or sockets. Ranks in the sequence of hosts are not bound. */
static void decide_defaults(const struct tern_mapping *m)
{
    const struct tern_map_request *request = m->request;
    struct tern_map *map = m->map;
    enum tern_map_level wide =
        several_numa_in_a_socket(m) ? TERN_MAP_LEVEL_NUMA : TERN_MAP_LEVEL_SOCKET;
    bool asked = request->by != TERN_MAP_LEVEL_DEFAULT;
    bool few = map->size <= 2 || (request->in_batch_job && !is_counted(request));
    map->by = request->by;
    if (!asked && request->per_object && !request->by_implied)
        map->by = request->per_level;
    else if (!asked && request->fixed)
        map->by = TERN_MAP_LEVEL_SLOT;
    else if (!asked && request->by_implied && !(few && request->apps > 1 && !request->span))
        map->by = TERN_MAP_LEVEL_SOCKET;
    else if (!asked)
        map->by = few && m->pe == 1 ? m->unit : wide;
    /* Ranks with several processors take them in order: an object of one processor would be too
     * small. */
    if (m->pe > 1 && map->by <= m->unit)
        map->by = TERN_MAP_LEVEL_SLOT;
    map->bind = request->bind;
    if (map->bind == TERN_MAP_LEVEL_DEFAULT)
        map->bind = default_binding(m, few, wide);
    /* As Open MPI: once a program finds no free slot, objects do not count. */
    if (m->none_free && map->by < TERN_MAP_LEVEL_NODE && !request->per_object)
        map->by = TERN_MAP_LEVEL_SLOT;
}

/* Returns how many ranks of one processor each host `h` has room for. */
static int units_of(const struct tern_mapping *m, int h)
{
    return tern_host_units(&m->hosts[h], m->unit == TERN_MAP_LEVEL_HWTHREAD);
}

/* Returns true if host `h` has more ranks than processors for them. */
static bool lacks_units(const struct tern_mapping *m, int h)
{
    return (int64_t)m->host_ranks[h] * m->pe > units_of(m, h);
}

/* Returns true if host `h` has more ranks than slots. */
static bool lacks_slots(const struct tern_mapping *m, int h)
{
    const struct tern_host *host = &m->hosts[h];
    /* slots that nobody wrote do not count where the user said how many ranks each host gets, or
     * did not say that they share */
    bool counted = m->request->oversubscribe ||
                   (host->slots > 0 &&
                    (!host->slots_implied ||
                     (m->host_count > 1 && !m->request->per_object && !m->request->fixed)));
    return counted && m->host_ranks[h] > slots_of(m, h);
}

bool tern_mapping_unbound(const struct tern_mapping *m, int h)
{
    const struct tern_map_request *request = m->request;
    if (request->bind != TERN_MAP_LEVEL_DEFAULT)
        return false;
    return (lacks_units(m, h) && !request->overload) || (m->lacks_slots && !request->pe);
}

/* Finds the first host with more ranks than processors or slots. */
static void count_crowds(struct tern_mapping *m)
{
    struct tern_map *map = m->map;
    bool all = true;
    map->crowded_host = -1;
    for (int h = 0; h < m->host_count; h++)
        m->lacks_slots |= lacks_slots(m, h);
    for (int h = m->host_count - 1; h >= 0; h--) {
        all &= tern_mapping_unbound(m, h) || !m->host_ranks[h];
        if (!lacks_units(m, h) && !lacks_slots(m, h))
            continue;
        map->crowded_host = h;
        map->crowded_ranks = m->host_ranks[h];
        map->crowded_slots = !lacks_units(m, h);
        map->crowded_units = map->crowded_slots ? slots_of(m, h) : units_of(m, h);
    }
    if (all && m->request->bind == TERN_MAP_LEVEL_DEFAULT)
        map->bind = TERN_MAP_LEVEL_NONE;
}

/* Gives each rank a host. Returns 0 or TERN_ERR_ARG. */
static int place_on_hosts(struct tern_mapping *m, const int *app_np)
{
    const struct tern_map_request *request = m->request;
    bool in_turn = request->by == TERN_MAP_LEVEL_NODE;
    int rank = 0, error = 0, start = 0;
    for (int a = 0; a < request->apps && !error; a++) {
        int cursor = 0; /* each program begins at the first host */
        int first = 0;  /* the program's first rank on the host */
        int last = rank ? m->map->places[rank - 1].host : 0;
        start = start_of(m, a, start);
        int *quotas = request->per_object ? ppr_quotas(m, a, app_np[a], start)
                                          : decide_quotas(m, a, app_np[a], start, last);
        if (request->limits)
            error = check_own_slots(m, a, app_np[a]);
        for (int i = 0; i < app_np[a] && !error; i++, rank++) {
            struct tern_rank_place *place = &m->map->places[rank];
            place->app = a;
            place->app_rank = i;
            if (request->fixed)
                place->host = request->fixed[rank].host;
            else
                place->host = next_host(m, quotas, in_turn && !request->per_object, &cursor);
            first = i > 0 && place->host == place[-1].host ? first : i;
            if (request->per_object)
                place->object = (i - first) / request->per_object;
            if (place->host < 0)
                error = no_room(m, NULL);
            else if (++m->host_ranks[place->host] > most_of(m, place->host))
                error = no_room(m, &m->hosts[place->host]);
        }
        free(quotas);
    }
    return error ? error : check_slots(m);
}

int *tern_mapping_count_units(const struct tern_host *host, enum tern_map_level level,
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

int tern_mapping_lap(int ranks, int pe, int units)
{
    return (int)((((int64_t)ranks + 1) * pe - 1) / (units > 0 ? units : 1));
}

bool tern_mapping_covers(const struct tern_mapping *m, const struct tern_rank_place *place,
                         const struct tern_cpu *cpu)
{
    return m->map->by >= TERN_MAP_LEVEL_NODE || cpu->id[m->map->by] == place->object;
}

static void place_at_objects_of(const struct tern_mapping *m, int h)
{
    const struct tern_host *host = &m->hosts[h];
    int objects = tern_host_objects(host, m->map->by), next = 0;
    int *ranks = tern_must_alloc(objects * sizeof *ranks);
    int *units = tern_mapping_count_units(host, m->map->by, m->unit);
    for (int i = 0; i < m->map->size; i++) {
        if (m->map->places[i].host != h)
            continue;
        int best = next;
        for (int tried = 1; tried < objects; tried++) {
            int at = (next + tried) % objects;
            if (tern_mapping_lap(ranks[at], m->pe, units[at]) <
                tern_mapping_lap(ranks[best], m->pe, units[best]))
                best = at;
        }
        m->map->places[i].object = best;
        ranks[best]++;
        next = (best + 1) % objects;
    }
    free(ranks);
    free(units);
}

static void place_at_objects(const struct tern_mapping *m)
{
    bool placed = m->request->per_object && m->map->by == m->request->per_level &&
                  m->request->by == TERN_MAP_LEVEL_DEFAULT;
    if (placed || m->map->by > TERN_MAP_LEVEL_NODE)
        return;
    for (int h = 0; h < m->host_count; h++)
        place_at_objects_of(m, h);
}

int tern_map_ranks(const struct tern_map_request *request, const struct tern_host *hosts,
                   int host_count, struct tern_map *ret_map)
{
    struct tern_map map = { 0 };
    struct tern_mapping m = { .request = request,
                         .hosts = hosts,
                         .host_count = host_count,
                         .unit = request->hwthreads || request->by == TERN_MAP_LEVEL_HWTHREAD
                                     ? TERN_MAP_LEVEL_HWTHREAD
                                     : TERN_MAP_LEVEL_CORE,
                         .pe = request->pe > 1 ? request->pe : 1,
                         .map = &map };
    for (int h = 0; h < host_count; h++)
        map.slots += tern_host_slots(&hosts[h], request->hwthreads);
    struct tern_map_request without;
    if (request->per_object && request->per_gives_way && request->np[0] > ppr_capacity(&m, 0)) {
        without = *request;
        without.per_object = 0;
        m.request = &without;
        map.per_gave_way = true;
    }
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
        decide_defaults(&m);
        count_crowds(&m);
        place_at_objects(&m);
        tern_mapping_number(&m);
        error = tern_mapping_bind(&m);
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
