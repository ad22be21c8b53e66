/* SPDX-License-Identifier: BSD-3-Clause */
/* Binds ranks to processors: the last step of a mapping (map.c). */
#include <stdlib.h>

#include "mpirun/base/strings.h"
#include "mpirun/plan/map/mapping.h"
#include "mpirun/plan/machine/slots.h"

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
    /* ppr, and ranks may share processors: each takes one of its own object, free or not, and
     * those that follow */
    bool stays;
    /* ppr on these very objects: beyond its processors, ranks take the next one with free ones */
    bool in_place;
    int *units;  /* by object: its number of processors */
    /* by object: what ranks have taken so far, in processors, or in ranks for wider objects */
    int *taken;
};

/* Returns the object that the place gets next: one on the earliest lap, of these one inside its own
 * object, of these the one with the fewest ranks. Returns -1 if `taken` excludes all. `outside`:
 * also one outside its own object, but a free one if some inside are left; of wide ones the
 * first. */
static int least_used(const struct tern_mapping *m, const struct tern_rank_place *place,
                      const struct targets *targets, const bool *taken, bool outside)
{
    const struct tern_host *host = &m->hosts[place->host];
    bool best_inside = false;
    int best = -1, best_lap = 0;
    for (int c = 0; c < host->cpu_count; c++) {
        int id = host->cpus[c].id[targets->level];
        bool inside = tern_mapping_covers(m, place, &host->cpus[c]);
        if (taken[id] || (!inside && !outside))
            continue;
        int laps =
            tern_mapping_lap(targets->taken[id], targets->single ? 1 : m->pe, targets->units[id]);
        /* a processor that is shared anyway may as well be a near one */
        bool nearer = inside > best_inside && best_lap > 0;
        bool farther = inside < best_inside && laps > 0;
        bool emptier = (inside || targets->single) && best >= 0 &&
                       targets->taken[id] < targets->taken[best];
        if (best < 0 || nearer || (laps < best_lap && !farther) ||
            (laps == best_lap &&
             (inside > best_inside ||
              (inside == best_inside && emptier)))) {
            best = id;
            best_lap = laps;
            best_inside = inside;
        }
    }
    return best;
}

static void bind_place(const struct tern_mapping *m, struct tern_rank_place *place,
                       struct targets *targets)
{
    const struct tern_host *host = &m->hosts[place->host];
    place->bound = true;
    bool outside = targets->in_place || (targets->single && !targets->stays);
    int wanted = targets->single ? m->pe : 1, last = -1;
    bool *taken = tern_must_alloc(host->cpu_count * sizeof *taken);
    while (wanted > 0) {
        bool follows = targets->stays && last >= 0 && last + 1 < host->cpu_count &&
                       targets->units[last + 1] && !taken[last + 1];
        int id = follows ? last + 1 : least_used(m, place, targets, taken, outside);
        if (id < 0 && targets->stays)
            id = least_used(m, place, targets, taken, true);
        if (id < 0)
            break;
        last = id;
        int part = targets->units[id] < wanted ? targets->units[id] : wanted;
        taken[id] = true;
        targets->taken[id] += part;
        wanted -= part;
        take_object(host, targets->level, id, place);
    }
    free(taken);
}

/* Binds a rank as the rankfile says. Returns 0 or TERN_ERR_ARG. */
static int bind_as_said(const struct tern_mapping *m, int rank)
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

/* Returns true if ppr puts more ranks on an object to which they are bound than it has
 * processors. */
static bool overfull(const struct tern_mapping *m, int h, const struct targets *targets)
{
    const struct tern_host *host = &m->hosts[h];
    bool over = false;
    if (!m->request->per_object || targets->level < m->map->by)
        return false;
    int *wanted = tern_must_alloc(host->cpu_count * sizeof *wanted);
    for (int i = 0; i < m->map->size; i++) {
        const struct tern_rank_place *place = &m->map->places[i];
        for (int c = 0; c < host->cpu_count && place->host == h; c++)
            if (tern_mapping_covers(m, place, &host->cpus[c])) {
                int id = host->cpus[c].id[targets->level];
                over |= (wanted[id] += m->pe) > targets->units[id];
                break;
            }
    }
    free(wanted);
    return over;
}

/* Returns true if ppr maps to objects of the level to which the ranks of host `h` are bound. By
 * default Open MPI binds to memory domains, not to sockets, also where both are alike. */
static bool binds_in_place(const struct tern_mapping *m, int h, enum tern_map_level bind)
{
    const struct tern_map_request *request = m->request;
    enum tern_map_level by = request->per_object ? m->map->by : TERN_MAP_LEVEL_NONE;
    if (request->bind != TERN_MAP_LEVEL_DEFAULT || bind != TERN_MAP_LEVEL_SOCKET)
        return by == bind;
    return by == TERN_MAP_LEVEL_NUMA &&
           tern_host_objects(&m->hosts[h], by) == tern_host_objects(&m->hosts[h], bind);
}

static int bind_ranks_of(const struct tern_mapping *m, int h)
{
    const struct tern_host *host = &m->hosts[h];
    enum tern_map_level bind =
        tern_mapping_unbound(m, h) ? TERN_MAP_LEVEL_NONE : m->map->bind;
    bool free_to_move = bind >= TERN_MAP_LEVEL_NODE;
    struct targets targets = { .level = free_to_move ? TERN_MAP_LEVEL_NODE : bind,
                               .single = bind <= TERN_MAP_LEVEL_CORE,
                               .in_place = binds_in_place(m, h, bind) };
    targets.stays = m->request->per_object && m->request->overload && !targets.in_place &&
                    m->map->by < TERN_MAP_LEVEL_NODE;
    int local = 0, error = 0;
    targets.units = tern_mapping_count_units(host, targets.level, bind < m->unit ? bind : m->unit);
    free_to_move |= m->request->bind == TERN_MAP_LEVEL_DEFAULT && !m->request->pe &&
                    !m->request->overload && !targets.in_place && overfull(m, h, &targets);
    targets.taken = tern_must_alloc(host->cpu_count * sizeof *targets.taken);
    for (int i = 0; i < m->map->size && !error; i++) {
        struct tern_rank_place *place = &m->map->places[i];
        if (place->host != h)
            continue;
        place->local_rank = local++;
        if (m->request->fixed && m->request->fixed[i].slots)
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

int tern_mapping_bind(const struct tern_mapping *m)
{
    int error = 0;
    for (int h = 0; h < m->host_count && !error; h++)
        error = bind_ranks_of(m, h);
    return error;
}
