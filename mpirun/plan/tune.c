/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/settings/value.h"
#include "lib/util/base/prefix.h"
#include "lib/util/base/text.h"
#include "mpirun/plan/line_words.h"

/* Returns true for the parameter sets by which releases of Open MPI with ULFM switch it on. */
static bool is_fault_tolerance(const char *name)
{
    return strcmp(name, "ft-enable-mpi") == 0 || strcmp(name, "ft-mpi") == 0;
}

/* Calls `read` for each of the files, separated by commas, with its path and text. */
static int read_each(const char *origin, const char *files, tern_tune_setter *set,
                     struct tern_options *options,
                     int (*read)(const char *path, char *text, tern_tune_setter *set,
                                 struct tern_options *options))
{
    enum { FILES_DEEP = 16 };
    if (options->file_depth == FILES_DEEP)
        return tern_error(TERN_ERR_ARG, "%s: %s is named within %d other files", origin, files,
                          FILES_DEEP);
    char *names = tern_must_copy(files), *rest = names, *name;
    int error = 0;
    options->file_depth++;
    while (!error && (name = strsep(&rest, ","))) {
        char *installed =
            tern_must_format("%s/share/openmpi/amca-param-sets/%s", tern_prefix(), name);
        bool is_installed =
            !strchr(name, '/') && access(name, R_OK) < 0 && access(installed, R_OK) == 0;
        const char *path = is_installed ? installed : name, *why = "";
        char *text = *name ? tern_read_text(path, &why) : NULL;
        if (text)
            error = read(path, text, set, options);
        else if (is_fault_tolerance(name))
            tern_options_warn(options, "%s %s has no effect: a rank that fails ends the job",
                              origin, name);
        else if (*name)
            error = tern_error(TERN_ERR_ARG, "%s: cannot read the file %s: %s", origin, path, why);
        free(text);
        free(installed);
    }
    free(names);
    options->file_depth--;
    return error;
}

/* Gives NAME=VALUE, or NAME with mpirun's own value, to all ranks. */
static int give_variable(const char *origin, const char *text, struct tern_options *options)
{
    char *name = tern_must_copy(text), *value = strchr(name, '=');
    int error = 0;
    if (value)
        *value++ = '\0';
    else
        value = getenv(name);
    if (!*name || *name == '-')
        error = tern_error(TERN_ERR_ARG, "%s: expected NAME=VALUE, not \"%s\"", origin, text);
    else if (value)
        tern_strings_set(&options->env, name, value);
    else
        tern_options_warn(options, "%s: no variable %s in the environment", origin, name);
    free(name);
    return error;
}

static int read_tune_line(const char *path, int number, const struct tern_strings *words,
                          tern_tune_setter *set, struct tern_options *options)
{
    char *origin = tern_must_format("%s line %d", path, number);
    int error = 0;
    for (int i = 0; i < words->count && !error;) {
        const char *word = words->items[i] + strspn(words->items[i], "-");
        int left = words->count - i - 1;
        if (strcmp(word, "x") == 0 && left >= 1) {
            error = give_variable(origin, words->items[i + 1], options);
            i += 2;
        } else if ((strcmp(word, "mca") == 0 || strcmp(word, "gmca") == 0) && left >= 2) {
            error = set(origin, words->items[i + 1], words->items[i + 2], options);
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

static int read_tune(const char *path, char *text, tern_tune_setter *set,
                     struct tern_options *options)
{
    char *line;
    int error = 0;
    for (int number = 1; !error && (line = strsep(&text, "\n")); number++) {
        struct tern_strings words = { 0 };
        error = tern_words_split(path, number, line, &words);
        if (!error)
            error = read_tune_line(path, number, &words, set, options);
        tern_strings_free(&words);
    }
    return error;
}

static int read_settings(const char *path, char *text, tern_tune_setter *set,
                         struct tern_options *options)
{
    char *name, *value;
    int error = 0;
    for (int number = 1; !error && tern_param_read_line(&text, &name, &value); number++) {
        char *origin = tern_must_format("%s line %d", path, number);
        char *variable = tern_must_format("OMPI_MCA_%s", name ? name : "");
        if (name && !value)
            error = tern_error(TERN_ERR_ARG, "%s: expected NAME = VALUE, not \"%s\"", origin, name);
        else if (name && !getenv(variable))
            error = set(origin, name, value, options);
        free(variable);
        free(origin);
    }
    return error;
}

int tern_tune_read(const char *origin, const char *files, tern_tune_setter *set,
                   struct tern_options *options)
{
    return read_each(origin, files, set, options, read_tune);
}

int tern_tune_read_settings(const char *origin, const char *files, tern_tune_setter *set,
                            struct tern_options *options)
{
    return read_each(origin, files, set, options, read_settings);
}

int tern_tune_set_delimiter(const char *origin, const char *text, struct tern_options *options)
{
    (void)origin;
    options->env_list_delimiter = *text ? *text : ';';
    return 0;
}

int tern_tune_set_variables(const char *origin, const char *list, struct tern_options *options)
{
    tern_strings_add(&options->kept, origin);
    options->env_list_origin = options->kept.items[options->kept.count - 1];
    options->env_list = list;
    return 0;
}

int tern_tune_give_variables(struct tern_options *options)
{
    char delimiter[2] = { options->env_list_delimiter ? options->env_list_delimiter : ';', '\0' };
    char *copy = tern_must_copy(options->env_list ? options->env_list : ""), *rest = copy, *word;
    int error = 0;
    while (!error && (word = strsep(&rest, delimiter)))
        error = *word ? give_variable(options->env_list_origin, word, options) : 0;
    free(copy);
    return error;
}
