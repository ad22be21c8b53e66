/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/base/activity.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_process(struct tern_activity *activity, pid_t pid, pid_t but);

static FILE *open_thread_file(pid_t pid, pid_t thread, const char *name)
{
    char path[80];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)thread, name);
    return fopen(path, "re");
}

/* Returns the state letter of a thread, or 'X'. The letter follows the name, which may contain
 * blanks and parentheses. */
static char state_of(pid_t pid, pid_t thread)
{
    FILE *file = open_thread_file(pid, thread, "stat");
    if (!file)
        return 'X';
    char text[512];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *after = strrchr(text, ')');
    return after && after[1] == ' ' ? after[2] : 'X';
}

static void add_thread(struct tern_activity *activity, pid_t pid, pid_t thread, pid_t but)
{
    unsigned long long cpu_ns;
    FILE *file = open_thread_file(pid, thread, "schedstat");
    bool measured = file && fscanf(file, "%llu", &cpu_ns) == 1;
    if (file)
        fclose(file);
    if (measured) {
        char state = thread == but ? 'X' : state_of(pid, thread);
        activity->cpu_ns += cpu_ns;
        activity->runnable += state == 'R';
        activity->blocked += state == 'D';
    }
    file = open_thread_file(pid, thread, "children");
    int child;
    while (file && fscanf(file, "%d", &child) == 1)
        add_process(activity, child, but);
    if (file)
        fclose(file);
}

static void add_process(struct tern_activity *activity, pid_t pid, pid_t but)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    activity->family += (uint64_t)pid * UINT64_C(0x9e3779b97f4a7c15);
    DIR *threads = opendir(path);
    struct dirent *entry;
    while (threads && (entry = readdir(threads))) {
        if (entry->d_name[0] != '.')
            add_thread(activity, pid, atoi(entry->d_name), but);
    }
    if (threads)
        closedir(threads);
}

struct tern_activity tern_activity_without(pid_t pid, pid_t but)
{
    struct tern_activity activity = { .stopped = state_of(pid, pid) == 'T' };
    add_process(&activity, pid, but);
    return activity;
}

struct tern_activity tern_activity_of(pid_t pid)
{
    return tern_activity_without(pid, 0);
}
