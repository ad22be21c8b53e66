/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The integers by which Fortran names handles (MPI-4.1 section 19.3.4). There is one table per kind
 * of handle. Predefined handles have the indices of Open MPI (api/objects.txt), because these
 * numbers are compiled into Fortran programs. The table grows by doubling, and free indices form a
 * list. So a program that converts a request in each step needs no more indices than it has
 * requests.
 */

#include "lib/mpi/object/fortran.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/pml/pml.h"

/* What is needed only to change a table. */
static struct growth {
    int *next_free; /* for an index without a handle: the next such index, or LAST_FREE */
    int count;      /* indices from here on were never given out */
    int predefined; /* lower indices are those of predefined handles */
    int first_free;
} growths[TERN_MAGIC_SESSION - TERN_MAGIC_COMM + 1];
enum { LAST_FREE = -1 };

struct tern_fortran_table *tern_fortran_tables[TERN_MAGIC_SESSION - TERN_MAGIC_COMM + 1];
struct tern_handle *tern_fortran_few[TERN_MAGIC_SESSION - TERN_MAGIC_COMM + 1][TERN_FORTRAN_FEW];

extern struct tern_handle *const tern_predefined_handles[]; /* generated; ends with NULL */

static bool valid_kind(uint32_t magic)
{
    return magic >= TERN_MAGIC_COMM && magic <= TERN_MAGIC_SESSION;
}

/* Writes one element of the table of a kind. Needs the library's lock. */
static void put(uint32_t magic, struct tern_fortran_table *table, int index,
                struct tern_handle *handle)
{
    table->handles[index] = handle;
    if (index < TERN_FORTRAN_FEW)
        tern_fortran_few[magic - TERN_MAGIC_COMM][index] = handle;
}

/* Replaces *table by one of twice the size. Returns false if there is no memory. */
static bool grow(struct tern_fortran_table **table, struct growth *growth)
{
    unsigned old_room = *table ? (*table)->room : 0, room = old_room ? 2 * old_room : 128;
    if (room > INT_MAX / 4)
        return false;
    int *next_free = realloc(growth->next_free, room * sizeof *next_free);
    if (next_free)
        growth->next_free = next_free;
    struct tern_fortran_table *longer = calloc(1, sizeof *longer + room * sizeof *longer->handles);
    if (!next_free || !longer) {
        free(longer);
        return false;
    }
    if (*table)
        memcpy(longer->handles, (*table)->handles, old_room * sizeof *longer->handles);
    longer->shorter = *table;
    longer->room = room;
    __atomic_store_n(table, longer, __ATOMIC_RELEASE);
    return true;
}

/* Puts the predefined handles into the table of a kind. Needs the library's lock. Returns false if
 * there is no memory. */
static bool set_up(uint32_t magic)
{
    struct tern_fortran_table **table = &tern_fortran_tables[magic - TERN_MAGIC_COMM],
                              *first = NULL;
    struct growth *growth = &growths[magic - TERN_MAGIC_COMM];

    if (*table)
        return true;
    if (!grow(&first, growth))
        return false;
    for (struct tern_handle *const *handle = tern_predefined_handles; *handle; handle++) {
        int index = (*handle)->fortran;
        if ((*handle)->magic != magic || index < 0)
            continue;
        put(magic, first, index, *handle);
        growth->count = index >= growth->count ? index + 1 : growth->count;
    }
    growth->predefined = growth->count;
    growth->first_free = LAST_FREE;
    __atomic_store_n(table, first, __ATOMIC_RELEASE);
    return true;
}

/* Returns an index for the handle, or -1 if there is no memory. Needs the library's lock. */
static int give_index(struct tern_handle *handle)
{
    struct tern_fortran_table **table = &tern_fortran_tables[handle->magic - TERN_MAGIC_COMM];
    struct growth *growth = &growths[handle->magic - TERN_MAGIC_COMM];
    int index;

    if (handle->fortran >= 0)
        return handle->fortran;
    if (!set_up(handle->magic))
        return -1;
    if (growth->first_free != LAST_FREE) {
        index = growth->first_free;
        growth->first_free = growth->next_free[index];
    } else {
        if (growth->count == (int)(*table)->room && !grow(table, growth))
            return -1;
        index = growth->count++;
    }
    put(handle->magic, *table, index, handle);
    handle->fortran = index;
    return index;
}

MPI_Fint tern_fortran_index(struct tern_handle *handle)
{
    if (!handle || !tern_handle_is_memory(handle) || !valid_kind(handle->magic))
        return -1;
    if (handle->fortran >= 0)
        return handle->fortran;
    tern_lock();
    int index = give_index(handle);
    tern_unlock();
    return index;
}

struct tern_handle *tern_fortran_handle(enum tern_magic magic, MPI_Fint index)
{
    if (!__atomic_load_n(&tern_fortran_tables[magic - TERN_MAGIC_COMM], __ATOMIC_ACQUIRE)) {
        tern_lock();
        bool ready = set_up(magic);
        tern_unlock();
        if (!ready)
            return NULL;
    }
    return tern_fortran_find(magic, index);
}

void tern_fortran_drop(struct tern_object *object)
{
    struct tern_handle *handle = object->handle;

    if (handle->fortran < 0 || !valid_kind(handle->magic))
        return;
    tern_lock();
    struct tern_fortran_table *table = tern_fortran_tables[handle->magic - TERN_MAGIC_COMM];
    struct growth *growth = &growths[handle->magic - TERN_MAGIC_COMM];
    if (handle->fortran >= growth->predefined && handle->fortran < growth->count) {
        put(handle->magic, table, handle->fortran, NULL);
        growth->next_free[handle->fortran] = growth->first_free;
        growth->first_free = handle->fortran;
        handle->fortran = -1;
    }
    tern_unlock();
}
