/* SPDX-License-Identifier: BSD-3-Clause */

/* Data representations: how basic elements lie in a file (MPI-4.1 section 14.5). */

#include "lib/io/access/datarep.h"

#include "lib/mpi/datatype/datatype_envelope.h"
#include "lib/mpi/datatype/datatype_external.h"
#include "lib/mpi/object/fortran.h"
#include "lib/pml/lock.h"
#include "lib/type/external.h"
#include "lib/util/base/error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mpi/procedures.h"

static struct tern_datarep predefined[] = {
    {.name = "native", .native = true, .next = &predefined[1]},
    {.name = "internal", .native = true, .next = &predefined[2]},
    {.name = "external32", .external = true},
};
/* All representations; the user's come first. Grows only; guarded by the library's lock when it
 * does. */
static struct tern_datarep *all = predefined;

const struct tern_datarep *tern_datarep_find(const char *name)
{
    for (const struct tern_datarep *rep = __atomic_load_n(&all, __ATOMIC_ACQUIRE); rep;
         rep = rep->next)
        if (strcmp(rep->name, name) == 0)
            return rep;
    return NULL;
}

/* ---- functions of the user ---- */

/* The functions of a Fortran program. */
typedef void fortran_extent(MPI_Fint *datatype, MPI_Aint *extent, MPI_Aint *extra_state,
                            MPI_Fint *ierror);
typedef void fortran_conversion(void *userbuf, MPI_Fint *datatype, MPI_Fint *count, void *filebuf,
                                MPI_Offset *position, MPI_Aint *extra_state, MPI_Fint *ierror);
typedef void fortran_conversion_c(void *userbuf, MPI_Fint *datatype, MPI_Count *count,
                                  void *filebuf, MPI_Offset *position, MPI_Aint *extra_state,
                                  MPI_Fint *ierror);

/* What Fortran programs pass as MPI_CONVERSION_FN_NULL and MPI_CONVERSION_FN_NULL_C
 * (lib/mpi/object/attr_functions.c). */
extern void mpi_conversion_fn_null_(void);
extern void mpi_conversion_fn_null_c_(void);

/* Returns true if `function` of a Fortran program stands for no function. The two names stand for
 * each other, because the modules do not tell them apart. */
static bool stands_for_none(void (*function)(void))
{
    return function == mpi_conversion_fn_null_ || function == mpi_conversion_fn_null_c_;
}

static int failed(const struct tern_datarep *rep, const char *function, int code)
{
    if (code == MPI_SUCCESS)
        return 0;
    return tern_error(TERN_ERR_CONVERSION,
                      "the %s function of the data representation \"%s\" returned %d", function,
                      rep->name, code);
}

static int ask_extent(const struct tern_datarep *rep, const struct tern_datatype *datatype,
                      MPI_Aint *ret_extent)
{
    MPI_Datatype handle = tern_datatype_handle(datatype);
    *ret_extent = -1;
    int code = 0;
    if (rep->fortran) {
        MPI_Fint index = tern_fortran_index((struct tern_handle *)handle), ierror = MPI_SUCCESS;
        MPI_Aint state = (MPI_Aint)rep->extra_state;
        ((fortran_extent *)(void (*)(void))rep->extent)(&index, ret_extent, &state, &ierror);
        code = ierror;
    } else {
        code = rep->extent(handle, ret_extent, rep->extra_state);
    }
    if (code == MPI_SUCCESS && *ret_extent < 0)
        return tern_error(TERN_ERR_CONVERSION,
                          "the extent function of the data representation \"%s\" gave %lld bytes; "
                          "expected at least 0",
                          rep->name, (long long)*ret_extent);
    return failed(rep, "extent", code);
}

/* Converts `items` basic elements of the datatype. The caller has checked that one of the two
 * functions is there. */
