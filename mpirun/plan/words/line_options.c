/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/words/line_options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/text.h"
#include "mpirun/plan/words/words.h"

/* ---- names of options ---- */

/* Finds an option that is not written as `name`: NAME=VALUE, or a name and a number such as "np4".
 * Returns NULL if it is none of these. */
static const struct tern_option *find_misjoined(const char *name, const char **ret_value)
{
    size_t length = strcspn(name, "="), letters = strcspn(name, "0123456789");
    bool number =
        !name[length] && name[letters] && !name[letters + strspn(name + letters, "0123456789")];
    const struct tern_option *option =
        number || name[length] ? tern_option_find(name, number ? letters : length) : NULL;
    *ret_value = number ? name + letters : name + length + (name[length] == '=');
    return number && option && tern_option_values(option) != 1 ? NULL : option;
}

/* Returns the error for `word`, an option with a value that is written otherwise. `value` is the
 * end of the word. */
static int misjoined_option(const struct tern_option *option, const char *word, const char *value)
{
    const char *name = word + strspn(word, "-");
    int length = (int)(value - name - (value[-1] == '='));
    const char *dashes = length > 1 ? "--" : "-";
    int values = tern_option_values(option);
    if (values == 1)
        return tern_error(TERN_ERR_ARG,
                          "unknown option %s: the value is a word of its own; write -%.*s %s", word,
                          length, name, *value ? value : "VALUE");
    return tern_error(TERN_ERR_ARG, "unknown option %s: %s%.*s takes %s; write %s%.*s%s", word,
                      dashes, length, name, values ? "a name and a value" : "no value", dashes,
                      length, name, values ? " NAME VALUE" : "");
}

static int unknown_option(const char *word)
{
    const char *name = word + 1 + (word[1] == '-'), *value;
    const struct tern_option *meant = find_misjoined(name, &value);
    if (meant)
        return misjoined_option(meant, word, value);
    int length = (int)strcspn(name, "=");
    char *bare = tern_must_format("%.*s", length, name);
    struct tern_nearest nearest = {.to = bare, .most = length / 3 + (length > 3)};
    for (int i = 0; i < tern_option_count; i++) {
        const struct tern_setting names = {.also = tern_option_table[i].names};
        if (tern_option_table[i].row.effect != TERN_EFFECT_FOREIGN)
            tern_nearest_try(&nearest, &names);
    }
    free(bare);
    return tern_error(TERN_ERR_ARG, "unknown option %s%s%s%s (mpirun --help lists them)", word,
                      *nearest.name ? "; did you mean --" : "", nearest.name,
                      *nearest.name ? "?" : "");
}

/* ---- words ---- */

/* Returns true if a value that is an option's name may be meant: arguments for another program. */
static bool may_be_option(const struct tern_option *option, char *const *values, int at)
{
    const char *args = "_args";
    size_t length = strlen(values[0]), tail = strlen(args);
    return option->kind == TERN_OPTION_PARAMETER && at == 1 && length > tail &&
           strcmp(values[0] + length - tail, args) == 0;
}

int tern_line_check_values(const struct tern_option *option, const char *word, char *const *values,
                           int count)
{
    bool applies = option->row.effect < TERN_EFFECT_REFUSED;
    for (int i = 0; i < count && applies; i++) {
        const char *value = values[i], *name = value + 1 + (value[0] == '-' && value[1] == '-');
        if (value[0] != '-' || !tern_option_find(name, strlen(name)) ||
            may_be_option(option, values, i))
            continue;
        char *before = tern_must_format("%s%s%s", word, i ? " " : "", i ? values[0] : "");
        int error = tern_error(TERN_ERR_ARG,
                               "%s has no value: the option %s follows; write %s %s", before,
                               value, before, count - i > 1 ? "NAME VALUE" : "VALUE");
        free(before);
        return error;
    }
    return 0;
}

static int read_appfile(const char *path, struct tern_options *options,
                        struct tern_options_line *line);

