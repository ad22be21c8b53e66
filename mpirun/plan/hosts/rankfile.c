/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/hosts/rankfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/text.h"
#include "mpirun/plan/machine/slots.h"

enum { MOST_RANKS = 1 << 20 };

/* ---- lines ---- */

static char *skip_blanks(char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* Skips "NAME = ". Returns the text after it, or NULL if `at` does not begin so. */
static char *skip_name(char *at, const char *name)
{
    size_t length = strlen(name);
    if (strncasecmp(at, name, length))
        return NULL;
    at = skip_blanks(at + length);
    return *at == '=' ? skip_blanks(at + 1) : NULL;
}

/* Removes quotes, and all blanks: they mean nothing around or inside lists. */
static void strip(char *text)
{
    char *to = text;
    for (; *text; text++) {
        if (*text != '"' && *text != '\'' && !isspace((unsigned char)*text))
            *to++ = *text;
    }
    *to = '\0';
}

/* Splits a line into its parts. Returns 0, 1 if the line is empty, or TERN_ERR_ARG. */
static int split_line(char *line, int *ret_rank, char **ret_host, char **ret_slots)
{
    char *end, *slots = NULL;
    line[strcspn(line, "#")] = '\0';
    char *at = skip_blanks(line);
    if (!*at)
        return 1;
    if (strncasecmp(at, "rank", 4) || !isdigit((unsigned char)*skip_blanks(at + 4)))
        return TERN_ERR_ARG;
    long rank = strtol(skip_blanks(at + 4), &end, 10);
    at = skip_blanks(end);
    if (*at != '=' || rank >= MOST_RANKS)
        return TERN_ERR_ARG;
    char *host = skip_blanks(at + 1), *after = host;
    while (*after && !isspace((unsigned char)*after))
        after++;
    if (*after)
        *after++ = '\0';
    after = skip_blanks(after);
    if (*after) {
        slots = skip_name(after, "slots");
        slots = slots ? slots : skip_name(after, "slot");
        if (!slots)
            return TERN_ERR_ARG;
        strip(slots);
    }
    strip(host);
    *ret_rank = (int)rank;
    *ret_host = host;
    *ret_slots = slots;
    return *host ? 0 : TERN_ERR_ARG;
}

/* Returns X of "+nX", or -1 if the text is not of this form. */
static int relative_host(const char *host)
{
    char *end;
    if (host[0] != '+' || (host[1] | 32) != 'n' || !isdigit((unsigned char)host[2]))
        return -1;
    long number = strtol(host + 2, &end, 10);
    return *end ? -1 : number > MOST_RANKS ? MOST_RANKS : (int)number;
}

static int add_line(struct tern_rankfile *file, int rank, const char *host, const char *slots,
                    int line)
{
    char *where = tern_must_format("%s, line %d", file->path, line);
    struct tern_cpus none;
    int error = slots ? tern_slots_find(NULL, slots, false, where, &none) : 0;
    if (!error && host[0] == '+' && relative_host(host) < 0)
        error =
            tern_error(TERN_ERR_ARG, "%s: \"%s\" is not a host; hosts by number are +n0, +n1, ...",
                       where, host);
    if (!error && rank < file->count && file->ranks[rank].host)
        error = tern_error(TERN_ERR_ARG, "%s: line %d already says where rank %d runs", where,
                           file->ranks[rank].line, rank);
    free(where);
    if (error)
        return error;
    if (rank >= file->count) {
        file->ranks = tern_must_grow(file->ranks, (rank + 1) * sizeof *file->ranks);
        memset(&file->ranks[file->count], 0, (rank + 1 - file->count) * sizeof *file->ranks);
        file->count = rank + 1;
    }
    file->ranks[rank] = (struct tern_rank_line){ .host = tern_must_copy(host),
                                                 .slots = slots ? tern_must_copy(slots) : NULL,
                                                 .line = line };
    return 0;
}

int tern_rankfile_parse(const char *path, const char *text, bool physical,
                        struct tern_rankfile *ret_file)
{
    struct tern_rankfile file = { .path = path };
    char *copy = tern_must_copy(text), *rest = copy, *line;
    int error = 0, number = 0;
    while (!error && (line = strsep(&rest, "\n"))) {
        int rank;
        char *host, *slots;
        number++;
        int split = split_line(line, &rank, &host, &slots);
        if (split == 0) {
            bool marked = slots && (*slots | 32) == 'p';
            char *all = slots && physical && !marked ? tern_must_format("p%s", slots) : NULL;
            error = add_line(&file, rank, host, all ? all : slots, number);
            free(all);
        }
        if (split < 0)
            error = tern_error(TERN_ERR_ARG, "%s, line %d: expected \"rank N=HOST slot=SLOTS\"",
                               path, number);
    }
    free(copy);
    for (int rank = 0; rank < file.count && !error; rank++) {
        if (!file.ranks[rank].host)
            error = tern_error(TERN_ERR_ARG,
                               "the rankfile %s does not say where rank %d runs; each of 0 to %d "
                               "needs a line",
                               path, rank, file.count - 1);
    }
    if (!error && !file.count)
        error = tern_error(TERN_ERR_ARG, "the rankfile %s names no rank", path);
    if (error)
        tern_rankfile_free(&file);
    else
        *ret_file = file;
    return error;
}

int tern_rankfile_read(const char *path, bool physical, struct tern_rankfile *ret_file)
{
    const char *why;
    char *text = tern_read_text(path, &why);
    int error;
    if (!text)
        error = tern_error(TERN_ERR_ARG, "cannot read the rankfile %s: %s", path, why);
    else
        error = tern_rankfile_parse(path, text, physical, ret_file);
    free(text);
    return error;
}

void tern_rankfile_free(struct tern_rankfile *file)
{
    for (int rank = 0; rank < file->count; rank++) {
        free(file->ranks[rank].host);
        free(file->ranks[rank].slots);
    }
    free(file->ranks);
    *file = (struct tern_rankfile){ 0 };
}

/* ---- hosts ---- */

void tern_rankfile_hosts(const struct tern_rankfile *file, struct tern_host_list *list)
{
    for (int rank = 0; rank < file->count; rank++) {
        struct tern_host_entry entry;
        const char *host = file->ranks[rank].host;
        if (relative_host(host) >= 0 || tern_host_parse(host, &entry))
            continue;
        entry.here = tern_host_is_here(entry.name);
        tern_host_list_add(list, &entry);
    }
}

int tern_rankfile_place(const struct tern_rankfile *file, const struct tern_host_list *list,
                        const char *where, struct tern_fixed_place **ret_fixed)
{
    struct tern_fixed_place *fixed = tern_must_alloc(file->count * sizeof *fixed);
    for (int rank = 0; rank < file->count; rank++) {
        const struct tern_rank_line *line = &file->ranks[rank];
        int host = relative_host(line->host), error = 0;
        if (host >= list->count)
            error =
                tern_error(TERN_ERR_ARG, "%s, line %d: there is no host %s in %s; expected +n0 to "
                                         "+n%d",
                           file->path, line->line, line->host, where, list->count - 1);
        else if (host < 0 && (host = tern_host_list_find(list, line->host)) < 0)
            error = tern_error(TERN_ERR_ARG, "%s, line %d: host %s is not in %s", file->path,
                               line->line, line->host, where);
        if (error) {
            free(fixed);
            return error;
        }
        fixed[rank] =
            (struct tern_fixed_place){ .host = host, .slots = line->slots, .line = line->line };
    }
    *ret_fixed = fixed;
    return 0;
}
