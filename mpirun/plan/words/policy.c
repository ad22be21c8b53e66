/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/words/policy.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/util/base/error.h"
#include "mpirun/plan/words/words.h"

static const struct {
    const char *name;
    enum tern_map_level level;
} level_names[] = {
    { "slot", TERN_MAP_LEVEL_SLOT },     { "hwthread", TERN_MAP_LEVEL_HWTHREAD },
    { "hwt", TERN_MAP_LEVEL_HWTHREAD },  { "core", TERN_MAP_LEVEL_CORE },
    { "l1cache", TERN_MAP_LEVEL_L1 },    { "l2cache", TERN_MAP_LEVEL_L2 },
    { "l3cache", TERN_MAP_LEVEL_L3 },    { "numa", TERN_MAP_LEVEL_NUMA },
    { "socket", TERN_MAP_LEVEL_SOCKET }, { "package", TERN_MAP_LEVEL_SOCKET },
    { "board", TERN_MAP_LEVEL_NODE },    { "node", TERN_MAP_LEVEL_NODE },
    { "none", TERN_MAP_LEVEL_NONE },
};
#define OBJECTS "hwthread, core, l1cache, l2cache, l3cache, numa, socket, package"

/* Reads the word before the first colon as a level other than `without`. */
static bool find_level(const char *text, enum tern_map_level without,
                       enum tern_map_level *ret_level)
{
    size_t length = strcspn(text, ":");
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++) {
        const char *name = level_names[i].name;
        if (level_names[i].level == without || strlen(name) != length ||
            strncasecmp(text, name, length))
            continue;
        *ret_level = level_names[i].level;
        return true;
    }
    return false;
}

/* Returns TERN_ERR_ARG for a word that is not in `list`. */
static int no_object(const char *option, const char *word, const char *list)
{
    return tern_error(TERN_ERR_ARG, "%s: no object \"%s\"; there are %s", option, word, list);
}

/* Reads the number of a processor at *at, and moves *at behind it. Returns -1 if there is none. */
static long read_cpu(const char **at)
{
    char *end;
    if (!isdigit((unsigned char)**at))
        return -1;
    long cpu = strtol(*at, &end, 10);
    *at = end;
    return cpu < TERN_MAX_CPUS ? cpu : -1;
}

int tern_policy_cpu_set(const char *option, const char *text, struct tern_options *options)
{
    const char *at = text;
    bool good;
    do {
        long first = read_cpu(&at), last = first;
        if (*at == '-') {
            at++;
            last = *at == ',' || !*at ? TERN_MAX_CPUS - 1 : read_cpu(&at); /* "8-": all from 8 on */
        }
        good = first >= 0 && last >= first && (*at == ',' || !*at);
    } while (good && *at++ == ',');
    if (!good)
        return tern_error(TERN_ERR_ARG,
                          "%s: \"%s\" is not a list of processors; expected numbers from 0 to %d "
                          "and ranges, such as 0-3,8",
                          option, text, TERN_MAX_CPUS - 1);
    options->cpu_list = text;
    return 0;
}

/* Returns the largest of first, first + step, ... that is at least 1 and at most `last` and `most`,
 * or 0 if there is none. */
static long long largest_of(long long first, long long last, long long step, long long most)
{
    long long low = step > 0 ? first : last, high = step > 0 ? last : first;
    high = high < most ? high : most;
    long long size = step > 0 ? step : -step, rest = (high - first) % size;
    /* the set's next number below `high` */
    long long largest = high - (rest < 0 ? rest + size : rest);
    return low <= high && largest >= low && largest >= 1 ? largest : 0;
}

