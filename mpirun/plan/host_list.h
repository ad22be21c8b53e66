/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_HOST_LIST_H
#define TERN_MPIRUN_PLAN_HOST_LIST_H

/* Lists of hosts, with the slots of each. */

#include <stdbool.h>
#include <stddef.h>

#include "mpirun/base/strings.h"

/* An entry of a list of hosts. */
struct tern_host_entry {
    char name[256];
    char user[64];    /* from USER@NAME; "": not said */
    int slots;        /* 0: not said */
    int max_slots;    /* 0: not said */
    bool here;        /* it is this machine */
    bool implied;     /* the slots count as said, but no number was */
    char address[48]; /* of its name; "": nobody knows it, or nobody asked */
};

struct tern_host_list {
    struct tern_host_entry *items;
    int count, room;
    const char *where;            /* where it comes from, in words */
    struct tern_strings sequence; /* a name per line or word, as --map-by seq goes through them */
};

/* Reads "NAME", "NAME:N" or "NAME:*". 0 or TERN_ERR_ARG. */
int tern_host_parse(const char *text, struct tern_host_entry *ret_entry);
/* Reads "NAME" alone, of `length` bytes; it may be USER@NAME. 0 or TERN_ERR_ARG. */
int tern_host_parse_name(const char *text, size_t length, struct tern_host_entry *ret_entry);
/* Reads a number of slots; `where` is the text around it, for the sentence. 0 or TERN_ERR_ARG. */
int tern_host_parse_slots(const char *text, const char *where, int *ret_slots);

/* Is `name` this machine: localhost, its host name, one of its addresses, or a name of one of them?
 * May ask the resolver, and block. */
bool tern_host_is_here(const char *name);

/* Fills in `here` and `address` of a named host. Asks the resolver, and may block. */
void tern_host_identify(struct tern_host_entry *entry);

/* Adds a host, or to the slots of one that is in the list, which has the same name or address. A
 * host listed once without slots has one per core (0), listed again and again one each time. */
void tern_host_list_add(struct tern_host_list *list, const struct tern_host_entry *entry);
/* The entry of the same host as `wanted`, by name or address; NULL if there is none. */
struct tern_host_entry *tern_host_list_find_entry(const struct tern_host_list *list,
                                                  const struct tern_host_entry *wanted);
/* Where in the list the host of that name is, or -1. May ask the resolver, and block. */
int tern_host_list_find(const struct tern_host_list *list, const char *name);

/* Returns true if `name` may be the name of a host or user: it does not look like an option, and
 * has no blank, slash or control code in it. */
bool tern_host_name_is_good(const char *name);

/* The address of a host as text; malloc'ed. NULL: nobody knows it. */
char *tern_host_address(const char *name);

#endif
