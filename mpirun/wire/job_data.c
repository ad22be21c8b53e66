/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/wire/job_data.h"

#include <stdlib.h>
#include <string.h>

#include "lib/util/base/error.h"

static void pack_app(const struct tern_app *app, const char *wdir, struct tern_parcel *parcel)
{
    tern_parcel_number(parcel, app->np);
    tern_parcel_strings(parcel, &app->argv);
    tern_parcel_string(parcel, wdir);
    tern_parcel_number(parcel, app->wdir != NULL);
    tern_parcel_string(parcel, app->path);
    tern_parcel_strings(parcel, &app->env);
    tern_parcel_strings(parcel, &app->unset);
    tern_parcel_number(parcel, app->wdir_session);
}

static char *keep_string(struct tern_reader *reader)
{
    const char *text = tern_read_string(reader);
    return text ? tern_must_copy(text) : NULL;
}

static void unpack_app(struct tern_reader *reader, struct tern_app *app)
{
    app->np = tern_read_int(reader, 0, 1 << 20);
    tern_read_strings(reader, &app->argv);
    app->wdir = keep_string(reader);
    app->wdir_said = tern_read_int(reader, 0, 1);
    app->path = keep_string(reader);
    tern_read_strings(reader, &app->env);
    tern_read_strings(reader, &app->unset);
    app->wdir_session = tern_read_int(reader, 0, 1);
    reader->bad |= app->argv.count < 1;
}

/* Packs the options that matter on hosts with ranks. */
static void pack_options(const struct tern_job *job, struct tern_parcel *parcel)
{
    const struct tern_options *options = job->options;
    tern_parcel_number(parcel, options->app_count);
    for (int app = 0; app < options->app_count; app++)
        pack_app(&options->apps[app], job->wdirs[app], parcel);
    tern_parcel_strings(parcel, &options->env);
    tern_parcel_string(parcel, options->prefix);
    tern_parcel_string(parcel, options->output_dir);
    tern_parcel_number(parcel, options->output_only_files);
    tern_parcel_number(parcel, options->output_no_job);
    tern_parcel_number(parcel, options->output_plain);
    tern_parcel_number(parcel, options->job_number);
    tern_parcel_number(parcel, options->universe);
    tern_parcel_number(parcel, options->stdin_rank);
    tern_parcel_number(parcel, options->merge_stderr);
    tern_parcel_number(parcel, options->tag_output);
    tern_parcel_number(parcel, options->timestamp_output);
    tern_parcel_number(parcel, options->index_argv);
}

static struct tern_options *unpack_options(struct tern_reader *reader)
{
    struct tern_options *options = tern_must_alloc(sizeof *options);
    options->app_count = tern_read_count(reader, 1, 1 << 20, 8 * sizeof(int64_t));
    options->apps = tern_must_alloc(options->app_count * sizeof *options->apps);
    for (int app = 0; app < options->app_count && !reader->bad; app++)
        unpack_app(reader, &options->apps[app]);
    tern_read_strings(reader, &options->env);
    options->prefix = keep_string(reader);
    options->output_dir = keep_string(reader);
    options->output_only_files = tern_read_int(reader, 0, 1);
    options->output_no_job = tern_read_int(reader, 0, 1);
    options->output_plain = tern_read_int(reader, 0, 1);
    options->job_number = tern_read_int(reader, 1, INT_MAX);
    options->universe = tern_read_int(reader, 0, INT_MAX);
    options->stdin_rank = tern_read_int(reader, TERN_STDIN_ALL, 1 << 20);
    options->merge_stderr = tern_read_int(reader, 0, 1);
    options->tag_output = tern_read_int(reader, 0, 1);
    options->timestamp_output = tern_read_int(reader, 0, 1);
    options->index_argv = tern_read_int(reader, 0, 1);
    return options;
}

static void pack_map(const struct tern_job *job, struct tern_parcel *parcel)
{
    const struct tern_map *map = job->map;
    tern_parcel_number(parcel, map->size);
    tern_parcel_number(parcel, map->slots);
    tern_parcel_number(parcel, map->by);
    tern_parcel_number(parcel, map->bind);
    tern_parcel_number(parcel, job->text_count);
    for (int text = 0; text < job->text_count; text++) {
        tern_parcel_string(parcel, job->texts[text].cpuset);
        tern_parcel_string(parcel, job->texts[text].locality);
    }
    for (int rank = 0; rank < map->size; rank++) {
        const struct tern_rank_place *place = &map->places[rank];
        int32_t numbers[] = { place->host,       place->app,   place->app_rank,
                              place->local_rank, place->bound, job->text_of[rank] };
        tern_parcel_raw(parcel, numbers, sizeof numbers);
    }
}

static void unpack_texts(struct tern_reader *reader, struct tern_job *job)
{
    job->text_count = tern_read_count(reader, 1, 1 << 20, 2 * sizeof(int64_t));
    job->texts = tern_must_alloc(job->text_count * sizeof *job->texts);
    for (int text = 0; text < job->text_count && !reader->bad; text++) {
        job->texts[text].cpuset = keep_string(reader);
        job->texts[text].locality = keep_string(reader);
        reader->bad |= !job->texts[text].cpuset || !job->texts[text].locality;
    }
}

