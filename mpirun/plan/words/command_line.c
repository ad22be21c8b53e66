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
#include "mpirun/plan/words/line_words.h"
#include "mpirun/plan/words/policy.h"
#include "mpirun/plan/words/settings.h"

static int apply_words(char **words, int count, struct tern_options *options);

/* --app FILE: reads a file with a program and its options on each line. A backslash at the end of a
 * line continues it. Returns 0, 1 if help or version was printed, or TERN_ERR_ARG. */
static int read_appfile(const char *path, struct tern_options *options)
{
    if (options->file_depth == TERN_FILES_DEEP)
        return tern_error(TERN_ERR_ARG,
                          "the application file %s is nested in %d others; "
                          "application files may not name each other in a "
                          "circle",
                          path, TERN_FILES_DEEP);
    const char *why;
    char *text = tern_read_text(path, &why), *rest = text, *line;
    if (!text)
        return tern_error(TERN_ERR_ARG, "cannot read the application file %s: %s", path, why);
    options->file_depth++;
    int error = 0, number = 0;
    struct tern_strings words = {0};
    /* the text after the last line break is not a line if it is empty */
    while (!error && (line = strsep(&rest, "\n")) && (*line || rest)) {
        size_t length = strlen(line);
        bool goes_on = length > 0 && line[length - 1] == '\\';
        line[length - goes_on] = '\0';
        error = tern_words_split(path, ++number, line, &words);
        if (goes_on)
            continue;
        if (words.count && !error)
            error = apply_words(words.items, words.count, options);
        for (int i = 0; i < words.count; i++)
            tern_strings_take(&options->kept, words.items[i]);
        free(words.items);
        words = (struct tern_strings){0};
    }
    if (words.count && !error)
        error = tern_error(TERN_ERR_ARG, "%s ends with a backslash, but no line follows", path);
    tern_strings_free(&words);
    free(text);
    options->file_depth--;
    return error;
}

/* Refuses a second hostfile of one program. *said is the first one, or NULL. */
static int note_hostfile(const struct tern_option *option, const char *word, char **values,
                         const char **said)
{
    if (option != tern_option_named("hostfile"))
        return 0;
    const char *path = values[0];
    if (*said && strcmp(*said, path))
        return tern_error(TERN_ERR_ARG,
                          "%s %s: this program has the hostfile %s already; put the "
                          "lines of both into one file",
                          word, path, *said);
    *said = path;
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

/* Applies an option. An empty value, as a script writes with a variable that is not set, gets a
 * warning if nobody else has a word for it. */
static int apply_option(const struct tern_option *option, const char *word, char **values,
                        bool joined, struct tern_app *app, struct tern_options *options)
{
    int said = options->warnings.count;
    int error = tern_settings_apply(option, word, values, app, options);
    bool reads = option->kind == TERN_OPTION_READ || option->kind == TERN_OPTION_TUNE ||
                 option->kind == TERN_OPTION_AM || option->row.choices;
    if (!error && reads && tern_option_values(option) && !*values[0] &&
        options->warnings.count == said)
        tern_options_warn(options, "%s%s is empty and has no effect", word, joined ? "" : " \"\"");
    return error;
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
        tern_help_print(said->left ? said->words[0] : NULL);
    else
        printf("mpirun (Open MPI) %s\n%s, compatible with it\n", TERN_OMPI_RELEASE, PACKAGE_STRING);
    return 1;
}

/* Applies the options of one program. *ret_file is the file of --app, or NULL. Returns 0, 1 if help
 * or version was printed, or TERN_ERR_ARG. */
static int apply_options(struct tern_line_program *program, struct tern_app *app,
                         const char **ret_file, struct tern_options *options)
{
    const char *hostfile = NULL;
    int error = 0;
    *ret_file = NULL;
    for (int i = 0; i < program->count && !error; i++) {
        struct tern_said *said = &program->said[i];
        char **values = tern_said_values(said);
        if (said->option->kind == TERN_OPTION_HELP || said->option->kind == TERN_OPTION_VERSION)
            return print(said);
        tern_said_note(said, options);
        tern_said_note_repeat(said, options);
        tern_said_note_inherited(said, options);
        error = note_hostfile(said->option, said->word, values, &hostfile);
        if (!error && said->option->kind == TERN_OPTION_APPFILE)
            error = read_appfile(*ret_file = values[0], options);
        else if (!error)
            error =
                apply_option(said->option, said->word, values, said->joined != NULL, app, options);
    }
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
static int apply_program(struct tern_line_program *program, struct tern_app *app,
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

/* Applies what was said, in the order of precedence. Returns like apply_options. */
static int apply_line(struct tern_options_line *line, struct tern_options *options)
{
    int error = 0;
    for (int p = 0; p < line->count; p++)
        for (int i = 0; i < line->programs[p].count && !error; i++) {
            struct tern_said *said = &line->programs[p].said[i];
            error =
                tern_settings_of_files(said->option, said->word, tern_said_values(said), options);
        }
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

/* Applies a line of an application file. Returns like apply_options. */
static int apply_words(char **words, int count, struct tern_options *options)
{
    struct tern_options_line line = {0};
    int error = tern_line_read(words, count, options->separator, &line);
    if (!error)
        error = apply_line(&line, options);
    tern_line_free(&line);
    return error;
}

/* Notes which parameter files shall be read, before any parameter is looked up. */
static int note_files(struct tern_options_line *line)
{
    int error = 0;
    for (int p = 0; p < line->count; p++)
        for (int i = 0; i < line->programs[p].count && !error; i++)
            error = tern_settings_note_files(line->programs[p].said[i].option,
                                             tern_said_values(&line->programs[p].said[i]));
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
    int result = tern_line_read(argv + 1, argc - 1, separator, &line);
    if (result == 0)
        result = note_files(&line);
    if (result == 0)
        result = tern_settings_of_environment(&options);
    options.per_is_default = true;
    options.pe_said = NULL;
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
