/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/allocation.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/error.h"

enum { MOST_HOSTS = 1 << 20, MOST_SLOTS = 1 << 20 };

static int bad_list(const char *text)
{
    return tern_error(TERN_ERR_ARG, "\"%s\" is not a list of hosts as Slurm writes it", text);
}

/* The names of one entry, from `at` to `end`: what stands before the first bracket, each number of
 * the bracket, and all that may follow. */
static int expand_entry(const char *prefix, const char *at, const char *end,
                        struct tern_strings *names)
{
    const char *open = memchr(at, '[', end - at);
    if (!open) {
        tern_strings_format(names, "%s%.*s", prefix, (int)(end - at), at);
        return names->count > MOST_HOSTS ? -1 : 0;
    }
    const char *close = memchr(open, ']', end - open), *number = open + 1;
    while (close && number < close) {
        char *after;
        if (!isdigit((unsigned char)*number))
            return -1;
        long first = strtol(number, &after, 10), last = first;
        int width = (int)(after - number);
        if (*after == '-') {
            if (!isdigit((unsigned char)after[1]))
                return -1;
            last = strtol(after + 1, &after, 10);
        }
        if (last < first || last - first > MOST_HOSTS || width > 20 ||
            (*after != ',' && after != close))
            return -1;
        for (long i = first; i <= last; i++) {
            char *more = tern_must_format("%s%.*s%0*ld", prefix, (int)(open - at), at, width, i);
            int result = expand_entry(more, close + 1, end, names);
            free(more);
            if (result)
                return result;
        }
        number = after == close ? close : after + 1;
    }
    return close && close > open + 1 ? 0 : -1;
}

int tern_slurm_expand(const char *text, struct tern_strings *names)
{
    const char *at = text;
    while (*at) {
        const char *end = at;
        int depth = 0;
        for (; *end && depth >= 0 && (depth || *end != ','); end++)
            depth += (*end == '[') - (*end == ']');
        if (end == at || depth || expand_entry("", at, end, names))
            return bad_list(text);
        at = *end ? end + 1 : end;
    }
    return names->count ? 0 : bad_list(text);
}

int tern_slurm_numbers(const char *text, int count, int *ret_numbers)
{
    int filled = 0;
    const char *at = text;
    while (filled < count && isdigit((unsigned char)*at)) {
        char *after;
        long number = strtol(at, &after, 10), times = 1;
        if (after[0] == '(' && after[1] == 'x') {
            times = strtol(after + 2, &after, 10);
            if (*after++ != ')')
                break;
        }
        if (number < 1 || number > MOST_HOSTS || times < 1)
            break;
        while (times-- > 0 && filled < count)
            ret_numbers[filled++] = (int)number;
        at = *after == ',' ? after + 1 : after;
    }
    if (filled == count)
        return 0;
    return tern_error(TERN_ERR_ARG,
                      "\"%s\" does not say, as Slurm writes it, how many tasks %d hosts have", text,
                      count);
}

static int parse_line(char *line, bool with_slots, struct tern_host_entry *ret_entry)
{
    struct tern_host_entry entry = { .slots = 1 };
    char *name = NULL, *slots = NULL, *word;
    while ((word = strsep(&line, " \t\r"))) {
        if (*word && !name)
            name = word;
        else if (*word && !slots)
            slots = word;
    }
    if (!name)
        return 1;
    if (with_slots) {
        char *end = "";
        long number = slots ? strtol(slots, &end, 10) : 0;
        if (number < 1 || number > MOST_SLOTS || *end)
            return TERN_ERR_ARG;
        entry.slots = (int)number;
    }
    if (strlen(name) >= sizeof entry.name)
        return TERN_ERR_ARG;
    strcpy(entry.name, name); /* fits: looked at just before */
    *ret_entry = entry;
    return 0;
}

int tern_allocation_parse(const char *path, const char *text, bool with_slots,
                          struct tern_host_list *list)
{
    char *copy = tern_must_copy(text), *rest = copy, *line;
    int error = 0, number = 0;
    while (error >= 0 && (line = strsep(&rest, "\n"))) {
        struct tern_host_entry entry;
        number++;
        error = parse_line(line, with_slots, &entry);
        if (error == 0)
            tern_host_list_add(list, &entry);
    }
    free(copy);
    return error >= 0 ? 0
                      : tern_error(TERN_ERR_ARG, "%s, line %d: expected a host%s", path, number,
                                   with_slots ? " and its number of slots" : "");
}

int tern_allocation_read(const char *path, bool with_slots, struct tern_host_list *list)
{
    char *text = tern_read_text(path);
    int error;
    if (!text)
        error = tern_error(TERN_ERR_ARG, "cannot read the batch system's list of hosts, %s: %s",
                           path, strerror(errno));
    else
        error = tern_allocation_parse(path, text, with_slots, list);
    free(text);
    return error;
}

static int read_slurm(const char *nodes, struct tern_host_list *list)
{
    struct tern_strings names = { 0 };
    int error = tern_slurm_expand(nodes, &names);
    const char *tasks = getenv("SLURM_TASKS_PER_NODE");
    if (!tasks)
        tasks = getenv("SLURM_JOB_CPUS_PER_NODE");
    int *numbers = tern_must_alloc(names.count * sizeof *numbers);
    if (!error && tasks)
        error = tern_slurm_numbers(tasks, names.count, numbers);
    for (int i = 0; i < names.count && !error; i++) {
        struct tern_host_entry entry = { .slots = numbers[i] };
        snprintf(entry.name, sizeof entry.name, "%s", names.items[i]);
        tern_host_list_add(list, &entry);
    }
    free(numbers);
    tern_strings_free(&names);
    return error;
}

static const char *slurm_nodes(void)
{
    const char *nodes = getenv("SLURM_JOB_NODELIST");
    return getenv("SLURM_JOB_ID") ? nodes ? nodes : getenv("SLURM_NODELIST") : NULL;
}

bool tern_allocation_is_slurm(void)
{
    return slurm_nodes() != NULL;
}

int tern_allocation_find(struct tern_host_list *list, const char **ret_where)
{
    if (slurm_nodes()) {
        *ret_where = "this Slurm job's allocation (SLURM_JOB_NODELIST)";
        return read_slurm(slurm_nodes(), list);
    }
    if (getenv("PBS_JOBID") && getenv("PBS_NODEFILE")) {
        *ret_where = "this PBS job's allocation (PBS_NODEFILE)";
        return tern_allocation_read(getenv("PBS_NODEFILE"), false, list);
    }
    if (getenv("LSB_JOBID") && getenv("LSB_DJOB_HOSTFILE")) {
        *ret_where = "this LSF job's allocation (LSB_DJOB_HOSTFILE)";
        return tern_allocation_read(getenv("LSB_DJOB_HOSTFILE"), false, list);
    }
    if (getenv("JOB_ID") && getenv("PE_HOSTFILE")) {
        *ret_where = "this Grid Engine job's allocation (PE_HOSTFILE)";
        return tern_allocation_read(getenv("PE_HOSTFILE"), true, list);
    }
    return 0;
}
