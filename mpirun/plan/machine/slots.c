/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/machine/slots.h"

#include <ctype.h>
#include <stdlib.h>

#include "lib/util/base/error.h"

/* One element of a list of slots: cores `first` to `last` (-1: the last one) of `socket` (-1: of
 * the host). */
struct slots {
    int socket, first, last;
    bool ends; /* a semicolon follows: the next element is not of this socket */
};

static bool read_number(const char **at, int *ret_number)
{
    if (!isdigit((unsigned char)**at))
        return false;
    char *end;
    long number = strtol(*at, &end, 10);
    *at = end;
    *ret_number = number > TERN_MAX_CPUS ? TERN_MAX_CPUS : (int)number;
    return true;
}

/* Reads the element at *at, and the separator after it. `item` is the element before. Returns false
 * if the text is malformed. */
static bool read_slots(const char **at, struct slots *item)
{
    int number = 0;
    bool all = **at == '*';
    if (item->ends)
        item->socket = -1;
    if (all)
        (*at)++;
    else if (!read_number(at, &number))
        return false;
    if (!all && **at == ':') {
        item->socket = number;
        (*at)++;
        all = **at == '*';
        if (all)
            (*at)++;
        else if (!read_number(at, &number))
            return false;
    }
    item->first = all ? 0 : number;
    item->last = all ? -1 : number;
    if (!all && **at == '-') {
        (*at)++;
        if (!read_number(at, &item->last) || item->last < item->first)
            return false;
    }
    item->ends = **at == ';';
    return !**at || ((**at == ',' || **at == ';') && *++*at);
}

/* Adds the processors of objects `first` to `last` of a level. Numbers count from the socket's
 * first object. Returns the first number that is missing, or -1. */
static int take_slots(const struct tern_host *host, enum tern_map_level level,
                      const struct slots *item, struct tern_cpus *cpus)
{
    int offset = -1, after = 0;
    for (int c = 0; c < host->cpu_count; c++) {
        const struct tern_cpu *cpu = &host->cpus[c];
        if (item->socket >= 0 && cpu->id[TERN_MAP_LEVEL_SOCKET] != item->socket)
            continue;
        offset = offset < 0 ? cpu->id[level] : offset;
        int number = cpu->id[level] - offset;
        after = number >= after ? number + 1 : after;
        if (number >= item->first && (item->last < 0 || number <= item->last))
            tern_cpus_add(cpus, cpu->os_index);
    }
    if (item->last < after)
        return -1;
    return item->first > after ? item->first : after;
}

/* Adds the cores that contain the operating system's processors `first` to `last`. Returns the
 * first number that is missing, or -1. */
static int take_physical(const struct tern_host *host, enum tern_map_level level,
                         const struct slots *item, struct tern_cpus *cpus)
{
    for (int wanted = item->first; wanted <= item->last; wanted++) {
        int id = -1;
        for (int c = 0; c < host->cpu_count; c++) {
            if (host->cpus[c].os_index == wanted)
                id = host->cpus[c].id[level];
        }
        if (id < 0)
            return wanted;
        for (int c = 0; c < host->cpu_count; c++) {
            if (host->cpus[c].id[level] == id)
                tern_cpus_add(cpus, host->cpus[c].os_index);
        }
    }
    return -1;
}

static int missing_slot(const struct tern_host *host, const struct slots *item, int missing,
                        bool physical, enum tern_map_level level, const char *where)
{
    const char *kind = physical                       ? "processor"
                       : level == TERN_MAP_LEVEL_CORE ? "core"
                                                      : "hardware thread";
    int sockets = tern_host_objects(host, TERN_MAP_LEVEL_SOCKET);
    if (item->socket >= sockets)
        return tern_error(TERN_ERR_ARG,
                          "%s: host %s has %d usable socket%s, but no socket %d", where,
                          host->name, sockets, sockets == 1 ? "" : "s", item->socket);
    if (item->socket >= 0)
        return tern_error(TERN_ERR_ARG, "%s: socket %d of host %s has no usable %s %d",
                          where, item->socket, host->name, kind, missing);
    return tern_error(TERN_ERR_ARG, "%s: host %s has no usable %s %d", where, host->name,
                      kind, missing);
}

int tern_slots_find(const struct tern_host *host, const char *slots, bool hwthreads,
                    const char *where, struct tern_cpus *ret_cpus)
{
    enum tern_map_level level = hwthreads ? TERN_MAP_LEVEL_HWTHREAD : TERN_MAP_LEVEL_CORE;
    bool physical = *slots == 'p' || *slots == 'P';
    const char *at = slots + physical;
    struct tern_cpus cpus = { 0 };
    struct slots item = { .socket = -1 };
    at += physical && *at == ':';
    do {
        if (!read_slots(&at, &item) || (physical && (item.socket >= 0 || item.last < 0)))
            return tern_error(TERN_ERR_ARG,
                              "%s: \"%s\" is not a list of slots such as 0-3, 1:0,2 or p5", where,
                              slots);
        if (!host)
            continue;
        int missing = physical ? take_physical(host, level, &item, &cpus)
                               : take_slots(host, level, &item, &cpus);
        if (missing >= 0 || item.socket >= tern_host_objects(host, TERN_MAP_LEVEL_SOCKET))
            return missing_slot(host, &item, missing, physical, level, where);
    } while (*at);
    *ret_cpus = cpus;
    return 0;
}
