/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_HOSTS_H
#define TERN_MPIRUN_HOSTS_H

/* --host and --hostfile: which hosts, and how many slots on each. This version knows one host, this
 * machine. */

#include <stdbool.h>

#include "mpirun/strings.h"

/* An entry of a list of hosts. */
struct tern_host_entry {
    char name[256];
    int slots;     /* 0: not said */
    int max_slots; /* 0: not said */
};

/* Reads "NAME", "NAME:N" or "NAME:*", or a line of a hostfile ("NAME [slots=N] [max-slots=N]"). 0,
 * 1: an empty or comment line, or TERN_ERR_ARG. */
int tern_host_parse(const char *text, struct tern_host_entry *ret_entry);
int tern_host_parse_line(const char *line, struct tern_host_entry *ret_entry);

/* Is `name` this machine: localhost, its host name, one of its addresses, or a name of one of them?
 * May ask the resolver, and block. *ret_known: whether anybody knows the name. */
bool tern_host_is_here(const char *name, bool *ret_known);

/* Slots on this machine after both lists: 0 when none was said. TERN_ERR_ARG when any other host is
 * named. */
int tern_hosts_count_slots(const struct tern_strings *hosts, const struct tern_strings *files,
                           int *ret_slots, int *ret_max_slots);

#endif
