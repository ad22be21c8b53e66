/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: options, a program, its arguments; then ":" and the next program. Every option
 * may be written with one dash or two. option_table.c lists them all. */
#include "mpirun/plan/command_line.h"

#include <config.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/settings/figures.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "lib/settings/said.h"
#include "lib/util/base/prefix.h"
#include "lib/util/net/tcp_address.h"
#include "lib/settings/tcp_choice.h"
#include "lib/util/base/text.h"
#include "mpirun/plan/help.h"
#include "mpirun/plan/inherit.h"
#include "mpirun/plan/common_movers.h"
#include "mpirun/plan/option_table.h"
#include "mpirun/plan/parameters.h"
#include "mpirun/plan/policy.h"
#include "mpirun/plan/repeats.h"
#include "mpirun/plan/this_machine.h"
#include "mpirun/plan/tune.h"
#include "mpirun/plan/line_words.h"

/* Returns the option that `word` means, or NULL. *ret_value is the value of --NAME=VALUE, or NULL
 * if the option's values follow as words. */
static const struct tern_option *find_option(char *word, char **ret_value)
{
    const char *name = word + 1 + (word[1] == '-');
    char *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    for (int i = 0; i < tern_option_count; i++) {
        const struct tern_option *option = &tern_option_table[i];
        bool joined = equals && option->values == 1 &&
                      strlen(option->name) == (size_t)(equals - name) &&
                      strncmp(name, option->name, equals - name) == 0;
        *ret_value = joined ? equals + 1 : NULL;
        if (joined || strcmp(name, option->name) == 0)
            return option;
    }
    return NULL;
}

/* Finds an option that is not written as `name`: NAME=VALUE, or a name and a number such as "np4".
 * Returns NULL if it is none of these. */
static const struct tern_option *find_misjoined(const char *name, const char **ret_value)
{
    size_t length = strcspn(name, "="), letters = strcspn(name, "0123456789");
    bool number = !name[length] && name[letters] &&
                  !name[letters + strspn(name + letters, "0123456789")];
    char *bare = tern_must_format("%.*s", (int)(number ? letters : length), name);
    const struct tern_option *option = number || name[length] ? tern_option_named(bare) : NULL;
    free(bare);
    *ret_value = number ? name + letters : name + length + (name[length] == '=');
    return number && option && option->values != 1 ? NULL : option;
}

/* Returns the error for `word`, an option with a value that is written otherwise. */
static int misjoined_option(const struct tern_option *option, const char *word, const char *value)
{
    const char *dashes = option->name[1] ? "--" : "-";
    if (option->values == 1)
        return tern_error(TERN_ERR_ARG,
                          "unknown option %s: the value is a word of its own; write -%s %s", word,
                          option->name, *value ? value : "VALUE");
    return tern_error(TERN_ERR_ARG, "unknown option %s: %s%s takes %s; write %s%s%s", word, dashes,
                      option->name, option->values ? "a name and a value" : "no value", dashes,
                      option->name, option->values ? " NAME VALUE" : "");
}

static int unknown_option(const char *word)
{
    const char *name = word + 1 + (word[1] == '-'), *nearest = NULL;
    const char *value;
    const struct tern_option *meant = find_misjoined(name, &value);
    if (meant)
        return misjoined_option(meant, word, value);
    size_t length = strcspn(name, "=");
    char *bare = tern_must_format("%.*s", (int)length, name);
    enum { SHORTEST = 3 }; /* a shorter option is near to any short word */
    int best = (int)length / 3 + (length > SHORTEST);
    for (int i = 0; i < tern_option_count; i++) {
        if (tern_option_table[i].kind == TERN_OPTION_FOREIGN)
            continue;
        int distance = strlen(tern_option_table[i].name) >= SHORTEST
                           ? tern_text_distance(bare, tern_option_table[i].name)
                           : 100;
        if (distance <= best && (!nearest || distance < best)) {
            best = distance;
            nearest = tern_option_table[i].name;
        }
    }
    free(bare);
    if (nearest)
        return tern_error(TERN_ERR_ARG,
                          "unknown option %s; did you mean --%s? (mpirun --help lists them)", word,
                          nearest);
    return tern_error(TERN_ERR_ARG, "unknown option %s (mpirun --help lists them)", word);
}

