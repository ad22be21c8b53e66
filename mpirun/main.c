/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/util/base/streams.h"
#include "lib/util/base/system_calls.h"
#include "mpirun/agent.h"
#include "mpirun/job.h"
#include "mpirun/jobs/spawned.h"
#include "mpirun/left_out.h"
#include "mpirun/placement.h"
#include "mpirun/plan/words/command_line.h"
#include "mpirun/plan/job/executable.h"
#include "mpirun/plan/job/show.h"
#include "mpirun/plan/job/this_host.h"
#include "mpirun/ranks/guardian.h"
#include "mpirun/ranks/output.h"
#include "mpirun/ranks/rank_environment.h"
#include "mpirun/ranks/session_dir.h"
#include "mpirun/plain_rank.h"
#include "mpirun/run.h"
#include "mpirun/tree/agents.h"
#include "mpirun/where/where_door.h"

enum { AGENTS_END_MS = 1000 };

/* Checks the limit of the stack, because libpmix overflows a small stack without a message. The
 * size it needs was measured. Returns an exit status. */
static int check_stack(char **envp)
{
    enum { NEEDED_KIB = 240 };
    struct rlimit limit;
    char here, *end = &here;
    if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    for (; *envp; envp++)
        end = *envp + strlen(*envp) > end ? *envp + strlen(*envp) : end;
    rlim_t used_kib = (rlim_t)(end - &here) / 1024, kib = limit.rlim_cur / 1024;
    if (kib >= used_kib + NEEDED_KIB)
        return 0;
    tern_log("the limit of the stack is %llu KiB, and %llu KiB are in use; mpirun needs %d KiB "
             "more: raise the limit (ulimit -s)",
             (unsigned long long)kib, (unsigned long long)used_kib, NEEDED_KIB);
    return 1;
}

/* Returns the absolute working directory of a program. The caller frees it. */
static char *name_wdir(const struct tern_app *app, const char *here)
{
    return !app->wdir            ? tern_must_copy(here)
           : app->wdir[0] == '/' ? tern_must_copy(app->wdir)
                                 : tern_must_format("%s/%s", here, app->wdir);
}

