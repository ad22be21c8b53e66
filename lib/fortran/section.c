/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/fortran/section.h"

void tern_section_from_gfortran(const struct tern_gfortran_array *from,
                                struct tern_descriptor *ret_array)
{
    ptrdiff_t span = from->span ? from->span : (ptrdiff_t)from->element_bytes;

    ret_array->base = from->base;
    ret_array->element_bytes = from->element_bytes;
    ret_array->rank = (uint8_t)from->rank;
    for (int i = 0; i < from->rank; i++) {
        ptrdiff_t extent = from->dim[i].upper_bound - from->dim[i].lower_bound + 1;
        ret_array->dim[i] = (struct tern_dimension){
            .lower_bound = from->dim[i].lower_bound,
            .extent = extent < 0 ? 0 : extent,
            .stride = from->dim[i].stride * span,
        };
    }
}

/* ---- datatypes ---- */

/*
 * Makes a datatype of the first `count` elements of the array: whole slabs of the highest
 * dimension, then of the next lower one, and so on. level[i] is one slab of dimension i; its extent
 * is the distance to the next slab.
 */
static void make_elements(const struct tern_descriptor *array, MPI_Count count,
                          MPI_Datatype element, MPI_Datatype *ret_type)
{
    MPI_Datatype level[15], pieces[15], slab;
    MPI_Count elements[15], lengths[15], offsets[15], offset = 0;
    int rank = array->rank, used = 0;

    elements[0] = 1;
    PMPI_Type_create_resized(element, 0, array->dim[0].stride, &level[0]);
    for (int i = 1; i < rank; i++) {
        elements[i] = elements[i - 1] * array->dim[i - 1].extent;
        PMPI_Type_contiguous_c(array->dim[i - 1].extent, level[i - 1], &slab);
        PMPI_Type_create_resized(slab, 0, array->dim[i].stride, &level[i]);
        PMPI_Type_free(&slab);
    }
    for (int i = rank - 1; i >= 0; i--) {
        MPI_Count slabs = count / elements[i];
        if (slabs == 0)
            continue;
        lengths[used] = slabs;
        pieces[used] = level[i];
        offsets[used++] = offset;
        offset += slabs * array->dim[i].stride;
        count -= slabs * elements[i];
    }
    PMPI_Type_create_struct_c(used, lengths, offsets, pieces, ret_type);
    for (int i = 0; i < rank; i++)
        PMPI_Type_free(&level[i]);
}

/* Returns the offset of an element in the array in bytes. Elements are counted in Fortran's
 * order. */
static MPI_Aint offset_of(const struct tern_descriptor *array, MPI_Count element)
{
    MPI_Aint offset = 0;

    for (int i = 0; i < array->rank; i++) {
        bool last = i == array->rank - 1;
        offset += (last ? element : element % array->dim[i].extent) * array->dim[i].stride;
        element /= array->dim[i].extent;
    }
    return offset;
}

/* Makes a datatype of the first `bytes` bytes of the array's elements. */
static void make_bytes(const struct tern_descriptor *array, MPI_Count bytes, MPI_Datatype *ret_type)
{
    MPI_Count whole = bytes / (MPI_Count)array->element_bytes,
              rest = bytes % (MPI_Count)array->element_bytes;
    MPI_Count lengths[2] = {1, rest}, offsets[2] = {0, rest ? offset_of(array, whole) : 0};
    MPI_Datatype element, types[2] = {MPI_BYTE, MPI_BYTE};

    PMPI_Type_contiguous_c((MPI_Count)array->element_bytes, MPI_BYTE, &element);
    make_elements(array, whole, element, &types[0]);
    PMPI_Type_create_struct_c(rest ? 2 : 1, lengths, offsets, types, ret_type);
    PMPI_Type_free(&types[0]);
    PMPI_Type_free(&element);
}

static bool usable(MPI_Datatype type)
{
    const struct tern_handle *handle = (const struct tern_handle *)type;
    return handle && handle->magic == TERN_MAGIC_DATATYPE && handle->state;
}

/* Bounds of a datatype relative to its address, and the number of data bytes in it. */
struct shape {
    MPI_Count lower, extent, true_lower, true_extent, size;
};

static struct shape shape_of(MPI_Datatype type)
{
    struct shape shape;

    PMPI_Type_get_extent_c(type, &shape.lower, &shape.extent);
    PMPI_Type_get_true_extent_c(type, &shape.true_lower, &shape.true_extent);
    PMPI_Type_size_c(type, &shape.size);
    return shape;
}

/* Returns true if the datatype lies within one element of the array. */
static bool within_element(const struct shape *shape, const struct tern_descriptor *array)
{
    return shape->extent == (MPI_Count)array->element_bytes && shape->true_lower >= 0 &&
           shape->true_lower + shape->true_extent <= shape->extent;
}

const char *tern_section_type(struct tern_section *section, const struct tern_descriptor *array,
                              bool writes, MPI_Count *count, MPI_Datatype *type, void **address)
{
    if (!usable(*type) || *count < 0) /* the MPI call itself reports the error */
        return NULL;
    struct shape shape = shape_of(*type);
    if (within_element(&shape, array))
        make_elements(array, *count, *type, &section->made);
    else if (shape.true_lower == 0 && shape.true_extent == shape.size && shape.extent == shape.size)
        make_bytes(array, *count * shape.size, &section->made);
    else
        return tern_section_copy(section, array, writes, address);
    PMPI_Type_commit(&section->made);
    *type = section->made;
    *count = 1;
    return NULL;
}

