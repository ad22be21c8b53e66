/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/job/hosts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "mpirun/plan/hosts/allocation.h"
#include "mpirun/plan/hosts/hostfile.h"

/* Reads "+nK", host K of `list`, counted from 0, or "+e" and "+e:N", all its hosts or the first N:
 * Open MPI's relative names. Returns 0 or TERN_ERR_ARG. */
static int read_relative(const char *word, const struct tern_host_list *list, int *ret_first,
                         int *ret_count)
{
    char *end;
    bool all = strncmp(word, "+e", 2) == 0, bare = all && !word[2];
    long number = bare ? list->count : strtol(word + 2 + all, &end, 10);
    if (!bare && ((!all && strncmp(word, "+n", 2)) || (all && word[2] != ':') ||
                  end == word + 2 + all || *end || number < 0))
        return tern_error(TERN_ERR_ARG, "--host %s: expected +nK (host number K of the list, from "
                                        "0), +e or +e:N", word);
    *ret_first = all ? 0 : (int)number;
    *ret_count = all ? (int)number : 1;
    if (number + !all > list->count)
        return tern_error(TERN_ERR_ARG, "--host %s: the hostfile or batch job has %d host%s", word,
                          list->count, list->count == 1 ? "" : "s");
    return 0;
}

static void add_named(const struct tern_host_entry *entry, struct tern_host_list *list)
{
    for (int rank = 0; rank < entry->slots || rank == 0; rank++)
        tern_strings_add(&list->sequence, entry->name);
    struct tern_host_entry *known = tern_host_list_find_entry(list, entry);
    if (known && (!known->slots || (!entry->slots && !entry->implied)))
        known->slots = 0; /* NAME:* holds, however often the host is named */
    else
        tern_host_list_add(list, entry);
}

/* Reads the words of --host. `known`: hosts that are known already. */
static int read_words(const struct tern_strings *words, const struct tern_host_list *known,
                      struct tern_host_list *list)
{
    for (int i = 0; i < words->count; i++) {
        struct tern_host_entry entry;
        int first = 0, count = 0, error;
        if (words->items[i][0] == '+') {
            error = read_relative(words->items[i], known, &first, &count);
            for (int h = 0; !error && h < count; h++)
                add_named(&known->items[first + h], list);
        } else {
            error = tern_host_parse(words->items[i], &entry);
            if (!error) {
                tern_host_identify(&entry);
                add_named(&entry, list);
            }
        }
        if (error)
            return error;
    }
    return 0;
}

/* Returns what is known of the host `named`, with the slots that it is named with. A batch system's
 * slots are a limit. */
static struct tern_host_entry merge(const struct tern_host_entry *known,
                                    const struct tern_host_entry *named, bool limited)
{
    struct tern_host_entry entry = *known;
    if (named->slots && !(limited && known->slots && known->slots < named->slots)) {
        entry.slots = named->slots;
        entry.implied = named->implied;
    }
    if (named->max_slots)
        entry.max_slots = named->max_slots;
    return entry;
}

/* Keeps those hosts of `list` that `choice` names, in the order of `choice`; if `list` is empty,
 * all of `choice`. `limited`: `list` is a batch system's, so other hosts may not be used. Moves the
 * order of names from `choice`. Returns 0 or TERN_ERR_ARG. */
static int choose(struct tern_host_list *list, struct tern_host_list *choice, bool limited)
{
    struct tern_host_list chosen = { .where = choice->where };
    int error = 0;
    for (int i = 0; i < choice->count && !error; i++) {
        struct tern_host_entry *named = &choice->items[i];
        struct tern_host_entry *known = tern_host_list_find_entry(list, named), entry = *named;
        if (known)
            entry = merge(known, named, limited);
        else if (limited)
            error = tern_error(TERN_ERR_ARG, "host %s is not in %s", named->name, list->where);
        tern_host_list_add(&chosen, &entry);
    }
    if (error) {
        tern_host_list_free(&chosen);
        return error;
    }
    tern_host_list_free(list);
    *list = chosen;
    list->sequence = choice->sequence;
    choice->sequence = (struct tern_strings){ 0 };
    return 0;
}

/* Checks all names, because they reach the command line of ssh or a shell, and the terminal. */
static int check_names(const struct tern_host_list *list)
{
    for (int i = 0; i < list->count; i++) {
        const char *name = list->items[i].name, *user = list->items[i].user;
        if (!tern_host_name_is_good(name) || (*user && !tern_host_name_is_good(user)))
            return tern_error(TERN_ERR_ARG,
                              "\"%s%s%s\" in %s is not the name of a host: it begins with \"-\", "
                              "or contains a blank, a slash, a quote or another mark that no name "
                              "has",
                              user, *user ? "@" : "", name, list->where);
    }
    return 0;
}

static void add_to_sequence(struct tern_host_list *list)
{
    for (int i = 0; i < list->count; i++)
        tern_strings_add(&list->sequence, list->items[i].name);
}

/* Returns true if word `at` of the list stands there before, too. */
static bool is_repeated(const struct tern_strings *list, int at)
{
    for (int i = 0; i < at; i++)
        if (strcmp(list->items[i], list->items[at]) == 0)
            return true;
    return false;
}

