/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command line: options, a program, its arguments; ":" and the next program. Every option may
 * be written with one dash or two. option_table.c names them all.
 */
#include "mpirun/plan/options.h"

#include <config.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/memory_kinds.h"
#include "lib/util/param.h"
#include "lib/util/text.h"
#include "mpirun/plan/option_table.h"
#include "mpirun/plan/parameters.h"
#include "mpirun/plan/policy.h"

/* *ret_value: of --NAME=VALUE; NULL: what it wants follows. */
static const struct tern_option *find_option(char *word, char **ret_value)
{
    const char *name = word + 1 + (word[1] == '-');
    char *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    for (int i = 0; i < tern_option_count; i++) {
        const struct tern_option *option = &tern_option_table[i];
        bool joined = equals && option->values == 1 && strlen(option->name) == (size_t)(equals - name) &&
                      strncmp(name, option->name, equals - name) == 0;
        *ret_value = joined ? equals + 1 : NULL;
        if (joined || strcmp(name, option->name) == 0)
            return option;
    }
    return NULL;
}

static int unknown_option(const char *word)
{
    const char *name = word + 1 + (word[1] == '-'), *nearest = NULL;
    int best = (int)strlen(name) / 3 + 1;
    for (int i = 0; i < tern_option_count; i++) {
        int distance = strlen(tern_option_table[i].name) > 1
                           ? tern_edit_distance(name, tern_option_table[i].name)
                           : 100;
        if (distance <= best && (!nearest || distance < best)) {
            best = distance;
            nearest = tern_option_table[i].name;
        }
    }
    if (nearest)
        return tern_error(TERN_ERR_ARG,
                          "unknown option %s; did you mean --%s? (mpirun --help lists them)", word,
                          nearest);
    return tern_error(TERN_ERR_ARG, "unknown option %s (mpirun --help lists them)", word);
}

static int set_initial_errhandler(const char *option, const char *value, struct tern_app *app)
{
    static const char *const known[] = {"mpi_errors_are_fatal", "mpi_errors_abort",
                                        "mpi_errors_return"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(value, known[i]) == 0) {
            tern_strings_set(&app->env, "OMPI_MCA_mpi_initial_errhandler", known[i]);
            return 0;
        }
    return tern_error(TERN_ERR_ARG, "%s: expected %s, %s or %s, not \"%s\"", option, known[0],
                      known[1], known[2], value);
}

static int check_arch(const char *option, const char *wanted)
{
    struct utsname machine;
    if (uname(&machine) == 0 && strcasecmp(machine.machine, wanted) != 0)
        return tern_error(TERN_ERR_ARG, "%s %s: this machine is %s", option, wanted,
                          machine.machine);
    return 0;
}

/* Ranks see which kinds are supported, whatever was asked for; so this only warns. */
static void check_memory_kinds(const char *option, const char *list)
{
    const char *unknown;
    size_t length;
    if (!tern_memory_kinds_supported(list, &unknown, &length))
        tern_log("warning: %s: memory of kind \"%.*s\" is not supported; supported are %s", option,
                 (int)length, unknown, tern_memory_kinds);
}

static int export_variable(const char *text, struct tern_app *app)
{
    const char *equals = strchr(text, '=');
    char *name = tern_must_copy(text);
    name[strcspn(name, "=")] = '\0';
    int error = 0;
    if (!*name)
        error = tern_error(TERN_ERR_ARG, "-x wants NAME or NAME=VALUE, not \"%s\"", text);
    else if (equals)
        tern_strings_set(&app->env, name, equals + 1);
    else if (getenv(name))
        tern_strings_set(&app->env, name, getenv(name));
    else
        tern_log("warning: -x %s: no such variable in the environment", name);
    free(name);
    return error;
}

static void split_words(struct tern_strings *list, const char *text)
{
    char *copy = tern_must_copy(text), *rest = copy, *word;
    while ((word = strsep(&rest, ","))) {
        if (*word)
            tern_strings_add(list, word);
    }
    free(copy);
}

static int read_stdin_target(const char *option, const char *text, struct tern_options *options)
{
    if (strcasecmp(text, "none") == 0)
        options->stdin_rank = TERN_STDIN_NONE;
    else if (strcasecmp(text, "all") == 0)
        options->stdin_rank = TERN_STDIN_ALL;
    else
        return tern_policy_number(option, text, 0, 1 << 20, &options->stdin_rank);
    return 0;
}

