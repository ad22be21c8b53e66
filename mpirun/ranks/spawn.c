/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's standard output is a pseudo-terminal, as with Open MPI: the C library then passes on
 * every line when it is printed, instead of 4 KiB at a time. It is raw: no byte is changed.
 * Standard error is a pipe. Standard input is mpirun's own for a single reader on this host, unless
 * it is a terminal; else a pipe for the ranks that read it; and /dev/null for all others. */
#include "mpirun/ranks/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "mpirun/base/strings.h"
#include "mpirun/ranks/guardian.h"
#include "mpirun/ranks/input.h"
#include "mpirun/ranks/node_memfd.h"
#include "mpirun/ranks/output.h"
#include "mpirun/ranks/rank_environment.h"
#include "mpirun/serve/pmix/server.h"

/* The plan: everything that the starts need, in one piece. Offset 0 means "none", so the plan
 * begins with padding. */
struct plan {
    char *bytes;
    size_t size, room;
};

static void plan_append(struct plan *plan, const void *data, size_t size)
{
    if (size == 0)
        return; /* `bytes` may still be NULL */
    if (plan->size + size > plan->room) {
        plan->room = 2 * (plan->size + size);
        plan->bytes = tern_must_grow(plan->bytes, plan->room);
    }
    memcpy(plan->bytes + plan->size, data, size);
    plan->size += size;
}

/* Appends at the next multiple of 8. Returns the offset. */
static uint64_t plan_add(struct plan *plan, const void *data, size_t size)
{
    plan_append(plan, "\0\0\0\0\0\0\0", -plan->size & 7);
    uint64_t offset = plan->size;
    plan_append(plan, data, size);
    return offset;
}

static uint64_t plan_add_list(struct plan *plan, const struct tern_strings *list)
{
    uint32_t count = list->count;
    uint64_t offset = plan_add(plan, &count, sizeof count);
    for (int i = 0; i < list->count; i++)
        plan_append(plan, list->items[i], strlen(list->items[i]) + 1);
    return offset;
}

static uint64_t plan_argv(struct plan *plan, const struct tern_job *job, int app, int rank)
{
    const struct tern_strings *argv = &job->options->apps[app].argv;
    if (!job->options->index_argv)
        return plan_add_list(plan, argv);
    struct tern_strings indexed = { 0 };
    tern_strings_format(&indexed, "%s-%d", argv->items[0], rank);
    for (int i = 1; i < argv->count; i++)
        tern_strings_add(&indexed, argv->items[i]);
    uint64_t offset = plan_add_list(plan, &indexed);
    tern_strings_free(&indexed);
    return offset;
}

/* Fills in the plan, and one request per rank. Returns 0 or TERN_ERR_OTHER. */
static int make_plan(const struct tern_job *job, struct plan *plan,
                     struct tern_guardian_message *requests)
{
    struct tern_guardian_message *shared =
        tern_must_alloc(job->options->app_count * sizeof *shared);
    plan_add(plan, "nothing", 8);
    for (int app = 0; app < job->options->app_count; app++) {
        const char *wdir =
            job->options->apps[app].wdir_session ? job->session_dir : job->wdirs[app];
        struct tern_strings env = { 0 };
        tern_environment_of_app(job, app, &env);
        if (wdir)
            tern_strings_set(&env, "PWD", wdir);
        shared[app].kind = TERN_GUARDIAN_SPAWN;
        shared[app].path = plan_add(plan, job->paths[app], strlen(job->paths[app]) + 1);
        shared[app].wdir = plan_add(plan, wdir, strlen(wdir) + 1);
        shared[app].argv = plan_argv(plan, job, app, 0);
        shared[app].shared_env = plan_add_list(plan, &env);
        tern_strings_free(&env);
    }
    int error = 0;
    for (int rank = 0; rank < job->map->size && !error; rank++) {
        const struct tern_rank_place *place = &job->map->places[rank];
        if (place->host != job->here)
            continue;
        struct tern_strings env = { 0 };
        tern_environment_of_rank(job, rank, &env);
        error = tern_server_add_environment(rank, &env);
        requests[rank] = shared[place->app];
        requests[rank].rank = rank;
        requests[rank].own_env = plan_add_list(plan, &env);
        if (job->options->index_argv)
            requests[rank].argv = plan_argv(plan, job, place->app, rank);
        if (place->bound)
            requests[rank].cpus = plan_add(plan, &place->cpus, sizeof place->cpus);
        tern_strings_free(&env);
    }
    free(shared);
    return error;
}