static int call_conversion(const struct tern_datarep *rep, bool writes, void *buf,
                           const struct tern_datatype *datatype, int64_t items, void *file_form)
{
    MPI_Datatype handle = tern_datatype_handle(datatype);
    MPI_Datarep_conversion_function *small = writes ? rep->write : rep->read;
    MPI_Datarep_conversion_function_c *large = writes ? rep->write_c : rep->read_c;
    if (!large && items > INT_MAX)
        return tern_error(TERN_ERR_COUNT, "%lld elements are too many for the conversion functions "
                                          "of \"%s\"; register it with MPI_Register_datarep_c",
                          (long long)items, rep->name);
    int code;
    if (rep->fortran) {
        MPI_Fint index = tern_fortran_index((struct tern_handle *)handle), ierror = MPI_SUCCESS;
        MPI_Fint count = (MPI_Fint)items;
        MPI_Count count_c = items;
        MPI_Aint state = (MPI_Aint)rep->extra_state;
        MPI_Offset position = 0;
        if (large)
            ((fortran_conversion_c *)(void (*)(void))large)(buf, &index, &count_c, file_form,
                                                            &position, &state, &ierror);
        else
            ((fortran_conversion *)(void (*)(void))small)(buf, &index, &count, file_form,
                                                          &position, &state, &ierror);
        code = ierror;
    } else {
        code = large ? large(buf, handle, items, file_form, 0, rep->extra_state)
                     : small(buf, handle, (int)items, file_form, 0, rep->extra_state);
    }
    return failed(rep, writes ? "write conversion" : "read conversion", code);
}

/* ---- layouts ---- */

/* Makes the layout of a predefined datatype: its bytes in the file, without gaps. */
static int layout_of_basic(const struct tern_datarep *rep, struct tern_datatype *datatype,
                           struct tern_datatype **ret_layout)
{
    int64_t bytes = datatype->type.size;
    if (rep->external && datatype->type.basic != TERN_BASIC_NONE) {
        bytes = datatype->type.size - datatype->type.narrowed;
    } else if (!rep->external && datatype->type.size > 0) {
        MPI_Aint extent;
        int error = ask_extent(rep, datatype, &extent);
        if (error)
            return error;
        bytes = extent;
    }
    if (bytes == datatype->type.size && bytes == datatype->type.extent) {
        tern_datatype_retain(datatype);
        *ret_layout = datatype;
        return 0;
    }
    return tern_mpi_type_contiguous(true, bytes, tern_datatype_of(MPI_BYTE), ret_layout);
}

static struct tern_ints ints_at(const int64_t *numbers)
{
    return (struct tern_ints){numbers, sizeof *numbers};
}

static int remake_struct(const struct tern_datarep *rep, const struct tern_envelope *envelope,
                         struct tern_datatype **ret_layout)
{
    int64_t made = 0, count = envelope->type_count;
    MPI_Datatype *handles = calloc((size_t)count + 1, sizeof(MPI_Datatype));
    int error = handles ? 0 : tern_error(TERN_ERR_NO_MEM, "no memory for a datatype");
    for (; !error && made < count; made++) {
        struct tern_datatype *part;
        error = tern_datarep_layout(rep, envelope->types[made], &part);
        if (error)
            break;
        handles[made] = tern_datatype_handle(part);
    }
    if (!error)
        error = tern_mpi_type_create_struct(true, count, ints_at(envelope->numbers + 1),
                                            ints_at(envelope->addresses), handles, ret_layout);
    while (made > 0)
        tern_datatype_release(tern_datatype_of(handles[--made]));
    free(handles);
    return error;
}

static int remake_darray(const int64_t *n, struct tern_datatype *part,
                         struct tern_datatype **ret_layout)
{
    int ndims = (int)n[2];
    int *small = malloc(3 * (size_t)ndims * sizeof *small);
    if (!small)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a datatype");
    for (int i = 0; i < 3 * ndims; i++)
        small[i] = (int)n[3 + ndims + i];
    int error = tern_mpi_type_create_darray(true, (int)n[0], (int)n[1], ndims, ints_at(n + 3),
                                            small, small + ndims, small + 2 * ndims,
                                            (int)n[3 + 4 * ndims], part, ret_layout);
    free(small);
    return error;
}