/* DIR:nocopy,nojobid */
static int set_output_dir(const char *option, const char *text, struct tern_options *options)
{
    char *copy = tern_must_copy(text), *rest = strchr(copy, ':'), *word;
    int error = 0;
    if (rest)
        *rest++ = '\0';
    while (!error && (word = strsep(&rest, ":,"))) {
        if (strcasecmp(word, "nocopy") == 0)
            options->output_only_files = true;
        else if (strcasecmp(word, "nojobid") == 0)
            options->output_no_job = true;
        else if (*word && strcasecmp(word, "copy") && strcasecmp(word, "jobid"))
            error = tern_error(TERN_ERR_ARG, "%s: no modifier \"%s\"; there are nocopy and nojobid", option, word);
    }
    free(options->output_dir);
    options->output_dir = copy;
    return error;
}

/* Open MPI 5: --display map,bind and --output tag,timestamp,merge,dir=D */
static int read_display(const char *option, const char *text, struct tern_options *options)
{
    struct tern_strings words = { 0 };
    split_words(&words, text);
    int error = 0;
    for (int i = 0; i < words.count && !error; i++) {
        const char *word = words.items[i];
        if (strncasecmp(word, "map", 3) == 0)
            options->display_map = true;
        else if (strncasecmp(word, "bind", 4) == 0)
            options->report_bindings = true;
        else if (strncasecmp(word, "alloc", 5) == 0)
            options->display_allocation = true;
        else if (strncasecmp(word, "topo", 4))
            error = tern_error(TERN_ERR_ARG,
                               "%s: cannot display \"%s\"; there are map, bind, allocation", option,
                               word);
    }
    tern_strings_free(&words);
    return error;
}

static int read_output(const char *option, const char *text, struct tern_options *options)
{
    struct tern_strings words = { 0 };
    split_words(&words, text);
    int error = 0;
    for (int i = 0; i < words.count && !error; i++) {
        const char *word = words.items[i];
        if (strncasecmp(word, "tag", 3) == 0 || strcasecmp(word, "rank") == 0)
            options->tag_output = true;
        else if (strncasecmp(word, "timestamp", 9) == 0)
            options->timestamp_output = true;
        else if (strncasecmp(word, "merge", 5) == 0)
            options->merge_stderr = true;
        else if (strncasecmp(word, "dir=", 4) == 0)
            error = set_output_dir(option, word + 4, options);
        else
            error = tern_error(TERN_ERR_ARG,
                               "%s: no output \"%s\"; there are tag, timestamp, merge, dir=DIR",
                               option, word);
    }
    tern_strings_free(&words);
    return error;
}

/* Options of one program: those that are about a program. */
static int apply_to_app(const struct tern_option *option, const char *word, char **values,
                        struct tern_app *app, struct tern_options *options)
{
    switch (option->effect) {
    case NP:
        return tern_policy_number(word, values[0], 1, 1 << 20, &app->np);
    case SOFT:
        app->soft = values[0];
        return 0;
    case ARCH:
        return check_arch(word, values[0]);
    case EXPORT:
        return export_variable(values[0], app);
    case WDIR:
        app->wdir = values[0];
        return 0;
    case PATH:
        app->path = values[0];
        return 0;
    case MCA:
        tern_parameter_check(values[0]);
        return tern_parameter_set("OMPI_MCA_", values[0], values[1], &app->env, options);
    case GMCA:
        tern_parameter_check(values[0]);
        return tern_parameter_set("OMPI_MCA_", values[0], values[1], &options->env, options);
    case INITIAL_ERRHANDLER:
        return set_initial_errhandler(word, values[0], app);
    case MEMORY_KINDS:
        check_memory_kinds(word, values[0]);
        return 0;
    case PMIX_MCA:
        return tern_parameter_set("PMIX_MCA_", values[0], values[1], &options->env, options);
    case PRTE_MCA:
        return tern_parameter_set("PRTE_MCA_", values[0], values[1], &options->env, options);
    case SESSION_WDIR:
        app->wdir_session = true;
        return 0;
    default:
        return 1;
    }
}

