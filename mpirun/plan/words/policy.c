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

static bool find_level(const char *text, enum tern_map_level *ret_level)
{
    for (size_t i = 0; i < sizeof level_names / sizeof *level_names; i++) {
        if (strcasecmp(text, level_names[i].name) == 0) {
            *ret_level = level_names[i].level;
            return true;
        }
    }
    return false;
}

int tern_policy_number(const char *option, const char *text, int least, int most, int *ret_number)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end)
        return tern_error(TERN_ERR_ARG, "%s needs a number, not \"%s\"", option, text);
    if (errno || value > most)
        return tern_error(TERN_ERR_ARG, "%s %s is too large; at most %d", option, text, most);
    if (value < least)
        return tern_error(TERN_ERR_ARG, "%s %s is too small; at least %d", option, text, least);
    *ret_number = (int)value;
    return 0;
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
    if (low > high)
        return 0;
    long long size = step > 0 ? step : -step;
    /* distance of `high` from the set's next smaller number */
    long long rest = (high - first) % size;
    long long largest = high - (rest < 0 ? rest + size : rest);
    return largest >= low && largest >= 1 ? largest : 0;
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

static void set_sharing(const char *option, bool allow, struct tern_options *options)
{
    options->oversubscribe = allow;
    options->map.no_oversubscribe = !allow;
    if (option[0] == '-') { /* not of the environment or a file */
        options->allow_asked |= allow;
        options->forbid_asked |= !allow;
    }
}

void tern_policy_oversubscribe(const char *option, bool allow, struct tern_options *options)
{
    set_sharing(option, allow, options);
    options->map.overload = allow; /* as in Open MPI, a modifier of --map-by does not say so */
}

/* Sets the number of processors of each rank. `of_map`: it is that of --map-by, which counts before
 * others. */
