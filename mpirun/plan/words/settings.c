/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/words/settings.h"

#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/settings/open_mpi.h"
#include "lib/settings/param.h"
#include "lib/settings/places.h"
#include "lib/settings/said.h"
#include "lib/settings/value.h"
#include "lib/util/base/error.h"
#include "lib/util/base/prefix.h"
#include "lib/util/base/text.h"
#include "mpirun/plan/words/help.h"
#include "mpirun/plan/words/option_values.h"
#include "mpirun/plan/words/policy.h"
#include "mpirun/plan/words/words.h"

/* ---- names ---- */

/* Finds the known name that is nearest to a misspelt one. Returns false if none is near. */
static bool find_nearest(struct tern_nearest *nearest)
{
    const struct tern_setting ours = {.name = tern_param_nearest(nearest->to)};
    nearest->most = 1 + (int)strlen(nearest->to) / 4;
    tern_nearest_try(nearest, &ours);
    for (int i = 0; i < tern_option_count; i++)
        tern_nearest_try(nearest, &tern_option_table[i].row);
    tern_open_mpi_nearest(nearest);
    return *nearest->name;
}

/* Warns of a parameter that nobody reads, probably a misspelt one, and once of a value that has no
 * effect or another one than it had. `where` says where it stands, and may be empty; NULL: names
 * from there are not known here. */
static void warn_if_unread(const struct tern_known *known, const char *name, const char *value,
                           const char *where, struct tern_options *options)
{
    char text[300];
    if (tern_param_must_explain(name, value, text, sizeof text))
        tern_options_warn(options, "%s", text);
    if (!where || known->option || known->theirs || known->ours ||
        (!tern_open_mpi_is_launchers(name) && tern_open_mpi_accepted(name)) ||
        !tern_param_must_say(name))
        return;
    struct tern_nearest nearest = {.to = name};
    tern_options_warn(options, "there is no parameter %s%s%s%s; mpi_info lists them", name, where,
                      find_nearest(&nearest) ? "; did you mean " : "", nearest.name);
}

/* ---- storing a value ---- */

/* Reads 0, 1 and their like. Returns 0 or TERN_ERR_ARG. */
static int read_truth(const char *origin, const char *text, bool *ret_truth)
{
    int64_t truth;
    if (!tern_param_read_value(TERN_PARAM_BOOL, text, &truth))
        return tern_error(TERN_ERR_ARG, "%s is \"%s\"; expected 0 or 1. Change or remove it",
                          origin, text);
    *ret_truth = truth != 0;
    return 0;
}

/* Warns of a word of the value, a list such as "tcp,self" or "^tcp", that is not in `list`. */
static void check_words(const char *origin, const char *value, const char *list,
                        struct tern_options *options)
{
    char *words = tern_must_copy(value), *rest = words + (*words == '^'), *word;
    while ((word = strsep(&rest, ", ")))
        if (*word && !tern_text_find_word(list, ",", word, strlen(word)))
            tern_options_warn(options, "%s: there is no \"%s\"; known are %s", origin, word, list);
    free(words);
}

/* Says what happens with what has no effect. `value`: says nothing if it is one of the row's
 * choices; NULL: the value does not matter. Returns 0, or TERN_ERR_ARG if it is refused. */
static int apply_useless(const struct tern_setting *row, const char *word, const char *value,
                         struct tern_options *options)
{
    if (row->effect == TERN_EFFECT_FOREIGN)
        return tern_error(TERN_ERR_ARG,
                          "option %s is a word of other launchers (MPICH, Intel MPI); here it is "
                          "%s",
                          word, row->instead);
    if (row->effect == TERN_EFFECT_REFUSED)
        return tern_error(TERN_ERR_ARG, "option %s is not supported: %s", word, row->instead);
    bool may_ask = value && row->choices, shown = may_ask && !strchr(word, '=');
    if (row->effect == TERN_EFFECT_WARNED &&
        !(may_ask && tern_param_index_of_choice(row, value) >= 0))
        tern_options_warn(options, "%s%s%s has no effect: %s", word, shown ? " " : "",
                          shown ? value : "", row->instead);
    return 0;
}

static int set_parameter(const struct tern_said *said, const char *prefix,
                         struct tern_strings *env, struct tern_options *options);

static int read_files(const struct tern_option *option, const char *word, const char *list,
                      struct tern_options *options);

