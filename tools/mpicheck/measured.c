/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/mpicheck/measured.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/log.h"

struct tern_mc_data *tern_mc_data_new(int count)
{
    struct tern_mc_data *data = calloc(1, sizeof *data);
    size_t pairs = (size_t)count * (size_t)count;
    if (!data)
        return NULL;
    data->count = count;
    data->hosts = calloc((size_t)count, sizeof *data->hosts);
    float **const matrices[] = {&data->bandwidth, &data->least, &data->median, &data->p99,
                                &data->late_ms};
    bool enough = data->hosts;
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        enough &= (*matrices[i] = calloc(pairs, sizeof(float))) != NULL;
    enough &= (data->state = calloc(pairs, 1)) != NULL;
    enough &= (data->stages = calloc(pairs, 1)) != NULL;
    enough &= (data->texts = calloc(pairs, sizeof *data->texts)) != NULL;
    if (enough)
        return data;
    tern_mc_data_free(data);
    return NULL;
}

static void free_host(struct tern_mc_host *host)
{
    for (int i = 0; i < host->fact_count; i++) {
        free(host->facts[i].key);
        free(host->facts[i].value);
    }
    for (int i = 0; i < host->socket_count; i++) {
        free(host->sockets[i].nic);
        free(host->sockets[i].own);
        free(host->sockets[i].other);
    }
    for (int i = 0; i < host->gpu_count; i++)
        free(host->gpus[i].name);
    free(host->facts);
    free(host->sockets);
    free(host->gpus);
    free(host->gpu_pairs);
    free(host->cores);
    free(host->name);
    free(host->gone);
    free(host->unmeasured);
}

void tern_mc_data_free(struct tern_mc_data *data)
{
    if (!data)
        return;
    for (int i = 0; data->hosts && i < data->count; i++)
        free_host(&data->hosts[i]);
    for (size_t i = 0; data->texts && i < (size_t)data->count * (size_t)data->count; i++)
        free(data->texts[i]);
    for (int i = 0; i < data->phase_count; i++) {
        free(data->phases[i].name);
        free(data->phases[i].result);
    }
    free(data->hosts);
    free(data->bandwidth);
    free(data->least);
    free(data->median);
    free(data->p99);
    free(data->late_ms);
    free(data->state);
    free(data->stages);
    free(data->texts);
    free(data->alone);
    free(data->phases);
    free(data->title);
    free(data);
}

/* ---- growing lists; without memory a record is dropped ---- */

static void *grow(void *list, int count, size_t size)
{
    if (count > 0 && (count & (count - 1)))
        return list; /* there is room up to the next power of two */
    return realloc(list, (count > 0 ? (size_t)count * 2 : 1) * size);
}

static char *copy(const char *text)
{
    char *made = strdup(text);
    return made ? made : calloc(1, 1);
}

static void set_text(char **at, const char *text)
{
    free(*at);
    *at = copy(text);
}

/* A host may be asked twice; an interface may have several addresses. */
static bool add_fact(struct tern_mc_host *host, const char *key, const char *value)
{
    for (int i = 0; i < host->fact_count; i++)
        if (strcmp(host->facts[i].key, key) == 0 && strcmp(host->facts[i].value, value) == 0)
            return true;
    struct tern_mc_fact *facts = grow(host->facts, host->fact_count, sizeof *facts);
    if (!facts)
        return false;
    host->facts = facts;
    facts[host->fact_count++] = (struct tern_mc_fact){copy(key), copy(value)};
    return true;
}