int tern_policy_soft(const char *option, const char *text, int most, int *ret_number)
{
    long long best = 0;
    const char *at = text;
    for (;; at++) {
        long long triplet[3] = {0, 0, 1};
        int count = 0;
        char *end;
        for (;; at++) {
            long long number = strtoll(at, &end, 10);
            triplet[count++] = number > INT_MAX ? INT_MAX : number < -INT_MAX ? -INT_MAX : number;
            if (end == at || (*end && *end != ',' && (*end != ':' || count == 3)))
                return tern_error(TERN_ERR_ARG, "%s needs numbers FIRST:LAST:STEP,..., not \"%s\"",
                                  option, text);
            at = end;
            if (*at != ':')
                break;
        }
        if (triplet[2] == 0)
            return tern_error(TERN_ERR_ARG, "%s %s: the step is 0; expected another "
                                            "number", option, text);
        long long largest = largest_of(triplet[0], count > 1 ? triplet[1] : triplet[0],
                                       triplet[2], most);
        best = largest > best ? largest : best;
        if (!*at)
            break;
    }
    if (!best)
        return tern_error(TERN_ERR_ARG, "%s %s allows no number of ranks from 1 to %d", option,
                          text, most);
    *ret_number = (int)best;
    return 0;
}

/* Reads "oversubscribe" or "nooversubscribe" as a modifier of --map-by. */
static int read_sharing(const char *option, const char *word, struct tern_options *options)
{
    bool allow = tolower((unsigned char)*word) == 'o';
    options->oversubscribe = allow;
    options->map.no_oversubscribe = !allow;
    if (option[0] == '-') { /* not of the environment or a file */
        options->allow_asked |= allow;
        options->forbid_asked |= !allow;
    }
    return 0;
}

int tern_policy_share(const char *option, const char *word, struct tern_options *options)
{
    options->map.overload = *word == 'o'; /* as in Open MPI, a modifier does not say so */
    return read_sharing(option, word, options);
}

/* Sets the number of processors of each rank. `of_map`: it is that of --map-by, which counts before
 * others. */
static int set_processors(const char *option, const char *text, bool of_map,
                          struct tern_options *options)
{
    int count;
    int error = tern_words_number(option, text, 1, TERN_MAX_CPUS, &count);
    if (error)
        return error;
    char *said = tern_must_format("%s%s%s", option, of_map ? "" : " ", text);
    tern_strings_take(&options->kept, said);
    const char *before = options->pe_said;
    bool differ = before && options->map.pe != count, less = options->pe_of_map && !of_map;
    if (differ && less)
        tern_options_warn(options, "%s has no effect beside %s", said, before);
    else if (differ && of_map)
        tern_options_warn(options, "%s has no effect beside %s", before, said);
    if (before && less)
        return 0;
    options->pe_said = said;
    options->pe_of_map = of_map;
    options->map.pe = count;
    return 0;
}

int tern_policy_cpus_per_rank(const char *option, const char *text, struct tern_options *options)
{
    return set_processors(option, text, false, options);
}

static int read_pe(const char *option, const char *text, struct tern_options *options)
{
    (void)option;
    return set_processors("PE=", text, true, options);
}

static const char *keep(const char *text, struct tern_options *options)
{
    tern_strings_add(&options->kept, text);
    return options->kept.items[options->kept.count - 1];
}

static int read_list(const char *option, const char *text, struct tern_options *options)
{
    return *text ? tern_policy_cpu_set(option, keep(text, options), options) : 1;
}

/* Reads FILE= behind seq or rankfile. */
static int read_file(const char *option, const char *text, struct tern_options *options)
{
    (void)option;
    if (!*text || !(options->sequential || options->by_rankfile))
        return 1;
    if (options->sequential)
        tern_strings_add(&options->hostfiles, text);
    else
        options->rankfile = keep(text, options);
    return 0;
}

/* Modifiers of --map-by. */
static const struct tern_word modifiers[] = {
    { "PE=N", .read = read_pe },
    { "PE-LIST=LIST", .read = read_list, .keeps_commas = true },
    TERN_WORD_SETS("SPAN", map.span),
    { "OVERSUBSCRIBE", .read = read_sharing },
    { "NOOVERSUBSCRIBE", .read = read_sharing },
    TERN_WORD_SETS("HWTCPUS", map.hwthreads),
    { "CORECPUS", .flag = offsetof(struct tern_options, map.hwthreads), .off = true },
    TERN_WORD_SETS("NOLOCAL", no_local),
    TERN_WORD_SETS("DISPLAY", display_map),
    TERN_WORD_SETS("DONOTLAUNCH", do_not_launch),
    { .word = "ORDERED" },
    { "FILE=FILE", .read = read_file, .keeps_commas = true, .unlisted = true },
    { "OVERLOAD", .unlisted = true },
    { "OVERLOAD-ALLOWED", .unlisted = true },
    { "INHERIT", .unlisted = true },
    { "NOINHERIT", .unlisted = true },
    { 0 },
};

