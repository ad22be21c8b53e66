/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_HOSTS_H
#define TERN_MPIRUN_HOSTS_H

/* Which hosts a job may use, and how many slots each has: --host and --hostfile, among the hosts of
 * the batch system's allocation where there is one. */

#include <stdbool.h>

#include "mpirun/base/strings.h"

/* An entry of a list of hosts. */
struct tern_host_entry {
    char name[256];
    char user[64]; /* from USER@NAME; "": not said */
    int slots;     /* 0: not said */
    int max_slots; /* 0: not said */
    bool here;     /* it is this machine */
    bool implied;  /* the slots count as said, but no number was */
    char address[48]; /* of its name; "": nobody knows it, or nobody asked */
};

struct tern_host_list {
    struct tern_host_entry *items;
    int count, room;
    const char *where;            /* where it comes from, in words */
    struct tern_strings sequence; /* a name per line or word, as --map-by seq goes through them */
};

/* Reads "NAME", "NAME:N" or "NAME:*", or a line of a hostfile ("NAME [slots=N] [max-slots=N]"). 0,
 * 1: an empty or comment line, or TERN_ERR_ARG. */
int tern_host_parse(const char *text, struct tern_host_entry *ret_entry);
int tern_host_parse_line(const char *line, struct tern_host_entry *ret_entry);

/* Is `name` this machine: localhost, its host name, one of its addresses, or a name of one of them?
 * May ask the resolver, and block. */
bool tern_host_is_here(const char *name);

/* Adds a host, or to the slots of one that is in the list, which has the same name or address. A host
 * listed once without slots has one per core (0), listed again and again one each time. */
void tern_host_list_add(struct tern_host_list *list, const struct tern_host_entry *entry);
/* Where in the list the host of that name is, or -1. May ask the resolver, and block. */
int tern_host_list_find(const struct tern_host_list *list, const char *name);

/* The hosts after --host, --hostfile and the allocation, each once and in order; those of the
 * rankfile (may be NULL) where nobody says anything, or this machine alone. TERN_ERR_ARG. */
struct tern_rankfile;
int tern_hosts_collect(const struct tern_strings *hosts, const struct tern_strings *files,
                       const struct tern_rankfile *rankfile, struct tern_host_list *ret_list);
/* Reads hostfiles and words of --host only, without the batch system: a hostfile's text, for which
 * `path` stands in sentences. */
int tern_hostfile_parse(const char *path, const char *text, struct tern_host_list *list);

/* Returns true if `name` may be the name of a host or user: it does not look like an option, and has no blank, slash or control
 * code in it. */
bool tern_host_name_is_good(const char *name);

/* The address of a host as text; malloc'ed. NULL: nobody knows it. */
char *tern_host_address(const char *name);

#endif
