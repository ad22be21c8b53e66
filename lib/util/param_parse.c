/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/param_parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

static bool parse_int(const char *text, int64_t *ret_value)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 0);
    if (end == text || errno || *end)
        return false;
    *ret_value = value;
    return true;
}

static bool parse_size(const char *text, int64_t *ret_value)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 0);
    if (end == text || errno)
        return false;
    int shift = 0;
    switch (tolower((unsigned char)*end)) {
    case 'k':
        shift = 10;
        break;
    case 'm':
        shift = 20;
        break;
    case 'g':
        shift = 30;
        break;
    case 't':
        shift = 40;
        break;
    }
    if (shift)
        end++;
    if (tolower((unsigned char)*end) == 'b')
        end++;
    if (*end || value > INT64_MAX >> shift || value < INT64_MIN >> shift)
        return false;
    *ret_value = value * (1ll << shift);
    return true;
}

static bool parse_bool(const char *text, int64_t *ret_value)
{
    static const char *const yes[] = {"1", "true", "t", "yes", "y", "on", "enabled", "enable"};
    static const char *const no[] = {"0", "false", "f", "no", "n", "off", "disabled", "disable"};

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (strcasecmp(text, yes[i]) == 0) {
            *ret_value = 1;
            return true;
        }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (strcasecmp(text, no[i]) == 0) {
            *ret_value = 0;
            return true;
        }
    return false;
}

bool tern_param_read_value(enum tern_param_type type, const char *text, int64_t *ret_value)
{
    switch (type) {
    case TERN_PARAM_INT:
        return parse_int(text, ret_value);
    case TERN_PARAM_SIZE:
        return parse_size(text, ret_value);
    case TERN_PARAM_BOOL:
        return parse_bool(text, ret_value);
    case TERN_PARAM_STRING:
        break;
    }
    return false;
}