/* Returns the distance of neighbouring elements if it is the same everywhere, else 0. */
static ptrdiff_t distance(const struct tern_descriptor *array)
{
    ptrdiff_t step = 0, next = 0;

    for (int i = 0; i < array->rank; i++) {
        const struct tern_dimension *dim = &array->dim[i];
        if (dim->extent == 1)
            continue;
        if (step == 0)
            step = dim->stride;
        else if (dim->stride != next)
            return 0;
        next = dim->stride * dim->extent;
    }
    return step;
}

const char *tern_section_stretch_only(struct tern_section *section,
                                      const struct tern_descriptor *array, MPI_Datatype *type)
{
    if (!usable(*type))
        return NULL;
    struct shape shape = shape_of(*type);
    ptrdiff_t step = distance(array);
    if (step == 0 || !within_element(&shape, array) || shape.lower != 0)
        return "the buffer is an array section whose elements do not have one constant distance, "
               "or the datatype is not one element of it. Pass a whole array, or a section such as "
               "a(1:n:2), to partitioned communication";
    PMPI_Type_create_resized(*type, 0, step, &section->made);
    PMPI_Type_commit(&section->made);
    *type = section->made;
    return NULL;
}

const char *tern_section_stretch(struct tern_section *section, const struct tern_descriptor *array,
                                 bool writes, MPI_Datatype *type, void **address)
{
    if (tern_section_stretch_only(section, array, type) == NULL)
        return NULL;
    return tern_section_copy(section, array, writes, address);
}

const char *tern_section_refuse(void)
{
    return "the buffer is an array section with gaps, which this procedure cannot use. Pass a "
           "whole array, or a section without gaps";
}

/* ---- copies ---- */

static size_t bytes_of(const struct tern_descriptor *array)
{
    size_t bytes = array->element_bytes;

    for (int i = 0; i < array->rank; i++)
        bytes *= (size_t)array->dim[i].extent;
    return bytes;
}

/* Copies the dimensions up to `dimension` from the array to *run, or back, and advances *run past
 * them. */
static void copy_slab(const struct tern_descriptor *array, int dimension, char *element, char **run,
                      bool back)
{
    const struct tern_dimension *dim = &array->dim[dimension];

    for (ptrdiff_t i = 0; i < dim->extent; i++, element += dim->stride) {
        if (dimension > 0) {
            copy_slab(array, dimension - 1, element, run, back);
            continue;
        }
        memcpy(back ? element : *run, back ? *run : element, array->element_bytes);
        *run += array->element_bytes;
    }
}

/* Copies the whole section into its copy, or back. */
static void copy_section(const struct tern_section *section, bool back)
{
    char *run = section->copy;
    copy_slab(section->array, section->array->rank - 1, section->array->base, &run, back);
}

const char *tern_section_copy(struct tern_section *section, const struct tern_descriptor *array,
                              bool writes, void **address)
{
    section->copy = tern_glue_alloc((int64_t)bytes_of(array), 1);
    section->array = array;
    section->writes = writes;
    copy_section(section, false);
    *address = section->copy;
    return NULL;
}

void tern_section_end(struct tern_section *section)
{
    if (section->made)
        PMPI_Type_free(&section->made);
    if (section->copy && section->writes)
        copy_section(section, true);
    free(section->copy);
    *section = (struct tern_section){0};
}

/* What a request needs until it is freed. Holds a copy of the descriptor, because the caller's ends
 * with the call. */
struct later {
    struct tern_section section;
    struct tern_descriptor array;
    bool under_way; /* results are still to be copied back */
};

static void follow(void *argument, enum tern_request_turn turn)
{
    struct later *later = argument;

    switch (turn) {
    case TERN_REQUEST_STARTS:
        copy_section(&later->section, false);
        later->under_way = true;
        break;
    case TERN_REQUEST_REPORTED:
        if (later->section.writes)
            copy_section(&later->section, true);
        later->under_way = false;
        break;
    case TERN_REQUEST_FREED:
        later->section.writes = later->section.writes && later->under_way;
        tern_section_end(&later->section);
        free(later);
        break;
    }
}

void tern_section_end_with(struct tern_section *section, int rc, MPI_Request request,
                           bool persistent)
{
    if (!section->copy || rc != MPI_SUCCESS) {
        section->writes = false;
        tern_section_end(section);
        return;
    }
    struct later *later = tern_glue_alloc(1, sizeof *later);
    later->section = *section;
    later->under_way = !persistent;
    memcpy(&later->array, section->array,
           offsetof(struct tern_descriptor, dim) +
               section->array->rank * sizeof(struct tern_dimension));
    later->section.array = &later->array;
    if (tern_fortran_follow(request, follow, later))
        return;
    if (persistent) /* these are never complete from the start */
        tern_glue_no_memory(1);
    follow(later, TERN_REQUEST_FREED);
}