static struct tern_app *add_app(struct tern_options *options)
{
    options->apps = tern_must_grow(options->apps, (options->app_count + 1) * sizeof *options->apps);
    struct tern_app *app = &options->apps[options->app_count++];
    *app = (struct tern_app){ 0 };
    return app;
}

static int parse_words(char **words, int count, struct tern_options *options);

enum { FILES_DEEP = 16 };

/* --app FILE: reads a file with a program and its options on each line. A backslash at the end of a
 * line continues it. Returns 0, 1 if help or version was printed, or TERN_ERR_ARG. */
static int read_appfile(const char *path, struct tern_options *options)
{
    if (options->file_depth == FILES_DEEP)
        return tern_error(TERN_ERR_ARG, "the application file %s is nested in %d others; "
                                        "application files may not name each other in a "
                                        "circle", path,
                          FILES_DEEP);
    const char *why;
    char *text = tern_read_text(path, &why), *rest = text, *line;
    if (!text)
        return tern_error(TERN_ERR_ARG, "cannot read the application file %s: %s", path, why);
    options->file_depth++;
    int error = 0, number = 0;
    struct tern_strings words = { 0 };
    /* the text after the last line break is not a line if it is empty */
    while (!error && (line = strsep(&rest, "\n")) && (*line || rest)) {
        size_t length = strlen(line);
        bool goes_on = length > 0 && line[length - 1] == '\\';
        line[length - goes_on] = '\0';
        error = tern_words_split(path, ++number, line, &words);
        if (goes_on)
            continue;
        if (words.count && !error)
            error = parse_words(words.items, words.count, options);
        for (int i = 0; i < words.count; i++)
            tern_strings_take(&options->kept, words.items[i]);
        free(words.items);
        words = (struct tern_strings){ 0 };
    }
    if (words.count && !error)
        error = tern_error(TERN_ERR_ARG, "%s ends with a backslash, but no line follows", path);
    tern_strings_free(&words);
    free(text);
    options->file_depth--;
    return error;
}

/* Returns the number of words of an option that follow as words of their own, or a negative
 * TERN_ERR_ARG if the option lacks some: words[at] is the last, or another option follows. */
static int count_values(const struct tern_option *option, const char *joined, char **words,
                        int count, int at)
{
    int follow = joined ? 0 : option->values;
    if (at + follow >= count)
        return tern_error(TERN_ERR_ARG, "%s needs %s after it", words[at],
                          option->values == 1 ? "a value" : "a name and a value");
    int error = tern_option_check_values(option, words[at], words + at + 1, follow);
    return error ? error : follow;
}

/* Calls `visit` for each option of all programs, with its values. Returns 0, what a call returned,
 * or TERN_ERR_ARG. */
static int visit_options(char **words, int count, struct tern_options *options,
                         int (*visit)(const struct tern_option *option, const char *word,
                                      char **values, struct tern_options *options))
{
    bool in_options = true;
    int error = 0;
    for (int at = 0; at < count && !error; at++) {
        char *word = words[at], *joined;
        if (!in_options || word[0] != '-' || !word[1] || strcmp(word, "--") == 0) {
            in_options = strcmp(word, options->separator) == 0;
            continue;
        }
        const struct tern_option *option = find_option(word, &joined);
        if (!option)
            return unknown_option(word);
        int follow = count_values(option, joined, words, count, at);
        if (follow < 0)
            return follow;
        error = visit(option, word, joined ? &joined : &words[at + 1], options);
        at += follow;
    }
    return error;
}

/* Applies --tune and --am, before anything else: what the command line says itself prevails. */
static int read_tune(const struct tern_option *option, const char *word, char **values,
                     struct tern_options *options)
{
    return option->kind == TERN_OPTION_TUNE ? option->read(word, values[0], options) : 0;
}

/* Notes which parameter files shall be read, before any parameter is looked up. */
static int note_param_files(const struct tern_option *option, const char *word, char **values,
                            struct tern_options *options)
{
    (void)word, (void)options;
    if (option->kind == TERN_OPTION_PARAMETER && (strcmp(values[0], "mca_param_files") == 0 ||
                                                  strcmp(values[0], "mca_base_param_files") == 0))
        return setenv("OMPI_MCA_mca_param_files", values[1], 1) ? TERN_ERR_NO_MEM : 0;
    return 0;
}

