/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_HOSTS_H
#define TERN_MPIRUN_HOSTS_H

/* Which hosts a job may use, and how many slots each has: --host and --hostfile, among the hosts of
 * the batch system's allocation where there is one. */

#include <stdbool.h>

#include "mpirun/strings.h"

/* An entry of a list of hosts. */
struct tern_host_entry {
    char name[256];
    char user[64]; /* from USER@NAME; "": not said */
    int slots;     /* 0: not said */
    int max_slots; /* 0: not said */
    bool here;     /* it is this machine */
    bool implied;  /* the slots count as said, but no number was */
};

struct tern_host_list {
    struct tern_host_entry *items;
    int count, room;
};

/* Reads "NAME", "NAME:N" or "NAME:*", or a line of a hostfile ("NAME [slots=N] [max-slots=N]"). 0,
 * 1: an empty or comment line, or TERN_ERR_ARG. */
int tern_host_parse(const char *text, struct tern_host_entry *ret_entry);
int tern_host_parse_line(const char *line, struct tern_host_entry *ret_entry);

/* Is `name` this machine: localhost, its host name, one of its addresses, or a name of one of them?
 * May ask the resolver, and block. */
bool tern_host_is_here(const char *name);

/* Adds a host, or to the slots of one that is in the list. A host listed once without slots has one
 * per core (0), listed again and again one each time. */
void tern_host_list_add(struct tern_host_list *list, const struct tern_host_entry *entry);

/* The hosts after --host, --hostfile and the allocation, each once and in order; this machine alone
 * where nobody says anything. TERN_ERR_ARG. */
int tern_hosts_collect(const struct tern_strings *hosts, const struct tern_strings *files,
                       struct tern_host_list *ret_list);

/* The address of a host as text; malloc'ed. NULL: nobody knows it. */
char *tern_host_address(const char *name);

#endif
