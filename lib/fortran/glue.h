/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FORTRAN_GLUE_H
#define TERN_FORTRAN_GLUE_H

/*
 * What the generated Fortran entry points call: conversions between Fortran's arguments and those
 * of C.
 *
 * A Fortran compiler passes every argument by address. A handle is an INTEGER (in mpi_f08 a
 * structure that holds an INTEGER). A LOGICAL is an INTEGER that is zero or not. The length of a
 * CHARACTER is passed by value, behind the last argument. In mpi_f08 `ierror` may be absent: then
 * its address is NULL. Special arguments such as MPI_BOTTOM are the addresses of ten objects. The
 * program may hold these objects itself (COMMON, or a COPY relocation), so compare only with their
 * addresses as the dynamic linker found them.
 */

#include "lib/mpi/object/fortran.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define TERN_GLUE __attribute__((visibility("hidden")))

/* Makes `target` callable by the name `symbol`, a string. `number` makes the name in C unique. */
#define TERN_ALIAS(number, symbol, target)                                                         \
    extern __typeof__(target) target##_##number __asm__(symbol)                                    \
        __attribute__((weak, alias(#target), visibility("default")));

/* An array as mpi_f08 passes it if the buffer is declared `type(*), dimension(..)`: the part of the
 * descriptor of ISO_Fortran_binding.h that is common to gfortran and flang. */
struct tern_descriptor {
    char *base;
    size_t element_bytes;
    int version;
    uint8_t rank;
    int8_t differs[3];
    struct tern_dimension {
        ptrdiff_t lower_bound;
        ptrdiff_t extent;
        ptrdiff_t stride; /* in bytes; may be negative */
    } dim[15];
};

extern char mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_unweighted_,
    mpi_fortran_weights_empty_, mpi_fortran_argv_null_, mpi_fortran_argvs_null_,
    mpi_fortran_errcodes_ignore_, mpi_fortran_status_ignore_, mpi_fortran_statuses_ignore_,
    mpi_fortran_buffer_automatic_;

/* Returns the C address of a buffer: MPI_BOTTOM or MPI_IN_PLACE if the argument is Fortran's object
 * for it. */
static inline void *tern_glue_buffer(void *buffer)
{
    if (TERN_UNLIKELY(buffer == &mpi_fortran_bottom_))
        return MPI_BOTTOM;
    if (TERN_UNLIKELY(buffer == &mpi_fortran_in_place_))
        return MPI_IN_PLACE;
    return buffer;
}

/* Returns the C address of the memory that a program attaches for MPI_Bsend. */
static inline void *tern_glue_attached(void *memory)
{
    return memory == &mpi_fortran_buffer_automatic_ ? MPI_BUFFER_AUTOMATIC
                                                    : tern_glue_buffer(memory);
}

/* Makes the C address of detached memory one that Fortran knows. */
static inline void tern_glue_detached(void **memory)
{
    if (*memory == MPI_BUFFER_AUTOMATIC)
        *memory = &mpi_fortran_buffer_automatic_;
}

/* Returns the C address of a status or an array of statuses. Programs mix up MPI_STATUS_IGNORE and
 * MPI_STATUSES_IGNORE, so both have one meaning here. Otherwise results would be written over what
 * lies behind these objects. */
static inline MPI_Status *tern_glue_status(void *status)
{
    bool ignored = status == &mpi_fortran_status_ignore_ || status == &mpi_fortran_statuses_ignore_;
    return ignored ? MPI_STATUS_IGNORE : status;
}

/* Return the C address of weights or error codes, or the constant that Fortran's object stands
 * for. */
static inline MPI_Fint *tern_glue_weights(void *weights)
{
    if (weights == &mpi_fortran_unweighted_)
        return MPI_UNWEIGHTED;
    return weights == &mpi_fortran_weights_empty_ ? MPI_WEIGHTS_EMPTY : weights;
}

static inline MPI_Fint *tern_glue_errcodes(void *codes)
{
    return codes == &mpi_fortran_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes;
}

/* Allocates `count` elements (none if negative) of `bytes` bytes. Ends the job if there is no
 * memory. */
TERN_GLUE void *tern_glue_alloc(int64_t count, size_t bytes);
/* Ends the job because there is no memory for `count` arguments. */
TERN_GLUE void tern_glue_no_memory(int64_t count) __attribute__((noreturn));

/* Defines `name`, an array of `count` elements. A short array is on the stack. TERN_GLUE_RELEASE
 * frees the array. */
enum { TERN_GLUE_SHORT = 32 };
#define TERN_GLUE_ARRAY(type, name, count)                                                         \
    type short_##name[TERN_GLUE_SHORT];                                                            \
    int64_t length_##name = (count);                                                               \
    type *name = length_##name <= TERN_GLUE_SHORT ? short_##name                                   \
                                                  : tern_glue_alloc(length_##name, sizeof(type))
#define TERN_GLUE_RELEASE(name)                                                                    \
    if (name != short_##name)                                                                      \
    free(name)

/* Makes a C string of `text` without its trailing blanks, and without its leading blanks if
 * `strip`. The caller frees the string. */
TERN_GLUE char *tern_glue_string(const char *text, size_t length, bool strip);
/* Allocates room for a string of at most `length` characters and its end. The string is empty. The
 * caller frees it. */
TERN_GLUE char *tern_glue_string_room(int64_t length);
/* Writes the C string to `text`, padded with blanks or cut. */
TERN_GLUE void tern_glue_set_string(char *text, size_t length, const char *string);
/* Makes an array, ended by NULL, of C strings from Fortran strings that lie `stride` apart. There
 * are `count` of them; if `count` < 0 a blank string ends them. The C strings have no blanks on
 * both sides. The caller frees them with tern_glue_free_strings. */
TERN_GLUE char **tern_glue_strings(const char *text, size_t length, size_t stride, int64_t count);
TERN_GLUE void tern_glue_free_strings(char **strings);
/* Do this for the argv of MPI_Comm_spawn and the argvs of MPI_Comm_spawn_multiple, which may be
 * Fortran's MPI_ARGV_NULL or MPI_ARGVS_NULL. */
TERN_GLUE char **tern_glue_argv(const char *text, size_t length);
TERN_GLUE char ***tern_glue_argvs(const char *text, size_t length, int count);
TERN_GLUE void tern_glue_free_argvs(char ***argvs, int count);

/* Return the lengths of arrays that depend on a communicator: ranks to which MPI_Alltoallw sends
 * (of the communicator, or of the remote group), sources and destinations of a neighbourhood,
 * dimensions of a Cartesian topology. Return 0 if the communicator is not valid. */
TERN_GLUE int tern_glue_peers(MPI_Comm comm);
TERN_GLUE int tern_glue_sources(MPI_Comm comm);
TERN_GLUE int tern_glue_destinations(MPI_Comm comm);
TERN_GLUE int tern_glue_dimensions(MPI_Comm comm);

/* Convert a Fortran integer to a handle, and back. */
#define TERN_GLUE_HANDLE(type, name, KIND)                                                         \
    static inline type tern_glue_##name(MPI_Fint index)                                            \
    {                                                                                              \
        return (type)tern_fortran_find(TERN_MAGIC_##KIND, index);                                  \
    }                                                                                              \
    static inline MPI_Fint tern_glue_index_of_##name(type handle)                                  \
    {                                                                                              \
        const struct tern_handle *h = (const struct tern_handle *)handle;                          \
        return h && h->fortran >= 0 ? h->fortran : (MPI_Fint)PMPI_##name##_c2f(handle);            \
    }
TERN_GLUE_HANDLE(MPI_Comm, Comm, COMM)
TERN_GLUE_HANDLE(MPI_Datatype, Type, DATATYPE)
TERN_GLUE_HANDLE(MPI_Op, Op, OP)
TERN_GLUE_HANDLE(MPI_Group, Group, GROUP)
TERN_GLUE_HANDLE(MPI_Info, Info, INFO)
TERN_GLUE_HANDLE(MPI_Errhandler, Errhandler, ERRHANDLER)
TERN_GLUE_HANDLE(MPI_Request, Request, REQUEST)
TERN_GLUE_HANDLE(MPI_Message, Message, MESSAGE)
TERN_GLUE_HANDLE(MPI_Win, Win, WIN)
TERN_GLUE_HANDLE(MPI_File, File, FILE)
TERN_GLUE_HANDLE(MPI_Session, Session, SESSION)

/* Returns true if a message is like most: its communicator and its datatype are among the first of
 * their tables (one comparison for both), and its buffer is not MPI_BOTTOM. The generated functions
 * have a short way for such messages. Does not look for MPI_IN_PLACE, which no message may have. */
static inline bool tern_glue_plain(const void *buffer, MPI_Fint comm, MPI_Fint type)
{
    return TERN_LIKELY((uint64_t)(uint32_t)comm + (uint32_t)type < TERN_FORTRAN_FEW &&
                       buffer != &mpi_fortran_bottom_);
}

/* Return the handles of a message that is like most. */
static inline MPI_Comm tern_glue_plain_Comm(MPI_Fint comm)
{
    return (MPI_Comm)tern_fortran_few[0][(uint32_t)comm];
}

static inline MPI_Datatype tern_glue_plain_Type(MPI_Fint type)
{
    return (MPI_Datatype)tern_fortran_few[TERN_MAGIC_DATATYPE - TERN_MAGIC_COMM][(uint32_t)type];
}

/* Converts an index that counts from 0 to one that counts from 1. A negative index (MPI_UNDEFINED)
 * stays. */
static inline int tern_glue_one_based(int index)
{
    return index >= 0 ? index + 1 : index;
}

#endif
