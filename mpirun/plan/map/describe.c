/* SPDX-License-Identifier: BSD-3-Clause */
/* A binding in words, as Open MPI's --report-bindings and --display-map print it, because scripts
 * read that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpirun/base/strings.h"
#include "mpirun/plan/map/describe.h"

/* Returns the end of a core: hardware threads i .. end-1 of the host's list are of one core. */
static int end_of_core(const struct tern_host *host, int i)
{
    int end = i + 1;
    while (end < host->cpu_count &&
           host->cpus[end].id[TERN_MAP_LEVEL_CORE] == host->cpus[i].id[TERN_MAP_LEVEL_CORE])
        end++;
    return end;
}

static void describe_cores(FILE *out, const struct tern_host *host,
                           const struct tern_rank_place *place)
{
    const char *comma = "";
    for (int i = 0; i < host->cpu_count;) {
        int end = end_of_core(host, i), first = -1, last = -1;
        for (int c = i; c < end; c++) {
            if (tern_cpus_has(&place->cpus, host->cpus[c].os_index)) {
                first = first < 0 ? c - i : first;
                last = c - i;
            }
        }
        if (first >= 0) {
            fprintf(out, "%ssocket %d[core %d[hwt %d", comma,
                    host->cpus[i].id[TERN_MAP_LEVEL_SOCKET], host->cpus[i].id[TERN_MAP_LEVEL_CORE],
                    first);
            if (last > first)
                fprintf(out, "-%d", last);
            fputs("]]", out);
            comma = ", ";
        }
        i = end;
    }
}

/* Draws one letter per hardware thread, "/" between cores, brackets around sockets. */
static void draw_sockets(FILE *out, const struct tern_host *host,
                         const struct tern_rank_place *place)
{
    for (int i = 0; i < host->cpu_count; i++) {
        const struct tern_cpu *cpu = &host->cpus[i], *before = i ? cpu - 1 : NULL;
        if (!before || before->id[TERN_MAP_LEVEL_SOCKET] != cpu->id[TERN_MAP_LEVEL_SOCKET])
            fputs(before ? "][" : "[", out);
        else if (before->id[TERN_MAP_LEVEL_CORE] != cpu->id[TERN_MAP_LEVEL_CORE])
            fputc('/', out);
        fputc(tern_cpus_has(&place->cpus, cpu->os_index) ? 'B' : '.', out);
    }
    fputc(']', out);
}

char *tern_map_describe(const struct tern_host *host, const struct tern_rank_place *place)
{
    if (!place->bound || tern_cpus_count(&place->cpus) == host->cpu_count)
        return tern_must_copy("not bound (or bound to all available processors)");
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return tern_must_copy("bound");
    describe_cores(out, host, place);
    fputs(": ", out);
    draw_sockets(out, host, place);
    fclose(out);
    return text;
}

/* Prints the indices of true entries, such as "0-2,5". */
static void print_ranges(FILE *out, const bool *used, int count)
{
    const char *comma = "";
    for (int first = 0; first < count; first++) {
        if (!used[first])
            continue;
        int last = first;
        while (last + 1 < count && used[last + 1])
            last++;
        fprintf(out, last > first ? "%s%d-%d" : "%s%d", comma, first, last);
        comma = ",";
        first = last;
    }
}

char *tern_map_locality(const struct tern_host *host, const struct tern_rank_place *place)
{
    static const struct {
        const char *name;
        enum tern_map_level level;
    } kinds[] = {
        {"SK", TERN_MAP_LEVEL_SOCKET}, {":L3", TERN_MAP_LEVEL_L3},
        {":L2", TERN_MAP_LEVEL_L2},    {":L1", TERN_MAP_LEVEL_L1},
        {":CR", TERN_MAP_LEVEL_CORE},  {":HT", TERN_MAP_LEVEL_HWTHREAD},
        {":NM", TERN_MAP_LEVEL_NUMA},
    };
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    bool *used = tern_must_alloc(host->cpu_count * sizeof *used);
    for (size_t i = 0; out && i < sizeof kinds / sizeof *kinds; i++) {
        memset(used, 0, host->cpu_count * sizeof *used);
        for (int c = 0; c < host->cpu_count; c++)
            used[host->cpus[c].id[kinds[i].level]] |=
                tern_cpus_has(&place->cpus, host->cpus[c].os_index);
        fputs(kinds[i].name, out);
        print_ranges(out, used, host->cpu_count);
    }
    free(used);
    if (out)
        fclose(out);
    return text ? text : tern_must_copy("");
}

char *tern_map_cpuset(const struct tern_rank_place *place)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return tern_must_copy("");
    bool used[TERN_MAX_CPUS];
    for (int cpu = 0; cpu < TERN_MAX_CPUS; cpu++)
        used[cpu] = tern_cpus_has(&place->cpus, cpu);
    fputs("hwloc:", out);
    print_ranges(out, used, TERN_MAX_CPUS);
    fclose(out);
    return text;
}
