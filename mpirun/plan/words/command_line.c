/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: options, a program, its arguments; then ":" and the next program. Every option
 * may be written with one dash or two. option_table.c lists them all. */
#include "mpirun/plan/words/command_line.h"

#include <config.h>
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
#include "mpirun/plan/words/help.h"
#include "mpirun/plan/words/join_options.h"
#include "mpirun/plan/words/line_options.h"
#include "mpirun/plan/words/policy.h"
#include "mpirun/plan/words/settings.h"

/* Refuses a second hostfile of one program. *first is the first one, or NULL. */
static int note_hostfile(const struct tern_said *said, const char **first)
{
    const char *path = said->values[0];
    if (strncmp(said->option->names, "hostfile", strlen("hostfile")))
        return 0;
    if (*first && strcmp(*first, path))
        return tern_error(TERN_ERR_ARG,
                          "%s %s: this program has the hostfile %s already; put the "
                          "lines of both into one file",
                          said->word, path, *first);
    *first = path;
    return 0;
}

/* Gives what stands beside --app, in `app`, to the programs of the file from number `first` on, as
 * far as their lines do not say it themselves. Returns 0 or TERN_ERR_ARG. */
static int give_to_file(const struct tern_app *app, const char *path, int first,
                        struct tern_options *options)
{
    if (first == options->app_count)
        return tern_error(TERN_ERR_ARG, "the application file %s names no program", path);
    if (app->argv.count)
        return tern_error(TERN_ERR_ARG,
                          "the program %s stands beside --app %s, which says what to "
                          "run; write it on a line of that file",
                          app->argv.items[0], path);
    if (app->soft)
        return tern_error(TERN_ERR_ARG,
                          "-soft stands beside --app %s; write it on a line of that "
                          "file, behind -np",
                          path);
    bool counts = !app->np;
    for (int i = first; i < options->app_count; i++) {
        struct tern_app *of = &options->apps[i];
        counts |= !of->np;
        of->np = of->np ? of->np : app->np;
        of->wdir = of->wdir ? of->wdir : app->wdir;
        of->path = of->path ? of->path : app->path;
        of->wdir_session |= app->wdir_session;
        for (int v = 0; v < app->env.count; v++) {
            char *name = tern_must_copy(app->env.items[v]), *value = strchr(name, '=');
            *value++ = '\0';
            if (!tern_strings_value(&of->env, name))
                tern_strings_set(&of->env, name, value);
            free(name);
        }
    }
    if (!counts)
        tern_options_warn(options,
                          "-np %d has no effect beside --app %s: the lines of that file "
                          "say how many ranks each program has",
                          app->np, path);
    return 0;
}

/* Refuses an option whose dash is another character, as word processors write it: it would be the
 * name of a program. */
static int check_dash(const char *word)
{
    static const char *const dashes[] = {"\u2010", "\u2011", "\u2012",
                                         "\u2013", "\u2014", "\u2212"};
    for (size_t i = 0; i < sizeof dashes / sizeof *dashes; i++)
        if (strncmp(word, dashes[i], strlen(dashes[i])) == 0)
            return tern_error(TERN_ERR_ARG,
                              "%s begins with a dash that is not \"-\"; write -%s, or ./%s if a "
                              "program is meant",
                              word, word + strlen(dashes[i]), word);
    return 0;
}

/* Prints the version, or the help for the word behind --help. Returns 1. */
static int print(const struct tern_said *said)
{
    if (said->option->kind == TERN_OPTION_HELP)
        tern_help_print(said->values[0]);
    else
        printf("mpirun (Open MPI) %s\n%s, compatible with it\n", TERN_OMPI_RELEASE, PACKAGE_STRING);
    return 1;
}

static int apply_line(const struct tern_options_line *line, struct tern_options *options);

/* Applies the options of one program. *ret_file is the file of --app, or NULL. Returns 0, 1 if help
 * or version was printed, or TERN_ERR_ARG. */
static int apply_options(const struct tern_line_program *program, struct tern_app *app,
                         const char **ret_file, struct tern_options *options)
{
    const char *hostfile = NULL;
    int error = 0;
    *ret_file = NULL;
    for (int i = 0; i < program->count && !error; i++) {
        const struct tern_said *said = &program->said[i];
        if (said->option->kind == TERN_OPTION_HELP || said->option->kind == TERN_OPTION_VERSION)
            return print(said);
        tern_said_note(said, options);
        error = note_hostfile(said, &hostfile);
        options->app = app;
        if (!error && !said->file) {
            error = tern_settings_apply(said, options);
        } else if (!error) {
            *ret_file = said->values[0];
            options->file_depth++;
            error = apply_line(said->file, options);
            options->file_depth--;
        }
    }
    options->app = NULL;
    return error;
}

/* Checks the program of one context, and completes it. Returns 0 or TERN_ERR_ARG. */
static int complete_app(struct tern_app *app, const struct tern_options *options)
{
    if (app->argv.count == 0 && options->shows_library) {
        tern_strings_format(&app->argv, "%s/bin/mpirun", tern_prefix());
        tern_strings_add(&app->argv, TERN_PLAIN_RANK);
    }
    if (app->argv.count == 0)
        return tern_error(
            TERN_ERR_ARG,
            "there is no program to run; write mpirun [OPTION]... PROGRAM [ARGUMENT]...");
    if (app->soft && !app->np)
        return tern_error(TERN_ERR_ARG, "-soft needs -np, too: the largest number of ranks");
    return app->soft ? tern_policy_soft("-soft", app->soft, app->np, &app->np) : 0;
}

/* Applies the options of one program to `app` and to `options`. Returns like apply_options. */
static int apply_program(const struct tern_line_program *program, struct tern_app *app,
                         struct tern_options *options)
{
    const char *file;
    int first = options->app_count, hosts = options->hosts_are_default ? 0 : options->hosts.count;
    int files = options->hostfiles.count;
    int error = apply_options(program, app, &file, options);
    if (!error && program->argc)
        error = check_dash(program->argv[0]);
    if (error)
        return error;
    for (int i = 0; i < program->argc; i++)
        tern_strings_add(&app->argv, program->argv[i]);
    for (; hosts < options->hosts.count && !options->hosts_are_default; hosts++)
        tern_strings_add(&app->hosts, options->hosts.items[hosts]);
    for (; files < options->hostfiles.count; files++)
        tern_strings_add(&app->hostfiles, options->hostfiles.items[files]);
    return file ? give_to_file(app, file, first, options) : complete_app(app, options);
}

/* Applies the programs of a line with their options. Returns like apply_options. */
static int apply_line(const struct tern_options_line *line, struct tern_options *options)
{
    int error = 0;
    for (int p = 0; p < line->count && !error; p++) {
        struct tern_app app = {0};
        error = apply_program(&line->programs[p], &app, options);
        if (error || !app.argv.count) {
            tern_app_free(&app);
            continue;
        }
        options->apps =
            tern_must_grow(options->apps, (options->app_count + 1) * sizeof *options->apps);
        options->apps[options->app_count++] = app;
    }
    return error;
}

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
        result = tern_settings_before(&line, &options);
    if (result == 0)
        result = apply_line(&line, &options);
    if (result == 0)
        result = tern_options_join(&options);
    tern_line_free(&line);
    say_warnings(&options);
    if (result < 0)
        tern_log("%s", tern_error_text(result));
    *ret_options = options;
    return result;
}