/* Makes a datatype as `envelope` says, of `part` in place of the old type. */
static int remake(const struct tern_envelope *envelope, struct tern_datatype *part,
                  struct tern_datatype **ret_layout)
{
    const int64_t *n = envelope->numbers, *a = envelope->addresses;
    switch (envelope->combiner) {
    case MPI_COMBINER_CONTIGUOUS: return tern_mpi_type_contiguous(true, n[0], part, ret_layout);
    case MPI_COMBINER_VECTOR:
        return tern_mpi_type_vector(true, n[0], n[1], n[2], part, ret_layout);
    case MPI_COMBINER_HVECTOR:
        return tern_mpi_type_create_hvector(true, n[0], n[1], a[0], part, ret_layout);
    case MPI_COMBINER_INDEXED:
        return tern_mpi_type_indexed(true, n[0], ints_at(n + 1), ints_at(n + 1 + n[0]), part,
                                     ret_layout);
    case MPI_COMBINER_HINDEXED:
        return tern_mpi_type_create_hindexed(true, n[0], ints_at(n + 1), ints_at(a), part,
                                             ret_layout);
    case MPI_COMBINER_INDEXED_BLOCK:
        return tern_mpi_type_create_indexed_block(true, n[0], n[1], ints_at(n + 2), part,
                                                  ret_layout);
    case MPI_COMBINER_HINDEXED_BLOCK:
        return tern_mpi_type_create_hindexed_block(true, n[0], n[1], ints_at(a), part, ret_layout);
    case MPI_COMBINER_SUBARRAY:
        return tern_mpi_type_create_subarray(true, (int)n[0], ints_at(n + 1), ints_at(n + 1 + n[0]),
                                             ints_at(n + 1 + 2 * n[0]), (int)n[1 + 3 * n[0]], part,
                                             ret_layout);
    case MPI_COMBINER_DARRAY: return remake_darray(n, part, ret_layout);
    case MPI_COMBINER_RESIZED:
        return tern_mpi_type_create_resized(true, part, a[0], a[1], ret_layout);
    default: /* MPI_COMBINER_DUP and what else changes no layout */
        tern_datatype_retain(part);
        *ret_layout = part;
        return 0;
    }
}

int tern_datarep_layout(const struct tern_datarep *rep, struct tern_datatype *datatype,
                        struct tern_datatype **ret_layout)
{
    const struct tern_envelope *envelope = datatype->envelope;
    struct tern_datatype *part;
    if (rep->native) {
        tern_datatype_retain(datatype);
        *ret_layout = datatype;
        return 0;
    }
    if (!envelope || envelope->type_count == 0)
        return layout_of_basic(rep, datatype, ret_layout);
    if (envelope->combiner == MPI_COMBINER_STRUCT)
        return remake_struct(rep, envelope, ret_layout);
    int error = tern_datarep_layout(rep, envelope->types[0], &part);
    if (error)
        return error;
    error = remake(envelope, part, ret_layout);
    tern_datatype_release(part);
    return error;
}

int64_t tern_datarep_bytes(const struct tern_datarep *rep, struct tern_datatype *datatype,
                           int64_t count)
{
    struct tern_datatype *layout;
    int64_t bytes;
    tern_lock(); /* data accesses hold no lock */
    int error = tern_datarep_layout(rep, datatype, &layout);
    bool too_many = !error && __builtin_mul_overflow(layout->type.size, count, &bytes);
    if (!error)
        tern_datatype_release(layout);
    tern_unlock();
    if (too_many)
        error = tern_error(TERN_ERR_COUNT,
                           "count is %lld elements, more than 2^63 - 1 bytes in the file",
                           (long long)count);
    return error ? error : bytes;
}

/* ---- conversions ---- */