/* Gives a value to the field of a row. */
static int store(const struct tern_said *said, struct tern_options *options)
{
    const struct tern_option *option = said->option;
    const char *word = said->word, *value = option->arg ? said->values[0] : option->text;
    void *field = (option->of_app ? (char *)options->app : (char *)options) + option->offset;
    if (option->read)
        return option->read(word, value, options);
    switch (option->kind) {
    case TERN_OPTION_FLAG:
        *(bool *)field = !option->off;
        return 0;
    case TERN_OPTION_NUMBER:
        return tern_words_number(word, value, (int)option->row.least, (int)option->row.most, field);
    case TERN_OPTION_WORD:
        if (*value || !option->row.instead)
            *(const char **)field = value;
        return 0;
    case TERN_OPTION_LIST:
        tern_strings_add(field, value);
        return 0;
    case TERN_OPTION_JOIN:
        return tern_option_join_variable(word, said->values, *option->text, options->app);
    case TERN_OPTION_PARAMETER:
        return set_parameter(said, option->text, field, options);
    case TERN_OPTION_TUNE:
    case TERN_OPTION_AM:
        return read_files(option, word, value, options);
    default:
        return apply_useless(&option->row, word, value, options);
    }
}

/* Returns true for --tune and --am, whose files are read before other options. */
static bool is_of_files(const struct tern_said *said)
{
    return said->option->kind == TERN_OPTION_TUNE || said->option->kind == TERN_OPTION_AM;
}

/* Applies an option of the line. */
static int apply_option(const struct tern_said *said, struct tern_options *options)
{
    const struct tern_setting *row = &said->option->row;
    int warned = options->warnings.count, error = is_of_files(said) ? 0 : store(said, options);
    bool reads = said->option->kind == TERN_OPTION_READ || is_of_files(said) || row->choices ||
                 (said->option->kind == TERN_OPTION_WORD && row->instead);
    /* as a script writes with a variable that is not set, if nobody else has a word for it */
    if (!error && reads && said->count && !*said->values[0] && options->warnings.count == warned)
        tern_options_warn(options, "%s%s is empty and has no effect%s%s", said->word,
                          said->joined ? "" : " \"\"", row->choices || !row->instead ? "" : ": ",
                          row->choices || !row->instead ? "" : row->instead);
    return error;
}

/* Applies an option as a parameter does. A truth value switches an option without value on or off;
 * an empty text, or 0 as a number, changes nothing. */
static int apply_as_parameter(const struct tern_option *option, const char *origin,
                              char *text, struct tern_options *options)
{
    const struct tern_said said = {.option = option, .word = origin, .values = {text}};
    bool truth = true;
    if (option->arg) {
        bool none = !*text || (strcmp(text, "0") == 0 && !option->takes_zero &&
                               option->kind != TERN_OPTION_WORD);
        if (none && *option->names)
            return 0;
        return store(&said, options);
    }
    int error = read_truth(origin, text, &truth);
    if (!truth && option->kind == TERN_OPTION_FLAG)
        *(bool *)((char *)options + option->offset) = option->off;
    return error || !truth ? error : store(&said, options);
}

/* Applies a parameter of Open MPI without effect. */
static int apply_theirs(const struct tern_setting *row, const char *origin, const char *value,
                        struct tern_options *options)
{
    bool unused;
    if (row->type == TERN_PARAM_BOOL)
        return *value && row->launcher ? read_truth(origin, value, &unused) : 0;
    return tern_param_asks_something(value) ? apply_useless(row, origin, NULL, options) : 0;
}

/* Applies the value of a parameter of Open MPI's that has a row. `origin` is where it was set. */
static int apply_value(const struct tern_known *known, const char *origin, const char *value,
                       struct tern_options *options)
{
    const struct tern_setting *row = known->option ? &known->option->row : known->theirs;
    if (!row)
        return 0;
    bool chosen = row->type == TERN_PARAM_WORDS && row->effect == TERN_EFFECT_NONE;
    if (chosen || row->effect != TERN_EFFECT_NONE)
        tern_strings_format(&options->said, "%s = %s%s", origin, value,
                            chosen ? ": no effect, because there is one implementation here" : "");
    if (row->type == TERN_PARAM_WORDS)
        check_words(origin, value, row->choices, options);
    if (!known->option)
        return apply_theirs(row, origin, value, options);
    tern_strings_add(&options->kept, value); /* options keep pointers to their values */
    return apply_as_parameter(known->option, origin, options->kept.items[options->kept.count - 1],
                              options);
}

/* ---- the environment and the files ---- */

