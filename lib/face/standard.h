/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FACE_STANDARD_H
#define TERN_FACE_STANDARD_H

/*
 * The standard binary interface of MPI-5.0 over the core, for libmpi_abi.so.1.
 *
 * Each function converts what the program passed into Open MPI's interface (in_), calls the core
 * through tern_core, and converts the results back (out_). Predefined handles are small numbers,
 * found in a table; other handles are the core's own. The functions that api/faces.py makes have
 * the C names face_MPI_X, because mpi.h of the core has declared MPI_X, and the names PMPI_X and
 * MPI_X (weak) in the library.
 */

#include "face_core.h"
#include "lib/mpi/object/face.h"
#include "lib/util/base/handle.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A status: 32 bytes. The last five numbers belong to the library; it keeps the core's private
 * members there. */
struct face_status {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    int cancelled, bytes_low, bytes_high, unused[2];
};

/* Behind the declaration of face_NAME: its name in the library. ALSO gives it the weak one, too. */
#define EXPORTED(name) __asm__("P" #name) __attribute__((visibility("default")))
#define ALSO(name)                                                                                 \
    extern __typeof__(face_##name) weak_##name __asm__(#name)                                      \
        __attribute__((weak, alias("P" #name), visibility("default")))

/* A predefined handle of the core, and its number in this interface. */
struct predefined {
    const void *core;
    uintptr_t number;
};

/* Keyvals that the program makes have numbers from here on. */
enum { FACE_KEYVALS = 4096 };

/* Converters of one kind of handle. out_KIND_new is for a handle that a call has made: if the call
 * failed the variable may hold anything. */
#define HANDLES(kind, type)                                                                        \
    __attribute__((unused)) static inline type in_##kind(type handle)                              \
    {                                                                                              \
        uintptr_t number = (uintptr_t)handle;                                                      \
        return number < FACE_PREDEFINED ? (type)in_handle[number] : handle;                        \
    }                                                                                              \
    __attribute__((unused)) static inline type out_##kind(type handle)                             \
    {                                                                                              \
        if (!handle)                                                                               \
            return NULL;                                                                           \
        unsigned index = (unsigned)((struct tern_handle *)handle)->fortran;                        \
        if (index < sizeof out_##kind##_table / sizeof *out_##kind##_table &&                      \
            out_##kind##_table[index].core == (void *)handle)                                      \
            return (type)out_##kind##_table[index].number;                                         \
        return handle;                                                                             \
    }                                                                                              \
    __attribute__((unused)) static inline void out_##kind##_new(int rc, type *handle)              \
    {                                                                                              \
        if (handle && (!rc || *handle == (type)out_##kind##_table[NULL_INDEX_##kind].core))        \
            *handle = out_##kind(*handle);                                                         \
    }

#include "standard_values.h"

/* ---- numbers ---- */

/* MPI_PROC_NULL is -2 in the core and -3 here: the two are exchanged, so that the number that has
 * no meaning here has none there. */
static inline int in_rank(int rank)
{
    return (unsigned)(rank + 3) < 2 ? -5 - rank : rank;
}

static inline int out_rank(int rank)
{
    return in_rank(rank);
}

/* MPI_ANY_TAG: -1 in the core, -2 here. */
static inline int in_tag(int tag)
{
    return (unsigned)(tag + 2) < 2 ? -3 - tag : tag;
}

static inline int out_tag(int tag)
{
    return in_tag(tag);
}

/* Returns the error code that the program gets. */
static inline int face_code(int code)
{
    return __builtin_expect(code == 0, 1) ? 0 : out_ERROR_CLASS(code);
}

static inline int *face_weights(const int *weights)
{
    return weights == (int *)FACE_UNWEIGHTED      ? MPI_UNWEIGHTED
           : weights == (int *)FACE_WEIGHTS_EMPTY ? MPI_WEIGHTS_EMPTY
                                                  : (int *)weights;
}

static inline void *face_buffer(const void *buffer)
{
    return buffer == (void *)FACE_BUFFER_AUTOMATIC ? MPI_BUFFER_AUTOMATIC : (void *)buffer;
}

/* A detached buffer: `at` is the address of the program's pointer. */
static inline void face_buffer_back(int rc, void *at)
{
    if (!rc && at && *(void **)at == MPI_BUFFER_AUTOMATIC)
        *(void **)at = (void *)FACE_BUFFER_AUTOMATIC;
}

static inline MPI_T_pvar_handle face_pvar(MPI_T_pvar_handle handle)
{
    return handle == (MPI_T_pvar_handle)FACE_T_PVAR_ALL_HANDLES ? MPI_T_PVAR_ALL_HANDLES : handle;
}

/* ---- handles as integers (MPI_Comm_toint): predefined ones are their numbers, others have the
 * core's Fortran index behind those ---- */

#define TO_AND_FROM_INT(Name, kind, type)                                                          \
    int face_MPI_##Name##_toint(type handle) EXPORTED(MPI_##Name##_toint);                         \
    ALSO(MPI_##Name##_toint);                                                                      \
    int face_MPI_##Name##_toint(type handle)                                                       \
    {                                                                                              \
        uintptr_t number = (uintptr_t)handle;                                                      \
        return number < FACE_PREDEFINED ? (int)number                                              \
                                        : (int)FACE_PREDEFINED + tern_core.Name##_c2f(handle);     \
    }                                                                                              \
    type face_MPI_##Name##_fromint(int number) EXPORTED(MPI_##Name##_fromint);                     \
    ALSO(MPI_##Name##_fromint);                                                                    \
    type face_MPI_##Name##_fromint(int number)                                                     \
    {                                                                                              \
        return number < (int)FACE_PREDEFINED                                                       \
                   ? (type)(intptr_t)number                                                        \
                   : tern_core.Name##_f2c(number - (int)FACE_PREDEFINED);                          \
    }

/* ---- arrays: a converted copy, on the stack if it is short ---- */

enum { FACE_FEW = 32 };

/* Declares NAME_room with at least `count` elements of `type`, in `few` if they fit; NULL for a
 * negative count, which the core refuses. Without memory the count that the core gets is wrong, so
 * the process ends: a few bytes for an array as long as one of the program's are not too much. */
static inline void *face_room(long count, size_t size, void *few)
{
    if (count <= FACE_FEW)
        return few;
    void *room = malloc((size_t)count * size);
    if (!room)
        abort();
    return room;
}

#define ROOM(name, count, type)                                                                    \
    long name##_count = (count);                                                                   \
    type name##_few[FACE_FEW];                                                                     \
    type *name##_room = face_room(name##_count, sizeof *name##_room, name##_few)

#define FREE_ROOM(name)                                                                            \
    do {                                                                                           \
        if (name##_room != name##_few)                                                             \
            free(name##_room);                                                                     \
    } while (0)

#define NUMBERS_IN(name, count, conversion)                                                        \
    ROOM(name, count, int);                                                                        \
    for (long i = 0; name && i < name##_count; i++)                                                \
        name##_room[i] = in_##conversion(((const int *)name)[i]);                                  \
    int *name##_in = name ? name##_room : NULL

#define NUMBERS_OUT(rc, name, count, conversion)                                                   \
    for (long i = 0, name##_n = (rc) ? 0 : (count); name && i < name##_n; i++)                     \
    name[i] = out_##conversion(name[i])

#define HANDLES_IN(name, count, type, kind)                                                        \
    ROOM(name, count, type);                                                                       \
    for (long i = 0; name && i < name##_count; i++)                                                \
        name##_room[i] = in_##kind(name[i]);                                                       \
    type *name##_in = name ? name##_room : NULL

#define HANDLES_OUT(rc, name, count, kind)                                                         \
    for (long i = 0, name##_n = (rc) ? 0 : (count); name && i < name##_n; i++)                     \
    name[i] = out_##kind(name[i])

/* Requests are converted in place: of the predefined ones a program has the null handle only. */
static inline void face_requests_in(long count, MPI_Request requests[])
{
    for (long i = 0; requests && i < count; i++)
        requests[i] = in_request(requests[i]);
}

static inline void face_requests_out(long count, MPI_Request requests[])
{
    for (long i = 0; requests && i < count; i++)
        if (requests[i] == MPI_REQUEST_NULL)
            requests[i] = (MPI_Request)out_request_table[NULL_INDEX_request].number;
}

static inline long face_sum(const int numbers[], long count)
{
    long sum = 0;
    for (long i = 0; numbers && i < count; i++)
        sum += numbers[i] > 0 ? numbers[i] : 0;
    return sum;
}

/* How many elements arrays have whose length the communicator tells; 0 if it is no communicator.
 * These are in standard_by_hand.c. `comm` is the program's. */
long face_blocks(MPI_Comm comm);
long face_neighbors(MPI_Comm comm, bool destinations);
bool face_is_root(MPI_Comm comm, int root);

/* ---- statuses ---- */

static inline MPI_Status face_status_in(const struct face_status *status)
{
    MPI_Status core = {0};
    if (status) {
        core.MPI_SOURCE = in_rank(status->MPI_SOURCE);
        core.MPI_TAG = in_tag(status->MPI_TAG);
        core.MPI_ERROR = status->MPI_ERROR;
        core._cancelled = status->cancelled;
        memcpy(&core._ucount, &status->bytes_low, sizeof core._ucount);
    }
    return core;
}

/* Leaves MPI_ERROR alone, as calls with one status do. */
static inline void face_status_out(struct face_status *status, const MPI_Status *core)
{
    if (!status)
        return;
    status->MPI_SOURCE = out_rank(core->MPI_SOURCE);
    status->MPI_TAG = out_tag(core->MPI_TAG);
    status->MPI_ERROR = core->MPI_ERROR;
    status->cancelled = core->_cancelled;
    memcpy(&status->bytes_low, &core->_ucount, sizeof core->_ucount);
}

#define STATUSES(name, count)                                                                      \
    ROOM(name, name ? (count) : 0, MPI_Status);                                                    \
    for (long i = 0; i < name##_count; i++)                                                        \
        name##_room[i] = face_status_in(&name[i]);                                                 \
    MPI_Status *name##_in = name ? name##_room : MPI_STATUSES_IGNORE

static inline void face_statuses_out(int rc, struct face_status statuses[], long count,
                                     const MPI_Status *core)
{
    for (long i = 0; core && i < count; i++) {
        face_status_out(&statuses[i], &core[i]);
        if (rc == MPI_ERR_IN_STATUS)
            statuses[i].MPI_ERROR = face_code(core[i].MPI_ERROR);
    }
}

#endif
