/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/words/line_options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/text.h"

/* ---- names of options ---- */

/* Returns the option that `word` means, or NULL. *ret_value is the value of --NAME=VALUE, or NULL
 * if the option's values follow as words. */
static const struct tern_option *find_option(char *word, char **ret_value)
{
    const char *name = word + 1 + (word[1] == '-');
    char *equals = word[1] == '-' ? strchr(word, '=') : NULL;
    const struct tern_option *option =
        equals ? tern_option_find(name, (size_t)(equals - name)) : NULL;
    bool joined = option && tern_option_values(option) == 1;
    *ret_value = joined ? equals + 1 : NULL;
    return joined ? option : tern_option_named(name);
}

/* Finds an option that is not written as `name`: NAME=VALUE, or a name and a number such as "np4".
 * Returns NULL if it is none of these. */
static const struct tern_option *find_misjoined(const char *name, const char **ret_value)
{
    size_t length = strcspn(name, "="), letters = strcspn(name, "0123456789");
    bool number =
        !name[length] && name[letters] && !name[letters + strspn(name + letters, "0123456789")];
    char *bare = tern_must_format("%.*s", (int)(number ? letters : length), name);
    const struct tern_option *option = number || name[length] ? tern_option_named(bare) : NULL;
    free(bare);
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
    char own[64], nearest[64] = "";
    const struct tern_option *meant = find_misjoined(name, &value);
    if (meant)
        return misjoined_option(meant, word, value);
    size_t length = strcspn(name, "=");
    char *bare = tern_must_format("%.*s", (int)length, name);
    enum { SHORTEST = 3 }; /* a shorter option is near to any short word */
    int best = (int)length / 3 + (length > SHORTEST);
    for (int i = 0; i < tern_option_count; i++)
        for (int n = 0; tern_option_name(&tern_option_table[i], n, own, sizeof own); n++) {
            int distance = strlen(own) >= SHORTEST ? tern_text_distance(bare, own) : 100;
            bool ours = tern_option_table[i].row.effect != TERN_EFFECT_FOREIGN;
            if (ours && distance <= best && (!*nearest || distance < best)) {
                best = distance;
                memcpy(nearest, own, sizeof nearest);
            }
        }
    free(bare);
    if (*nearest)
        return tern_error(TERN_ERR_ARG,
                          "unknown option %s; did you mean --%s? (mpirun --help lists them)", word,
                          nearest);
    return tern_error(TERN_ERR_ARG, "unknown option %s (mpirun --help lists them)", word);
}

/* ---- words ---- */

/* Returns the number of words of an option that follow as words of their own, or a negative
 * TERN_ERR_ARG if the option lacks some: words[at] is the last, or another option follows. */
static int count_values(const struct tern_option *option, const char *joined, char **words,
                        int count, int at)
{
    int follow = joined ? 0 : tern_option_values(option);
    if (at + follow >= count)
        return tern_error(TERN_ERR_ARG, "%s needs %s after it", words[at],
                          tern_option_values(option) == 1 ? "a value" : "a name and a value");
    int error = tern_option_check_values(option, words[at], words + at + 1, follow);
    return error ? error : follow;
}

/* Reads the option words[*at] with its values, and moves *at behind them. */
static int read_option(char **words, int count, int *at, struct tern_said *ret)
{
    struct tern_said said = {.word = words[*at]};
    said.option = find_option(said.word, &said.joined);
    if (!said.option)
        return unknown_option(said.word);
    int follow = count_values(said.option, said.joined, words, count, *at);
    if (follow < 0)
        return follow;
    said.words = words + *at + 1;
    said.left = count - *at - 1;
    *at += 1 + follow;
    *ret = said;
    return 0;
}

/* Reads one program and its options from words[*at] on. Moves *at to the separator or the end. */
static int read_program(char **words, int count, int *at, const char *separator,
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
        error = read_option(words, count, at, &program->said[program->count]);
        program->count += !error;
    }
    program->argv = words + *at;
    while (*at < count && strcmp(words[*at], separator))
        (*at)++;
    program->argc = (int)(words + *at - program->argv);
    return error;
}

int tern_line_read(char **words, int count, const char *separator, struct tern_options_line *line)
{
    int at = 0, error = 0;
    do {
        line->programs =
            tern_must_grow(line->programs, (size_t)(line->count + 1) * sizeof *line->programs);
        line->programs[line->count] = (struct tern_line_program){0};
        error = read_program(words, count, &at, separator, &line->programs[line->count++]);
    } while (!error && ++at < count); /* a last separator is followed by nothing */
    return error;
}

