/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/hosts/hostfile.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/util/base/error.h"
#include "lib/util/base/text.h"

/* Replaces comments by spaces, but keeps line breaks. Comments go from # or // to the end of the
 * line, or from one mark to the other, perhaps several lines later. A mark without its end is not a
 * comment. */
static void blank_comments(char *text)
{
    for (char *at = text; *at;) {
        char *end = NULL;
        if (*at == '#' || strncmp(at, "//", 2) == 0)
            end = at + strcspn(at, "\n");
        else if (strncmp(at, "/*", 2) == 0 && (end = strstr(at + 2, "*/")))
            end += 2;
        if (!end)
            end = ++at; /* no comment here */
        for (; at < end; at++)
            if (*at != '\n')
                *at = ' ';
    }
}

/* Removes the space around "=", as in "slots = 4". */
static void close_up(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        const char *next = at + strspn(at, " \t\r");
        bool space = next > at;
        if (space && (*next == '=' || (to > text && to[-1] == '=')))
            at = next;
        if (!*at)
            break;
        *to++ = *at;
    }
    *to = '\0';
}

/* Returns true if `word` is NAME=... for one of `names`. A "_" in the name may be written "-". */
static bool is_one_of(const char *word, const char *const *names)
{
    for (; *names; names++) {
        const char *at = word, *name = *names;
        while (*name && (tolower((unsigned char)*at) == *name || (*at == '-' && *name == '_'))) {
            at++;
            name++;
        }
        if (!*name && *at == '=')
            return true;
    }
    return false;
}

/* Reads a number that a line may say once. */
static int parse_once(bool *said, const char *text, const char *word, int *ret_number)
{
    if (*said)
        return tern_error(TERN_ERR_ARG,
                          "\"%s\" is the second such number on this line; expected "
                          "one, or a line of its own for each",
                          word);
    *said = true;
    return tern_host_parse_slots(text, word, ret_number);
}

int tern_hostfile_parse_line(const char *line, struct tern_host_entry *ret_entry)
{
    static const char *const slots[] = {"slots", "slot", "cpus", "cpu", "count", NULL};
    static const char *const most[] = {"max_slots", "slots_max", NULL};
    static const char *const of_no_use[] = {"port", "username", "user_name", "user", "rack", NULL};
    struct tern_host_entry entry = {0};
    char *copy = tern_must_copy(line), *rest = copy, *word;
    copy[strcspn(copy, "\n")] = '\0';
    blank_comments(copy);
    close_up(copy);
    int error = 1;
    bool slots_said = false, most_said = false;
    while ((word = strsep(&rest, " \t\r"))) {
        if (!*word)
            continue;
        char *value = strchr(word, '=');
        if (error == 1) {
            char *colon = strchr(word, ':');
            if (colon && !strchr(colon + 1, ':')) {
                error = tern_host_parse(word, &entry);
            } else {
                error = tern_host_parse_name(word, strlen(word), &entry);
            }
        } else if (is_one_of(word, slots)) {
            error = parse_once(&slots_said, value + 1, word, &entry.slots);
        } else if (is_one_of(word, most)) {
            error = parse_once(&most_said, value + 1, word, &entry.max_slots);
        } else if (!is_one_of(word, of_no_use)) {
            error = tern_error(
                TERN_ERR_ARG,
                "\"%s\" is not valid in a hostfile; expected lines \"HOST slots=N max-slots=N\"%s",
                word,
                strcasecmp(entry.name, "rank") == 0 ? " (a rankfile is for --rankfile)" : "");
        }
        if (error < 0)
            break;
    }
    free(copy);
    if (error == 0 && entry.max_slots && entry.slots > entry.max_slots)
        error = tern_error(TERN_ERR_ARG, "host %s has slots=%d, more than its max_slots=%d",
                           entry.name, entry.slots, entry.max_slots);
    if (error == 0 && !entry.slots)
        entry.slots = entry.max_slots; /* as in Open MPI 4.1 */
    if (error == 0)
        *ret_entry = entry;
    return error;
}

int tern_hostfile_parse(const char *path, const char *text, struct tern_host_list *list)
{
    char *copy = tern_must_copy(text), *rest = copy, *line;
    blank_comments(rest);
    int error = 0, number = 0;
    while (error >= 0 && (line = strsep(&rest, "\n"))) {
        struct tern_host_entry entry;
        number++;
        error = tern_hostfile_parse_line(line, &entry);
        if (error == 0) {
            tern_host_identify(&entry);
            tern_host_list_add(list, &entry);
            tern_strings_add(&list->sequence, entry.name);
        }
    }
    free(copy);
    if (error >= 0)
        return 0;
    char *said = tern_must_copy(tern_error_text(error));
    tern_error(error, "%s, line %d: %s", path, number, said);
    free(said);
    return error;
}

int tern_hostfile_read(const char *path, struct tern_host_list *list)
{
    const char *why;
    char *text = tern_read_text(path, &why);
    int error;
    if (!text)
        error = tern_error(TERN_ERR_ARG, "cannot read the hostfile %s: %s", path, why);
    else
        error = tern_hostfile_parse(path, text, list);
    free(text);
    return error;
}
