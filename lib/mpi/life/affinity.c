/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * OMPI_Affinity_str: tells the processors of this host, and which of them this process may run on,
 * in words or as a picture. Numbers sockets, cores and hardware threads from 0, in the order of the
 * kernel's numbers, as mpirun --report-bindings does.
 */

#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/mpi/procedures.h"

enum { CPUS_MAX = CPU_SETSIZE };

struct cpu {
    int number, package, core; /* the kernel's numbers */
    bool mine;
};

/* Returns the number in one of the kernel's files about a processor, or `otherwise` if the kernel
 * does not tell. */
static int read_number(int cpu, const char *name, int otherwise)
{
    char path[128];
    int number = otherwise;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%d", &number) != 1 || number < 0)
            number = otherwise;
        fclose(file);
    }
    return number;
}

static int compare(const void *a, const void *b)
{
    const struct cpu *x = a, *y = b;
    if (x->package != y->package)
        return x->package < y->package ? -1 : 1;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void add_cpu(struct cpu *cpus, int *count, int number, const cpu_set_t *mine)
{
    if (*count < CPUS_MAX && number < CPUS_MAX)
        cpus[(*count)++] =
            (struct cpu){number, read_number(number, "physical_package_id", 0),
                         read_number(number, "core_id", number), CPU_ISSET(number, mine)};
}

/* Finds the processors that are online, sorted. If the kernel's list cannot be read, finds those of
 * this process. */
static int find_cpus(struct cpu *cpus)
{
    cpu_set_t mine;
    int count = 0, from, to;
    CPU_ZERO(&mine);
    sched_getaffinity(0, sizeof mine, &mine);
    FILE *file = fopen("/sys/devices/system/cpu/online", "re");
    if (file) {
        while (fscanf(file, "%d", &from) == 1) {
            if (fscanf(file, "-%d", &to) != 1)
                to = from;
            for (int number = from; number <= to; number++)
                add_cpu(cpus, &count, number, &mine);
            if (fgetc(file) != ',')
                break;
        }
        fclose(file);
    }
    for (int number = 0; !file && number < CPUS_MAX; number++)
        if (CPU_ISSET(number, &mine))
            add_cpu(cpus, &count, number, &mine);
    qsort(cpus, (size_t)count, sizeof *cpus, compare);
    return count;
}

/* A text being written. Text that does not fit is cut off. */
struct text {
    char *at;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text->at, text->room, format, args);
    va_end(args);
    if (length < 0)
        return;
    size_t used = (size_t)length < text->room ? (size_t)length : text->room - 1;
    text->at += used;
    text->room -= used;
}

static bool same_package(const struct cpu *a, const struct cpu *b)
{
    return a->package == b->package;
}

static bool same_core(const struct cpu *a, const struct cpu *b)
{
    return same_package(a, b) && a->core == b->core;
}

/* Draws "[BB/..][../..]": a bracket for each socket, a letter for each hardware thread, slashes
 * between cores. */
static void draw(const struct cpu *cpus, int count, bool show_mine, struct text text)
{
    for (int i = 0; i < count; i++) {
        if (i == 0 || !same_package(&cpus[i - 1], &cpus[i]))
            add(&text, "%s[", i ? "]" : "");
        else if (!same_core(&cpus[i - 1], &cpus[i]))
            add(&text, "/");
        add(&text, "%c", show_mine && cpus[i].mine ? 'B' : '.');
    }
    add(&text, "]");
}

/* Lists the processors of this process: "socket 0[core 0[hwt 0-1]], socket 0[core 1[hwt 0]]". */
static void list_mine(const struct cpu *cpus, int count, struct text text)
{
    const char *between = "";
    int socket = -1, core = -1;
    for (int i = 0, end; i < count; i = end) {
        socket += i == 0 || !same_package(&cpus[i - 1], &cpus[i]);
        core++;
        int listed = 0;
        for (end = i; end < count && same_core(&cpus[i], &cpus[end]); end++) {
            if (!cpus[end].mine)
                continue;
            if (listed++ == 0)
                add(&text, "%ssocket %d[core %d[hwt ", between, socket, core);
            else if (!cpus[end - 1].mine)
                add(&text, ",");
            bool first = end == i || !cpus[end - 1].mine;
            bool last =
                end + 1 == count || !same_core(&cpus[i], &cpus[end + 1]) || !cpus[end + 1].mine;
            if (first)
                add(&text, "%d%s", end - i, last ? "" : "-");
            else if (last)
                add(&text, "%d", end - i);
        }
        if (listed) {
            add(&text, "]]");
            between = ", ";
        }
    }
}

/* Lists the processors of the host: "socket 0 has 2 cores, with 4 hwts in all, ..." */
static void list_all(const struct cpu *cpus, int count, struct text text)
{
    int socket = 0;
    for (int i = 0, end; i < count; i = end, socket++) {
        int cores = 0;
        for (end = i; end < count && same_package(&cpus[i], &cpus[end]); end++)
            cores += end == i || !same_core(&cpus[end - 1], &cpus[end]);
        add(&text, "%ssocket %d has %d core%s with %d hwt%s", i ? ", " : "", socket, cores,
            cores == 1 ? "" : "s", end - i, end - i == 1 ? "" : "s");
    }
}

int tern_mpi_affinity_str(ompi_affinity_fmt_t fmt_type, char *ompi_bound, char *current_binding,
                          char *exists)
{
    if (fmt_type != OMPI_AFFINITY_RSRC_STRING_FMT && fmt_type != OMPI_AFFINITY_LAYOUT_FMT)
        return tern_error(TERN_ERR_ARG,
                          "fmt_type is %d; expected OMPI_AFFINITY_RSRC_STRING_FMT or "
                          "OMPI_AFFINITY_LAYOUT_FMT",
                          (int)fmt_type);
    struct cpu *cpus = malloc(CPUS_MAX * sizeof *cpus);
    if (!cpus)
        return TERN_ERR_NO_MEM;
    int count = find_cpus(cpus), mine = 0;
    bool picture = fmt_type == OMPI_AFFINITY_LAYOUT_FMT;
    for (int i = 0; i < count; i++)
        mine += cpus[i].mine;
    struct text bound = {ompi_bound, OMPI_AFFINITY_STRING_MAX},
                current = {current_binding, OMPI_AFFINITY_STRING_MAX},
                all = {exists, OMPI_AFFINITY_STRING_MAX};
    if (mine == count)
        add(&current, "not bound (bound to all available processors)");
    else if (picture)
        draw(cpus, count, true, current);
    else
        list_mine(cpus, count, current);
    /* The kernel does not record who has bound a process. A launcher that binds does so before the
     * process starts. */
    if (mine == count || !tern_rte.managed)
        add(&bound, "the launcher did not bind this process");
    else
        add(&bound, "%s", current_binding);
    if (picture)
        draw(cpus, count, false, all);
    else
        list_all(cpus, count, all);
    free(cpus);
    return 0;
}