void tern_line_free(struct tern_options_line *line)
{
    for (int i = 0; i < line->count; i++)
        free(line->programs[i].said);
    free(line->programs);
}

char **tern_said_values(struct tern_said *said)
{
    return said->joined ? &said->joined : said->words;
}

/* ---- messages ---- */

void tern_said_note(struct tern_said *said, struct tern_options *options)
{
    char **values = tern_said_values(said);
    int count = said->joined ? 0 : tern_option_values(said->option);
    if (strcmp(said->word + strspn(said->word, "-"), "explain") == 0)
        return;
    tern_strings_format(&options->said, "%s%s%s%s%s (command line)", said->word,
                        count > 0 ? " " : "", count > 0 ? values[0] : "", count > 1 ? " " : "",
                        count > 1 ? values[1] : "");
}

/* Returns a name for what the option sets, the same for -n and -np, or NULL if it replaces nothing.
 * The caller frees it. `ret_for_all`: it holds for all programs, not for one. */
static char *name_target(const struct tern_option *option, char **values, bool *ret_for_all)
{
    *ret_for_all = !option->of_app;
    if (option->kind == TERN_OPTION_PARAMETER) {
        const struct tern_option *meant = tern_option_of_parameter(values[0]);
        const char *alike = meant && *meant->names ? meant->sets : NULL;
        *ret_for_all |= alike != NULL;
        return alike ? tern_must_copy(alike)
                     : tern_must_format("%s%s%s", option->of_app ? "" : "all ", option->text,
                                        values[0]);
    }
    if (strcmp(option->names, "x") == 0)
        return tern_must_format("x %.*s", (int)strcspn(values[0], "="), values[0]);
    /* --map-by :PE=2 adds to another --map-by */
    bool adds = tern_option_values(option) && values[0][0] == ':';
    return option->sets && !adds ? tern_must_copy(option->sets) : NULL;
}

void tern_said_note_repeat(struct tern_said *saying, struct tern_options *options)
{
    const struct tern_option *option = saying->option;
    const char *word = saying->word;
    char **values = tern_said_values(saying);
    int count = tern_option_values(option);
    bool for_all;
    char *target = name_target(option, values, &for_all);
    if (!target)
        return;
    char *key = for_all
                    ? tern_must_copy(target)
                    : tern_must_format("%d.%d %s", options->file_depth, options->app_count, target);
    char *said = tern_must_format("%s%s%s%s%s", word, count > 0 ? " " : "",
                                  count > 0 ? values[0] : "", count > 1 ? " " : "",
                                  count > 1 ? values[1] : "");
    const char *before = tern_strings_value(&options->given, key);
    const char *value = count ? values[count - 1] : said;
    /* the same value in other words, as in -n 2 -np 2, is none of the user's errors */
    size_t lead = before && strlen(before) >= strlen(value) ? strlen(before) - strlen(value) : 0;
    bool same = before && strcmp(before + lead, value) == 0 && (!lead || before[lead - 1] == ' ');
    if (before && !same)
        tern_options_warn(options, "%s replaces %s, given before", said, before);
    tern_strings_set(&options->given, key, said);
    free(said);
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

void tern_said_note_inherited(struct tern_said *said, struct tern_options *options)
{
    const struct tern_option *option = said->option;
    struct tern_strings *const lists[] = {
        [TERN_INHERIT_ALL] = &options->inherited,
        [TERN_INHERIT_MAP] = &options->inherited_map,
        [TERN_INHERIT_RANK] = &options->inherited_rank,
        [TERN_INHERIT_BIND] = &options->inherited_bind,
        [TERN_INHERIT_APP] = &options->inherited_app,
    };
    char **values = tern_said_values(said), name[64];
    bool maps = option->inherit == TERN_INHERIT_MAP;
    if (!option->inherit || (maps && tern_option_values(option) && fits_one_job(values[0])))
        return;
    /* --NAME=VALUE is written as two words; an option has two dashes */
    tern_option_name(option, 0, name, sizeof name);
    tern_strings_format(lists[option->inherit], "--%s", name);
    for (int v = 0; v < tern_option_values(option); v++)
        add_value(lists[option->inherit], option, values[v]);
}