int tern_policy_per_object(const char *option, const char *text, enum tern_per_source source,
                           enum tern_map_level level, struct tern_options *options)
{
    int count;
    int error = tern_words_number(option, text, 1, 1 << 20, &count);
    if (error)
        return error;
    bool names_level = source == TERN_PER_PPR || source == TERN_PER_MAP_BY;
    char *said =
        tern_must_format("%s %s%s%s%s", option, source == TERN_PER_MAP_BY ? "ppr:" : "", text,
                         names_level ? ":" : "", names_level ? tern_map_level_name(level) : "");
    tern_strings_take(&options->kept, said);
    if (options->per_is_default)
        options->per_source = TERN_PER_NONE;
    options->per_is_default = false;
    if (source < options->per_source) {
        tern_options_warn(options, "%s has no effect beside %s", said, options->per_said);
        return 0;
    }
    if (options->per_source && source > options->per_source)
        tern_options_warn(options, "%s has no effect beside %s", options->per_said, said);
    options->per_source = source;
    options->per_said = said;
    options->map.per_object = count;
    options->map.per_level = level;
    return 0;
}

static int read_ppr(const char *option, const char *text, enum tern_per_source source,
                    struct tern_options *options)
{
    size_t length = strcspn(text, ":");
    char *copy = tern_must_format("%.*s", (int)length, text);
    enum tern_map_level level = TERN_MAP_LEVEL_NODE;
    int count, error = tern_words_number(option, copy, 1, 1 << 20, &count);
    if (!error && (!text[length] || !find_level(text + length + 1, TERN_MAP_LEVEL_NONE, &level) ||
                   strchr(text + length + 1, ':') || level >= TERN_MAP_LEVEL_COUNT))
        error = tern_error(TERN_ERR_ARG,
                           "%s: \"%s\" is not N:OBJECT such as 2:socket; objects are " OBJECTS
                           " and node",
                           option, text);
    if (!error)
        error = tern_policy_per_object(option, copy, source, level, options);
    free(copy);
    return error;
}

int tern_policy_ppr(const char *option, const char *text, struct tern_options *options)
{
    return read_ppr(option, text, TERN_PER_PPR, options);
}

/* Reads ppr:N:OBJECT of --map-by. *ret_rest is what follows, or NULL. */
static int read_map_ppr(const char *option, const char *text, const char **ret_rest,
                        struct tern_options *options)
{
    size_t first = strcspn(text, ":"), second = first + 1;
    second += text[first] ? strcspn(text + second, ":") : 0;
    if (!text[first] || !text[second])
        return tern_error(TERN_ERR_ARG, "%s: \"%s\" is not ppr:N:OBJECT such as ppr:2:socket",
                          option, text);
    size_t end = second + 1 + strcspn(text + second + 1, ":,");
    char *pair = tern_must_format("%.*s", (int)(end - first - 1), text + first + 1);
    int error = read_ppr(option, pair, TERN_PER_MAP_BY, options);
    free(pair);
    options->map.by = TERN_MAP_LEVEL_DEFAULT;
    options->sequential = options->by_rankfile = false;
    *ret_rest = text[end] ? text + end + 1 : NULL;
    return error;
}

/* Reads an object of --map-by, seq or rankfile. */
static int read_object(const char *option, const char *word, struct tern_options *options)
{
    enum tern_map_level level = TERN_MAP_LEVEL_DEFAULT;
    options->sequential = strcasecmp(word, "seq") == 0 || strcasecmp(word, "sequential") == 0;
    options->by_rankfile = strcasecmp(word, "rankfile") == 0;
    if (!options->sequential && !options->by_rankfile &&
        !find_level(word, TERN_MAP_LEVEL_NONE, &level))
        return no_object(option, word, "slot, " OBJECTS ", node, ppr:N:OBJECT, seq and rankfile");
    options->map.by = level;
    /* --npernode and --npersocket hold beside this; a ppr of an earlier --map-by does not */
    if (options->per_source == TERN_PER_MAP_BY) {
        options->map.per_object = 0;
        options->per_source = TERN_PER_NONE;
    }
    return 0;
}