static void unpack_places(struct tern_reader *reader, struct tern_job *job, struct tern_map *map)
{
    int32_t numbers[6];
    if (reader->left / sizeof numbers < (size_t)map->size) {
        reader->bad = true;
        return;
    }
    map->places = tern_must_alloc(map->size * sizeof *map->places);
    job->text_of = tern_must_alloc(map->size * sizeof *job->text_of);
    for (int rank = 0; rank < map->size; rank++) {
        memcpy(numbers, reader->at, sizeof numbers);
        reader->at += sizeof numbers;
        reader->left -= sizeof numbers;
        if (numbers[0] < 0 || numbers[0] >= job->host_count || numbers[1] < 0 ||
            numbers[1] >= job->options->app_count || numbers[5] < 0 ||
            numbers[5] >= job->text_count) {
            reader->bad = true;
            return;
        }
        map->places[rank] = (struct tern_rank_place){ .host = numbers[0],
                                                 .app = numbers[1],
                                                 .app_rank = numbers[2],
                                                 .local_rank = numbers[3],
                                                 .bound = numbers[4] };
        job->text_of[rank] = numbers[5];
        tern_cpus_read(job->texts[numbers[5]].cpuset, &map->places[rank].cpus);
    }
}

void tern_job_pack(const struct tern_job *job, struct tern_parcel *parcel)
{
    tern_parcel_string(parcel, job->token);
    tern_parcel_string(parcel, job->secret);
    tern_parcel_number(parcel, job->host_count);
    for (int host = 0; host < job->host_count; host++)
        tern_parcel_string(parcel, job->hosts[host].name);
    pack_options(job, parcel);
    pack_map(job, parcel);
}

static void read_fixed(struct tern_reader *reader, char *text, size_t room)
{
    const char *found = tern_read_string(reader);
    if (found && strlen(found) < room)
        memcpy(text, found, strlen(found) + 1);
    else
        reader->bad = true;
}

static void free_options(struct tern_options *options)
{
    for (int app = 0; app < options->app_count; app++) {
        tern_strings_free(&options->apps[app].argv);
        tern_strings_free(&options->apps[app].env);
        tern_strings_free(&options->apps[app].unset);
        free((char *)options->apps[app].wdir);
        free((char *)options->apps[app].path);
    }
    tern_strings_free(&options->env);
    free((char *)options->prefix);
    free(options->output_dir);
    free(options->apps);
    free(options);
}

void tern_job_free(struct tern_job *job)
{
    for (int text = 0; text < job->text_count; text++) {
        free(job->texts[text].cpuset);
        free(job->texts[text].locality);
    }
    free_options((struct tern_options *)job->options);
    free(job->map->places);
    free((struct tern_map *)job->map);
    free((struct tern_host *)job->hosts);
    free(job->texts);
    free(job->text_of);
    *job = (struct tern_job){ 0 };
}

int tern_job_unpack(struct tern_reader *reader, struct tern_job *ret_job)
{
    struct tern_job job = { .here = -1 };
    struct tern_map *map = tern_must_alloc(sizeof *map);
    read_fixed(reader, job.token, sizeof job.token);
    read_fixed(reader, job.secret, sizeof job.secret);
    job.host_count = tern_read_count(reader, 1, 1 << 20, sizeof(int64_t));
    struct tern_host *hosts = tern_must_alloc(job.host_count * sizeof *hosts);
    for (int host = 0; host < job.host_count && !reader->bad; host++)
        read_fixed(reader, hosts[host].name, sizeof hosts[host].name);
    job.hosts = hosts;
    job.options = unpack_options(reader);
    map->size = tern_read_int(reader, 1, 1 << 20);
    map->slots = tern_read_int(reader, 0, 1 << 30);
    map->by = tern_read_int(reader, 0, TERN_MAP_LEVEL_DEFAULT);
    map->bind = tern_read_int(reader, 0, TERN_MAP_LEVEL_DEFAULT);
    map->crowded_host = -1;
    unpack_texts(reader, &job);
    if (!reader->bad)
        unpack_places(reader, &job, map);
    job.map = map;
    if (reader->bad) {
        tern_job_free(&job);
        return tern_error(TERN_ERR_ARG, "the received data are not the description of a job");
    }
    *ret_job = job;
    return 0;
}

void tern_host_pack(const struct tern_host *host, struct tern_parcel *parcel)
{
    tern_parcel_string(parcel, host->name);
    tern_parcel_number(parcel, host->cpu_limit);
    tern_parcel_blob(parcel, host->cpus, host->cpu_count * sizeof *host->cpus);
}

/* Returns true if the host's object numbers are in range: mapping uses them as array indexes. */
static bool is_sound(const struct tern_host *host)
{
    for (int cpu = 0; cpu < host->cpu_count; cpu++) {
        for (int level = 0; level < TERN_MAP_LEVEL_COUNT; level++) {
            if (host->cpus[cpu].id[level] < 0 || host->cpus[cpu].id[level] >= host->cpu_count)
                return false;
        }
    }
    return host->cpu_count > 0;
}

int tern_host_unpack(struct tern_reader *reader, struct tern_host *ret_host)
{
    struct tern_host host = { 0 };
    size_t size;
    read_fixed(reader, host.name, sizeof host.name);
    host.cpu_limit = tern_read_int(reader, 0, 1 << 30);
    const char *cpus = tern_read_blob(reader, &size);
    host.cpu_count = (int)(size / sizeof *host.cpus);
    if (reader->bad || size > TERN_MAX_CPUS * sizeof *host.cpus || size % sizeof *host.cpus)
        return tern_error(TERN_ERR_ARG, "the received data are not the description of a host");
    host.cpus = tern_must_alloc(size);
    memcpy(host.cpus, cpus, size);
    if (!is_sound(&host)) {
        free(host.cpus);
        return tern_error(TERN_ERR_ARG, "the received data are not the description of a host");
    }
    *ret_host = host;
    return 0;
}