/* Notes an option for --explain. */
static void note_option(const char *word, char **values, int count, struct tern_options *options)
{
    if (strcmp(word + strspn(word, "-"), "explain") == 0)
        return;
    tern_strings_format(&options->said, "%s%s%s%s%s (command line)", word, count > 0 ? " " : "",
                        count > 0 ? values[0] : "", count > 1 ? " " : "",
                        count > 1 ? values[1] : "");
}

/* Refuses a second hostfile of one program. *said is the first one, or NULL. */
static int note_hostfile(const struct tern_option *option, const char *word, char **values,
                         const char **said)
{
    if (option != tern_option_named("hostfile") && option != tern_option_named("machinefile"))
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
        return tern_error(TERN_ERR_ARG, "-soft stands beside --app %s; write it on a line of that "
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
    int error = tern_option_apply(option, word, values, app, options);
    bool reads = option->kind == TERN_OPTION_READ || option->kind == TERN_OPTION_TUNE;
    if (!error && reads && option->values && !*values[0] && options->warnings.count == said)
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

/* Reads the options and the program of one context, from words[*at] up to the separator or the end.
 * Returns 0, 1 if help or version was printed, or TERN_ERR_ARG. */
static int read_app(char **words, int count, int *at, struct tern_options *options,
                    struct tern_app *app)
{
    const char *file = NULL, *hostfile = NULL;
    int first = options->app_count, hosts = options->hosts_are_default ? 0 : options->hosts.count;
    int files = options->hostfiles.count;
    while (*at < count && words[*at][0] == '-' && words[*at][1]) {
        char *word = words[*at], *joined;
        if (strcmp(word, "--") == 0) {
            (*at)++;
            break;
        }
        const struct tern_option *option = find_option(word, &joined);
        if (!option)
            return unknown_option(word);
        if (option->kind == TERN_OPTION_HELP || option->kind == TERN_OPTION_VERSION) {
            if (option->kind == TERN_OPTION_HELP)
                tern_help_print(*at + 1 < count ? words[*at + 1] : NULL);
            else
                printf("mpirun (Open MPI) %s\n%s, compatible with it\n", TERN_OMPI_RELEASE,
                       PACKAGE_STRING);
            return 1;
        }
        int follow = count_values(option, joined, words, count, *at);
        if (follow < 0)
            return follow;
        char **values = joined ? &joined : &words[*at + 1];
        note_option(word, values, joined ? 0 : follow, options);
        tern_repeats_note(option, word, values, options);
        tern_inherit_note(option, values, options);
        int error = note_hostfile(option, word, values, &hostfile);
        if (!error && option->kind == TERN_OPTION_APPFILE)
            error = read_appfile(file = values[0], options);
        else if (!error)
            error = apply_option(option, word, values, joined, app, options);
        if (error)
            return error;
        *at += 1 + follow;
    }
    int error = *at < count ? check_dash(words[*at]) : 0;
    if (error)
        return error;
    for (; *at < count && strcmp(words[*at], options->separator); (*at)++)
        tern_strings_add(&app->argv, words[*at]);
    for (; hosts < options->hosts.count && !options->hosts_are_default; hosts++)
        tern_strings_add(&app->hosts, options->hosts.items[hosts]);
    for (; files < options->hostfiles.count; files++)
        tern_strings_add(&app->hostfiles, options->hostfiles.items[files]);
    if (file)
        return give_to_file(app, file, first, options);
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

static void free_app(struct tern_app *app)
{
    tern_strings_free(&app->argv);
    tern_strings_free(&app->env);
    tern_strings_free(&app->unset);
    tern_strings_free(&app->hosts);
    tern_strings_free(&app->hostfiles);
}

static int parse_app(char **words, int count, int *at, struct tern_options *options)
{
    struct tern_app app = { 0 };
    int result = read_app(words, count, at, options, &app);
    if (result || !app.argv.count)
        free_app(&app);
    else
        *add_app(options) = app;
    return result;
}

static int parse_words(char **words, int count, struct tern_options *options)
{
    int at = 0, error = visit_options(words, count, options, read_tune);
    if (error)
        return error;
    for (;;) {
        int result = parse_app(words, count, &at, options);
        if (result || at + 1 >= count) /* a last separator is followed by nothing */
            return result;
        at++;
    }
}

void tern_options_warn(struct tern_options *options, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    bool made = vasprintf(&text, format, args) >= 0;
    va_end(args);
    for (int i = 0; made && i < options->warnings.count; i++)
        if (strcmp(options->warnings.items[i], text) == 0) {
            free(text);
            made = false;
        }
    if (made)
        tern_strings_take(&options->warnings, text);
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

/* Warns of an empty value of an option, as a script writes with a variable that is not set. */
static void drop_if_empty(const char **value, const char *option, const char *instead,
                          struct tern_options *options)
{
    if (!*value || **value)
        return;
    tern_options_warn(options, "%s \"\" is empty and has no effect: %s", option, instead);
    *value = NULL;
}

static void drop_empty_values(struct tern_options *options)
{
    for (int app = 0; app < options->app_count; app++) {
        drop_if_empty(&options->apps[app].wdir, "--wdir", "ranks start in this directory", options);
        drop_if_empty(&options->apps[app].path, "--path", "programs are looked for in PATH",
                      options);
    }
    drop_if_empty(&options->prefix, "--prefix", "the environment says where libraries are",
                  options);
}

/* Refuses options that choose where ranks run, beside a rankfile, which says it, too. Returns 0 or
 * TERN_ERR_ARG. */
static int check_rankfile(const struct tern_options *options)
{
    static const char *const others[] = {"map-by", "npernode", "npersocket", "ppr",
                                         "cpus-per-proc"};
    const char *said = options->sequential ? "--map-by seq" : NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others && !said; i++)
        if (i || !options->by_rankfile)
            said = tern_strings_value(&options->given, others[i]);
    bool empty = said && said[strlen(said) - 1] == ' '; /* an empty value says nothing */
    if (!options->rankfile || !said || empty)
        return 0;
    return tern_error(TERN_ERR_ARG,
                      "--rankfile and %s both choose where ranks run; use one of "
                      "them",
                      said);
}

/* As in Open MPI, --wdir counts before --set-cwd-to-session-dir. */
static void choose_wdirs(struct tern_options *options)
{
    for (int at = 0; at < options->app_count; at++) {
        struct tern_app *app = &options->apps[at];
        if (app->wdir && app->wdir_session)
            tern_options_warn(options, "--set-cwd-to-session-dir has no effect beside --wdir %s",
                              app->wdir);
        app->wdir_session &= !app->wdir;
    }
}

/* As in Open MPI, --bycore, --byslot and a parameter do not say where to map beside -N and
 * --npersocket; --bynode does, and --map-by if there is one program. */
static void drop_weak_mapping(struct tern_options *options)
{
    const char *said = tern_strings_value(&options->given, "map-by");
    bool counted = options->per_source == TERN_PER_NODE || options->per_source == TERN_PER_SOCKET;
    /* Open MPI then forgets -N and --npersocket; here they hold as far as -np permits */
    options->map.per_gives_way =
        counted && options->app_count == 1 &&
        (options->pe_of_map ||
         (options->map.by != TERN_MAP_LEVEL_DEFAULT && said && strstr(said, "-map-by")));
    if (!counted || options->map.by == TERN_MAP_LEVEL_DEFAULT ||
        (said && ((options->app_count == 1 && strstr(said, "-map-by")) || strstr(said, "-bynode"))))
        return;
    if (options->map.by != TERN_MAP_LEVEL_SLOT)
        tern_options_warn(options, "%s has no effect beside %s",
                          said ? said : "the parameter rmaps_base_mapping_policy",
                          options->per_said);
    options->map.by = TERN_MAP_LEVEL_DEFAULT;
}

/* As in Open MPI, ranks run anywhere on the processors of --cpu-set, and --rank-by has no effect.
 * It refuses --map-by beside it and forgets --bind-to; here they hold. */
static void bind_to_listed(struct tern_options *options)
{
    struct tern_map_request *map = &options->map;
    const char *bind = tern_strings_value(&options->given, "bind-to");
    if (!options->cpu_list || map->by != TERN_MAP_LEVEL_DEFAULT || options->rankfile)
        return;
    if (map->bind == TERN_MAP_LEVEL_DEFAULT && !map->pe)
        map->bind = TERN_MAP_LEVEL_NONE;
    else if (bind && map->bind < TERN_MAP_LEVEL_NODE)
        tern_options_warn(options, "%s holds within the list of --cpu-set, too; Open MPI 4.1 lets "
                                   "each rank run on the whole list", bind);
    const char *rank_by = tern_strings_value(&options->given, "rank-by");
    if (map->rank_by != TERN_MAP_LEVEL_DEFAULT && map->rank_by != TERN_MAP_LEVEL_SLOT)
        tern_options_warn(options, "%s has no effect beside --cpu-set, as in Open MPI 4.1: ranks "
                                   "are numbered host after host",
                          rank_by ? rank_by : "the parameter rmaps_base_ranking_policy");
    map->rank_by = TERN_MAP_LEVEL_DEFAULT;
}

/* Completes what only all options together say, and refuses what contradicts itself. Returns 0 or
 * TERN_ERR_ARG. */
static int join_options(struct tern_options *options)
{
    drop_empty_values(options);
    choose_wdirs(options);
    int error = tern_tune_give_variables(options);
    if (error)
        return error;
    if (!options->prefix && !options->no_prefix)
        options->prefix = options->implied_prefix;
    if (options->cpu_list && options->map.hwthreads) {
        tern_strings_format(&options->kept, "%s%s", TERN_CPU_LIST_THREADS, options->cpu_list);
        options->cpu_list = options->kept.items[options->kept.count - 1];
    }
    drop_weak_mapping(options);
    /* As in Open MPI, who binds to hardware threads counts them as processors. */
    if (options->map.bind == TERN_MAP_LEVEL_HWTHREAD && !options->bind_to_list)
        options->map.hwthreads = true;
    options->map.oversubscribe = options->oversubscribe;
    if (options->by_rankfile && !options->rankfile)
        return tern_error(TERN_ERR_ARG, "--map-by rankfile needs the option --rankfile FILE, too");
    if (options->bind_to_list && !options->cpu_list) {
        tern_options_warn(options, "--bind-to cpu-list binds nobody without --cpu-list LIST");
        options->map.bind = TERN_MAP_LEVEL_NONE;
    }
    bind_to_listed(options);
    error = check_rankfile(options);
    if (error)
        return error;
    if (options->allow_asked && options->forbid_asked)
        return tern_error(TERN_ERR_ARG, "the command line both allows more ranks than slots "
                                        "(--oversubscribe) and forbids it (--nooversubscribe); use "
                                        "one of them");
    int64_t first, last;
    bool include;
    error = tern_param_check_all();
    if (!error)
        error = tern_tcp_filter_choose("btl_tcp_if_include", "btl_tcp_if_exclude", &include);
    if (!error)
        error = tern_tcp_ports_read(&first, &last);
    if (!error)
        error = tern_movers_agree(options);
    return error ? error : tern_figures_read();
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
        .map = { .by = TERN_MAP_LEVEL_DEFAULT,
                 .rank_by = TERN_MAP_LEVEL_DEFAULT,
                 .bind = TERN_MAP_LEVEL_DEFAULT },
    };
    imply_prefix(argv[0], &options);
    check_moved(&options);
    int result = visit_options(argv + 1, argc - 1, &options, note_param_files);
    if (result == 0)
        result = tern_parameters_of_environment(&options);
    options.per_is_default = true;
    options.pe_said = NULL;
    if (result == 0)
        result = parse_words(argv + 1, argc - 1, &options);
    if (result == 0)
        result = join_options(&options);
    say_warnings(&options);
    if (result < 0)
        tern_log("%s", tern_error_text(result));
    *ret_options = options;
    return result;
}

void tern_options_free(struct tern_options *options)
{
    for (int app = 0; app < options->app_count; app++)
        free_app(&options->apps[app]);
    free(options->apps);
    tern_strings_free(&options->hosts);
    tern_strings_free(&options->hostfiles);
    tern_strings_free(&options->kept);
    tern_strings_free(&options->warnings);
    tern_strings_free(&options->said);
    tern_strings_free(&options->given);
    tern_strings_free(&options->env);
    tern_strings_free(&options->inherited);
    tern_strings_free(&options->inherited_map);
    tern_strings_free(&options->inherited_rank);
    tern_strings_free(&options->inherited_bind);
    tern_strings_free(&options->inherited_app);
    free(options->output_dir);
    *options = (struct tern_options){ 0 };
}