static int check_wdir(const char *wdir)
{
    struct stat info;
    if (stat(wdir, &info) < 0)
        return tern_error(TERN_ERR_ARG, "cannot use the working directory %s: %s", wdir,
                          strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return tern_error(TERN_ERR_ARG,
                          "cannot use the working directory %s: it is not a directory", wdir);
    return 0;
}

static int name_wdirs(struct tern_options *options, char **wdirs)
{
    char *here = getcwd(NULL, 0);
    if (!here)
        return tern_error(TERN_ERR_OTHER, "cannot find the working directory: %s",
                          strerror(errno));
    for (int app = 0; app < options->app_count; app++)
        wdirs[app] = name_wdir(&options->apps[app], here);
    /* agents run in other directories */
    if (options->output_dir && options->output_dir[0] != '/') {
        char *absolute = tern_must_format("%s/%s", here, options->output_dir);
        free(options->output_dir);
        options->output_dir = absolute;
    }
    free(here);
    return 0;
}

/* Returns 0, or mpirun's exit status after a message was written. */
static int find_programs(const struct tern_options *options, char **wdirs, char **paths)
{
    int status = 0;
    for (int app = 0; app < options->app_count && !status; app++) {
        if (check_wdir(wdirs[app]))
            status = 1;
        else
            status = tern_program_find(&options->apps[app], wdirs[app], &paths[app]);
    }
    if (status)
        tern_log("%s", tern_error_text(TERN_ERR_ARG));
    return status;
}

static int fault(int error)
{
    tern_log("%s", tern_error_text(error));
    return 1;
}

/* Everything that lasts as long as the job. */
static struct {
    struct tern_options options;
    char **paths, **wdirs;
    struct tern_placement placement;
    struct tern_job job;
} all;

/* To begin anew; NULL: another mpirun or a program has started this one, and could not follow. */
static char **command_line;

static void agent_said(const char *line)
{
    tern_output_say("%s", line);
}

/* Handles the command lines that mpirun uses to start itself on other hosts: mpirun --agent [call |
 * sweep]. Returns false if the command line is none of these. */
static bool be_agent(int argc, char **argv, int *ret_status)
{
    const char *what = argc > 2 ? argv[2] : "";
    if (argc == 2)
        *ret_status = tern_agent_run(false);
    else if (argc == 3 && strcmp(what, "call") == 0)
        *ret_status = tern_agent_run(true);
    else if (argc == 3 && strcmp(what, "sweep") == 0)
        *ret_status = tern_session_sweep();
    else
        return false;
    return true;
}

/* Serves `mpirun --where PID` and `--where=PID`. Returns true if that is the command line. */
static bool asks_where(int argc, char **argv, int *ret_status)
{
    static const char joined[] = "--where=";
    const char *pid = NULL;
    if (argc == 3 && (strcmp(argv[1], "--where") == 0 || strcmp(argv[1], "-where") == 0))
        pid = argv[2];
    else if (argc == 2 && strncmp(argv[1], joined, strlen(joined)) == 0)
        pid = argv[1] + strlen(joined);
    if (pid)
        *ret_status = tern_where_ask_process(pid);
    return pid != NULL;
}

/* Reads the command line, starts the job and waits for its end. Returns mpirun's exit status. */
static int launch(int argc, char **argv)
{
    static const struct tern_start_agents_listener listener = {tern_run_lose, tern_job_received,
                                                         agent_said};
    struct tern_options *options = &all.options;
    struct tern_placement *placement = &all.placement;
    int parsed = tern_options_parse(argc, argv, tern_spawned_separator(), options);
    if (parsed)
        return parsed < 0 ? 1 : tern_show_finish();
    tern_spawned_complete(options);
    int error = tern_system_calls_try(TERN_CALLS_OF_LAUNCHER);
    if (error)
        return fault(error);
    all.paths = tern_must_alloc(options->app_count * sizeof *all.paths);
    all.wdirs = tern_must_alloc(options->app_count * sizeof *all.wdirs);
    error = tern_placement_collect(options, placement);
    if (!error)
        error = name_wdirs(options, all.wdirs);
    if (error)
        return fault(error);
    bool only_here = tern_placement_is_here(placement);
    int status = only_here ? find_programs(options, all.wdirs, all.paths) : 0;
    if (status)
        return status;
    error = tern_placement_make(placement, &listener);
    if (error) {
        char *said = tern_must_copy(tern_error_text(error));
        tern_agents_end(AGENTS_END_MS);
        if (command_line)
            tern_left_out_begin_anew(&placement->list, command_line);
        tern_log("%s", said);
        free(said);
        return 1;
    }
    if (only_here)
        tern_this_host_check(options);
    if (!only_here && options->preload && !options->quiet)
        tern_log("warning: --preload-binary has no effect: the program must be at the same path on "
                 "all hosts");
    if (!only_here && placement->here >= 0 && tern_map_ranks_on(&placement->map, placement->here))
        status = find_programs(options, all.wdirs, all.paths);
    if (!status)
        status = tern_show(options, placement->hosts, placement->list.count, placement->unused,
                           &placement->map);
    if (status || options->do_not_launch) {
        tern_agents_end(AGENTS_END_MS);
        return status;
    }
    all.job = (struct tern_job){.options = options,
                                .hosts = placement->hosts,
                                .host_count = placement->list.count,
                                .here = placement->here,
                                .own_input = true,
                                .topology = placement->topology,
                                .map = &placement->map,
                                .paths = all.paths,
                                .wdirs = all.wdirs};
    tern_environment_add_figures(&all.options);
    int hosts = placement->list.count + placement->unused;
    return tern_job_run(&all.job, placement->hosts, only_here ? 0 : hosts);
}

int main(int argc, char **argv, char **envp)
{
    tern_streams_hold();
    tern_log_name("mpirun");
    /* A limit on file sizes (ulimit -f) also holds for memory files: calls fail, and messages say
     * so. The guardian gives ranks the signal back. */
    signal(SIGXFSZ, SIG_IGN);
    int status = check_stack(envp);
    if (status)
        return status;
    tern_guardian_command_line(argv);
    if (argc > 1 && strcmp(argv[1], "--agent") == 0 && be_agent(argc, argv, &status))
        return status;
    if (asks_where(argc, argv, &status))
        return status;
    if (argc == 2 && strcmp(argv[1], TERN_PLAIN_RANK) == 0)
        return tern_plain_rank_run();
    if (argc < 2 || strcmp(argv[1], "--spawned") != 0) {
        command_line = argv;
        return launch(argc, argv);
    }
    int error = tern_spawned_open(argc, argv, &argc, &argv);
    status = error ? fault(error) : launch(argc, argv);
    tern_spawned_end(NULL);
    return status;
}