static int apply_placement(const struct tern_option *option, const char *word, const char *value,
                           struct tern_options *options)
{
    struct tern_map_request *map = &options->map;
    switch (option->effect) {
    case MAP_BY:
        return tern_policy_map_by(word, value, options);
    case RANK_BY:
        return tern_policy_rank_by(word, value, options);
    case BIND_TO:
        return tern_policy_bind_to(word, value, options);
    case PPR:
        return tern_policy_ppr(word, value, options);
    case RANKFILE:
        options->rankfile = value;
        return 0;
    case PER_NODE:
    case PER_SOCKET:
    case ONE_PER_NODE:
        map->per_level = option->effect == PER_SOCKET ? TERN_MAP_LEVEL_SOCKET : TERN_MAP_LEVEL_NODE;
        map->per_object = 1;
        return option->effect == ONE_PER_NODE
                   ? 0
                   : tern_policy_number(word, value, 1, 1 << 20, &map->per_object);
    case PE:
        return tern_policy_number(word, value, 1, TERN_MAX_CPUS, &map->pe);
    case CPU_LIST:
        options->cpu_list = value;
        return 0;
    case OVERSUBSCRIBE:
        options->oversubscribe = true;
        return 0;
    case NO_OVERSUBSCRIBE:
        map->no_oversubscribe = true;
        return 0;
    case HWTHREADS:
        map->hwthreads = true;
        return 0;
    case HOST:
        split_words(&options->hosts, value);
        return options->hosts.count
                   ? 0
                   : tern_error(TERN_ERR_ARG, "%s wants host names, not \"%s\"", word, value);
    case HOSTFILE:
        tern_strings_add(&options->hostfiles, value);
        return 0;
    case LAUNCH_AGENT:
        return tern_param_write("orte_launch_agent", value);
    case NOLOCAL:
        options->no_local = true;
        return 0;
    default:
        return 1;
    }
}

static int apply_rest(const struct tern_option *option, const char *word, const char *value,
                      struct tern_options *options)
{
    switch (option->effect) {
    case TAG:
        options->tag_output = true;
        break;
    case TIMESTAMP:
        options->timestamp_output = true;
        break;
    case MERGE:
        options->merge_stderr = true;
        break;
    case OUTPUT_FILE:
        return set_output_dir(word, value, options);
    case STDIN:
        return read_stdin_target(word, value, options);
    case REPORT_BINDINGS:
        options->report_bindings = true;
        break;
    case DISPLAY_MAP:
        options->display_map = true;
        break;
    case DISPLAY_ALLOCATION:
        options->display_allocation = true;
        break;
    case DISPLAY:
        return read_display(word, value, options);
    case OUTPUT:
        return read_output(word, value, options);
    case REPORT_PID:
        options->report_pid = value;
        break;
    case PREFIX:
        options->prefix = value;
        break;
    case TIMEOUT:
        return tern_policy_number(word, value, 1, 1 << 30, &options->timeout_s);
    case BE_QUIET:
        options->quiet = true;
        break;
    case BE_VERBOSE:
        options->verbose = true;
        break;
    case DRY_RUN:
        options->display_map = true;
        options->do_not_launch = true;
        break;
    case DO_NOT_LAUNCH:
        options->do_not_launch = true;
        break;
    case INDEX_ARGV:
        options->index_argv = true;
        break;
    case REFUSED:
        return tern_error(TERN_ERR_ARG, "option %s is not supported: %s", word, option->text);
    default:
        break;
    }
    return 0;
}

static int apply_option(const struct tern_option *option, const char *word, char **values,
                        struct tern_app *app, struct tern_options *options)
{
    const char *value = option->values ? values[0] : option->text;
    int error = apply_to_app(option, word, values, app, options);
    if (error == 1)
        error = apply_placement(option, word, value, options);
    if (error == 1)
        error = apply_rest(option, word, value, options);
    return error;
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

/* Words of a line of an application file; quotes keep blanks. */
static void split_line(const char *line, struct tern_strings *words)
{
    char *word = tern_must_alloc(strlen(line) + 1);
    for (const char *at = line; *at;) {
        while (isspace((unsigned char)*at))
            at++;
        if (!*at || *at == '#')
            break;
        int length = 0;
        char quote = '\0';
        for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
            if (quote ? *at == quote : *at == '"' || *at == '\'')
                quote = quote ? '\0' : *at;
            else
                word[length++] = *at;
        }
        word[length] = '\0';
        tern_strings_add(words, word);
    }
    free(word);
}

