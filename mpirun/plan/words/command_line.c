/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: options, a program, its arguments; then ":" and the next program. Every option
 * may be written with one dash or two. option_table.c lists them all. */
#include "mpirun/plan/words/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/settings/said.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/util/base/prefix.h"
#include "lib/util/base/text.h"
#include "mpirun/plan/words/join_options.h"
#include "mpirun/plan/words/line_options.h"
#include "mpirun/plan/words/settings.h"

/* --verbose: names the variables of other launchers in the environment. */
static void name_foreign_variables(void)
{
    char names[400] = "";
    int length = 0;
    for (char **entry = environ; entry && *entry; entry++) {
        bool foreign = strncmp(*entry, "I_MPI_", 6) == 0 || strncmp(*entry, "HYDRA_", 6) == 0;
        if (foreign && length < (int)sizeof names)
            length += snprintf(names + length, sizeof names - (size_t)length, "%s%.*s",
                               length ? ", " : "", (int)strcspn(*entry, "="), *entry);
    }
    if (length)
        tern_log("%s: variables of Intel MPI and MPICH, which mean nothing here", names);
}

/* Warns of variables that name hosts for other launchers, if nothing else names hosts. */
static void warn_of_foreign_hosts(struct tern_options *options)
{
    static const char *const names[] = {"HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"};
    bool named = options->hosts.count || options->hostfiles.count || options->default_hostfile;
    for (size_t i = 0; i < sizeof names / sizeof *names && !named; i++) {
        const char *file = getenv(names[i]);
        if (file && *file)
            tern_options_warn(options,
                              "%s is a variable of other launchers (MPICH, Intel MPI) and has no "
                              "effect: write --hostfile %s, with lines HOST slots=N",
                              names[i], file);
    }
}

/* An absolute path to mpirun, in a directory `bin`, stands for --prefix. */
static void imply_prefix(const char *called, struct tern_options *options)
{
    const char *last = strrchr(called, '/'), *moved = getenv("OPAL_PREFIX");
    static const char bin[] = "/bin";
    bool in_bin = last && last - called >= (long)strlen(bin) &&
                  strncmp(last - strlen(bin), bin, strlen(bin)) == 0;
    if (called[0] != '/' || !in_bin || (moved && *moved))
        return;
    /* the dynamic linker looks into the system's own directories anyway, behind the user's */
    if (strcmp(tern_prefix(), "/usr"))
        options->implied_prefix = tern_prefix();
}

/* Warns if OPAL_PREFIX names no directory. */
static void check_moved(struct tern_options *options)
{
    const char *moved = getenv("OPAL_PREFIX");
    struct stat info;
    if (moved && *moved && (stat(moved, &info) < 0 || !S_ISDIR(info.st_mode)))
        tern_options_warn(options,
                          "OPAL_PREFIX is %s, and there is no such directory; expected that of "
                          "this installation, with bin/mpirun in it. Its libraries and parameter "
                          "files are not found there",
                          moved);
}

/* Writes the warnings, and notes for the ranks which faults were said. */
static void say_warnings(struct tern_options *options)
{
    warn_of_foreign_hosts(options);
    if (options->verbose)
        name_foreign_variables();
    for (int i = 0; i < options->warnings.count && !options->quiet; i++)
        tern_log("warning: %s", options->warnings.items[i]);
    if (tern_param_said())
        tern_strings_set(&options->env, TERN_PARAMS_SAID, tern_param_said());
}

int tern_options_parse(int argc, char **argv, const char *separator,
                       struct tern_options *ret_options)
{
    struct tern_options options = {
        .separator = separator,
        .job_number = 1,
        .map = {.by = TERN_MAP_LEVEL_DEFAULT,
                .rank_by = TERN_MAP_LEVEL_DEFAULT,
                .bind = TERN_MAP_LEVEL_DEFAULT},
    };
    imply_prefix(argv[0], &options);
    check_moved(&options);
    struct tern_options_line line = {0};
    int result = tern_line_read(argv + 1, argc - 1, &options, &line);
    if (result == 0)
        result = tern_settings_apply(&line, &options);
    if (result == 0)
        result = tern_options_join(&options);
    tern_line_free(&line);
    say_warnings(&options);
    if (result < 0)
        tern_log("%s", tern_error_text(result));
    *ret_options = options;
    return result;
}
