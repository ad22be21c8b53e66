/* SPDX-License-Identifier: BSD-3-Clause */
/* Each mpirun has its job's directory open, so /proc/PID/fd leads there, whatever TMPDIR is. */
#include "mpirun/where/where_door.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/util/base/log.h"
#include "lib/util/base/text.h"
#include "mpirun/base/directory_socket.h"
#include "mpirun/base/loop.h"
#include "mpirun/base/strings.h"
#include "mpirun/where/where.h"
#include "mpirun/where/where_circles.h"

enum { ANSWER_MOST = 1 << 20, PATIENCE_S = 20, CALLS_PER_TURN = 8, TOKEN_DIGITS = 32 };

/* ---- in the mpirun of the job ---- */

static struct tern_watch door;
static struct tern_rest rest; /* of the door, while no descriptor is left */

static void write_all(int fd, const char *bytes, size_t left)
{
    while (left) {
        ssize_t n = send(fd, bytes, left, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) /* the caller has gone, or does not read */
            return;
        bytes += n;
        left -= (size_t)n;
    }
}

/* Answers the caller behind the descriptor `to`: the table, a byte of 0, and the waits. */
static void told(const char *table, void *to)
{
    int fd = (int)(intptr_t)to;
    char *text = tern_must_format("mpirun: %s%s\n", tern_where_job(), table);
    const char *waits = tern_where_waits();
    int room = (int)(strlen(text) + strlen(waits)) * 2 + 4096;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    write_all(fd, text, strlen(text) + 1);
    write_all(fd, waits, strlen(waits));
    free(text);
    close(fd);
}

static void door_ready(struct tern_watch *watch, uint32_t events)
{
    int fd;
    (void)events;
    for (int i = 0; i < CALLS_PER_TURN &&
                    (fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;
         i++) {
        struct ucred caller = {.uid = (uid_t)-1};
        socklen_t size = sizeof caller;
        bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &caller, &size) == 0 &&
                     (caller.uid == geteuid() || caller.uid == 0);
        if (!known || !tern_where_ask(told, (void *)(intptr_t)fd))
            close(fd);
    }
    if (fd < 0)
        tern_loop_rest_if_scarce(&rest, watch, errno);
}

void tern_where_door_open(const char *directory)
{
    int fd = tern_directory_listen(directory, "where", SOCK_STREAM);
    door = (struct tern_watch){.fd = fd, .ready = door_ready};
    if (fd >= 0 && tern_loop_watch(&door, EPOLLIN) < 0)
        close(fd);
}

/* ---- in the one that asks ---- */

/* Returns true if the descriptor at `path` is a job's directory of user `owner`:
 * .../tern-UID/TOKEN or .../tern-UID-OTHER/TOKEN, which nobody else can write. */
static bool is_job_directory(const char *path, uid_t owner)
{
    char target[600], above[32];
    struct stat entry;
    ssize_t n = readlink(path, target, sizeof target - 1);
    target[n < 0 ? 0 : n] = '\0';
    char *name = strrchr(target, '/');
    if (!name || strspn(name + 1, "0123456789abcdef") != TOKEN_DIGITS || name[1 + TOKEN_DIGITS])
        return false;
    *name = '\0';
    const char *parent = strrchr(target, '/');
    int length = snprintf(above, sizeof above, "/tern-%u", (unsigned)owner);
    return parent && strncmp(parent, above, (size_t)length) == 0 &&
           (parent[length] == '\0' || parent[length] == '-') && stat(path, &entry) == 0 &&
           S_ISDIR(entry.st_mode) && entry.st_uid == owner && !(entry.st_mode & 022);
}

/* Returns true if user `owner` listens at the other end. */
static bool is_door_of(int fd, uid_t owner)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == owner;
}

