/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/job/this_host.h"

#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/util/net/btl_list.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "lib/util/net/tcp_address.h"

static void check_prefix(const char *prefix)
{
    struct stat info;
    if (stat(prefix, &info) == 0 && S_ISDIR(info.st_mode))
        return;
    tern_log("warning: --prefix %s: there is no such directory; expected one with bin and lib of "
             "an installation. Ranks find their libraries elsewhere, or not at all",
             prefix);
}

/* Writes the names of this host's interfaces, separated by commas. */
static void list_interfaces(char *text, size_t room)
{
    struct if_nameindex *all = if_nameindex();
    size_t used = 0;
    snprintf(text, room, "none");
    for (struct if_nameindex *at = all; at && at->if_index && used < room; at++)
        used += (size_t)snprintf(text + used, room - used, "%s%s", used ? ", " : "", at->if_name);
    if (all)
        if_freenameindex(all);
}

static bool word_exists(const struct tern_tcp_word *word)
{
    struct tern_tcp_address list[TERN_TCP_ADDRESSES_MAX];
    bool cut;
    if (!word->is_subnet)
        return if_nametoindex(word->interface) != 0;
    int count = tern_tcp_list_addresses(list, &cut);
    struct tern_tcp_filter one = { .count = 1, .words = { *word } };
    for (int i = 0; i < count; i++)
        if (tern_tcp_filter_has(&one, &list[i]))
            return true;
    return false;
}

static void name_word(const struct tern_tcp_word *word, char *text, size_t room)
{
    char address[TERN_TCP_TEXT];
    if (word->is_subnet)
        snprintf(text, room, "%s/%d", tern_tcp_text(&word->subnet, address), word->subnet.prefix);
    else
        snprintf(text, room, "%s", word->interface);
}

static void check_interfaces(const char *parameter)
{
    struct tern_tcp_filter filter;
    char there[400], name[TERN_TCP_TEXT + 8];
    if (tern_tcp_filter_read(parameter, tern_param_string(parameter), &filter))
        return; /* refused before */
    for (int i = 0; i < filter.count; i++) {
        if (word_exists(&filter.words[i]))
            continue;
        name_word(&filter.words[i], name, sizeof name);
        list_interfaces(there, sizeof there);
        tern_log("warning: %s names %s, but this host has no such interface (it has %s); ranks of "
                 "one host need none",
                 parameter, name, there);
    }
}

void tern_this_host_check(const struct tern_options *options)
{
    if (options->quiet)
        return;
    if (options->prefix && options->prefix != options->implied_prefix)
        check_prefix(options->prefix);
    /* without shm the ranks use the interfaces, and name those that are missing */
    if (tern_btl_list_permits(tern_param_string("btl"), "shm"))
        check_interfaces("btl_tcp_if_include");
}
