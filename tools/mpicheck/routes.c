/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/mpicheck/routes.h"

#include <string.h>

void tern_mc_nics_find(const struct tern_mc_data *data, struct tern_mc_nics *ret_nics)
{
    ret_nics->count = 0;
    for (int i = 0; i < data->count; i++)
        for (int k = 0; k < data->hosts[i].socket_count; k++) {
            const char *nic = data->hosts[i].sockets[k].nic;
            int at = 0;
            while (at < ret_nics->count && strcmp(ret_nics->names[at], nic) != 0)
                at++;
            if (at == ret_nics->count && at < TERN_MC_NICS_MOST)
                ret_nics->names[ret_nics->count++] = nic;
        }
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

static uint32_t bit_of(const struct tern_mc_nics *nics, const char *name)
{
    for (int i = 0; i < nics->count; i++)
        if (strcmp(nics->names[i], name) == 0)
            return (uint32_t)1 << i;
    return 0;
}

/* Returns the interfaces that one host uses for its connections to another one. */
static uint32_t used_by(const struct tern_mc_nics *nics, const struct tern_mc_host *host,
                        const struct tern_mc_host *other)
{
    uint32_t route = 0;
    for (int i = 0; i < host->socket_count; i++)
        if (tern_mc_has_address(other, host->sockets[i].other))
            route |= bit_of(nics, host->sockets[i].nic);
    return route;
}

uint32_t tern_mc_route(const struct tern_mc_data *data, const struct tern_mc_nics *nics, int a,
                       int b)
{
    return used_by(nics, &data->hosts[a], &data->hosts[b]) |
           used_by(nics, &data->hosts[b], &data->hosts[a]);
}