/* Lists the hosts of the allocation, of --hostfile and of --host in `list`, and narrows them. */
static int collect(const struct tern_strings *hosts, const struct tern_strings *files,
                   struct tern_host_list *list)
{
    struct tern_host_list listed = { .where = files->count ? files->items[0] : "" };
    struct tern_host_list named = { .where = "--host" };
    int error = tern_allocation_find(list, &list->where);
    bool limited = list->count > 0;
    for (int i = 0; i < list->count; i++)
        tern_host_identify(&list->items[i]);
    add_to_sequence(list);
    for (int i = 0; i < files->count && !error; i++)
        if (!is_repeated(files, i)) /* its slots count once, though several programs name it */
            error = tern_hostfile_read(files->items[i], &listed);
    if (!error && files->count && !listed.count)
        error = tern_error(TERN_ERR_ARG, "the hostfile %s names no host", files->items[0]);
    if (!error && listed.count)
        error = choose(list, &listed, limited);
    if (!error)
        error = read_words(hosts, list, &named);
    if (!error && named.count)
        error = choose(list, &named, limited);
    tern_host_list_free(&listed);
    tern_host_list_free(&named);
    return error;
}

int tern_hosts_collect(const struct tern_strings *hosts, const struct tern_strings *files,
                       const struct tern_rankfile *rankfile, struct tern_host_list *ret_list)
{
    struct tern_host_list list = { .where = "this machine" };
    int error = collect(hosts, files, &list);
    if (!error && !list.count && rankfile) {
        list.where = rankfile->path;
        tern_rankfile_hosts(rankfile, &list);
        add_to_sequence(&list);
    }
    if (!error)
        error = check_names(&list);
    if (error) {
        tern_host_list_free(&list);
        return error;
    }
    if (!list.count) {
        struct tern_host_entry own = { .here = true };
        gethostname(own.name, sizeof own.name - 1); /* empty if the system refuses to tell */
        tern_host_list_add(&list, &own);
        add_to_sequence(&list);
    }
    *ret_list = list;
    return 0;
}

/* ---- hosts of single programs ---- */

static bool names_hosts(const struct tern_app *app)
{
    return app->hosts.count || app->hostfiles.count;
}

/* Puts the hosts of `base` in front of the others of `list`. A host of both has the slots that it
 * has in `base`, or more if --host says so. */
static void widen(struct tern_host_list *list, const struct tern_host_list *base)
{
    struct tern_host_list wide = { .where = list->where, .sequence = list->sequence };
    for (int i = 0; i < base->count; i++) {
        struct tern_host_entry entry = base->items[i];
        const struct tern_host_entry *named = tern_host_list_find_entry(list, &entry);
        if (named && entry.slots && named->slots > entry.slots)
            entry.slots = named->slots;
        tern_host_list_add(&wide, &entry);
    }
    for (int i = 0; i < list->count; i++)
        if (!tern_host_list_find_entry(base, &list->items[i]))
            tern_host_list_add(&wide, &list->items[i]);
    list->sequence = (struct tern_strings){ 0 };
    tern_host_list_free(list);
    *list = wide;
}

/* Stores the limits of program `app` for each host of `list`: those of `own`, or none. */
static void set_limits(const struct tern_options *options, int app,
                       const struct tern_host_list *list, const struct tern_host_list *own,
                       int *limits)
{
    bool named = names_hosts(&options->apps[app]);
    for (int h = 0; h < list->count; h++) {
        const struct tern_host_entry *entry = tern_host_list_find_entry(own, &list->items[h]);
        bool anywhere = !named && !own->count;
        limits[h * options->app_count + app] = !entry && !anywhere ? 0
                                               : named && entry->slots ? entry->slots
                                                                       : INT_MAX;
    }
}

int tern_hosts_limit(const struct tern_options *options, struct tern_host_list *list,
                     int **ret_limits)
{
    static const struct tern_strings none;
    struct tern_host_list base = { .where = list->where };
    bool any = false, all = true, by_option = false;
    *ret_limits = NULL;
    for (int app = 0; app < options->app_count; app++) {
        any |= names_hosts(&options->apps[app]);
        by_option |= options->apps[app].hosts.count > 0;
        all &= options->apps[app].hosts.count > 0;
    }
    if (!any || options->app_count < 2)
        return 0;
    int error = collect(&none, &options->hostfiles, &base);
    if (!error && !all && base.count) {
        int named = list->count;
        widen(list, &base);
        if (by_option && list->count > named && !options->quiet &&
            tern_allocation_used() == TERN_NO_BATCH_SYSTEM)
            tern_log("warning: a program without --host may run on all hosts of the hostfile; Open "
                     "MPI 4.1 lets it run only on those that a --host of the job names");
        error = check_names(list);
    }
    int *limits = tern_must_alloc((size_t)list->count * options->app_count * sizeof *limits);
    for (int app = 0; app < options->app_count && !error; app++) {
        const struct tern_app *of = &options->apps[app];
        struct tern_host_list own = { .where = list->where };
        if (names_hosts(of))
            error = collect(&of->hosts,
                            of->hostfiles.count ? &of->hostfiles : &options->hostfiles, &own);
        set_limits(options, app, list, names_hosts(of) ? &own : &base, limits);
        tern_host_list_free(&own);
    }
    tern_host_list_free(&base);
    if (error)
        free(limits);
    else
        *ret_limits = limits;
    return error;
}
