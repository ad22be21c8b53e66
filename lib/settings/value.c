/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/settings/value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- syntax ---- */

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    for (size_t length = strlen(text); length > 0 && isspace((unsigned char)text[length - 1]);
         length--)
        text[length - 1] = 0;
    return text;
}

bool tern_param_read_line(char **rest, char **ret_name, char **ret_value)
{
    char *line = strsep(rest, "\n");
    *ret_name = *ret_value = NULL;
    if (!line)
        return false;
    char *text = trim(line), *equals = strchr(text, '=');
    if (!*text || *text == '#')
        return true;
    if (equals)
        *equals = 0;
    *ret_name = trim(text);
    if (!equals)
        return true;
    char *value = trim(equals + 1);
    size_t length = strlen(value);
    if (length >= 2 && (*value == '"' || *value == '\'') && value[length - 1] == *value) {
        value[length - 1] = 0;
        value++;
    }
    *ret_value = value;
    return true;
}

/* Reads a number; of a size, a unit may follow: k, kb, m and so on. */
static bool parse_number(const char *text, bool is_size, int64_t *ret_value)
{
    static const char units[] = "kmgt";
    char *end;
    int shift = 0;
    errno = 0;
    long long value = strtoll(text, &end, 0);
    if (end == text || errno)
        return false;
    if (is_size && *end) {
        const char *unit = strchr(units, tolower((unsigned char)*end));
        shift = unit ? 10 * (int)(unit - units + 1) : 0;
        end += unit != NULL;
        end += tolower((unsigned char)*end) == 'b';
    }
    if (*end || value > INT64_MAX >> shift || value < INT64_MIN >> shift)
        return false;
    *ret_value = value * (1ll << shift);
    return true;
}

static bool parse_bool(const char *text, int64_t *ret_value)
{
    static const struct tern_setting truth = {
        .choices = "0,false,f,no,n,off,disabled,disable|1,true,t,yes,y,on,enabled,enable"};
    int which = tern_param_index_of_choice(&truth, text);
    *ret_value = which < 0 ? *ret_value : which;
    return which >= 0;
}

bool tern_param_read_value(enum tern_param_type type, const char *text, int64_t *ret_value)
{
    switch (type) {
    case TERN_PARAM_INT:
    case TERN_PARAM_SIZE:
        return parse_number(text, type == TERN_PARAM_SIZE, ret_value);
    case TERN_PARAM_BOOL:
        return parse_bool(text, ret_value);
    case TERN_PARAM_STRING:
    case TERN_PARAM_WORDS:
        break;
    }
    return false;
}

/* ---- choices ---- */

/* Returns the index of the choice with the spelling `text`, or -1. *ret_former: it is no more. */
static int find_choice(const struct tern_setting *param, const char *text, bool *ret_former)
{
    size_t length = strlen(text);
    const char *choices = param->choices;
    for (int index = 0; choices; index++) {
        for (;; choices++) {
            *ret_former = *choices == '~';
            choices += *ret_former;
            size_t spelling = strcspn(choices, ",|");
            if (spelling == length && strncasecmp(choices, text, length) == 0)
                return index;
            choices += spelling;
            if (*choices != ',')
                break;
        }
        if (!*choices++)
            break;
    }
    return -1;
}

int tern_param_index_of_choice(const struct tern_setting *param, const char *text)
{
    bool former;
    return find_choice(param, text, &former);
}

bool tern_param_former_choice(const struct tern_setting *param, const char *text, char *ret_used,
                              size_t room)
{
    bool former = false;
    int index = find_choice(param, text, &former);
    return index >= 0 && former && tern_param_choice_name(param, index, ret_used, room);
}

bool tern_param_choice_name(const struct tern_setting *param, int index, char *name, size_t room)
{
    const char *choice = index < 0 ? NULL : param->choices;
    for (; choice && index > 0; index--) {
        choice = strchr(choice, '|');
        choice = choice ? choice + 1 : NULL;
    }
    if (!choice)
        return false;
    snprintf(name, room, "%.*s", (int)strcspn(choice, ",|"), choice);
    return true;
}

static void describe_choices(const struct tern_setting *param, char *text, size_t room)
{
    char name[64];
    size_t used = (size_t)snprintf(text, room, "one of");
    for (int i = 0; tern_param_choice_name(param, i, name, sizeof name) && used < room; i++)
        used += (size_t)snprintf(text + used, room - used, "%s %s", i ? "," : "",
                                 *name ? name : "\"\"");
}

/* ---- pairs ---- */