/* Notes an option that says where parameter files are. */
static int note_file(const struct tern_said *said, struct tern_options *options)
{
    (void)options;
    const char *name = said->option->kind == TERN_OPTION_PARAMETER ? said->values[0] : "";
    if (strcmp(name, "mca_param_files") == 0 || strcmp(name, "mca_base_param_files") == 0)
        return setenv("OMPI_MCA_mca_param_files", said->values[1], 1) ? TERN_ERR_NO_MEM : 0;
    return 0;
}

/* Applies a place that sets a parameter without effect, unless another place prevails. Warns if
 * there is no such parameter. */
static int apply_place(const struct tern_param_place *place, void *context)
{
    struct tern_options *options = context;
    const char *name = place->name;
    const struct tern_known known = tern_known_find(name);
    const struct tern_setting alone = {.name = name, .launcher = true};
    struct tern_origin origin;
    char where[PATH_MAX + 32] = ", which the environment sets";
    if (place->line)
        snprintf(where, sizeof where, " (%s line %d)", place->line->file, place->line->line);
    /* those of PMIx, and of other releases in files, are not known here */
    enum { PMIX = 2 };
    bool known_here = place->line ? tern_open_mpi_is_launchers(name)
                                  : place->prefix != PMIX || strncmp(name, "prte_", 5) == 0;
    warn_if_unread(&known, name, place->value, known_here ? where : NULL, options);
    if (!known.theirs || known.option || tern_setting_value(&alone, &origin) != place->value)
        return 0;
    return apply_value(&known, origin.place, place->value, options);
}

static int apply_environment(struct tern_options *options)
{
    struct tern_origin origin;
    int error = tern_places_visit(apply_place, options);
    for (int i = 0; i < tern_option_count && !error; i++) {
        const struct tern_known known = {.option = &tern_option_table[i]};
        const char *value = tern_setting_value(&known.option->row, &origin);
        if (value)
            error = apply_value(&known, origin.place, value, options);
        if (error && !*value) {
            tern_options_warn(options, "%s is empty and has no effect; remove it", origin.place);
            error = 0;
        }
    }
    if (error)
        return error;
    const char *limit = getenv("MPIEXEC_TIMEOUT");
    return limit ? tern_words_number("MPIEXEC_TIMEOUT", limit, 0, 1 << 30, &options->timeout_s)
                 : 0;
}

/* ---- parameters of the command line ---- */

/* Applies a parameter of the command line, or of a file that it names, and adds it to `env` as
 * PREFIX and name. Warns if the parameter is unknown. */
static int set_parameter(const struct tern_said *said, const char *prefix,
                         struct tern_strings *env, struct tern_options *options)
{
    const char *name = said->values[0], *value = said->values[1], *where = said->word;
    if (!*name || strchr(name, '='))
        return tern_error(TERN_ERR_ARG, "%s needs a name and a value, not \"%s\"", where, name);
    /* a parameter of PMIx is not known here */
    bool pmix = strcmp(prefix, "PMIX_MCA_") == 0;
    char *place = tern_must_format("%s%s", where[0] == '-' ? "option " : "", where);
    char *origin = tern_must_format("%s %s", where, name);
    char *variable = tern_must_format("%s%s", prefix, name);
    warn_if_unread(&said->known, name, value, pmix ? NULL : "", options);
    int error = pmix ? 0 : tern_param_set(said->known.ours, name, value, place);
    if (!error)
        tern_strings_set(env, variable, value);
    if (!error && pmix)
        setenv(variable, value, 1); /* mpirun's own libpmix reads it there */
    if (!error)
        error = apply_value(&said->known, origin, value, options);
    free(variable);
    free(origin);
    free(place);
    return error;
}

/* Applies a parameter of a file to all programs. */
static int set_for_all(const char *where, char *name, char *value, struct tern_options *options)
{
    const struct tern_said said = {
        .word = where, .values = {name, value}, .known = tern_known_find(name)};
    return set_parameter(&said, "OMPI_MCA_", &options->env, options);
}

/* ---- files of options and of parameters ---- */

static int read_tune_line(const char *path, int number, const struct tern_strings *words,
                          struct tern_options *options)
{
    char *origin = tern_must_format("%s line %d", path, number);
    int error = 0;
    for (int i = 0; i < words->count && !error;) {
        const char *word = words->items[i] + strspn(words->items[i], "-");
        char **values = words->items + i + 1;
        int left = words->count - i - 1;
        if (strcmp(word, "x") == 0 && left >= 1) {
            error = tern_option_give_variable(origin, values[0], options);
            i += 2;
        } else if ((strcmp(word, "mca") == 0 || strcmp(word, "gmca") == 0) && left >= 2) {
            error = tern_line_check_values(tern_option_find(word, strlen(word)), origin, values, 2);
            error = error ? error : set_for_all(origin, values[0], values[1], options);
            i += 3;
        } else {
            error = tern_error(TERN_ERR_ARG,
                               "%s: \"%s\" is not understood; expected -x NAME=VALUE or "
                               "--mca NAME VALUE",
                               origin, words->items[i]);
        }
    }
    free(origin);
    return error;
}

