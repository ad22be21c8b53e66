/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/words/join_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/settings/figures.h"
#include "lib/settings/param.h"
#include "lib/settings/places.h"
#include "lib/settings/tcp_choice.h"
#include "lib/util/net/btl_list.h"
#include "lib/util/base/error.h"
#include "mpirun/plan/words/option_values.h"
#include "mpirun/plan/hosts/this_machine.h"

/* ---- options of mapping and binding ---- */

/* Refuses options that choose where ranks run, beside a rankfile, which says it, too. Returns 0 or
 * TERN_ERR_ARG. */
static int check_rankfile(const struct tern_options *options)
{
    static const char *const others[] = {"map-by", "npernode", "npersocket", "ppr",
                                         "cpus-per-proc"};
    const char *said = options->sequential ? "--map-by seq" : NULL;
    for (size_t i = 0; i < sizeof others / sizeof *others && !said; i++)
        if (i || !options->by_rankfile)
            said = tern_strings_value(&options->given, others[i]);
    bool empty = said && said[strlen(said) - 1] == ' '; /* an empty value says nothing */
    if (!options->rankfile || !said || empty)
        return 0;
    return tern_error(TERN_ERR_ARG,
                      "--rankfile and %s both choose where ranks run; use one of "
                      "them",
                      said);
}

/* As in Open MPI, --wdir counts before --set-cwd-to-session-dir. */
static void choose_wdirs(struct tern_options *options)
{
    for (int at = 0; at < options->app_count; at++) {
        struct tern_app *app = &options->apps[at];
        if (app->wdir && app->wdir_session)
            tern_options_warn(options, "--set-cwd-to-session-dir has no effect beside --wdir %s",
                              app->wdir);
        app->wdir_session &= !app->wdir;
    }
}

/* As in Open MPI, --bycore, --byslot and a parameter do not say where to map beside -N and
 * --npersocket; --bynode does, and --map-by if there is one program. */
static void drop_weak_mapping(struct tern_options *options)
{
    const char *said = tern_strings_value(&options->given, "map-by");
    bool counted = options->per_source == TERN_PER_NODE || options->per_source == TERN_PER_SOCKET;
    /* Open MPI then forgets -N and --npersocket; here they hold as far as -np permits */
    options->map.per_gives_way =
        counted && options->app_count == 1 &&
        (options->pe_of_map ||
         (options->map.by != TERN_MAP_LEVEL_DEFAULT && said && strstr(said, "-map-by")));
    if (!counted || options->map.by == TERN_MAP_LEVEL_DEFAULT ||
        (said && ((options->app_count == 1 && strstr(said, "-map-by")) || strstr(said, "-bynode"))))
        return;
    if (options->map.by != TERN_MAP_LEVEL_SLOT)
        tern_options_warn(options, "%s has no effect beside %s",
                          said ? said : "the parameter rmaps_base_mapping_policy",
                          options->per_said);
    options->map.by = TERN_MAP_LEVEL_DEFAULT;
}

/* As in Open MPI, ranks run anywhere on the processors of --cpu-set, and --rank-by has no effect.
 * It refuses --map-by beside it and forgets --bind-to; here they hold. */
static void bind_to_listed(struct tern_options *options)
{
    struct tern_map_request *map = &options->map;
    const char *bind = tern_strings_value(&options->given, "bind-to");
    if (!options->cpu_list || map->by != TERN_MAP_LEVEL_DEFAULT || options->rankfile)
        return;
    if (map->bind == TERN_MAP_LEVEL_DEFAULT && !map->pe)
        map->bind = TERN_MAP_LEVEL_NONE;
    else if (bind && map->bind < TERN_MAP_LEVEL_NODE)
        tern_options_warn(options,
                          "%s holds within the list of --cpu-set, too; Open MPI 4.1 lets "
                          "each rank run on the whole list",
                          bind);
    const char *rank_by = tern_strings_value(&options->given, "rank-by");
    if (map->rank_by != TERN_MAP_LEVEL_DEFAULT && map->rank_by != TERN_MAP_LEVEL_SLOT)
        tern_options_warn(options,
                          "%s has no effect beside --cpu-set, as in Open MPI 4.1: ranks "
                          "are numbered host after host",
                          rank_by ? rank_by : "the parameter rmaps_base_ranking_policy");
    map->rank_by = TERN_MAP_LEVEL_DEFAULT;
}

/* ---- lists of byte movers ---- */

static const char btl_variable[] = "OMPI_MCA_btl";
static const char *const movers[] = {"self", "shm", "ofi", "tcp"};
enum { MOVERS = sizeof movers / sizeof *movers, SELF = 1 /* the bit of the first one */ };