static int set_processors(const char *option, const char *text, bool of_map,
                          struct tern_options *options)
{
    int count;
    int error = tern_policy_number(option, text, 1, TERN_MAX_CPUS, &count);
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

static int read_modifier(const char *option, const char *word, struct tern_options *options)
{
    if (strncasecmp(word, "file=", 5) == 0 && word[5] && options->sequential) {
        tern_strings_add(&options->hostfiles, word + 5);
    } else if (strncasecmp(word, "file=", 5) == 0 && word[5] && options->by_rankfile) {
        tern_strings_add(&options->kept, word + 5);
        options->rankfile = options->kept.items[options->kept.count - 1];
    } else if (strcasecmp(word, "oversubscribe") == 0) {
        set_sharing(option, true, options);
    } else if (strcasecmp(word, "nooversubscribe") == 0) {
        set_sharing(option, false, options);
    } else if (strncasecmp(word, "pe-list=", 8) == 0 && word[8]) {
        tern_strings_add(&options->kept, word + 8);
        return tern_policy_cpu_set(option, options->kept.items[options->kept.count - 1], options);
    } else if (strncasecmp(word, "pe=", 3) == 0) {
        return set_processors("PE=", word + 3, true, options);
    } else if (strcasecmp(word, "hwtcpus") == 0) {
        options->map.hwthreads = true;
    } else if (strcasecmp(word, "corecpus") == 0) {
        options->map.hwthreads = false;
    } else if (strcasecmp(word, "span") == 0) {
        options->map.span = true;
    } else if (strcasecmp(word, "nolocal") == 0) {
        options->no_local = true;
    } else if (strcasecmp(word, "display") == 0) {
        options->display_map = true;
    } else if (strcasecmp(word, "donotlaunch") == 0) {
        options->do_not_launch = true;
    } else if (strcasecmp(word, "overload") && strcasecmp(word, "overload-allowed") &&
               strcasecmp(word, "ordered") && strcasecmp(word, "inherit") &&
               strcasecmp(word, "noinherit")) {
        static const char *const known[] = {
            "PE=N",     "PE-LIST=LIST", "SPAN",    "OVERSUBSCRIBE", "NOOVERSUBSCRIBE", "HWTCPUS",
            "CORECPUS", "NOLOCAL",      "DISPLAY", "DONOTLAUNCH",   "ORDERED",         NULL};
        return tern_words_unknown(option, word, known);
    }
    return 0;
}

int tern_policy_per_object(const char *option, const char *text, enum tern_per_source source,
                           enum tern_map_level level, struct tern_options *options)
{
    int count;
    int error = tern_policy_number(option, text, 1, 1 << 20, &count);
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
    char *copy = tern_must_copy(text), *level_text = strchr(copy, ':');
    enum tern_map_level level = TERN_MAP_LEVEL_NODE;
    int count;
    if (level_text)
        *level_text++ = '\0';
    int error = tern_policy_number(option, copy, 1, 1 << 20, &count);
    if (!error && (!level_text || !find_level(level_text, &level) || level >= TERN_MAP_LEVEL_COUNT))
        error = tern_error(TERN_ERR_ARG,
                           "%s: \"%s\" is not N:OBJECT such as 2:socket; objects are hwthread, "
                           "core, l1cache, l2cache, l3cache, numa, socket, package and node",
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

int tern_policy_map_by(const char *option, const char *text, struct tern_options *options)
{
    char *copy = tern_must_copy(text), *rest = copy;
    char *word = strsep(&rest, ":");
    int error = 0;
    if (strcasecmp(word, "ppr") == 0) {
        char *count = rest ? strsep(&rest, ":") : NULL, *level = rest ? strsep(&rest, ":,") : NULL;
        if (!count || !level) {
            error = tern_error(TERN_ERR_ARG, "%s: \"%s\" is not ppr:N:OBJECT such as ppr:2:socket",
                               option, text);
        } else {
            char *pair = tern_must_format("%s:%s", count, level);
            error = read_ppr(option, pair, TERN_PER_MAP_BY, options);
            options->map.by = TERN_MAP_LEVEL_DEFAULT;
            options->sequential = options->by_rankfile = false;
            free(pair);
        }
    } else if (strncasecmp(word, "pe-list=", 8) == 0) {
        error = read_modifier(option, word, options);
        options->map.by = TERN_MAP_LEVEL_SLOT;
        options->map.bind =
            options->map.hwthreads ? TERN_MAP_LEVEL_HWTHREAD : TERN_MAP_LEVEL_CORE;
    } else if (*word) {
        enum tern_map_level level = TERN_MAP_LEVEL_SLOT;
        options->sequential = strcasecmp(word, "seq") == 0 || strcasecmp(word, "sequential") == 0;
        options->by_rankfile = strcasecmp(word, "rankfile") == 0;
        bool fixed = options->sequential || options->by_rankfile;
        if (!fixed && (!find_level(word, &level) || level == TERN_MAP_LEVEL_NONE))
            error =
                tern_error(TERN_ERR_ARG,
                           "%s: no object \"%s\"; there are slot, hwthread, core, l1cache, "
                           "l2cache, l3cache, numa, socket, package, node, ppr:N:OBJECT, seq and "
                           "rankfile",
                           option, word);
        else
            options->map.by = fixed ? TERN_MAP_LEVEL_DEFAULT : level;
        /* --npernode and --npersocket hold beside this; a ppr of an earlier --map-by does not */
        if (options->per_source == TERN_PER_MAP_BY) {
            options->map.per_object = 0;
            options->per_source = TERN_PER_NONE;
        }
    }
    /* as in Open MPI, only on the command line */
    options->map.by_implied |= option[0] == '-' && !*word && rest && *rest;
    while (!error && rest) {
        /* the name of a file may contain commas */
        bool list = strncasecmp(rest, "file=", 5) == 0 || strncasecmp(rest, "pe-list=", 8) == 0;
        word = strsep(&rest, list ? ":" : ":,");
        if (*word)
            error = read_modifier(option, word, options);
    }
    free(copy);
    return error;
}

/* Cuts the modifiers off `copy`, OBJECT:MODIFIER,...; each must be one of `known`. *ret_given has a
 * bit for each that stands there. Returns 0 or TERN_ERR_ARG. */
static int cut_modifiers(const char *option, char *copy, const char *const *known,
                         unsigned *ret_given)
{
    char *rest = strchr(copy, ':'), *word;
    *ret_given = 0;
    if (rest)
        *rest++ = '\0';
    while ((word = strsep(&rest, ":,"))) {
        int which = tern_words_find(word, known);
        if (which >= 0)
            *ret_given |= 1u << which;
        else if (*word)
            return tern_error(TERN_ERR_ARG, "%s: no modifier \"%s\"; there are %s and %s", option,
                              word, known[0], known[1]);
    }
    return 0;
}

int tern_policy_rank_by(const char *option, const char *text, struct tern_options *options)
{
    enum { SPAN = 1, FILL = 2 };
    static const char *const known[] = {"span", "fill", NULL};
    char *copy = tern_must_copy(text);
    unsigned given;
    int error = cut_modifiers(option, copy, known, &given);
    options->map.rank_span = given == SPAN;
    options->map.rank_fill = given & FILL;
    enum tern_map_level level;
    bool found = find_level(copy, &level) && level != TERN_MAP_LEVEL_NONE;
    /* Open MPI 5's: over the objects that the ranks are mapped to */
    int mapped = found ? -1 : tern_words_find(copy, known);
    options->map.rank_mapped = mapped >= 0;
    if (mapped >= 0) {
        options->map.rank_span = mapped == 0;
        options->map.rank_fill = mapped == 1;
        level = TERN_MAP_LEVEL_NODE;
    }
    free(copy);
    if (error)
        return error;
    if (!found && mapped < 0)
        return tern_error(TERN_ERR_ARG,
                          "%s: no object \"%s\"; there are slot, hwthread, core, l1cache, l2cache, "
                          "l3cache, numa, socket, package, node, fill and span",
                          option, text);
    options->map.rank_by = level;
    return 0;
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
    /* the others are accepted without effect: this is always so */
    enum { OVERLOAD = 1 << 0, REPORT = 1 << 3 };
    static const char *const known[] = {"overload-allowed", "if-supported", "ordered",
                                        "report",           "no-overload",  NULL};
    unsigned given = 0;
    int error = refuse_foreign_binding(option, text);
    if (error)
        return error;
    char *copy = tern_must_copy(text);
    error = cut_modifiers(option, copy, known, &given);
    options->report_bindings |= (given & REPORT) != 0;
    options->map.overload |= (given & OVERLOAD) != 0;
    enum tern_map_level level = TERN_MAP_LEVEL_DEFAULT;
    bool found = find_level(copy, &level) && level != TERN_MAP_LEVEL_SLOT;
    found |= !*copy && text[0] == ':' && text[1]; /* a modifier alone */
    options->bind_to_list = strcasecmp(copy, "cpu-list") == 0 || strcasecmp(copy, "cpulist") == 0;
    if (!found && options->bind_to_list) {
        level = TERN_MAP_LEVEL_HWTHREAD;
        found = true;
        if (options->map.by == TERN_MAP_LEVEL_DEFAULT)
            options->map.by = TERN_MAP_LEVEL_SLOT; /* in the order of the list */
    }
    free(copy);
    if (error)
        return error;
    if (!found)
        return tern_error(TERN_ERR_ARG,
                          "%s: no object \"%s\"; there are none, hwthread, core, l1cache, l2cache, "
                          "l3cache, numa, socket, "
                          "package",
                          option, text);
    options->map.bind = level;
    return 0;
}