static int send_plan(const struct tern_job *job, int guardian_fd, const struct plan *plan)
{
    int fd = tern_memory_file("tern-plan");
    if (fd < 0)
        return tern_error(TERN_ERR_OTHER, "memfd_create: %s", strerror(errno));
    int error = 0;
    for (size_t done = 0; done < plan->size && !error;) {
        ssize_t n = write(fd, plan->bytes + done, plan->size - done);
        if (n < 0)
            error = tern_error(TERN_ERR_OTHER, "cannot write %zu bytes of memory: %s", plan->size,
                               strerror(errno));
        else
            done += n;
    }
    struct tern_guardian_message message = { .kind = TERN_GUARDIAN_PLAN, .size = plan->size };
    int fds[3] = { fd, job->node_memory_fd, job->reports_fd };
    if (!error && tern_guardian_send(guardian_fd, &message, fds, job->reports ? 3 : 2) < 0)
        error = tern_error(TERN_ERR_OTHER, "the guardian process has ended");
    close(fd);
    return error;
}

/* Opens both ends of a raw pseudo-terminal, or of a pipe if there is no terminal. Returns 0, or -1
 * with errno. */
static int open_terminal(int *ret_ours, int *ret_theirs)
{
    int ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    char name[64];
    if (ours >= 0) {
        int theirs = -1;
        if (grantpt(ours) == 0 && unlockpt(ours) == 0 && ptsname_r(ours, name, sizeof name) == 0)
            theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
        struct termios mode;
        if (theirs >= 0 && tcgetattr(theirs, &mode) == 0) {
            cfmakeraw(&mode);
            tcsetattr(theirs, TCSANOW, &mode);
            struct winsize window;
            if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0)
                ioctl(theirs, TIOCSWINSZ, &window);
            *ret_ours = ours;
            *ret_theirs = theirs;
            return 0;
        }
        if (theirs >= 0)
            close(theirs);
        close(ours);
    }
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    *ret_ours = ends[0];
    *ret_theirs = ends[1];
    return 0;
}

/* Makes the three descriptors that a rank gets; this process's ends go to input.c and output.c.
 * Returns 0, -1 with errno, or TERN_ERR_OTHER. */
static int make_streams(const struct tern_job *job, int rank, int fds[3])
{
    int ours, ends[2], error;
    int stdin_rank = job->options->stdin_rank;
    if (stdin_rank == rank && job->own_input && !isatty(STDIN_FILENO)) {
        /* Nothing is read that the rank does not read: it may be meant for the next program. A
         * terminal is not handed on, because the rank is not in its foreground. */
        fds[0] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    } else if (stdin_rank == rank || stdin_rank == TERN_STDIN_ALL) {
        if (pipe2(ends, O_CLOEXEC) < 0)
            return -1;
        fds[0] = ends[0];
        tern_input_add(ends[1]);
    } else {
        fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    if (fds[0] < 0 || open_terminal(&ours, &fds[1]) < 0)
        return -1;
    error = tern_output_add(rank, 1, ours);
    if (error)
        return error;
    if (job->options->merge_stderr) {
        fds[2] = fcntl(fds[1], F_DUPFD_CLOEXEC, 3);
        return fds[2] < 0 ? -1 : 0;
    }
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fds[2] = ends[1];
    return tern_output_add(rank, 2, ends[0]);
}

static int spawn_rank(const struct tern_job *job, int guardian_fd,
                      struct tern_guardian_message *request)
{
    int fds[3] = { -1, -1, -1 };
    int error = make_streams(job, request->rank, fds);
    if (error == -1)
        error = tern_error(TERN_ERR_OTHER, "cannot make the standard streams of rank %d: %s%s",
                           request->rank, strerror(errno),
                           errno == EMFILE ? "; raise the limit (ulimit -n)"
                           : errno == ENOENT ? "; is there a /dev/null?" : "");
    if (!error && tern_guardian_send(guardian_fd, request, fds, 3) < 0)
        error = tern_error(TERN_ERR_OTHER, "the guardian process has ended");
    for (int i = 0; i < 3; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    return error;
}

int tern_spawn_ranks(const struct tern_job *job, int guardian_fd)
{
    struct plan plan = { 0 };
    struct tern_guardian_message *requests = tern_must_alloc(job->map->size * sizeof *requests);
    int error = make_plan(job, &plan, requests);
    if (!error)
        error = send_plan(job, guardian_fd, &plan);
    for (int rank = 0; rank < job->map->size && !error; rank++) {
        if (job->map->places[rank].host == job->here)
            error = spawn_rank(job, guardian_fd, &requests[rank]);
    }
    free(plan.bytes);
    free(requests);
    return error;
}
