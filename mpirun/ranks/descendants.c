/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/ranks/descendants.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/util/base/ancestry.h"
#include "mpirun/base/strings.h"

struct process {
    pid_t pid, parent;
    bool ended; /* its parent has not waited for it yet */
    bool ours;
};

static pid_t spared[256];
static int spared_count;

struct processes {
    struct process *list;
    int count, room;
};

static void add(struct processes *all, pid_t pid, pid_t parent, bool ended)
{
    if (all->count == all->room) {
        int room = all->room ? 2 * all->room : 256;
        struct process *grown = realloc(all->list, room * sizeof *grown);
        if (!grown)
            return;
        all->list = grown;
        all->room = room;
    }
    all->list[all->count++] = (struct process){ pid, parent, ended, false };
}

/* Finds children without /proc: the kernel tells whether a number is that of a child. Grandchildren
 * become children when their parents have been killed. */
static void try_all_numbers(struct processes *all)
{
    enum { PID_LIMIT = 1 << 22 }; /* the kernel's own limit */
    for (pid_t pid = 2; pid < PID_LIMIT; pid++) {
        siginfo_t info = { 0 };
        if (waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0)
            add(all, pid, getpid(), info.si_pid != 0);
    }
}

/* Returns all processes with their parents. The caller frees the list. */
static struct process *list_processes(int *ret_count)
{
    struct processes all = { 0 };
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    while (proc && (entry = readdir(proc))) {
        pid_t pid = atoi(entry->d_name);
        bool ended = false;
        pid_t parent = pid > 0 ? tern_parent_of(pid, &ended) : 0;
        if (parent > 0)
            add(&all, pid, parent, ended);
    }
    if (proc)
        closedir(proc);
    if (!all.count)
        try_all_numbers(&all);
    *ret_count = all.count;
    return all.list;
}

static bool is_spared(pid_t pid)
{
    for (int i = 0; i < spared_count; i++) {
        if (spared[i] == pid)
            return true;
    }
    return false;
}

static void mark_descendants(struct process *list, int count)
{
    pid_t self = getpid();
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < count; i++) {
            if (list[i].ours || is_spared(list[i].pid))
                continue;
            bool below = list[i].parent == self;
            for (int j = 0; j < count && !below; j++)
                below = list[j].ours && list[j].pid == list[i].parent;
            if (below)
                list[i].ours = more = true;
        }
    }
}

void tern_descendants_spare_present(void)
{
    int status;
    if (waitpid(-1, &status, WNOHANG) < 0 && errno == ECHILD)
        return;
    int count;
    struct process *list = list_processes(&count);
    for (int i = 0; i < count && spared_count < (int)(sizeof spared / sizeof *spared); i++) {
        if (list[i].parent == getpid())
            spared[spared_count++] = list[i].pid;
    }
    free(list);
}

pid_t tern_descendants_child_above(pid_t pid)
{
    pid_t parent;
    while (pid > 1 && (parent = tern_parent_of(pid, NULL)) != getpid())
        pid = parent;
    return pid > 1 ? pid : 0;
}

/* Reads the kernel's list of this thread's children. Returns false if it has none to read. */
static bool read_children(struct processes *all)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "re");
    int pid;
    while (file && fscanf(file, "%d", &pid) == 1)
        add(all, pid, getpid(), false);
    if (file)
        fclose(file);
    return file;
}

pid_t *tern_descendants_children(int *ret_count)
{
    struct processes all = { 0 };
    if (!read_children(&all))
        all.list = list_processes(&all.count);
    pid_t *pids = tern_must_alloc((size_t)(all.count + 1) * sizeof *pids);
    *ret_count = 0;
    for (int i = 0; i < all.count; i++) {
        if (all.list[i].parent == getpid() && !all.list[i].ended)
            pids[(*ret_count)++] = all.list[i].pid;
    }
    free(all.list);
    return pids;
}

int tern_descendants_signal(int number, void (*found)(pid_t pid))
{
    int count, signalled = 0;
    struct process *list = list_processes(&count);
    mark_descendants(list, count);
    for (int i = 0; i < count; i++) {
        if (!list[i].ours)
            continue;
        if (found && !list[i].ended)
            found(list[i].pid);
        if (number)
            kill(list[i].pid, number);
        signalled++;
    }
    free(list);
    return signalled;
}

bool tern_descendants_kill(int timeout_ms, void (*reaped)(pid_t pid, int status))
{
    for (int waited_ms = 0;;) {
        int status;
        pid_t pid;
        while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
            if (reaped)
                reaped(pid, status);
        }
        if (pid < 0 && errno == ECHILD)
            return true;
        /* Orphans become our children only when their parent dies: repeat until none is left. */
        if (waited_ms % 16 == 0 && tern_descendants_signal(SIGKILL, NULL) == 0)
            return true;
        if (waited_ms >= timeout_ms)
            return false;
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
        waited_ms += 2;
    }
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *ftw)
{
    (void)info;
    (void)ftw;
    if (type == FTW_DP || type == FTW_DNR || type == FTW_D)
        rmdir(path);
    else
        unlink(path);
    return 0;
}

void tern_remove_tree(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
