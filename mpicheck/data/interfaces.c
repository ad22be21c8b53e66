/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/data/interfaces.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpicheck/data/fold.h"

/* An address and its subnet. */
struct place {
    unsigned char address[16], subnet[16];
    int family, bits;
};

/* Reads "10.2.0.31/24". */
static bool read_place(const char *text, struct place *ret_place)
{
    char address[INET6_ADDRSTRLEN];
    size_t length = strcspn(text, "/");
    memset(ret_place, 0, sizeof *ret_place);
    if (text[length] != '/' || length >= sizeof address)
        return false;
    memcpy(address, text, length);
    address[length] = 0;
    ret_place->family = strchr(address, ':') ? AF_INET6 : AF_INET;
    ret_place->bits = atoi(text + length + 1);
    if (inet_pton(ret_place->family, address, ret_place->address) != 1 || ret_place->bits < 0 ||
        ret_place->bits > 128)
        return false;
    for (int i = 0; i < ret_place->bits; i++)
        ret_place->subnet[i / 8] |= ret_place->address[i / 8] & (128 >> i % 8);
    return true;
}

static const char *address_on(const struct tern_mc_host *host, const char *nic)
{
    char *key = tern_mc_format("addr.%s", nic);
    const char *address = tern_mc_fact(host, key);
    free(key);
    return address;
}

static bool runs(const struct tern_mc_host *host, const char *nic)
{
    char *key = tern_mc_format("nic.%s.running", nic);
    const char *running = tern_mc_fact(host, key);
    free(key);
    return !running || strcmp(running, "yes") == 0;
}

const char *tern_mc_lacks(const struct tern_mc_host *host, const char *nic)
{
    return !address_on(host, nic) ? "has no address" : !runs(host, nic) ? "does not run" : NULL;
}

static bool connects_hosts(const struct tern_mc_data *data, const char *nic)
{
    struct place *places = tern_mc_alloc(data->count, sizeof *places);
    int count = 0, running = 0;
    bool fits = true;
    for (int i = 0; i < data->count; i++) {
        const char *text = address_on(&data->hosts[i], nic);
        if (data->hosts[i].gone || !text || !read_place(text, &places[count]))
            continue;
        running += runs(&data->hosts[i], nic);
        for (int k = 0; k < count; k++)
            fits &= memcmp(places[k].address, places[count].address, 16) != 0 &&
                    places[k].bits == places[count].bits &&
                    memcmp(places[k].subnet, places[count].subnet, 16) == 0;
        count++;
    }
    free(places);
    return fits && count > 1 && running > 1;
}

static bool is_listed(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Returns true if a name can be that of an interface. It becomes a directory, and hosts are not
 * trusted. */
static bool is_name(const char *name)
{
    return *name && *name != '.' && strlen(name) < IFNAMSIZ && !strpbrk(name, "/\\ ,");
}

int tern_mc_interfaces(const struct tern_mc_data *data, const char **ret_names)
{
    int count = 0;
    for (int i = 0; i < data->count; i++)
        for (int k = 0; k < data->hosts[i].fact_count && count < TERN_MC_NICS_MOST; k++) {
            const char *key = data->hosts[i].facts[k].key;
            if (strncmp(key, "addr.", 5) == 0 && is_name(key + 5) &&
                !is_listed(ret_names, count, key + 5) && connects_hosts(data, key + 5))
                ret_names[count++] = key + 5;
        }
    return count;
}

/* ---- by which interfaces hosts are connected ---- */

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
