/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FORTRAN_SECTION_H
#define TERN_FORTRAN_SECTION_H

/*
 * Array sections as buffers of mpi_f08: a(1:20:2, :) is no run of memory, and what a call sends or
 * receives are its elements in Fortran's order. Where a call has one count and one datatype for the
 * buffer, a datatype is made that describes exactly those elements. Elsewhere (reductions, a count
 * for each rank) the call works on a copy; a nonblocking call gives the copy back when its request
 * is complete.
 */

#include "lib/fortran/glue.h"

/* gfortran's own description of an array, which procedures without bind(C) get. */
struct tern_gfortran_array {
    char *base;
    ptrdiff_t offset;
    size_t element_bytes;
    int version;
    int8_t rank, type;
    int16_t attribute;
    ptrdiff_t span; /* bytes that strides count */
    struct {
        ptrdiff_t stride, lower_bound, upper_bound;
    } dim[15];
};
TERN_GLUE void tern_section_from_gfortran(const struct tern_gfortran_array *from,
                                          struct tern_descriptor *ret_array);

/* What has to be undone behind a call. Zero: nothing. */
struct tern_section {
    MPI_Datatype made;                   /* NULL: none */
    const struct tern_descriptor *array; /* of which `copy` is a copy */
    char *copy;                          /* NULL: none */
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

/* Each of these prepares a call whose buffer is a section. They return NULL, or what is wrong with
 * it. */

/* Makes *type stand for the first `count` elements of the old *type in the section, so that the
 * count is 1. */
TERN_GLUE const char *tern_section_type(struct tern_section *section,
                                        const struct tern_descriptor *array, MPI_Count count,
                                        MPI_Datatype *type);
/* Makes a copy, and *address its address. `writes`: the call may write into it. */
TERN_GLUE const char *tern_section_copy(struct tern_section *section,
                                        const struct tern_descriptor *array, bool writes,
                                        void **address);
/* Makes *type have the distance of the section's elements as its extent if that is the same
 * everywhere; else a copy. The call's counts and displacements stay as they are. */
TERN_GLUE const char *tern_section_stretch(struct tern_section *section,
                                           const struct tern_descriptor *array, bool writes,
                                           MPI_Datatype *type, void **address);
/* Persistent calls cannot use a copy, for it would have to be made at each start. */
TERN_GLUE const char *tern_section_stretch_only(struct tern_section *section,
                                                const struct tern_descriptor *array,
                                                MPI_Datatype *type);
TERN_GLUE const char *tern_section_refuse(void);

/* Undoes it, behind the call. */
TERN_GLUE void tern_section_end(struct tern_section *section);
/* The same when the request is complete. `rc` is the call's result. */
TERN_GLUE void tern_section_end_with(struct tern_section *section, int rc, MPI_Request request);

#endif
