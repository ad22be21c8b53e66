/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/hosts.h"

#include <unistd.h>

#include "lib/util/error.h"
#include "mpirun/plan/allocation.h"
#include "mpirun/plan/hostfile.h"

static int read_words(const struct tern_strings *words, struct tern_host_list *list)
{
    for (int i = 0; i < words->count; i++) {
        struct tern_host_entry entry;
        int error = tern_host_parse(words->items[i], &entry);
        if (error)
            return error;
        tern_host_identify(&entry);
        for (int rank = 0; rank < entry.slots || rank == 0; rank++)
            tern_strings_add(&list->sequence, entry.name);
        struct tern_host_entry *known = tern_host_list_find_entry(list, &entry);
        if (known && (!known->slots || (!entry.slots && !entry.implied)))
            known->slots = 0; /* NAME:* holds, however often the host is named */
        else
            tern_host_list_add(list, &entry);
    }
    return 0;
}

/* Makes the list of those hosts of `list` that `choice` names, in the order of `choice`. If
 * `choice` says how many slots, that counts. Returns 0 or TERN_ERR_ARG. */
static int choose(const struct tern_host_list *list, const struct tern_host_list *choice,
                  struct tern_host_list *ret_list)
{
    struct tern_host_list chosen = { .where = choice->where, .sequence = choice->sequence };
    for (int i = 0; i < choice->count; i++) {
        struct tern_host_entry *named = &choice->items[i];
        struct tern_host_entry *known = tern_host_list_find_entry(list, named);
        if (!known)
            return tern_error(TERN_ERR_ARG, "host %s is not in %s", named->name, list->where);
        struct tern_host_entry entry = *known;
        if (named->slots && !named->implied) {
            entry.slots = named->slots;
            entry.implied = false;
        }
        if (named->max_slots)
            entry.max_slots = named->max_slots;
        tern_host_list_add(&chosen, &entry);
    }
    *ret_list = chosen;
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
                              "or contains a blank, a slash or a control code",
                              user, *user ? "@" : "", name, list->where);
    }
    return 0;
}

int tern_hosts_collect(const struct tern_strings *hosts, const struct tern_strings *files,
                       const struct tern_rankfile *rankfile, struct tern_host_list *ret_list)
{
    struct tern_host_list list = { .where = "this machine" };
    struct tern_host_list listed = { .where = files->count ? files->items[0] : "" };
    struct tern_host_list named = { .where = "--host" };
    int error = tern_allocation_find(&list, &list.where);
    for (int i = 0; i < list.count; i++)
        tern_host_identify(&list.items[i]);
    for (int i = 0; i < files->count && !error; i++)
        error = tern_hostfile_read(files->items[i], &listed);
    if (!error && files->count && !listed.count)
        error = tern_error(TERN_ERR_ARG, "the hostfile %s names no host", files->items[0]);
    if (!error && listed.count) {
        error = list.count ? choose(&list, &listed, &list) : 0;
        list = list.count ? list : listed;
    }
    if (!error)
        error = read_words(hosts, &named);
    if (!error && named.count) {
        error = list.count ? choose(&list, &named, &list) : 0;
        list = list.count ? list : named;
    }
    if (error)
        return error;
    if (!list.count && rankfile) {
        list.where = rankfile->path;
        tern_rankfile_hosts(rankfile, &list);
    }
    error = check_names(&list);
    if (error)
        return error;
    if (!list.count) {
        struct tern_host_entry own = { .here = true };
        gethostname(own.name, sizeof own.name - 1);
        tern_host_list_add(&list, &own);
    }
    for (int i = 0; i < list.count && !listed.count && !named.count; i++)
        tern_strings_add(&list.sequence, list.items[i].name);
    *ret_list = list;
    return 0;
}