int tern_policy_map_by(const char *option, const char *text, struct tern_options *options)
{
    size_t length = strcspn(text, ":");
    const char *rest = text[length] ? text + length + 1 : NULL;
    char *word = tern_must_format("%.*s", (int)length, text);
    int error = 0;
    if (strcasecmp(word, "ppr") == 0) {
        error = read_map_ppr(option, text, &rest, options);
    } else if (strncasecmp(word, "pe-list=", 8) == 0) {
        error = tern_words_apply(option, word, ":", modifiers, options);
        options->map.by = TERN_MAP_LEVEL_SLOT;
        options->map.bind =
            options->map.hwthreads ? TERN_MAP_LEVEL_HWTHREAD : TERN_MAP_LEVEL_CORE;
    } else if (*word) {
        error = read_object(option, word, options);
    }
    /* as in Open MPI, only on the command line */
    options->map.by_implied |= option[0] == '-' && !*word && rest && *rest;
    if (!error && rest)
        error = tern_words_apply(option, rest, ":,", modifiers, options);
    free(word);
    return error;
}

int tern_policy_rank_by(const char *option, const char *text, struct tern_options *options)
{
    static const struct tern_word known[] = { TERN_WORD_SETS("span", map.rank_span),
                                              TERN_WORD_SETS("fill", map.rank_fill),
                                              { 0 } };
    struct tern_map_request *map = &options->map;
    enum tern_map_level level = TERN_MAP_LEVEL_NODE;
    size_t length = strcspn(text, ":");
    bool found = find_level(text, TERN_MAP_LEVEL_NONE, &level);
    map->rank_span = map->rank_fill = false;
    /* Open MPI 5's: over the objects that the ranks are mapped to */
    map->rank_mapped = !found && tern_words_find(text, length, known);
    if (!found && !map->rank_mapped)
        return no_object(option, text, "slot, " OBJECTS ", node, fill and span");
    int error = tern_words_apply(option, text + (found ? length : 0), ":,", known, options);
    map->rank_span &= !map->rank_fill;
    map->rank_by = level;
    return error;
}

/* Returns the error for a binding in the words of MPICH and Intel MPI, or 0. */
static int refuse_foreign_binding(const char *option, const char *text)
{
    bool list = strncasecmp(text, "user:", 5) == 0;
    if (!list && strcasecmp(text, "user") && strcasecmp(text, "rr"))
        return 0;
    return tern_error(TERN_ERR_ARG,
                      "%s %s is a word of other launchers (MPICH, Intel MPI); here it is "
                      "--cpu-list %s --bind-to cpu-list:ordered",
                      option, text, list ? text + 5 : "0,1,...");
}

int tern_policy_bind_to(const char *option, const char *text, struct tern_options *options)
{
    /* those without a bool: this is always so */
    static const struct tern_word known[] = { TERN_WORD_SETS("overload-allowed", map.overload),
                                              { .word = "if-supported" },
                                              { .word = "ordered" },
                                              TERN_WORD_SETS("report", report_bindings),
                                              { .word = "no-overload" },
                                              { 0 } };
    enum tern_map_level level = TERN_MAP_LEVEL_DEFAULT;
    size_t length = strcspn(text, ":");
    int error = refuse_foreign_binding(option, text);
    if (!error)
        error = tern_words_apply(option, text + length, ":,", known, options);
    if (error)
        return error;
    options->bind_to_list = (length == 8 && strncasecmp(text, "cpu-list", length) == 0) ||
                            (length == 7 && strncasecmp(text, "cpulist", length) == 0);
    if (options->bind_to_list) {
        level = TERN_MAP_LEVEL_HWTHREAD;
        if (options->map.by == TERN_MAP_LEVEL_DEFAULT)
            options->map.by = TERN_MAP_LEVEL_SLOT; /* in the order of the list */
    } else if (!find_level(text, TERN_MAP_LEVEL_SLOT, &level) && (length || !text[0] || !text[1])) {
        return no_object(option, text, "none, " OBJECTS);
    }
    options->map.bind = level; /* a modifier alone: as by default */
    return 0;
}