static bool add_core(struct tern_mc_host *host, int cpu, double work_us, double share)
{
    for (int i = 0; i < host->core_count; i++) {
        struct tern_mc_core *core = &host->cores[i];
        if (core->cpu != cpu)
            continue;
        core->work_us = work_us < core->work_us ? work_us : core->work_us;
        core->share = share > core->share ? share : core->share;
        return true;
    }
    struct tern_mc_core *cores = grow(host->cores, host->core_count, sizeof *cores);
    if (!cores)
        return false;
    host->cores = cores;
    cores[host->core_count++] = (struct tern_mc_core){cpu, work_us, share};
    return true;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static bool take_gpu(struct tern_mc_host *host, const char *rest)
{
    struct tern_mc_gpu gpu = {0};
    int used = 0;
    if (sscanf(rest, "%d %lf %lf %lf %lf %n", &gpu.number, &gpu.to, &gpu.from, &gpu.within,
               &gpu.share, &used) != 5 || !used)
        return false;
    for (int i = 0; i < host->gpu_count; i++) {
        struct tern_mc_gpu *at = &host->gpus[i];
        if (at->number != gpu.number)
            continue;
        at->to = larger(at->to, gpu.to);
        at->from = larger(at->from, gpu.from);
        at->within = larger(at->within, gpu.within);
        at->share = larger(at->share, gpu.share);
        return true;
    }
    struct tern_mc_gpu *gpus = grow(host->gpus, host->gpu_count, sizeof *gpus);
    if (!gpus)
        return false;
    host->gpus = gpus;
    gpu.name = copy(rest + used);
    gpus[host->gpu_count++] = gpu;
    return true;
}

static bool take_gpu_pair(struct tern_mc_host *host, const char *rest)
{
    struct tern_mc_gpu_pair pair = {0};
    int reaches;
    if (sscanf(rest, "%d %d %lf %lf %d", &pair.from, &pair.to, &pair.gbs, &pair.share, &reaches) !=
        5 || pair.from < 0 || pair.to < 0)
        return false;
    pair.reaches = reaches;
    for (int i = 0; i < host->gpu_pair_count; i++) {
        struct tern_mc_gpu_pair *at = &host->gpu_pairs[i];
        if (at->from != pair.from || at->to != pair.to)
            continue;
        at->gbs = larger(at->gbs, pair.gbs);
        at->share = larger(at->share, pair.share);
        return true;
    }
    struct tern_mc_gpu_pair *pairs = grow(host->gpu_pairs, host->gpu_pair_count, sizeof *pairs);
    if (!pairs)
        return false;
    host->gpu_pairs = pairs;
    pairs[host->gpu_pair_count++] = pair;
    return true;
}

/* A later figure of the same connection replaces the earlier one. */
static bool add_socket(struct tern_mc_host *host, const char *nic, const char *own,
                       const char *other, double segments, double resent)
{
    for (int i = 0; i < host->socket_count; i++) {
        struct tern_mc_socket *at = &host->sockets[i];
        if (strcmp(at->own, own) || strcmp(at->other, other))
            continue;
        at->segments = segments;
        at->resent = resent;
        return true;
    }
    struct tern_mc_socket *sockets = grow(host->sockets, host->socket_count, sizeof *sockets);
    if (!sockets)
        return false;
    host->sockets = sockets;
    sockets[host->socket_count++] =
        (struct tern_mc_socket){copy(nic), copy(own), copy(other), segments, resent};
    return true;
}

static struct tern_mc_alone *alone_entry(struct tern_mc_data *data, int from, int to)
{
    for (int i = 0; i < data->alone_count; i++)
        if (data->alone[i].from == from && data->alone[i].to == to)
            return &data->alone[i];
    struct tern_mc_alone *alone = grow(data->alone, data->alone_count, sizeof *alone);
    if (!alone)
        return NULL;
    data->alone = alone;
    alone[data->alone_count] = (struct tern_mc_alone){.from = from, .to = to};
    return &alone[data->alone_count++];
}

const struct tern_mc_alone *tern_mc_alone_of(const struct tern_mc_data *data, int from, int to)
{
    for (int i = 0; i < data->alone_count; i++)
        if (data->alone[i].from == from && data->alone[i].to == to)
            return &data->alone[i];
    return NULL;
}

/* ---- records ---- */

static bool take_host_record(struct tern_mc_data *data, const char *word, int id, const char *rest)
{
    struct tern_mc_host *host = &data->hosts[id];
    char key[128], a[64], b[64];
    double x, y, z;
    int cpu, used = 0;
    if (strcmp(word, "host") == 0) {
        set_text(&host->name, rest);
    } else if (strcmp(word, "gone") == 0) {
        set_text(&host->gone, rest);
    } else if (strcmp(word, "unmeasured") == 0) {
        set_text(&host->unmeasured, rest);
    } else if (strcmp(word, "fact") == 0) {
        return sscanf(rest, "%127s %n", key, &used) == 1 && used &&
               add_fact(host, key, rest + used);
    } else if (strcmp(word, "core") == 0) {
        return sscanf(rest, "%d %lf %lf", &cpu, &x, &y) == 3 && add_core(host, cpu, x, y);
    } else if (strcmp(word, "node") == 0) {
        if (sscanf(rest, "%lf %lf %lf", &x, &y, &z) != 3)
            return false;
        host->memory_gbs = x > host->memory_gbs ? x : host->memory_gbs;
        host->pause_ms = !host->has_node || y < host->pause_ms ? y : host->pause_ms;
        host->throttled_ms += z;
        host->has_node = true;
    } else if (strcmp(word, "clock") == 0) {
        if (sscanf(rest, "%lf %lf", &x, &y) != 2)
            return false;
        host->clock_s = x;
        host->clock_error_s = y;
        host->has_clock = true;
    } else if (strcmp(word, "socket") == 0) {
        return sscanf(rest, "%127s %63s %63s %lf %lf", key, a, b, &x, &y) == 5 &&
               add_socket(host, key, a, b, x, y);
    } else if (strcmp(word, "gpu") == 0) {
        return take_gpu(host, rest);
    } else if (strcmp(word, "gpupair") == 0) {
        return take_gpu_pair(host, rest);
    } else if (strcmp(word, "last") == 0) {
        return sscanf(rest, "%lf", &host->last) == 1;
    } else {
        return false;
    }
    return true;
}

static bool take_dead(struct tern_mc_data *data, size_t at, const char *rest)
{
    char stage[32];
    int used = 0;
    if (sscanf(rest, "%31s %n", stage, &used) != 1 || !used)
        return false;
    data->state[at] |= strcmp(stage, "first") == 0 ? TERN_MC_DEAD_FIRST : TERN_MC_DEAD_LONG;
    if (rest[used])
        set_text(&data->texts[at], rest + used);
    return true;
}

static bool take_latency(struct tern_mc_data *data, int from, int to, const char *rest)
{
    char phase[32];
    float least, median, p99;
    if (sscanf(rest, "%31s %f %f %f", phase, &least, &median, &p99) != 4)
        return false;
    for (int way = 0; way < 2; way++) {
        int a = way ? to : from, b = way ? from : to;
        size_t at = (size_t)a * (size_t)data->count + (size_t)b;
        if (strcmp(phase, "alone") == 0) {
            struct tern_mc_alone *alone = alone_entry(data, a, b);
            if (alone && alone->latency_count < TERN_MC_SAMPLES_MOST)
                alone->latency[alone->latency_count++] = least;
        } else {
            data->least[at] = least;
            data->median[at] = median;
            data->p99[at] = p99;
        }
    }
    return true;
}

static bool take_bandwidth(struct tern_mc_data *data, int from, int to, const char *rest)
{
    char phase[32];
    float bandwidth, share;
    size_t at = (size_t)from * (size_t)data->count + (size_t)to;
    if (sscanf(rest, "%31s %f %f", phase, &bandwidth, &share) != 3)
        return false;
    if (strcmp(phase, "alone") == 0) {
        struct tern_mc_alone *alone = alone_entry(data, from, to);
        if (alone && alone->count < TERN_MC_SAMPLES_MOST) {
            alone->share[alone->count] = share;
            alone->bandwidth[alone->count++] = bandwidth;
        }
    } else if (strcmp(phase, "soak") == 0) {
        data->soaked = true;
        if (data->bandwidth[at] == 0 || bandwidth > data->bandwidth[at])
            data->bandwidth[at] = bandwidth;
    } else {
        data->bandwidth[at] = bandwidth;
    }
    return true;
}

static bool take_pair_record(struct tern_mc_data *data, const char *word, int from, int to,
                             const char *rest)
{
    size_t at = (size_t)from * (size_t)data->count + (size_t)to;
    char stage[32];
    int used = 0;
    if (strcmp(word, "dead") == 0)
        return take_dead(data, at, rest);
    if (strcmp(word, "lat") == 0)
        return take_latency(data, from, to, rest);
    if (strcmp(word, "bw") == 0)
        return take_bandwidth(data, from, to, rest);
    if (strcmp(word, "first") == 0)
        return sscanf(rest, "%f", &data->late_ms[at]) == 1;
    if (strcmp(word, "call") == 0) {
        data->state[at] |= TERN_MC_UNCALLED;
        set_text(&data->texts[at], rest);
        return true;
    }
    if (strcmp(word, "wrong") == 0) {
        data->state[at] |= TERN_MC_WRONG;
        data->wrong_blocks++;
        return true;
    }
    bool hung = strcmp(word, "hang") == 0;
    if ((!hung && strcmp(word, "broken")) || sscanf(rest, "%31s %n", stage, &used) != 1)
        return false;
    data->state[at] |= hung ? TERN_MC_HUNG : TERN_MC_BROKEN;
    data->stages[at] = *stage;
    if (!hung && used && rest[used])
        set_text(&data->texts[at], rest + used);
    return true;
}

static bool take_phase(struct tern_mc_data *data, const char *rest)
{
    char name[32];
    double seconds;
    int used = 0;
    struct tern_mc_phase *phases = grow(data->phases, data->phase_count, sizeof *phases);
    if (!phases)
        return false;
    data->phases = phases;
    if (sscanf(rest, "%31s %lf %n", name, &seconds, &used) != 2 || !used)
        return false;
    phases[data->phase_count++] = (struct tern_mc_phase){copy(name), copy(rest + used), seconds};
    return true;
}

static bool take_together(struct tern_mc_data *data, const char *rest)
{
    char name[32];
    double x, y;
    if (sscanf(rest, "%31s %lf %lf", name, &x, &y) != 3)
        return false;
    if (strcmp(name, "bisection") == 0) {
        data->bisection = x;
        data->bisection_worst = y;
    } else if (strcmp(name, "allreduce") == 0) {
        data->allreduce_us = x;
    } else if (strcmp(name, "alltoall") == 0) {
        data->alltoall = x;
        data->alltoall_piece = (int)y;
    }
    return true;
}

/* Forgets which hosts do not reach each other: they are asked again. */
static void forget_dead(struct tern_mc_data *data)
{
    for (size_t i = 0; i < (size_t)data->count * (size_t)data->count; i++) {
        data->state[i] &= (uint8_t)~(TERN_MC_DEAD_FIRST | TERN_MC_DEAD_LONG);
        data->late_ms[i] = 0;
    }
}

bool tern_mc_take(struct tern_mc_data *data, const char *record)
{
    static const char *const of_pairs[] = {"dead", "lat",  "bw",     "first",
                                            "wrong", "hang", "broken", "call"};
    char word[32];
    int a, b, used = 0;
    if (sscanf(record, "%31s %n", word, &used) != 1)
        return false;
    const char *rest = used ? record + used : "";
    if (strcmp(word, "reach") == 0) {
        forget_dead(data);
        return true;
    }
    if (strcmp(word, "phase") == 0)
        return take_phase(data, rest);
    if (strcmp(word, "together") == 0)
        return take_together(data, rest);
    if (strcmp(word, "begin") == 0) {
        if (sscanf(rest, "%lf %n", &data->begin, &used) == 1)
            set_text(&data->title, rest + used);
        return true;
    }
    for (size_t i = 0; i < sizeof of_pairs / sizeof *of_pairs; i++)
        if (strcmp(word, of_pairs[i]) == 0)
            return sscanf(rest, "%d %d %n", &a, &b, &used) == 2 && a >= 0 && b >= 0 &&
                   a < data->count && b < data->count && a != b &&
                   take_pair_record(data, word, a, b, rest + used);
    return sscanf(rest, "%d %n", &a, &used) == 1 && a >= 0 && a < data->count &&
           take_host_record(data, word, a, rest + used);
}

/* ---- files ---- */

/* Returns the number of hosts that a file of records is about. */
static int count_hosts(FILE *file)
{
    char line[4096];
    int most = -1, id;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "@ host %d", &id) == 1 && id > most)
            most = id;
    rewind(file);
    return most + 1;
}

