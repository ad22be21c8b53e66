/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/job/job_facts.h"

#include <stdlib.h>
#include <string.h>

#include "mpirun/plan/map/describe.h"

int tern_job_universe(const struct tern_job *job)
{
    int most = job->options->universe;
    most = job->map->slots > most ? job->map->slots : most;
    return job->map->size > most ? job->map->size : most;
}

int tern_job_ranks_on(const struct tern_job *job, int host)
{
    return tern_map_ranks_on(job->map, host);
}

/* Ranks with the same processors of the same host share a text. */
void tern_job_describe_places(struct tern_job *job)
{
    const struct tern_map *map = job->map;
    int count = 0, room = 0;
    int *example = NULL; /* by text: the rank it was made for */
    job->text_of = tern_must_alloc(map->size * sizeof *job->text_of);
    for (int rank = 0; rank < map->size; rank++) {
        const struct tern_rank_place *place = &map->places[rank];
        int text = count - 1;
        while (text >= 0 &&
               (map->places[example[text]].host != place->host ||
                memcmp(&map->places[example[text]].cpus, &place->cpus, sizeof place->cpus)))
            text--;
        if (text < 0) {
            if (count == room) {
                room = room ? 2 * room : 16;
                job->texts = tern_must_grow(job->texts, room * sizeof *job->texts);
                example = tern_must_grow(example, room * sizeof *example);
            }
            text = count++;
            example[text] = rank;
            job->texts[text].cpuset = tern_map_cpuset(place);
            job->texts[text].locality = tern_map_locality(&job->hosts[place->host], place);
        }
        job->text_of[rank] = text;
    }
    job->text_count = count;
    free(example);
}
