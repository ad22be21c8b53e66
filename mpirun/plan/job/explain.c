/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/job/explain.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/util/net/btl_list.h"
#include "lib/settings/param.h"
#include "mpirun/plan/map/describe.h"

/* ---- settings ---- */

static void explain_settings(const struct tern_options *options)
{
    const struct tern_setting *param;
    printf("What was asked for:\n");
    if (!options->said.count)
        printf("    nothing\n");
    for (int i = 0; i < options->said.count; i++)
        printf("    %s\n", options->said.items[i]);
    printf("\nParameters (value, source):\n");
    for (int i = 0; (param = tern_param_at(i, NULL)); i++) {
        const char *value = tern_param_string(param->name);
        const char *source = tern_param_source(param->name);
        if (param->internal && strcmp(source, "default") == 0)
            continue;
        printf("    %-32s %s (%s)\n", param->name, value && *value ? value : "\"\"",
               strcmp(source, "tool") == 0 ? "option" : source);
    }
}

/* ---- ranks ---- */

static const char *by_whom(enum tern_map_level asked)
{
    return asked == TERN_MAP_LEVEL_DEFAULT ? "default" : "asked for";
}

static void explain_ranks(const struct tern_options *options, const struct tern_host *hosts,
                          const struct tern_map *map)
{
    const struct tern_map_request *request = &options->map;
    printf("\nRanks: mapped by %s (%s), numbered by %s (%s), bound to %s (%s)\n",
           tern_map_level_name(map->by),
           request->per_object ? "asked for" : by_whom(request->by),
           request->rank_by == TERN_MAP_LEVEL_DEFAULT ? "the map"
           : request->rank_mapped ? (request->rank_fill ? "fill" : "span")
                                  : tern_map_level_name(request->rank_by),
           by_whom(request->rank_by), tern_map_level_name(map->bind), by_whom(request->bind));
    if (map->crowded_host >= 0)
        printf("    host %s has %d ranks and %d %s: they are not bound unless it was asked for\n",
               hosts[map->crowded_host].name, map->crowded_ranks, map->crowded_units,
               map->crowded_slots ? "slots" : "processors");
    for (int rank = 0; rank < map->size; rank++) {
        const struct tern_rank_place *place = &map->places[rank];
        char *cpus = tern_map_cpuset(place);
        printf("    rank %d on %s: %s %s\n", rank, hosts[place->host].name,
               place->bound ? "processors" : "not bound, processors", strchr(cpus, ':') + 1);
        free(cpus);
    }
}

/* ---- peers ---- */

/* Tries to read a sibling's memory, as ranks do. Returns 0, or errno. */
static int try_single_copy(void)
{
    static volatile int word;
    int ready[2], status = 0;
    char byte;
    if (pipe(ready) < 0)
        return errno;
    fflush(stdout);
    pid_t owner = fork();
    if (owner == 0) {
        word = 42;
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
        if (write(ready[1], "", 1) == 1)
            pause();
        _exit(0);
    }
    bool started = owner > 0 && read(ready[0], &byte, 1) == 1;
    pid_t reader = started ? fork() : -1;
    if (reader == 0) {
        int got = 0;
        struct iovec local = { &got, sizeof got }, remote = { (void *)&word, sizeof word };
        ssize_t size = process_vm_readv(owner, &local, 1, &remote, 1, 0);
        _exit(size < 0 ? errno : got == 42 ? 0 : EIO);
    }
    if (reader > 0)
        waitpid(reader, &status, 0);
    if (owner > 0) {
        kill(owner, SIGKILL);
        waitpid(owner, NULL, 0);
    }
    close(ready[0]);
    close(ready[1]);
    return reader < 0 ? EAGAIN : WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

static void explain_node(const char *list)
{
    if (!tern_btl_list_permits(list, "shm")) {
        printf("    ranks of the same host: tcp, because btl leaves out shm\n");
        return;
    }
    printf("    ranks of the same host: shm. Short messages: two copies, through shared memory.\n");
    const char *how = tern_param_string("btl_shm_single_copy");
    int choice = tern_param_choice("btl_shm_single_copy");
    int refused = choice == 2 ? 0 : try_single_copy();
    if (choice == 2)
        printf("        Long messages: two copies, because btl_shm_single_copy is %s.\n", how);
    else if (refused)
        printf("        Long messages: two copies, because the system refuses process_vm_readv "
               "here (%s).\n",
               strerror(refused));
    else
        printf("        Long messages: one copy (process_vm_readv)%s.\n",
               choice == 1 ? "" : "; two while the sender waits in MPI, which is faster then");
}

static void explain_peers(const struct tern_map *map, int host_count)
{
    const char *list = tern_param_string("btl");
    /* the library sets such a list aside, if it was written for other networks */
    if (!tern_btl_list_permits(list, "shm") && !tern_btl_list_permits(list, "tcp"))
        list = NULL;
    bool together = false, apart = false;
    for (int host = 0; host < host_count; host++) {
        int here = tern_map_ranks_on(map, host);
        together |= here > 1;
        apart |= here > 0 && here < map->size;
    }
    printf("\nMessages:\n    a rank to itself: self, one copy\n");
    if (together)
        explain_node(list);
    if (!apart)
        return;
    const char *only = tern_param_string("btl_tcp_if_include");
    const char *not = tern_param_string("btl_tcp_if_exclude");
    printf("    ranks of other hosts: tcp, because there is no other byte mover between hosts; "
           "interfaces: %s%s%s\n",
           only && *only ? "" : "all but ", only && *only ? only : not ? not : "",
           tern_param_bool("btl_tcp_encrypt") ? "; encrypted" : "");
}

void tern_explain(const struct tern_options *options, const struct tern_host *hosts, int host_count,
                  const struct tern_map *map)
{
    explain_settings(options);
    explain_ranks(options, hosts, map);
    explain_peers(map, host_count);
}
