/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FORTRAN_SECTION_H
#define TERN_FORTRAN_SECTION_H

/*
 * Array sections as buffers of mpi_f08. A section such as a(1:20:2, :) is not one run of memory. A
 * call sends or receives its elements in Fortran's order. If a call has one count and one datatype
 * for the buffer, a datatype is made that describes exactly those elements. Other calls
 * (reductions, a count for each rank) work on a copy. A nonblocking call copies the results back
 * when its request is complete, a persistent request at each completion.
 */

#include "lib/fortran/glue.h"

/* gfortran's own description of an array, passed to procedures without bind(C). */
struct tern_gfortran_array {
    char *base;
    ptrdiff_t offset;
    size_t element_bytes;
    int version;
    int8_t rank, type;
    int16_t attribute;
    ptrdiff_t span; /* bytes per unit of a stride; 0: element_bytes */
    struct {
        ptrdiff_t stride, lower_bound, upper_bound;
    } dim[15];
};
/* Converts gfortran's description to a descriptor. */
TERN_GLUE void tern_section_from_gfortran(const struct tern_gfortran_array *from,
                                          struct tern_descriptor *ret_array);

/* What must be undone after a call. All zero: nothing. */
struct tern_section {
    MPI_Datatype made;                   /* a datatype that was made for the call; NULL: none */
    const struct tern_descriptor *array; /* the section that `copy` is a copy of */
    char *copy;                          /* the copy of the section; NULL: none */
    bool writes;                         /* the call may write into the copy */
};

/* Returns true if the array is one run of memory in the order of its elements. */
static inline bool tern_section_dense(const struct tern_descriptor *array)
{
    ptrdiff_t run = (ptrdiff_t)array->element_bytes;

    for (int i = 0; i < array->rank; i++) {
        const struct tern_dimension *dim = &array->dim[i];
        if (dim->extent <= 0) /* empty; or of assumed size, which no section is */
            return true;
        if (dim->extent > 1 && dim->stride != run)
            return false;
        run *= dim->extent;
    }
    return true;
}

/* Each of these prepares a call whose buffer is a section. They return NULL, or a text that says
 * why the call cannot use the section. */

/* Replaces *type by a datatype for the first *count elements of the old *type in the section, and
 * *count by 1. If the datatype has gaps, or more than one element of the array, makes a copy. */
TERN_GLUE const char *tern_section_type(struct tern_section *section,
                                        const struct tern_descriptor *array, bool writes,
                                        MPI_Count *count, MPI_Datatype *type, void **address);
/* Makes a copy and sets *address to it. `writes`: the call may write into the copy. */
TERN_GLUE const char *tern_section_copy(struct tern_section *section,
                                        const struct tern_descriptor *array, bool writes,
                                        void **address);
/* If the distance of neighbouring elements is the same everywhere, replaces *type by a datatype
 * with this extent; else makes a copy. The call's counts and displacements stay as they are. */
TERN_GLUE const char *tern_section_stretch(struct tern_section *section,
                                           const struct tern_descriptor *array, bool writes,
                                           MPI_Datatype *type, void **address);
/* Does this for a procedure that cannot use a copy, because the user says part by part when data
 * are ready. */
TERN_GLUE const char *tern_section_stretch_only(struct tern_section *section,
                                                const struct tern_descriptor *array,
                                                MPI_Datatype *type);
/* Returns the text for procedures that cannot use any section. */
TERN_GLUE const char *tern_section_refuse(void);

/* Undoes the preparation, after the call. */
TERN_GLUE void tern_section_end(struct tern_section *section);
/* Undoes the preparation when `request` is complete, or at once if `rc`, the result of the call, is
 * an error. For a persistent request: copies the section anew at each start and back at each
 * completion, and undoes the preparation when the request is freed. */
TERN_GLUE void tern_section_end_with(struct tern_section *section, int rc, MPI_Request request,
                                     bool persistent);

#endif