bool tern_param_next_pair(const struct tern_setting *list, const char **rest,
                          struct tern_param_pair *ret_pair)
{
    char full[192];
    const char *star = strchr(list->pairs, '*'), *text = *rest + strspn(*rest, ",");
    size_t length = strcspn(text, ","), name = strcspn(text, ",:");
    size_t value = name < length ? name + 1 : 0; /* without a colon: the word, which is none */
    if (!length)
        return false;
    snprintf(ret_pair->name, sizeof ret_pair->name, "%.*s", (int)name, text);
    snprintf(ret_pair->value, sizeof ret_pair->value, "%.*s", (int)(length - value), text + value);
    snprintf(full, sizeof full, "%.*s%s%s", (int)(star - list->pairs), list->pairs, ret_pair->name,
             star + 1);
    ret_pair->param = tern_param_find(full);
    *rest = text + length;
    return true;
}

/* Returns true if the pair sets a parameter, and to a value that this may have. */
static bool allows_pair(const struct tern_param_pair *pair)
{
    return pair->param && tern_param_index_of_choice(pair->param, pair->value) >= 0;
}

/* Writes the names that may stand in the list. */
static void describe_names(const struct tern_setting *list, char *text, size_t room)
{
    const struct tern_setting *param;
    size_t before = strcspn(list->pairs, "*"), used = 0;
    const char *after = list->pairs + before + 1;
    for (int i = 0; (param = tern_param_at(i, NULL)) && used < room; i++) {
        size_t length = strlen(param->name), tail = strlen(after);
        if (length > before + tail && strncmp(param->name, list->pairs, before) == 0 &&
            strcmp(param->name + length - tail, after) == 0)
            used += (size_t)snprintf(text + used, room - used, "%s%.*s", used ? ", " : "",
                                     (int)(length - before - tail), param->name + before);
    }
}

static void describe_pairs(const struct tern_setting *list, const char *not, char *text,
                           size_t room)
{
    char names[400] = "";
    struct tern_param_pair pair = {0};
    while (not && tern_param_next_pair(list, &not, &pair) && allows_pair(&pair))
        ;
    if (pair.param && !allows_pair(&pair)) {
        size_t used = (size_t)snprintf(text, room, "for %s, not \"%s\", ", pair.name, pair.value);
        if (used < room)
            describe_choices(pair.param, text + used, room - used);
        return;
    }
    describe_names(list, names, sizeof names);
    if (*pair.name && !pair.param)
        snprintf(text, room, "NAME:VALUE,NAME:VALUE... with, as NAME, not \"%s\" but one of %s",
                 pair.name, names);
    else
        snprintf(text, room, "NAME:VALUE,NAME:VALUE... with one of %s as NAME; `mpi_info --param "
                 "all all --internal` lists the values of each", names);
}

/* ---- ranges ---- */

static bool in_range(const struct tern_setting *param, int64_t value)
{
    if (param->type == TERN_PARAM_BOOL || (param->or_zero && value == 0))
        return true;
    return value >= param->least && value <= param->most;
}

/* Writes a number of bytes as short as it can be read again: "64k". */
static void write_size(int64_t bytes, char *text, size_t room)
{
    static const char units[] = "\0kmgt";
    int unit = 0;
    for (; bytes && bytes % 1024 == 0 && unit < 4; unit++)
        bytes /= 1024;
    snprintf(text, room, "%" PRId64 "%.1s", bytes, units + unit);
}

static void describe_range(const struct tern_setting *param, char *text, size_t room)
{
    const char *zero = param->or_zero ? "0, or " : "";
    char least[32], most[32];
    if (param->type != TERN_PARAM_SIZE) {
        snprintf(text, room, "%sa whole number from %" PRId64 " to %" PRId64, zero, param->least,
                 param->most);
        return;
    }
    write_size(param->least, least, sizeof least);
    write_size(param->most, most, sizeof most);
    snprintf(text, room, "%sa number of bytes from %s to %s, such as 64k", zero, least, most);
}

/* ---- all kinds ---- */

bool tern_param_allows(const struct tern_setting *param, const char *text)
{
    int64_t value;
    if (param->type < TERN_PARAM_STRING)
        return tern_param_read_value(param->type, text, &value) && in_range(param, value);
    struct tern_param_pair pair;
    while (param->pairs && tern_param_next_pair(param, &text, &pair))
        if (!allows_pair(&pair))
            return false;
    return !param->choices || tern_param_index_of_choice(param, text) >= 0;
}

void tern_param_describe_values(const struct tern_setting *param, const char *not, char *text,
                                size_t room)
{
    if (param->pairs)
        describe_pairs(param, not, text, room);
    else if (param->choices)
        describe_choices(param, text, room);
    else if (param->type == TERN_PARAM_BOOL)
        snprintf(text, room, "0 or 1");
    else if (param->type == TERN_PARAM_STRING)
        snprintf(text, room, "any text");
    else
        describe_range(param, text, room);
}