/* Reads the option words[*at] with its values, and moves *at behind them. */
static int read_option(char **words, int count, int *at, struct tern_options *options,
                       struct tern_said *said)
{
    char *name = words[*at] + 1 + (words[*at][1] == '-');
    size_t length = words[*at][1] == '-' ? strcspn(name, "=") : strlen(name);
    *said = (struct tern_said){.word = words[*at], .joined = name[length]};
    said->option = tern_option_find(name, length);
    said->count = said->option ? tern_option_values(said->option) : 0;
    if (!said->option || (said->joined && said->count != 1))
        return unknown_option(said->word);
    int follow = said->joined ? 0 : said->count, left = count - *at - 1;
    if (follow > left)
        return tern_error(TERN_ERR_ARG, "%s needs %s after it", said->word,
                          said->count == 1 ? "a value" : "a name and a value");
    for (int i = 0; i < 2 && i < left; i++)
        said->values[i] = words[*at + 1 + i];
    int error = tern_line_check_values(said->option, said->word, said->values, follow);
    if (said->joined)
        said->values[0] = name + length + 1;
    *at += 1 + follow;
    if (!error && said->option->kind == TERN_OPTION_PARAMETER)
        said->known = tern_known_find(said->values[0]);
    if (error || said->option->kind != TERN_OPTION_APPFILE)
        return error;
    said->file = tern_must_alloc(sizeof *said->file);
    *said->file = (struct tern_options_line){0};
    return read_appfile(said->values[0], options, said->file);
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

/* Reads one program and its options from words[*at] on. Moves *at to the separator or the end. */
static int read_program(char **words, int count, int *at, struct tern_options *options,
                        struct tern_line_program *program)
{
    int error = 0;
    while (!error && *at < count && words[*at][0] == '-' && words[*at][1]) {
        if (strcmp(words[*at], "--") == 0) {
            (*at)++;
            break;
        }
        program->said =
            tern_must_grow(program->said, (size_t)(program->count + 1) * sizeof *program->said);
        struct tern_said *said = &program->said[program->count++];
        error = read_option(words, count, at, options, said);
        if (!error && (said->option->kind == TERN_OPTION_HELP ||
                       said->option->kind == TERN_OPTION_VERSION))
            *at = count; /* the rest does not matter */
    }
    program->argv = words + *at;
    while (*at < count && strcmp(words[*at], options->separator))
        (*at)++;
    program->argc = (int)(words + *at - program->argv);
    return error || !program->argc ? error : check_dash(program->argv[0]);
}

int tern_line_read(char **words, int count, struct tern_options *options,
                   struct tern_options_line *line)
{
    int at = 0, error = 0;
    do {
        struct tern_line_program program = {0};
        error = read_program(words, count, &at, options, &program);
        line->programs =
            tern_must_grow(line->programs, (size_t)(line->count + 1) * sizeof *line->programs);
        line->programs[line->count++] = program;
    } while (!error && ++at < count); /* a last separator is followed by nothing */
    return error;
}

void tern_line_free(struct tern_options_line *line)
{
    for (int p = 0; p < line->count; p++) {
        for (int i = 0; i < line->programs[p].count; i++)
            if (line->programs[p].said[i].file) {
                tern_line_free(line->programs[p].said[i].file);
                free(line->programs[p].said[i].file);
            }
        free(line->programs[p].said);
        free(line->programs[p].own);
    }
    free(line->programs);
}

/* --app FILE: reads a file with a program and its options on each line. A backslash at the end of a
 * line continues it. */
static int read_appfile(const char *path, struct tern_options *options,
                        struct tern_options_line *line)
{
    if (options->file_depth == TERN_FILES_DEEP)
        return tern_error(TERN_ERR_ARG,
                          "the application file %s is nested in %d others; "
                          "application files may not name each other in a "
                          "circle",
                          path, TERN_FILES_DEEP);
    const char *why;
    char *text = tern_read_text(path, &why), *rest = text, *one;
    if (!text)
        return tern_error(TERN_ERR_ARG, "cannot read the application file %s: %s", path, why);
    options->file_depth++;
    int error = 0, number = 0;
    struct tern_strings words = {0};
    /* the text after the last line break is not a line if it is empty */
    while (!error && (one = strsep(&rest, "\n")) && (*one || rest)) {
        size_t length = strlen(one);
        bool goes_on = length > 0 && one[length - 1] == '\\';
        one[length - goes_on] = '\0';
        error = tern_words_split(path, ++number, one, &words);
        if (goes_on)
            continue;
        for (int i = 0; i < words.count; i++)
            tern_strings_take(&options->kept, words.items[i]);
        if (words.count && !error) {
            error = tern_line_read(words.items, words.count, options, line);
            line->programs[line->count - 1].own = words.items;
        } else {
            free(words.items);
        }
        words = (struct tern_strings){0};
    }
    if (words.count && !error)
        error = tern_error(TERN_ERR_ARG, "%s ends with a backslash, but no line follows", path);
    tern_strings_free(&words);
    free(text);
    options->file_depth--;
    return error;
}

/* ---- notes ---- */

/* Returns a name for what the option sets, the same for -n and -np, or NULL if it replaces nothing.
 * The caller frees it. *ret_for_all: it holds for all programs, not for one. */
static char *name_target(const struct tern_said *said, bool *ret_for_all)
{
    const struct tern_option *option = said->option;
    const char *value = said->count ? said->values[0] : "";
    *ret_for_all = !option->of_app;
    const struct tern_option *meant = said->known.option;
    if (meant && *meant->names && meant->sets) {
        *ret_for_all = true;
        return tern_must_copy(meant->sets);
    }
    if (option->kind == TERN_OPTION_PARAMETER)
        return tern_must_format("%s%s%s", option->of_app ? "" : "all ", option->text, value);
    if (strcmp(option->names, "x") == 0)
        return tern_must_format("x %.*s", (int)strcspn(value, "="), value);
    /* --map-by :PE=2 adds to another --map-by */
    return option->sets && *value != ':' ? tern_must_copy(option->sets) : NULL;
}

/* Warns if `text`, an option and its values, replaces an earlier one. */
static void note_repeat(const struct tern_said *said, const char *text,
                        struct tern_options *options)
{
    bool for_all;
    char *target = name_target(said, &for_all);
    if (!target)
        return;
    char *key = for_all
                    ? tern_must_copy(target)
                    : tern_must_format("%d.%d %s", options->file_depth, options->app_count, target);
    const char *before = tern_strings_value(&options->given, key);
    const char *value = said->count ? said->values[said->count - 1] : text;
    /* the same value in other words, as in -n 2 -np 2, is none of the user's errors */
    size_t lead = before && strlen(before) >= strlen(value) ? strlen(before) - strlen(value) : 0;
    bool same =
        before && strcmp(before + lead, value) == 0 && (!lead || strchr(" =", before[lead - 1]));
    if (before && !same)
        tern_options_warn(options, "%s replaces %s, given before", text, before);
    tern_strings_set(&options->given, key, text);
    free(key);
    free(target);
}

/* Mappings that say how many ranks there are, or where each one runs, fit one job only. */
static bool fits_one_job(const char *value)
{
    return strncmp(value, "ppr", 3) == 0 || strncmp(value, "seq", 3) == 0 ||
           strncmp(value, "rankfile", 8) == 0;
}

/* Adds a value. Other jobs start in other directories, so the name of one must be absolute. */
static void add_value(struct tern_strings *list, const struct tern_option *option,
                      const char *value)
{
    char here[PATH_MAX];
    bool directory = strncmp(option->names, "output-", strlen("output-")) == 0;
    if (directory && value[0] != '/' && getcwd(here, sizeof here))
        tern_strings_format(list, "%s/%s", here, value);
    else
        tern_strings_add(list, value);
}

/* Notes an option for the jobs that ranks start: processes that a rank starts by MPI_Comm_spawn get
 * the options of their parent that hold for any job. */
static void note_inherited(const struct tern_said *said, struct tern_options *options)
{
    const struct tern_option *option = said->option;
    struct tern_strings *list = &options->inherited[option->inherit];
    bool maps = option->inherit == TERN_INHERIT_MAP;
    if (!option->inherit || (maps && said->count && fits_one_job(said->values[0])))
        return;
    /* --NAME=VALUE is written as two words; an option has two dashes */
    tern_strings_format(list, "--%.*s", (int)strcspn(option->names, " "),
                        option->names);
    for (int v = 0; v < said->count; v++)
        add_value(list, option, said->values[v]);
}

void tern_said_note(const struct tern_said *said, struct tern_options *options)
{
    int shown = said->joined ? 0 : said->count;
    char *text = tern_must_format("%s%s%s%s%s", said->word, shown > 0 ? " " : "",
                                  shown > 0 ? said->values[0] : "", shown > 1 ? " " : "",
                                  shown > 1 ? said->values[1] : "");
    if (strcmp(said->option->names, "explain"))
        tern_strings_format(&options->said, "%s (command line)", text);
    note_repeat(said, text, options);
    note_inherited(said, options);
    free(text);
}
