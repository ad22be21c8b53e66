/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The keys of the info (MPI-4.1 section 11.8.4, and Open MPI's):
 *
 *   soft, host, arch, wdir, path, file (more keys, one KEY=VALUE a line)
 *   hostfile, add-host, add-hostfile, env (NAME=VALUE, one a line), map_by, rank_by, bind_to,
 *   npernode, ppr, ompi_prefix, mpi_initial_errhandler
 *
 * Other keys are ignored, as the standard wants.
 */

#include "mpirun/jobs/spawn_line.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/base/error.h"
#include "lib/util/net/question.h"
#include "lib/util/base/text.h"

/* A program of the question. */
struct program {
    struct tern_strings words; /* the command and its arguments */
    struct tern_strings options; /* of this program */
    struct tern_strings named, added; /* of its info: hosts and hosts to add */
    bool hostfile; /* the info names one */
    char *soft;
    int np;
};

/* A question as it is read. */
struct reading {
    struct program *programs;
    int count;
    struct tern_strings job; /* options of the whole job */
    struct tern_strings inherit, inherit_map, inherit_rank, inherit_bind, inherit_app;
    struct tern_strings hosts; /* NAME:SLOTS, what is free */
    bool maps, ranks, binds; /* the info says how */
    bool oversubscribe;
    char *key;
    struct tern_spawn_line *line;
};

static void add_option(struct tern_strings *to, const char *option, const char *value)
{
    tern_strings_add(to, option);
    tern_strings_add(to, value);
}

/* ---- info ---- */

static int read_key(struct reading *r, struct program *program, const char *key,
                    const char *value);

/* Reads the lines KEY=VALUE of a file. */
static int read_file(struct reading *r, struct program *program, const char *path)
{
    const char *why;
    char *text = tern_read_text(path, &why), *rest = text, *line;
    int error = 0;
    if (!text)
        return tern_error(TERN_ERR_INFO_VALUE, "cannot read %s, which the info key file names: %s",
                          path, why);
    while (!error && (line = strsep(&rest, "\n"))) {
        char *equals = strchr(line, '=');
        if (!equals || *line == '#')
            continue;
        *equals = 0;
        if (strcmp(line, "file") != 0) /* a file does not name another one */
            error = read_key(r, program, line, equals + 1);
    }
    free(text);
    return error;
}

static void add_variables(struct program *program, const char *text)
{
    char *copy = tern_must_copy(text), *rest = copy, *line;
    while ((line = strsep(&rest, "\n")))
        if (*line)
            add_option(&program->options, "-x", line);
    free(copy);
}

/* Keys that are an option of mpirun. */
static const struct {
    const char *key, *option;
    bool of_app;
} known[] = {
    {"wdir", "--wdir", true},
    {"ompi_wdir", "--wdir", true},
    {"path", "--path", true},
    {"arch", "--arch", false},
    {"npernode", "--npernode", false},
    {"ompi_prefix", "--prefix", false},
    {"prefix", "--prefix", false},
    {"mpi_initial_errhandler", "--initial-errhandler", true},
};

static void set_flag(struct reading *r, bool *flag, const char *option, const char *value)
{
    if (!*flag)
        add_option(&r->job, option, value);
    *flag = true;
}

static int read_key(struct reading *r, struct program *program, const char *key, const char *value)
{
    if (strcmp(key, "soft") == 0) {
        free(program->soft);
        program->soft = tern_must_copy(value);
    } else if (strcmp(key, "host") == 0) {
        tern_strings_add_words(&program->named, value, ",");
    } else if (strcmp(key, "add-host") == 0 || strcmp(key, "add_host") == 0) {
        tern_strings_add_words(&program->added, value, ",");
    } else if (strcmp(key, "hostfile") == 0) {
        program->hostfile = true;
        add_option(&program->options, "--hostfile", value);
    } else if (strcmp(key, "add-hostfile") == 0 || strcmp(key, "add_hostfile") == 0) {
        program->hostfile = true;
        add_option(&program->options, "--add-hostfile", value);
    } else if (strcmp(key, "env") == 0) {
        add_variables(program, value);
    } else if (strcmp(key, "map_by") == 0 || strcmp(key, "mapper") == 0) {
        set_flag(r, &r->maps, "--map-by", value);
    } else if (strcmp(key, "ppr") == 0) {
        set_flag(r, &r->maps, "--ppr", value);
    } else if (strcmp(key, "rank_by") == 0) {
        set_flag(r, &r->ranks, "--rank-by", value);
    } else if (strcmp(key, "bind_to") == 0) {
        set_flag(r, &r->binds, "--bind-to", value);
    } else if (strcmp(key, "file") == 0) {
        return read_file(r, program, value);
    } else if (strcmp(key, "ompi_non_mpi") == 0 && value[0] != '0' && value[0] != 'f' &&
               value[0] != 'n') {
        return tern_error(TERN_ERR_ARG,
                          "ompi_non_mpi is %s, but MPI_Comm_spawn starts MPI programs only; start "
                          "others by fork or posix_spawn",
                          value);
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(key, known[i].key) == 0)
            add_option(known[i].of_app ? &program->options : &r->job, known[i].option, value);
    return 0;
}

/* ---- the question ---- */

static struct program *add_program(struct reading *r, const char *command)
{
    r->programs = tern_must_grow(r->programs, (size_t)(r->count + 1) * sizeof *r->programs);
    struct program *program = &r->programs[r->count++];
    *program = (struct program){0};
    tern_strings_add(&program->words, command);
    return program;
}

/* Lines that a list takes. */
static struct tern_strings *list_of(struct reading *r, const char *word)
{
    return strcmp(word, "inherit") == 0        ? &r->inherit
           : strcmp(word, "inherit_map") == 0  ? &r->inherit_map
           : strcmp(word, "inherit_rank") == 0 ? &r->inherit_rank
           : strcmp(word, "inherit_bind") == 0 ? &r->inherit_bind
           : strcmp(word, "inherit_app") == 0  ? &r->inherit_app
           : strcmp(word, "host") == 0         ? &r->hosts
                                               : NULL;
}

static void keep(char **to, const char *value)
{
    free(*to);
    *to = tern_must_copy(value);
}

static int read_line(struct reading *r, const char *word, const char *value)
{
    struct program *program = r->count ? &r->programs[r->count - 1] : NULL;
    struct tern_strings *list = list_of(r, word);
    int error = 0;
    if (list)
        tern_strings_add(list, value);
    else if (strcmp(word, "port") == 0)
        keep(&r->line->port, value);
    else if (strcmp(word, "wdir") == 0)
        keep(&r->line->wdir, value);
    else if (strcmp(word, "beside") == 0)
        r->line->beside = atoi(value);
    else if (strcmp(word, "number") == 0)
        r->line->number = atoi(value);
    else if (strcmp(word, "universe") == 0)
        r->line->universe = atoi(value) > 0 ? atoi(value) : 0;
    else if (strcmp(word, "oversubscribe") == 0)
        r->oversubscribe = true;
    else if (strcmp(word, "program") == 0)
        add_program(r, value);
    else if (program && strcmp(word, "arg") == 0)
        tern_strings_add(&program->words, value);
    else if (program && strcmp(word, "np") == 0)
        program->np = atoi(value);
    else if (strcmp(word, "key") == 0)
        keep(&r->key, value);
    else if (program && r->key && strcmp(word, "value") == 0)
        error = read_key(r, program, r->key, value);
    return error;
}

/* ---- the command line ---- */

/* Returns the index of a host in the list of free slots, or -1. */
static int find_host(const struct reading *r, const char *name, size_t length)
{
    for (int i = 0; i < r->hosts.count; i++) {
        const char *colon = strrchr(r->hosts.items[i], ':');
        if (colon && (size_t)(colon - r->hosts.items[i]) == length &&
            strncmp(r->hosts.items[i], name, length) == 0)
            return i;
    }
    return -1;
}

/* Returns the free slots of a host of that list. */
static int slots_of(const struct reading *r, int index)
{
    return atoi(strrchr(r->hosts.items[index], ':') + 1);
}

static bool is_counted(const char *host)
{
    return strchr(host, ':') != NULL && strchr(host, ']') == NULL;
}

/* Writes behind the hosts that programs name how many free slots are left when the programs before
 * have theirs: each would take them all, because it does not know of the others. Returns
 * TERN_ERR_SPAWN with text if none is left. */
static int share_slots(struct reading *r)
{
    int *taken = tern_must_alloc((size_t)(r->hosts.count + 1) * sizeof *taken), error = 0;
    for (int at = 0; at < r->count && !error; at++) {
        struct program *program = &r->programs[at];
        int need = program->np;
        for (int i = 0; i < program->named.count && !error; i++) {
            char *host = program->named.items[i];
            int of = find_host(r, host, strcspn(host, is_counted(host) ? ":" : ""));
            if (of < 0)
                continue;
            int left = is_counted(host) ? atoi(strchr(host, ':') + 1)
                                        : slots_of(r, of) - taken[of];
            if (left <= 0 && !r->oversubscribe)
                error = tern_error(TERN_ERR_SPAWN,
                                   "host %s has %d free slots, and the programs before the one "
                                   "with index %d take them; use another host or --oversubscribe",
                                   host, slots_of(r, of), at);
            left = left > 0 ? left : 1;
            int take = left < need ? left : need;
            taken[of] += take;
            need -= take;
            if (!error && !is_counted(host)) {
                program->named.items[i] = tern_must_format("%s:%d", host, left);
                free(host);
            }
        }
    }
    free(taken);
    return error;
}

/* Adds a host that the info names. Without a number of slots it has those that are free, or one for
 * each core. */
static void add_host(const struct reading *r, const char *host, struct tern_strings *words)
{
    int of = is_counted(host) ? -1 : find_host(r, host, strlen(host));
    tern_strings_add(words, "--host");
    if (is_counted(host))
        tern_strings_add(words, host);
    else if (of >= 0)
        tern_strings_format(words, "%s:%d", host, slots_of(r, of));
    else
        tern_strings_format(words, "%s:*", host);
}

/* Adds the hosts of a program: those of its info, or those of the parents' job. */
static void add_hosts(const struct reading *r, const struct program *program,
                      struct tern_strings *words)
{
    const struct tern_strings *first = program->named.count ? &program->named : &r->hosts;
    if (program->hostfile && !program->named.count) /* the file alone says which hosts */
        return;
    for (int i = 0; i < first->count; i++)
        add_host(r, first->items[i], words);
    for (int i = 0; i < program->added.count; i++)
        add_host(r, program->added.items[i], words);
}

/* Returns true if the info of a program says where it runs. */
static bool names_hosts(const struct reading *r)
{
    bool names = false;
    for (int i = 0; i < r->count; i++)
        names |= r->programs[i].named.count || r->programs[i].added.count ||
                 r->programs[i].hostfile;
    return names;
}

static void add_all(struct tern_strings *to, const struct tern_strings *from)
{
    for (int i = 0; i < from->count; i++)
        tern_strings_add(to, from->items[i]);
}

/* Returns the number of slots that are left for program `at`, if processes may not share them; else
 * a large number. */
static int slots_left(const struct reading *r, int at)
{
    int left = 0;
    if (r->oversubscribe || !r->hosts.count || names_hosts(r))
        return 1 << 20;
    for (int i = 0; i < r->hosts.count; i++)
        left += slots_of(r, i);
    for (int i = 0; i < r->count; i++)
        left -= i != at && (i < at || !r->programs[i].soft) ? r->programs[i].np : 0;
    return left;
}

static void write_program(struct reading *r, int at, struct tern_strings *words)
{
    struct program *program = &r->programs[at];
    int left = slots_left(r, at);
    if (at)
        tern_strings_add(words, r->line->separator);
    if (program->soft && program->np > left)
        program->np = left > 0 ? left : 1;
    tern_strings_add(words, "-np");
    tern_strings_format(words, "%d", program->np);
    if (program->soft)
        add_option(words, "-soft", program->soft);
    if (!at || names_hosts(r)) /* else all programs share the hosts of the first */
        add_hosts(r, program, words);
    add_all(words, &r->inherit_app);
    add_all(words, &program->options);
    tern_strings_add(words, "--");
    add_all(words, &program->words);
}

/* Returns true if one of the programs has the word as its command or an argument. */
static bool is_argument(const struct reading *r, const char *word)
{
    bool found = false;
    for (int i = 0; i < r->count; i++)
        for (int j = 0; j < r->programs[i].words.count; j++)
            found |= strcmp(r->programs[i].words.items[j], word) == 0;
    return found;
}

/* Returns ":", or "::", ":::" ... where a program has that as an argument. The caller frees it. */
static char *choose_separator(const struct reading *r)
{
    char *separator = tern_must_copy(":");
    while (is_argument(r, separator)) {
        char *longer = tern_must_format("%s:", separator);
        free(separator);
        separator = longer;
    }
    return separator;
}

static void write_line(struct reading *r, const char *called, struct tern_strings *words)
{
    tern_strings_add(words, called);
    add_option(words, "--stdin", "none");
    add_all(words, &r->inherit);
    if (!r->maps)
        add_all(words, &r->inherit_map);
    if (!r->ranks)
        add_all(words, &r->inherit_rank);
    bool placed = r->maps || r->inherit_map.count || r->binds || r->inherit_bind.count;
    if (!r->binds)
        add_all(words, &r->inherit_bind);
    if (!placed) /* each mpirun begins with the first core, where the parents' ranks may be bound */
        add_option(words, "--bind-to", "none");
    add_all(words, &r->job);
    r->line->separator = choose_separator(r);
    for (int at = 0; at < r->count; at++)
        write_program(r, at, words);
}

static void free_reading(struct reading *r)
{
    for (int i = 0; i < r->count; i++) {
        tern_strings_free(&r->programs[i].words);
        tern_strings_free(&r->programs[i].options);
        tern_strings_free(&r->programs[i].named);
        tern_strings_free(&r->programs[i].added);
        free(r->programs[i].soft);
    }
    free(r->programs);
    free(r->key);
    struct tern_strings *const lists[] = {&r->job,          &r->inherit,     &r->inherit_map,
                                          &r->inherit_rank, &r->inherit_bind, &r->inherit_app,
                                          &r->hosts};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        tern_strings_free(lists[i]);
}

int tern_spawn_line_make(const char *called, char *question, struct tern_spawn_line *ret_line)
{
    struct reading reading = {.line = ret_line};
    char *at = question, *word, *value;
    int error = 0;
    *ret_line = (struct tern_spawn_line){.number = 2};
    while (!error && tern_question_next(&at, &word, &value))
        error = read_line(&reading, word, value);
    if (!error && !reading.count)
        error = tern_error(TERN_ERR_ARG, "the question names no program");
    for (int i = 0; i < reading.count && !error; i++)
        if (reading.programs[i].hostfile && reading.programs[i].added.count)
            error = tern_error(TERN_ERR_INFO_VALUE,
                               "the info key add-host stands beside hostfile or add-hostfile, and "
                               "would have no effect; add a line to the file, or use add-hostfile");
    if (!error)
        error = share_slots(&reading);
    if (!error)
        write_line(&reading, called, &ret_line->words);
    free_reading(&reading);
    return error;
}