int tern_datarep_write(const struct tern_datarep *rep, struct tern_datatype *datatype,
                       const void *buf, int64_t count, char *file_form)
{
    if (!rep->external)
        return call_conversion(rep, true, (void *)buf, datatype, datatype->type.elements * count,
                               file_form);
    bool lossy = false;
    int error = tern_external_from(buf, count, datatype, file_form, &lossy);
    if (!error && lossy)
        error = tern_error(TERN_ERR_CONVERSION,
                           "the buffer has a long of more than 32 bits, or a wide character of "
                           "more than 16, which external32 has no room for; write it as "
                           "MPI_INT64_T or MPI_UINT32_T");
    return error;
}

/* Finds how many basic elements of `count` of the datatype are complete in `bytes` bytes of the
 * file's form, and the bytes that these have in memory. Where elements differ, only elements of the
 * whole datatype count. */
static int count_items(const struct tern_datarep *rep, struct tern_datatype *datatype,
                       int64_t count, int64_t bytes, int64_t *ret_items, int64_t *ret_done)
{
    int64_t all_bytes = tern_datarep_bytes(rep, datatype, count);
    int64_t items = datatype->type.elements * count, units = count;
    if (all_bytes < 0)
        return (int)all_bytes;
    if (datatype->type.basic != TERN_BASIC_NONE && items > 0)
        units = items;
    int64_t whole = units > 0 && all_bytes > 0 ? bytes / (all_bytes / units) : 0;
    if (whole > units)
        whole = units;
    *ret_items = units > 0 ? items / units * whole : 0;
    *ret_done = units > 0 ? datatype->type.size * count / units * whole : 0;
    return 0;
}

int tern_datarep_read(const struct tern_datarep *rep, struct tern_datatype *datatype, void *buf,
                      int64_t count, const char *file_form, int64_t bytes, int64_t *ret_done)
{
    if (rep->external)
        return tern_external_to(buf, count, datatype, file_form, bytes, ret_done);
    int64_t items = 0;
    int error = count_items(rep, datatype, count, bytes, &items, ret_done);
    if (error || items == 0)
        return error;
    return call_conversion(rep, false, buf, datatype, items, (void *)file_form);
}

/* ---- procedures ---- */

int tern_mpi_register_datarep(const char *datarep,
                              MPI_Datarep_conversion_function *read_conversion_fn,
                              MPI_Datarep_conversion_function_c *read_conversion_fn_c,
                              MPI_Datarep_conversion_function *write_conversion_fn,
                              MPI_Datarep_conversion_function_c *write_conversion_fn_c,
                              MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
    bool fortran = tern_fortran_caller() != TERN_LANGUAGE_C;
    if (!*datarep)
        return tern_error(TERN_ERR_ARG, "datarep is an empty string; expected a name");
    if (strlen(datarep) >= MPI_MAX_DATAREP_STRING)
        return tern_error(TERN_ERR_ARG, "datarep has %zu characters; expected at most %d",
                          strlen(datarep), MPI_MAX_DATAREP_STRING - 1);
    if (tern_datarep_find(datarep))
        return tern_error(TERN_ERR_DUP_DATAREP, "datarep is \"%s\", which is registered already",
                          datarep);
    struct tern_datarep *rep = calloc(1, sizeof *rep);
    if (!rep)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a data representation");
    memcpy(rep->name, datarep, strlen(datarep) + 1);
    rep->fortran = fortran;
    if (!fortran || !stands_for_none((void (*)(void))read_conversion_fn))
        rep->read = read_conversion_fn;
    if (!fortran || !stands_for_none((void (*)(void))read_conversion_fn_c))
        rep->read_c = read_conversion_fn_c;
    if (!fortran || !stands_for_none((void (*)(void))write_conversion_fn))
        rep->write = write_conversion_fn;
    if (!fortran || !stands_for_none((void (*)(void))write_conversion_fn_c))
        rep->write_c = write_conversion_fn_c;
    rep->extent = dtype_file_extent_fn;
    rep->extra_state = extra_state;
    rep->next = all;
    __atomic_store_n(&all, rep, __ATOMIC_RELEASE);
    return 0;
}