/* Reads lines of -x NAME=VALUE and --mca NAME VALUE. */
static int read_tune(const char *path, char *text, struct tern_options *options)
{
    char *line;
    int error = 0;
    for (int number = 1; !error && (line = strsep(&text, "\n")); number++) {
        struct tern_strings words = {0};
        error = tern_words_split(path, number, line, &words);
        if (!error)
            error = read_tune_line(path, number, &words, options);
        tern_strings_free(&words);
    }
    return error;
}

/* Reads lines NAME = VALUE. A parameter that the environment sets keeps that value. */
static int read_am(const char *path, char *text, struct tern_options *options)
{
    char *name, *value;
    int error = 0;
    for (int number = 1; !error && tern_param_read_line(&text, &name, &value); number++) {
        char *origin = tern_must_format("%s line %d", path, number);
        char *variable = tern_must_format("OMPI_MCA_%s", name ? name : "");
        if (name && !value)
            error = tern_error(TERN_ERR_ARG, "%s: expected NAME = VALUE, not \"%s\"", origin, name);
        else if (name && !getenv(variable))
            error = set_for_all(origin, name, value, options);
        free(variable);
        free(origin);
    }
    return error;
}

/* Reads one file. A file of parameters without a slash is also looked for in
 * share/openmpi/amca-param-sets of the installation. */
static int read_file(const struct tern_option *option, const char *origin, const char *name,
                     struct tern_options *options)
{
    char *installed = tern_must_format("%s/share/openmpi/amca-param-sets/%s", tern_prefix(), name);
    bool is_installed =
        !strchr(name, '/') && access(name, R_OK) < 0 && access(installed, R_OK) == 0;
    const char *path = is_installed ? installed : name, *why = "";
    char *text = *name ? tern_read_text(path, &why) : NULL;
    int error = 0;
    if (text)
        error = option->kind == TERN_OPTION_TUNE ? read_tune(path, text, options)
                                                 : read_am(path, text, options);
    else if (strcmp(name, "ft-enable-mpi") == 0 || strcmp(name, "ft-mpi") == 0) /* of ULFM */
        tern_options_warn(options, "%s %s has no effect: a rank that fails ends the job", origin,
                          name);
    else if (*name)
        error = tern_error(TERN_ERR_ARG, "%s: cannot read the file %s: %s", origin, path, why);
    free(text);
    free(installed);
    return error;
}

/* Reads the files in `list`, of the option --tune or --am, and applies what they set. */
static int read_files(const struct tern_option *option, const char *word, const char *list,
                      struct tern_options *options)
{
    if (options->file_depth == TERN_FILES_DEEP)
        return tern_error(TERN_ERR_ARG, "%s: %s is named within %d other files", word, list,
                          TERN_FILES_DEEP);
    char *names = tern_must_copy(list), *rest = names, *name;
    int error = 0;
    options->file_depth++;
    while (!error && (name = strsep(&rest, ",")))
        error = read_file(option, word, name, options);
    free(names);
    options->file_depth--;
    return error;
}

/* Reads the files of --tune and --am. */
static int apply_files(const struct tern_said *said, struct tern_options *options)
{
    return is_of_files(said) ? store(said, options) : 0;
}

/* Calls `visit` for each option of a line and of its application files. */
static int visit_line(const struct tern_options_line *line,
                      int (*visit)(const struct tern_said *said, struct tern_options *options),
                      struct tern_options *options)
{
    int error = 0;
    for (int p = 0; p < line->count; p++)
        for (int i = 0; i < line->programs[p].count && !error; i++) {
            const struct tern_said *said = &line->programs[p].said[i];
            error = said->file ? visit_line(said->file, visit, options) : visit(said, options);
        }
    return error;
}

/* ---- programs ---- */

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
            error = apply_option(said, options);
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

/* ---- all sources ---- */

int tern_settings_apply(const struct tern_options_line *line, struct tern_options *options)
{
    int error = visit_line(line, note_file, options);
    if (!error)
        error = apply_environment(options);
    options->per_is_default = true;
    options->pe_said = NULL;
    if (!error)
        error = visit_line(line, apply_files, options);
    return error ? error : apply_line(line, options);
}