/* --app FILE: a program with its options on each line; a backslash at its end continues it. */
static int read_appfile(const char *path, struct tern_options *options)
{
    if (options->file_depth == FILES_DEEP)
        return tern_error(TERN_ERR_ARG, "the application file %s is named within %d others", path,
                          FILES_DEEP);
    const char *why;
    char *text = tern_read_text(path, &why), *rest = text, *line;
    if (!text)
        return tern_error(TERN_ERR_ARG, "cannot read the application file %s: %s", path, why);
    options->file_depth++;
    int error = 0;
    struct tern_strings words = { 0 };
    while (!error && (line = strsep(&rest, "\n")) && (*line || rest)) { /* nothing follows the last line break */
        size_t length = strlen(line);
        bool goes_on = length > 0 && line[length - 1] == '\\';
        line[length - goes_on] = '\0';
        split_line(line, &words);
        if (goes_on)
            continue;
        if (words.count)
            error = parse_words(words.items, words.count, options);
        for (int i = 0; i < words.count; i++)
            tern_strings_take(&options->kept, words.items[i]);
        free(words.items);
        words = (struct tern_strings){ 0 };
    }
    if (words.count && !error)
        error = tern_error(TERN_ERR_ARG, "%s ends within a line that goes on", path);
    tern_strings_free(&words);
    free(text);
    options->file_depth--;
    return error;
}

/* The options and the program of one context, from words[*at] to its end or ":". 1: help or version
 * was printed. */
static int read_app(char **words, int count, int *at, struct tern_options *options,
                    struct tern_app *app)
{
    bool from_file = false;
    while (*at < count && words[*at][0] == '-' && words[*at][1]) {
        char *word = words[*at], *joined;
        if (strcmp(word, "--") == 0) {
            (*at)++;
            break;
        }
        const struct tern_option *option = find_option(word, &joined);
        if (!option)
            return unknown_option(word);
        if (option->effect == HELP || option->effect == VERSION) {
            if (option->effect == HELP)
                tern_option_print_help();
            else
                printf("mpirun (Open MPI) %s compatible; Tern MPI %s\n", TERN_OMPI_RELEASE,
                       PACKAGE_VERSION);
            return 1;
        }
        int follow = joined ? 0 : option->values;
        char **values = joined ? &joined : &words[*at + 1];
        for (int i = 1; i <= follow; i++) {
            if (*at + i >= count)
                return tern_error(TERN_ERR_ARG, "%s wants %s after it", word,
                                  option->values == 1 ? "a value" : "a name and a value");
        }
        from_file |= option->effect == APPFILE;
        int error = option->effect == APPFILE
                        ? read_appfile(values[0], options)
                        : apply_option(option, word, values, app, options);
        if (error)
            return error;
        *at += 1 + follow;
    }
    for (; *at < count && strcmp(words[*at], ":"); (*at)++)
        tern_strings_add(&app->argv, words[*at]);
    if (app->argv.count == 0) {
        if (from_file && options->app_count)
            return 0;
        return tern_error(
            TERN_ERR_ARG,
            "no program to run was named; write mpirun [OPTION]... PROGRAM [ARGUMENT]...");
    }
    if (app->soft && !app->np)
        return tern_error(TERN_ERR_ARG, "-soft wants -np as well: the largest number of ranks");
    return app->soft ? tern_policy_soft("-soft", app->soft, app->np, &app->np) : 0;
}

static void free_app(struct tern_app *app)
{
    tern_strings_free(&app->argv);
    tern_strings_free(&app->env);
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
    int at = 0;
    for (;;) {
        int result = parse_app(words, count, &at, options);
        if (result || at >= count)
            return result;
        at++; /* ":" */
    }
}

int tern_options_parse(int argc, char **argv, struct tern_options *ret_options)
{
    struct tern_options options = {
        .map = { .by = TERN_MAP_LEVEL_DEFAULT,
                 .rank_by = TERN_MAP_LEVEL_DEFAULT,
                 .bind = TERN_MAP_LEVEL_DEFAULT },
    };
    int result = tern_parameters_of_environment(&options);
    if (result == 0)
        result = parse_words(argv + 1, argc - 1, &options);
    if (result == 0 && options.by_rankfile && !options.rankfile)
        result = tern_error(TERN_ERR_ARG, "--map-by rankfile wants the file: --rankfile FILE");
    if (result == 0 && options.rankfile && options.sequential)
        result = tern_error(TERN_ERR_ARG, "either --rankfile or --map-by seq says where ranks run");
    if (result == 0 && options.map.no_oversubscribe && options.oversubscribe)
        options.map.no_oversubscribe = false;
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
    tern_strings_free(&options->env);
    free(options->output_dir);
    *options = (struct tern_options){ 0 };
}
