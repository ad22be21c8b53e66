/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/data/measured.h"

#include <stdlib.h>
#include <string.h>

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
    for (int i = 0; i < host->net_count; i++)
        free(host->nets[i].nic);
    free(host->nets);
    free(host->facts);
    free(host->sockets);
    free(host->gpus);
    free(host->gpu_pairs);
    free(host->cores);
    free(host->name);
    free(host->gone);
    free(host->lacks);
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
    for (int i = 0; i < data->silence_count; i++)
        free(data->silences[i].nic);
    free(data->silences);
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

const struct tern_mc_alone *tern_mc_alone_of(const struct tern_mc_data *data, int from, int to)
{
    for (int i = 0; i < data->alone_count; i++)
        if (data->alone[i].from == from && data->alone[i].to == to)
            return &data->alone[i];
    return NULL;
}