/* Returns the list of one program; "" if it has none. */
static const char *list_of(const struct tern_app *app, const struct tern_options *options)
{
    const struct tern_setting btl = {.name = "btl"};
    struct tern_origin origin;
    const char *list = tern_strings_value(&app->env, btl_variable);
    if (!list)
        list = tern_strings_value(&options->env, btl_variable);
    if (!list)
        list = tern_setting_value(&btl, &origin);
    return list ? list : "";
}

/* Returns the movers that a list permits, a bit for each. All if the list was written for other
 * networks and has none that reaches another rank: the library sets it aside. */
static unsigned permitted(const char *list)
{
    unsigned bits = 0;
    for (int i = 0; i < MOVERS; i++)
        bits |= tern_btl_list_permits(list, movers[i]) ? 1u << i : 0;
    bool holds = bits & ~(unsigned)SELF || !tern_btl_list_names_others(list, movers, MOVERS);
    return holds ? bits : (1u << MOVERS) - 1;
}

static char *write_list(unsigned bits)
{
    char text[40] = "";
    size_t used = 0;
    for (int i = 0; i < MOVERS; i++)
        if (bits >> i & 1)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "," : "",
                                     movers[i]);
    return tern_must_copy(text);
}

/* Gives all programs of a job the same list of byte movers in the parameter `btl`: that of those
 * which all their lists permit, with a warning. Otherwise a rank would send by one that the
 * receiver does not read. Returns 0, or TERN_ERR_ARG with text if they have none in common that
 * reaches another rank. */
static int give_common_movers(struct tern_options *options)
{
    unsigned common = UINT32_MAX;
    int other = 0; /* a program whose list differs from the first one's */
    const char *first = options->app_count ? list_of(&options->apps[0], options) : "";
    for (int app = 0; app < options->app_count; app++) {
        const char *list = list_of(&options->apps[app], options);
        if (permitted(list) != permitted(first))
            other = app;
        common &= permitted(list);
    }
    if (!other)
        return 0;
    const char *second = list_of(&options->apps[other], options);
    if (!(common & ~(unsigned)SELF))
        return tern_error(TERN_ERR_ARG,
                          "the programs cannot reach each other: the parameter btl is `%s` for %s "
                          "and `%s` for %s, and the lists of all programs have no byte mover in "
                          "common; give all the same list, by --gmca btl LIST",
                          first, options->apps[0].argv.items[0], second,
                          options->apps[other].argv.items[0]);
    char *list = write_list(common);
    tern_options_warn(options,
                      "the parameter btl is `%s` for %s and `%s` for %s; all programs use `%s`, "
                      "which all their lists permit",
                      first, options->apps[0].argv.items[0], second,
                      options->apps[other].argv.items[0], list);
    for (int app = 0; app < options->app_count; app++)
        tern_strings_set(&options->apps[app].env, btl_variable, list);
    free(list);
    return 0;
}

/* ---- all of them ---- */

int tern_options_join(struct tern_options *options)
{
    choose_wdirs(options);
    int error = tern_option_give_list(options);
    if (error)
        return error;
    if (!options->prefix && !options->no_prefix)
        options->prefix = options->implied_prefix;
    if (options->cpu_list && options->map.hwthreads) {
        tern_strings_format(&options->kept, "%s%s", TERN_CPU_LIST_THREADS, options->cpu_list);
        options->cpu_list = options->kept.items[options->kept.count - 1];
    }
    drop_weak_mapping(options);
    /* As in Open MPI, who binds to hardware threads counts them as processors. */
    if (options->map.bind == TERN_MAP_LEVEL_HWTHREAD && !options->bind_to_list)
        options->map.hwthreads = true;
    options->map.oversubscribe = options->oversubscribe;
    if (options->by_rankfile && !options->rankfile)
        return tern_error(TERN_ERR_ARG, "--map-by rankfile needs the option --rankfile FILE, too");
    if (options->bind_to_list && !options->cpu_list) {
        tern_options_warn(options, "--bind-to cpu-list binds nobody without --cpu-list LIST");
        options->map.bind = TERN_MAP_LEVEL_NONE;
    }
    bind_to_listed(options);
    error = check_rankfile(options);
    if (error)
        return error;
    if (options->allow_asked && options->forbid_asked)
        return tern_error(TERN_ERR_ARG, "the command line both allows more ranks than slots "
                                        "(--oversubscribe) and forbids it (--nooversubscribe); use "
                                        "one of them");
    int64_t first, last;
    bool include;
    error = tern_param_check_all();
    if (!error)
        error = tern_tcp_filter_choose("btl_tcp_if_include", "btl_tcp_if_exclude", &include);
    if (!error)
        error = tern_tcp_ports_read(&first, &last);
    if (!error)
        error = give_common_movers(options);
    return error ? error : tern_figures_read();
}
