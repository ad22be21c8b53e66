/* SPDX-License-Identifier: BSD-3-Clause */

/* A host on its own, all its processors at once: how fast each one works, whether it was there all
 * the time (share), how fast memory is, and the longest pause. */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"

enum { TRIES = 5, STEPS = 8 << 20, MEMORY = 8 << 20, MEMORY_TRIES = 4, MEMORY_MS = 30,
       PAUSE_MS = 100 };

struct worker {
    pthread_t thread;
    bool started;
    int cpu;
    double work_us; /* the least processor time of the work */
    double share;   /* processor time per time of the wall clock */
    double gbs;     /* memory bandwidth of this thread */
    double pause_ms;
    pthread_barrier_t *together;
};

static volatile uint64_t sink;

static double cpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Does work whose steps depend on each other, so that the clock of the core decides. */
static void work(void)
{
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < STEPS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    sink = x;
}

static void measure_core(struct worker *worker)
{
    double wall = 0, cpu = 0;
    for (int i = 0; i < TRIES; i++) {
        double wall_begin = probe_now(), cpu_begin = cpu_now();
        work();
        double took = cpu_now() - cpu_begin;
        wall += probe_now() - wall_begin;
        cpu += took;
        if (worker->work_us == 0 || took * 1e6 < worker->work_us)
            worker->work_us = took * 1e6;
    }
    worker->share = wall > 0 ? cpu / wall : 1;
}

static void measure_memory(struct worker *worker)
{
    size_t count = MEMORY / sizeof(double);
    double *a = malloc(MEMORY), *b = malloc(MEMORY), *c = malloc(MEMORY);
    for (size_t i = 0; a && b && c && i < count; i++)
        a[i] = b[i] = c[i] = (double)i;
    double wall_begin = probe_now(), cpu_begin = cpu_now();
    /* all threads for the same time: those that go on alone would have more than their part */
    double end = wall_begin + MEMORY_MS * 1e-3;
    for (int try = 0; a && b && c && (try < MEMORY_TRIES || probe_now() < end); try++) {
        double begin = probe_now();
        for (size_t i = 0; i < count; i++)
            a[i] = b[i] + 3 * c[i];
        double took = probe_now() - begin;
        sink = (uint64_t)a[count / 2];
        double gbs = 3e-9 * MEMORY / took;
        worker->gbs = gbs > worker->gbs ? gbs : worker->gbs;
    }
    double share = (cpu_now() - cpu_begin) / (probe_now() - wall_begin);
    worker->share = share < worker->share ? share : worker->share;
    free(a);
    free(b);
    free(c);
}

/* Looks at the clock all the time: a gap is time that somebody else had. */
static void measure_pauses(struct worker *worker)
{
    double begin = probe_now(), last = begin, now;
    do {
        now = probe_now();
        if ((now - last) * 1e3 > worker->pause_ms)
            worker->pause_ms = (now - last) * 1e3;
        last = now;
    } while (now - begin < PAUSE_MS * 1e-3);
}

static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(worker->cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
    pthread_barrier_wait(worker->together);
    measure_core(worker);
    pthread_barrier_wait(worker->together);
    measure_memory(worker);
    pthread_barrier_wait(worker->together);
    measure_pauses(worker);
    return NULL;
}

/* Reads how long the groups of this process were kept from running, in ms: cpu.stat of cgroup
 * version 2 or 1. */
static double throttled_ms(void)
{
    static const char *const paths[] = {"/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"};
    char path[512], line[512], group[400];
    double total = 0;
    FILE *groups = fopen("/proc/self/cgroup", "r");
    while (groups && fgets(line, sizeof line, groups)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *name = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!name || strlen(name + 1) <= 1)
            continue;
        snprintf(group, sizeof group, "%.399s", name + 1);
        bool unified = strncmp(line, "0:", 2) == 0, cpu = strstr(controllers, "cpu") != NULL;
        if (!unified && !cpu)
            continue;
        snprintf(path, sizeof path, "/sys/fs/cgroup/%s%s/cpu.stat", unified ? "" : "cpu", group);
        FILE *stat = fopen(path, "r");
        char key[64];
        double value;
        while (stat && fscanf(stat, "%63s %lf", key, &value) == 2) {
            if (strcmp(key, "throttled_usec") == 0)
                total += value / 1e3;
            else if (strcmp(key, "throttled_time") == 0)
                total += value / 1e6;
        }
        if (stat)
            fclose(stat);
    }
    if (groups)
        fclose(groups);
    for (size_t i = 0; i < sizeof paths / sizeof *paths && total == 0; i++) {
        FILE *stat = fopen(paths[i], "r");
        char key[64];
        double value;
        while (stat && fscanf(stat, "%63s %lf", key, &value) == 2)
            if (strcmp(key, "throttled_usec") == 0)
                total += value / 1e3;
            else if (strcmp(key, "throttled_time") == 0)
                total += value / 1e6;
        if (stat)
            fclose(stat);
    }
    return total;
}

/* Returns a worker for each processor that this process may use, or NULL if there is no memory. */
static struct worker *make_workers(int *ret_count)
{
    cpu_set_t set;
    int count = 0;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    struct worker *workers = calloc((size_t)CPU_COUNT(&set) + 1, sizeof *workers);
    for (int cpu = 0; workers && cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            workers[count++].cpu = cpu;
    *ret_count = count;
    return workers;
}

void probe_node(const struct probe_job *job)
{
    int count, id = job->ids[job->rank];
    struct worker *workers = make_workers(&count);
    pthread_barrier_t together;
    if (!workers || count == 0 || pthread_barrier_init(&together, NULL, (unsigned)count))
        return;
    double before = throttled_ms(), gbs = 0, pause_ms = 0;
    for (int i = 0; i < count; i++) {
        workers[i].together = &together;
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i])) {
            /* those that run already wait for this one: there is no way to go on */
            fprintf(stderr, "mpicheck-probe: no thread for processor %d\n", workers[i].cpu);
            exit(1);
        }
    }
    for (int i = 0; i < count; i++) {
        pthread_join(workers[i].thread, NULL);
        gbs += workers[i].gbs;
        pause_ms = workers[i].pause_ms > pause_ms ? workers[i].pause_ms : pause_ms;
        probe_say("core %d %d %.1f %.3f", id, workers[i].cpu, workers[i].work_us, workers[i].share);
    }
    probe_say("node %d %.3f %.3f %.1f", id, gbs, pause_ms, throttled_ms() - before);
    pthread_barrier_destroy(&together);
    free(workers);
}
