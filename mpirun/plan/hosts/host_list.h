/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_HOST_LIST_H
#define TERN_MPIRUN_PLAN_HOST_LIST_H

/* Lists of hosts and their slots. */

#include <stdbool.h>
#include <stddef.h>

#include "mpirun/base/strings.h"

/* A host that may be used. */
struct tern_host_entry {
    char name[256];
    char user[64];    /* from USER@NAME; "" if not given */
    int slots;        /* 0 if not given */
    int max_slots;    /* 0 if not given */
    bool here;        /* this is the machine that mpirun runs on */
    bool implied;     /* `slots` was not written but follows from a default: --host NAME means 1 */
    char address[48]; /* numeric address of the name; "" if unknown or not asked yet */
};

/* A growing list; zeroed, it is empty. Its owner calls tern_host_list_free. */
struct tern_host_list {
    struct tern_host_entry *items;
    int count, room;
    const char *where;            /* the list's origin, for messages */
    /* one name per line or word, in the order that --map-by seq uses */
    struct tern_strings sequence;
};

/* Reads "NAME", "NAME:N" or "NAME:*". Returns 0 or TERN_ERR_ARG. */
int tern_host_parse(const char *text, struct tern_host_entry *ret_entry);
/* Reads a name of `length` bytes, "NAME" or "USER@NAME". Returns 0 or TERN_ERR_ARG. */
int tern_host_parse_name(const char *text, size_t length, struct tern_host_entry *ret_entry);
/* Reads a number of slots. `where` is the surrounding text, for the error message. Returns 0 or
 * TERN_ERR_ARG. */
int tern_host_parse_slots(const char *text, const char *where, int *ret_slots);

/* Returns true if `name` means this machine: localhost, its host name, one of its addresses, or a
 * name of one of them. May ask the resolver, and block. */
bool tern_host_is_here(const char *name);

/* Fills in `here` and `address` from the entry's name. May ask the resolver, and block. */
void tern_host_identify(struct tern_host_entry *entry);

/* Adds a host. If the list has an entry of the same name or address, adds to its slots instead. A
 * host listed once without slots keeps 0, which means one slot per core; listed n times, it has n
 * slots. */
void tern_host_list_add(struct tern_host_list *list, const struct tern_host_entry *entry);
/* Frees what the list owns, and empties it. */
void tern_host_list_free(struct tern_host_list *list);
/* Returns the entry of the host `wanted`, found by name or address, or NULL if there is none. */
struct tern_host_entry *tern_host_list_find_entry(const struct tern_host_list *list,
                                                  const struct tern_host_entry *wanted);
/* Returns the index of the host of that name, or -1. May ask the resolver, and block. */
int tern_host_list_find(const struct tern_host_list *list, const char *name);

/* Returns true if `name` can be the name of a host or user: it does not look like an option, and
 * contains no blank, slash or control character. */
bool tern_host_name_is_good(const char *name);

/* Returns the numeric address of a host as text, which the caller frees. Returns NULL if the name
 * is unknown. Asks the resolver, and may block. */
char *tern_host_address(const char *name);

#endif
