/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fortran's integers for handles (MPI-4.1 section 19.3.4). One table per kind of handle; predefined
 * handles stand at the indices of Open MPI (api/objects.txt), for these numbers are compiled into
 * Fortran programs. The table grows by doubling and free indices form a list, so that a program
 * that converts a request in each step needs no more indices than it has requests.
 */

#include "lib/mpi/fortran.h"


#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/mpi/procedures.h"
#include "lib/pml/pml.h"

/* An index without a handle holds the next free one instead: never a valid address, as it is odd.
 */
union slot {
    struct tern_handle *handle;
    uintptr_t next_free; /* 2 * index + 1, or LAST_FREE */
};
enum { LAST_FREE = 1 };

static struct table {
    union slot *slots;
    int count, room;
    int predefined;      /* indices below stand for predefined handles */
    uintptr_t free_list; /* as next_free; 0: not set up */
} tables[TERN_MAGIC_SESSION - TERN_MAGIC_COMM + 1];

extern struct tern_handle *const tern_predefined_handles[]; /* generated, ended by NULL */

static bool valid_kind(uint32_t magic)
{
    return magic >= TERN_MAGIC_COMM && magic <= TERN_MAGIC_SESSION;
}

static bool taken(union slot slot)
{
    return slot.handle && !(slot.next_free & 1);
}

static bool grow(struct table *table)
{
    int room = table->room ? 2 * table->room : 128;
    union slot *more =
        table->room > INT_MAX / 4 ? NULL : realloc(table->slots, room * sizeof *more);
    if (!more)
        return false;
    table->slots = more;
    table->room = room;
    return true;
}

/* The table of a kind, with the predefined handles in it. NULL: no memory. */
static struct table *table_of(uint32_t magic)
{
    struct table *table = &tables[magic - TERN_MAGIC_COMM];

    if (table->free_list)
        return table;
    while (table->room < 128)
        if (!grow(table))
            return NULL;
    for (struct tern_handle *const *handle = tern_predefined_handles; *handle; handle++) {
        if ((*handle)->magic != magic || (*handle)->fortran < 0)
            continue;
        while (table->count <= (*handle)->fortran)
            table->slots[table->count++].handle = NULL;
        table->slots[(*handle)->fortran].handle = *handle;
    }
    table->predefined = table->count;
    table->free_list = LAST_FREE;
    return table;
}

MPI_Fint tern_fortran_index(struct tern_handle *handle)
{
    if (!handle || !valid_kind(handle->magic))
        return -1;
    if (handle->fortran >= 0)
        return handle->fortran;
    struct table *table = table_of(handle->magic);
    if (!table)
        return -1;
    int index;
    if (table->free_list != LAST_FREE) {
        index = (int)(table->free_list >> 1);
        table->free_list = table->slots[index].next_free;
    } else {
        if (table->count == table->room && !grow(table))
            return -1;
        index = table->count++;
    }
    table->slots[index].handle = handle;
    handle->fortran = index;
    return index;
}

struct tern_handle *tern_fortran_handle(enum tern_magic magic, MPI_Fint index)
{
    struct table *table = table_of(magic);
    if (!table || index < 0 || index >= table->count || !taken(table->slots[index]))
        return NULL;
    return table->slots[index].handle;
}

void tern_fortran_drop(struct tern_object *object)
{
    struct tern_handle *handle = object->handle;

    if (handle->fortran < 0 || !valid_kind(handle->magic))
        return;
    tern_lock();
    struct table *table = table_of(handle->magic);
    if (table && handle->fortran >= table->predefined && handle->fortran < table->count) {
        table->slots[handle->fortran].next_free = table->free_list;
        table->free_list = 2 * (uintptr_t)handle->fortran + 1;
        handle->fortran = -1;
    }
    tern_unlock();
}

MPI_Fint tern_mpi_comm_c2f(MPI_Comm comm)
{
    return tern_fortran_index((struct tern_handle *)comm);
}

MPI_Fint tern_mpi_errhandler_c2f(MPI_Errhandler errhandler)
{
    return tern_fortran_index((struct tern_handle *)errhandler);
}

MPI_Fint tern_mpi_file_c2f(MPI_File file)
{
    return tern_fortran_index((struct tern_handle *)file);
}

MPI_Fint tern_mpi_group_c2f(MPI_Group group)
{
    return tern_fortran_index((struct tern_handle *)group);
}

MPI_Fint tern_mpi_info_c2f(MPI_Info info)
{
    return tern_fortran_index((struct tern_handle *)info);
}

MPI_Fint tern_mpi_message_c2f(MPI_Message message)
{
    return tern_fortran_index((struct tern_handle *)message);
}

MPI_Fint tern_mpi_op_c2f(MPI_Op op)
{
    return tern_fortran_index((struct tern_handle *)op);
}

MPI_Fint tern_mpi_request_c2f(MPI_Request request)
{
    return tern_fortran_index((struct tern_handle *)request);
}

MPI_Fint tern_mpi_session_c2f(MPI_Session session)
{
    return tern_fortran_index((struct tern_handle *)session);
}

MPI_Fint tern_mpi_type_c2f(MPI_Datatype datatype)
{
    return tern_fortran_index((struct tern_handle *)datatype);
}

MPI_Fint tern_mpi_win_c2f(MPI_Win win)
{
    return tern_fortran_index((struct tern_handle *)win);
}

/* An integer that stands for nothing gives a NULL pointer, which every procedure refuses with the
 * error of its kind. */
MPI_Comm tern_mpi_comm_f2c(MPI_Fint comm)
{
    return (MPI_Comm)tern_fortran_handle(TERN_MAGIC_COMM, comm);
}

MPI_Errhandler tern_mpi_errhandler_f2c(MPI_Fint errhandler)
{
    return (MPI_Errhandler)tern_fortran_handle(TERN_MAGIC_ERRHANDLER, errhandler);
}

MPI_File tern_mpi_file_f2c(MPI_Fint file)
{
    return (MPI_File)tern_fortran_handle(TERN_MAGIC_FILE, file);
}

MPI_Group tern_mpi_group_f2c(MPI_Fint group)
{
    return (MPI_Group)tern_fortran_handle(TERN_MAGIC_GROUP, group);
}

MPI_Info tern_mpi_info_f2c(MPI_Fint info)
{
    return (MPI_Info)tern_fortran_handle(TERN_MAGIC_INFO, info);
}

MPI_Message tern_mpi_message_f2c(MPI_Fint message)
{
    return (MPI_Message)tern_fortran_handle(TERN_MAGIC_MESSAGE, message);
}

MPI_Op tern_mpi_op_f2c(MPI_Fint op)
{
    return (MPI_Op)tern_fortran_handle(TERN_MAGIC_OP, op);
}

MPI_Request tern_mpi_request_f2c(MPI_Fint request)
{
    return (MPI_Request)tern_fortran_handle(TERN_MAGIC_REQUEST, request);
}

MPI_Session tern_mpi_session_f2c(MPI_Fint session)
{
    return (MPI_Session)tern_fortran_handle(TERN_MAGIC_SESSION, session);
}

MPI_Datatype tern_mpi_type_f2c(MPI_Fint datatype)
{
    return (MPI_Datatype)tern_fortran_handle(TERN_MAGIC_DATATYPE, datatype);
}

MPI_Win tern_mpi_win_f2c(MPI_Fint win)
{
    return (MPI_Win)tern_fortran_handle(TERN_MAGIC_WIN, win);
}