/* Connects to the door of process `pid`. Returns a descriptor, or -1. */
static int call(const char *pid)
{
    char folder[64], path[400];
    struct dirent *entry;
    struct stat process;
    int fd = -1;
    snprintf(folder, sizeof folder, "/proc/%.20s/fd", pid);
    DIR *list = stat(folder, &process) == 0 ? opendir(folder) : NULL;
    while (list && fd < 0 && (entry = readdir(list))) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (!is_job_directory(path, process.st_uid))
            continue;
        snprintf(address.sun_path, sizeof address.sun_path, "%.80s/where", path);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (struct sockaddr *)&address, sizeof address) < 0 ||
            !is_door_of(fd, process.st_uid)) {
            close(fd);
            fd = -1;
        }
    }
    if (list)
        closedir(list);
    return fd;
}

/* What /proc says of a process. */
struct process {
    char name[20]; /* of its program, at most 15 bytes; "" if unknown */
    char state;    /* as in /proc/PID/stat; 0: unknown */
    int parent;
};

static struct process look_up(const char *pid)
{
    struct process process = {0};
    char path[64], text[400] = "";
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    FILE *file = fopen(path, "re");
    if (file && !fgets(text, sizeof text, file))
        text[0] = '\0';
    if (file)
        fclose(file);
    char *name = strchr(text, '('), *end = strrchr(text, ')'); /* the name may contain anything */
    if (!name || !end || sscanf(end + 1, " %c %d", &process.state, &process.parent) != 2)
        return (struct process){0};
    *end = '\0';
    snprintf(process.name, sizeof process.name, "%s", name + 1);
    return process;
}

/* Returns true if the process is stopped by a signal or a debugger. */
static bool is_stopped(const char *pid)
{
    char state = look_up(pid).state;
    return state == 'T' || state == 't';
}

/* Finds the mpirun above a process. Returns its process id, or 0. A guardian, which stands between
 * them, has the job's directory open, too. */
static int find_above(struct process process)
{
    char pid[16];
    while (process.parent > 1) {
        int found = process.parent;
        snprintf(pid, sizeof pid, "%d", found);
        process = look_up(pid);
        int fd = strcmp(process.name, "tern-guardian") ? call(pid) : -1;
        if (fd >= 0) {
            close(fd);
            return found;
        }
    }
    return 0;
}

/* Returns true if the process runs the program that this process runs. */
static bool is_mpirun(const char *pid)
{
    char path[64];
    struct stat own, other;
    snprintf(path, sizeof path, "/proc/%.20s/exe", pid);
    return stat("/proc/self/exe", &own) == 0 && stat(path, &other) == 0 &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/* Says why the process does not answer, and what to do. */
static void explain(const char *pid)
{
    char path[64];
    struct stat entry;
    struct process process = look_up(pid);
    snprintf(path, sizeof path, "/proc/%.20s", pid);
    if (stat(path, &entry) < 0) {
        tern_log("there is no process %s here; --where wants the process id of mpirun itself, on "
                 "the host where it was started",
                 pid);
    } else if (process.state == 'Z' || process.state == 'X') {
        tern_log("process %s (%s) has ended", pid, process.name);
    } else if (geteuid() && entry.st_uid != geteuid()) {
        const struct passwd *user = getpwuid(entry.st_uid);
        tern_log("process %s (%s) belongs to user %s (id %d); only this user and root may ask it",
                 pid, process.name, user ? user->pw_name : "?", (int)entry.st_uid);
    } else if (find_above(process)) {
        int above = find_above(process);
        tern_log("process %s (%s) is no mpirun, but belongs to the job of mpirun %d; ask that one: "
                 "mpirun --where %d",
                 pid, process.name, above, above);
    } else if (is_mpirun(pid)) {
        tern_log("mpirun %s runs no job now: its job has not begun yet or has ended, or it only "
                 "starts ranks for an mpirun on another host",
                 pid);
    } else {
        tern_log("process %s (%s) is no mpirun of Tern MPI; --where wants the process id of mpirun "
                 "itself, which --report-pid and ps say",
                 pid, process.name);
    }
}

/* Waits until the answer, or its end, can be read. Gives up if the process is stopped. */
static bool answers(int fd, const char *pid)
{
    for (int second = 0; second < PATIENCE_S; second++) {
        if (poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 1000) > 0)
            return true;
        if (is_stopped(pid)) {
            tern_log("mpirun %s is stopped, by a signal or a debugger, so it cannot answer; "
                     "`kill -CONT %s` lets it go on",
                     pid, pid);
            return false;
        }
    }
    tern_log("mpirun %s has not answered for %d s; is its host overloaded, or is it at its end?",
             pid, PATIENCE_S);
    return false;
}

