/* SPDX-License-Identifier: BSD-3-Clause */
/* A binding in words, as --report-bindings and --display-map of Open MPI print it: scripts read it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "mpirun/map.h"
#include "mpirun/strings.h"

/* Hardware threads i .. end-1 of the host's list are one core. */
static int end_of_core(const struct tern_host *host, int i)
{
    int end = i + 1;
    while (end < host->cpu_count &&
           host->cpus[end].id[TERN_LEVEL_CORE] == host->cpus[i].id[TERN_LEVEL_CORE])
        end++;
    return end;
}

static void describe_cores(FILE *out, const struct tern_host *host, const struct tern_place *place)
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
            fprintf(out, "%ssocket %d[core %d[hwt %d", comma, host->cpus[i].id[TERN_LEVEL_SOCKET],
                    host->cpus[i].id[TERN_LEVEL_CORE], first);
            if (last > first)
                fprintf(out, "-%d", last);
            fputs("]]", out);
            comma = ", ";
        }
        i = end;
    }
}

/* One letter per hardware thread, "/" between cores, brackets around sockets. */
static void draw_sockets(FILE *out, const struct tern_host *host, const struct tern_place *place)
{
    for (int i = 0; i < host->cpu_count; i++) {
        const struct tern_cpu *cpu = &host->cpus[i], *before = i ? cpu - 1 : NULL;
        if (!before || before->id[TERN_LEVEL_SOCKET] != cpu->id[TERN_LEVEL_SOCKET])
            fputs(before ? "][" : "[", out);
        else if (before->id[TERN_LEVEL_CORE] != cpu->id[TERN_LEVEL_CORE])
            fputc('/', out);
        fputc(tern_cpus_has(&place->cpus, cpu->os_index) ? 'B' : '.', out);
    }
    fputc(']', out);
}

char *tern_map_describe(const struct tern_host *host, const struct tern_place *place)
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