static struct tern_mc_data *read_records(FILE *file, const char *path)
{
    char line[4096];
    int count = count_hosts(file);
    if (count < 1 || count > TERN_MC_HOSTS_MOST) {
        tern_log("%s has records of %d hosts; expected 1 to %d", path, count, TERN_MC_HOSTS_MOST);
        return NULL;
    }
    struct tern_mc_data *data = tern_mc_data_new(count);
    if (!data)
        tern_log("no memory for the records of %d hosts", count);
    while (data && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "@ ", 2) == 0)
            tern_mc_take(data, line + 2);
    }
    for (int i = 0; data && i < count; i++)
        if (!data->hosts[i].name)
            data->hosts[i].name = copy("?");
    return data;
}

struct tern_mc_data *tern_mc_read(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        tern_log("cannot read %s: %s; expected the records of an earlier mpicheck", path,
                 strerror(errno));
        return NULL;
    }
    struct tern_mc_data *data = read_records(file, path);
    fclose(file);
    return data;
}

/* ---- questions ---- */

const char *tern_mc_fact(const struct tern_mc_host *host, const char *key)
{
    for (int i = 0; i < host->fact_count; i++)
        if (strcmp(host->facts[i].key, key) == 0)
            return host->facts[i].value;
    return NULL;
}

bool tern_mc_has_address(const struct tern_mc_host *host, const char *address)
{
    size_t length = strlen(address);
    for (int i = 0; i < host->fact_count; i++)
        if (strncmp(host->facts[i].key, "addr.", 5) == 0 &&
            strncmp(host->facts[i].value, address, length) == 0 &&
            host->facts[i].value[length] == '/')
            return true;
    return false;
}

int tern_mc_owner(const struct tern_mc_data *data, const char *address)
{
    int owner = -1;
    for (int i = 0; i < data->count; i++) {
        if (!tern_mc_has_address(&data->hosts[i], address))
            continue;
        if (owner >= 0)
            return -1;
        owner = i;
    }
    return owner;
}

bool tern_mc_linked(const struct tern_mc_data *data, int a, int b)
{
    size_t n = (size_t)data->count;
    size_t to = (size_t)a * n + (size_t)b, back = (size_t)b * n + (size_t)a;
    uint8_t bad = TERN_MC_BAD;
    return !((data->state[to] | data->state[back]) & bad);
}