/* Reads the answer of mpirun `pid` at the door `fd`, which it closes. Returns the table, behind
 * whose end the waits begin, or NULL with a message. The caller frees it. */
static char *read_answer(int fd, const char *pid)
{
    size_t used = 0, room = 0;
    char *bytes = NULL;
    ssize_t n = 1;
    bool answered = true;
    while (n > 0 && used < ANSWER_MOST && (answered = answers(fd, pid))) {
        if (room - used < 4096)
            bytes = tern_must_grow(bytes, room = 2 * room + 8192);
        n = read(fd, bytes + used, 4094);
        used += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    if (answered && used) {
        bytes[used] = bytes[used + 1] = '\0'; /* the waits may be missing */
        return bytes;
    }
    if (answered)
        tern_log("mpirun %s has ended before it answered", pid);
    free(bytes);
    return NULL;
}

/* Adds the waits of the job of mpirun `pid`, if the process is one. */
static void add_waits(struct tern_where_waits *waits, const char *pid)
{
    int fd = strcmp(look_up(pid).name, "tern-guardian") ? call(pid) : -1;
    char *answer = fd < 0 ? NULL : read_answer(fd, pid);
    if (answer)
        tern_where_read_waits(waits, answer + strlen(answer) + 1);
    free(answer);
}

/* Adds the waits of the jobs that belong together with that of mpirun `pid`: the mpiruns of jobs
 * that ranks have started are children of the first mpirun. */
static void add_family(struct tern_where_waits *waits, const char *pid)
{
    struct dirent *entry;
    int parent = look_up(pid).parent, first = find_above(look_up(pid));
    first = first && first == parent ? first : atoi(pid);
    DIR *list = opendir("/proc");
    while (list && (entry = readdir(list))) {
        const char *name = entry->d_name;
        bool related = name[strspn(name, "0123456789")] == '\0' &&
                       (atoi(name) == first || look_up(name).parent == first);
        if (related && atoi(name) != atoi(pid))
            add_waits(waits, name);
    }
    if (list)
        closedir(list);
}

/* Prints an answer such that a terminal shows it and does nothing else: another program may have
 * written it, and it contains names that programs choose. */
static void print_answer(char *answer)
{
    for (char *line = answer, *end; *line; line = end) {
        size_t length = strcspn(line, "\n");
        end = line + length + (line[length] == '\n');
        line[length] = '\0';
        char *shown = tern_must_alloc(4 * length + 1);
        tern_text_make_printable(line, false, shown, 4 * length + 1);
        printf("%s\n", shown);
        free(shown);
    }
}

int tern_where_ask_process(const char *pid)
{
    if (!*pid || pid[strspn(pid, "0123456789")]) {
        tern_log(
            "--where wants the process id of an mpirun, not \"%s\"; --report-pid and ps say it",
            pid);
        return 1;
    }
    int fd = call(pid);
    if (fd < 0) {
        explain(pid);
        return 1;
    }
    char *answer = read_answer(fd, pid);
    if (!answer)
        return 1;
    struct tern_where_waits waits = {0};
    tern_where_read_waits(&waits, answer + strlen(answer) + 1);
    if (waits.count) /* for ranks of other jobs, too */
        add_family(&waits, pid);
    char *circles = tern_where_circles(&waits);
    print_answer(answer);
    print_answer(circles + (*circles == '\n')); /* the circles begin with a newline */
    free(circles);
    free(waits.list);
    free(answer);
    return fflush(stdout) == 0 ? 0 : 1;
}
