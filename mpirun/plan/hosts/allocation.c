/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/base/search_path.h"
#include "mpirun/plan/hosts/allocation.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "lib/util/base/text.h"

enum { MOST_HOSTS = 1 << 20, MOST_SLOTS = 1 << 20 };

static int bad_list(const char *text)
{
    return tern_error(TERN_ERR_ARG, "\"%s\" is not a list of hosts as Slurm writes it", text);
}

/* Adds the names of one entry, from `at` to `end`: the text before the first bracket, each number
 * in the bracket, and everything that may follow. Returns 0, or -1 if the entry is malformed. */
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
                      "\"%s\" is not a list of Slurm's numbers of tasks for %d hosts", text,
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
    memcpy(entry.name, name, strlen(name) + 1);
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
    const char *why;
    char *text = tern_read_text(path, &why);
    int error;
    if (!text)
        error = tern_error(TERN_ERR_ARG, "cannot read the batch system's list of hosts, %s: %s",
                           path, why);
    else
        error = tern_allocation_parse(path, text, with_slots, list);
    free(text);
    return error;
}

static int read_slurm(const char *nodes, const char *tasks, struct tern_host_list *list)
{
    struct tern_strings names = { 0 };
    int error = tern_slurm_expand(nodes, &names);
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

/* Returns the number of components of a "heterogeneous" job, whose variables end in the number of
 * the component, or 0 if this is not such a job. */
static int slurm_components(void)
{
    const char *size = getenv("SLURM_HET_SIZE");
    if (!size)
        size = getenv("SLURM_PACK_SIZE"); /* the name up to Slurm 19; later versions set both */
    return size ? atoi(size) : 0;
}

static const char *component_value(const char *name, int component)
{
    static const char *const kinds[] = { "HET", "PACK" };
    const char *value = NULL;
    for (int i = 0; i < 2 && !value; i++) {
        char *full = tern_must_format("%s_%s_GROUP_%d", name, kinds[i], component);
        value = getenv(full);
        free(full);
    }
    return value;
}

static const char *first_of(const char *value, const char *other)
{
    return value ? value : other;
}

static const char *slurm_nodes(void)
{
    return first_of(getenv("SLURM_JOB_NODELIST"), getenv("SLURM_NODELIST"));
}

static int read_slurm_job(struct tern_host_list *list)
{
    int components = slurm_components(), error = 0;
    if (!components)
        return read_slurm(
            slurm_nodes(),
            first_of(getenv("SLURM_TASKS_PER_NODE"), getenv("SLURM_JOB_CPUS_PER_NODE")), list);
    for (int i = 0; i < components && !error; i++) {
        const char *nodes = component_value("SLURM_JOB_NODELIST", i);
        const char *tasks = component_value("SLURM_TASKS_PER_NODE", i);
        if (!nodes)
            return tern_error(
                TERN_ERR_ARG,
                "this Slurm job has %d components, but SLURM_JOB_NODELIST_HET_GROUP_%d is not set",
                components, i);
        error =
            read_slurm(nodes, first_of(tasks, component_value("SLURM_JOB_CPUS_PER_NODE", i)), list);
    }
    return error;
}

/* Reads LSF's "HOST SLOTS HOST SLOTS", or "HOST HOST" if not `with_slots`. Returns 0 or
 * TERN_ERR_ARG. */
static int read_lsf_words(const char *name, bool with_slots, struct tern_host_list *list)
{
    struct tern_strings words = { 0 };
    int error = 0;
    tern_strings_add_words(&words, getenv(name), " \t");
    for (int i = 0; i < words.count && !error; i += with_slots ? 2 : 1) {
        const char *slots = with_slots ? i + 1 < words.count ? words.items[i + 1] : "" : "1";
        char *line = tern_must_format("%s %s", words.items[i], slots);
        struct tern_host_entry entry;
        error = parse_line(line, true, &entry);
        if (error)
            tern_error(TERN_ERR_ARG, "%s is `%s`; expected pairs of a host and its number of slots",
                       name, getenv(name));
        else
            tern_host_list_add(list, &entry);
        free(line);
    }
    tern_strings_free(&words);
    return error;
}

static bool all_set(const char *name, const char *other)
{
    return getenv(name) && getenv(other);
}

enum tern_batch_system tern_allocation_system(void)
{
    if (getenv("SLURM_JOB_ID") && (slurm_nodes() || slurm_components()))
        return TERN_SLURM;
    if (all_set("PBS_JOBID", "PBS_NODEFILE"))
        return TERN_PBS;
    if (all_set("LSB_JOBID", "LSB_DJOB_HOSTFILE") || all_set("LSB_JOBID", "LSB_MCPU_HOSTS") ||
        all_set("LSB_JOBID", "LSB_HOSTS"))
        return TERN_LSF;
    if (all_set("JOB_ID", "PE_HOSTFILE"))
        return TERN_GRID_ENGINE;
    return TERN_NO_BATCH_SYSTEM;
}

static const char *permitted; /* tern_allocation_limit; NULL: all */

void tern_allocation_limit(const char *list)
{
    permitted = list;
}

enum tern_batch_system tern_allocation_used(void)
{
    static const char *const names[] = {
        [TERN_SLURM] = "slurm",
        [TERN_PBS] = "tm",
        [TERN_LSF] = "lsf",
        [TERN_GRID_ENGINE] = "gridengine",
    };
    enum tern_batch_system system = tern_allocation_system();
    if (system == TERN_NO_BATCH_SYSTEM || !permitted || !*permitted)
        return system;
    bool out = *permitted == '^', named = false;
    char *copy = tern_must_copy(permitted + out), *rest = copy, *word;
    while ((word = strsep(&rest, ", ")))
        named |= strcmp(word, names[system]) == 0;
    free(copy);
    return named == out ? TERN_NO_BATCH_SYSTEM : system;
}

bool tern_allocation_has_srun(void)
{
    return tern_allocation_system() == TERN_SLURM && !slurm_components();
}

/* Returns the path of a program of the batch system, in `directory` (may be NULL; freed here) or in
 * $PATH, or NULL. The caller frees the path. */
static char *find_starter(char *directory, const char *name)
{
    const char *path = first_of(getenv("PATH"), "");
    char *directories =
        directory ? tern_must_format("%s:%s", directory, path) : tern_must_copy(path);
    char *found = tern_path_find(directories, name);
    free(directories);
    free(directory);
    return found;
}

void tern_allocation_starter(struct tern_strings *ret_words)
{
    enum tern_batch_system system = tern_allocation_system();
    char *program = NULL;
    *ret_words = (struct tern_strings){ 0 };
    if (system == TERN_LSF)
        program = find_starter(getenv("LSF_BINDIR") ? tern_must_copy(getenv("LSF_BINDIR")) : NULL,
                               "blaunch");
    if (system == TERN_GRID_ENGINE && !tern_param_bool("plm_rsh_disable_qrsh"))
        program =
            find_starter(all_set("SGE_ROOT", "ARC")
                             ? tern_must_format("%s/bin/%s", getenv("SGE_ROOT"), getenv("ARC"))
                             : NULL,
                         "qrsh");
    if (!program)
        return;
    tern_strings_take(ret_words, program);
    if (system == TERN_GRID_ENGINE) /* not -nostdin: standard input is the link to the agent */
        tern_strings_add_words(ret_words, "-inherit -V", " ");
}

static int read_allocation(struct tern_host_list *list, const char **ret_where)
{
    switch (tern_allocation_used()) {
    case TERN_SLURM:
        *ret_where = "this Slurm job's allocation (SLURM_JOB_NODELIST)";
        return read_slurm_job(list);
    case TERN_PBS:
        *ret_where = "this PBS job's allocation (PBS_NODEFILE)";
        return tern_allocation_read(getenv("PBS_NODEFILE"), false, list);
    case TERN_LSF:
        *ret_where = "this LSF job's allocation";
        if (getenv("LSB_DJOB_HOSTFILE"))
            return tern_allocation_read(getenv("LSB_DJOB_HOSTFILE"), false, list);
        return getenv("LSB_MCPU_HOSTS") ? read_lsf_words("LSB_MCPU_HOSTS", true, list)
                                        : read_lsf_words("LSB_HOSTS", false, list);
    case TERN_GRID_ENGINE:
        *ret_where = "this Grid Engine job's allocation (PE_HOSTFILE)";
        return tern_allocation_read(getenv("PE_HOSTFILE"), true, list);
    default:
        return 0;
    }
}

const char *tern_allocation_lacks(void)
{
    if (tern_allocation_system() != TERN_NO_BATCH_SYSTEM)
        return NULL;
    if (getenv("SLURM_JOB_ID") && first_of(getenv("SLURM_NTASKS"), getenv("SLURM_JOB_NUM_NODES")))
        return "SLURM_JOB_NODELIST";
    if (all_set("PBS_JOBID", "PBS_ENVIRONMENT"))
        return "PBS_NODEFILE";
    return NULL;
}

int tern_allocation_find(struct tern_host_list *list, const char **ret_where)
{
    int error = read_allocation(list, ret_where);
    if (!error && !list->count && tern_allocation_used() != TERN_NO_BATCH_SYSTEM)
        return tern_error(TERN_ERR_ARG, "%s names no host", *ret_where);
    return error;
}
