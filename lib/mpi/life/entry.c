/* SPDX-License-Identifier: BSD-3-Clause */

/* Parts of the entry points that run rarely: checks of arrays of arguments, and refusals. */

#include "lib/mpi/life/entry.h"

#include "lib/mpi/life/raise.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"

#include <stdio.h>

int64_t tern_entry_find_too_long(struct tern_ints counts, int64_t n, const MPI_Datatype types[],
                                 const struct tern_datatype *datatype)
{
    if (counts.width == 4 && datatype && datatype->type.size <= UINT32_MAX)
        return -1; /* no int is large enough */
    for (int64_t i = 0; i < n; i++)
        if (tern_entry_too_long(tern_ints_at(counts, i),
                                types ? tern_datatype_of(types[i]) : datatype))
            return i;
    return -1;
}

int64_t tern_entry_find_bad_request(const MPI_Request requests[], int64_t n)
{
    if (TERN_UNLIKELY(tern_check_level() != TERN_CHECK_BASIC)) {
        int64_t bad = tern_check_find_bad_handle(requests, n);
        if (bad >= 0 || tern_check_level() == TERN_CHECK_NONE)
            return bad;
    }
    for (int64_t i = 0; i < n; i++)
        if (!tern_entry_valid_or_null(requests[i], TERN_MAGIC_REQUEST))
            return i;
    return -1;
}

/* Returns true if the handle, a null handle or not, is of the kind whose null handle has this
 * name. */
static bool of_kind(const struct tern_handle *h, const char *null_name)
{
    static const struct {
        const char *null_name;
        uint32_t magic;
    } kinds[] = {
        {"MPI_COMM_NULL", TERN_MAGIC_COMM},       {"MPI_REQUEST_NULL", TERN_MAGIC_REQUEST},
        {"MPI_GROUP_NULL", TERN_MAGIC_GROUP},     {"MPI_DATATYPE_NULL", TERN_MAGIC_DATATYPE},
        {"MPI_OP_NULL", TERN_MAGIC_OP},           {"MPI_INFO_NULL", TERN_MAGIC_INFO},
        {"MPI_WIN_NULL", TERN_MAGIC_WIN},         {"MPI_FILE_NULL", TERN_MAGIC_FILE},
        {"MPI_MESSAGE_NULL", TERN_MAGIC_MESSAGE}, {"MPI_SESSION_NULL", TERN_MAGIC_SESSION},
        {"MPI_ERRHANDLER_NULL", TERN_MAGIC_ERRHANDLER},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].null_name, null_name) == 0)
            return h->magic == kinds[i].magic;
    return false;
}

int tern_entry_refuse_handle(struct tern_object *object, const char *procedure, int code,
                             const char *argument, const void *handle, const char *null_name)
{
    const struct tern_handle *h = handle;
    bool null = h && !tern_check_bad_handle(h) && tern_handle_is_memory(h) &&
                !h->state && of_kind(h, null_name);

    if (code == TERN_ERR_COMM && (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF))
        tern_error(code, "%s is %s, which exists from MPI_Init to MPI_Finalize only", argument,
                   handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF");
    else
        tern_error(code, "%s is %s", argument, null ? null_name : tern_check_handle_fault(handle));
    return tern_raise_on(object, procedure, code);
}

int tern_entry_refuse_null(struct tern_object *object, const char *procedure, int code,
                           const char *argument)
{
    tern_error(code, "%s is a NULL pointer", argument);
    return tern_raise_on(object, procedure, code);
}

int tern_entry_refuse_small(struct tern_object *object, const char *procedure, int code,
                            const char *argument, MPI_Count value, int least)
{
    tern_error(code, "%s is %lld; it must be at least %d", argument, value, least);
    return tern_raise_on(object, procedure, code);
}

int tern_entry_refuse_element(struct tern_object *object, const char *procedure, int code,
                              const char *argument, struct tern_ints ints, int64_t index, int least)
{
    tern_error(code, "%s[%lld] is %lld; it must be at least %d", argument, (long long)index,
               (long long)tern_ints_at(ints, index), least);
    return tern_raise_on(object, procedure, code);
}

int tern_entry_refuse_rank(struct tern_object *object, const char *procedure, int code,
                           const char *argument, int rank, const char *also)
{
    /* the communicator of the rank */
    const struct tern_comm *comm = (const struct tern_comm *)object;

    /* otherwise the wildcard is allowed */
    if (rank == MPI_ANY_SOURCE && strstr(also, "MPI_ANY_SOURCE"))
        tern_error(code,
                   "%s is MPI_ANY_SOURCE, which the communicator's hint mpi_assert_no_any_source "
                   "promises not to use",
                   argument);
    else if (comm->p2p.size > 1)
        tern_error(code, "%s is %d; it must be 0 to %d%s", argument, rank, comm->p2p.size - 1,
                   also);
    else
        tern_error(code, "%s is %d; it must be 0%s", argument, rank, also);
    return tern_raise_on(object, procedure, code);
}

int tern_entry_refuse_target(struct tern_object *object, const char *procedure,
                             const char *argument, int rank, bool none_allowed)
{
    const struct tern_win *win = (const struct tern_win *)object;
    const char *also = none_allowed ? ", or MPI_PROC_NULL" : "";
    if (win->window.size > 1)
        tern_error(TERN_ERR_RANK, "%s is %d; it must be a rank of the window, 0 to %d%s", argument,
                   rank, win->window.size - 1, also);
    else
        tern_error(TERN_ERR_RANK, "%s is %d; it must be 0, the only rank of the window%s", argument,
                   rank, also);
    return tern_raise_on(object, procedure, TERN_ERR_RANK);
}

int tern_entry_refuse_root(struct tern_object *object, const char *procedure, const char *argument,
                           int root)
{
    const struct tern_comm *comm = (const struct tern_comm *)object;

    return tern_entry_refuse_rank(object, procedure, TERN_ERR_ROOT, argument, root,
                                  tern_comm_inter(comm) ? ", MPI_ROOT or MPI_PROC_NULL" : "");
}

int tern_entry_refuse_tag(struct tern_object *object, const char *procedure, const char *argument,
                          int tag, bool any_allowed)
{
    if (any_allowed && tag == MPI_ANY_TAG)
        tern_error(TERN_ERR_TAG,
                   "%s is MPI_ANY_TAG, which the communicator's hint mpi_assert_no_any_tag "
                   "promises not to use",
                   argument);
    else
        tern_error(TERN_ERR_TAG, "%s is %d; it must be 0 to %d%s", argument, tag, INT_MAX,
                   any_allowed ? " or MPI_ANY_TAG" : "");
    return tern_raise_on(object, procedure, TERN_ERR_TAG);
}

int tern_entry_refuse_buffer(struct tern_object *object, const char *procedure,
                             const char *argument, const void *buf, MPI_Count count)
{
    tern_error(TERN_ERR_BUFFER, "%s is %s and count is %lld", argument,
               buf ? "MPI_IN_PLACE" : "a NULL pointer", count);
    return tern_raise_on(object, procedure, TERN_ERR_BUFFER);
}

bool tern_entry_aliased(MPI_Count sendcount, const struct tern_datatype *sendtype,
                        MPI_Count recvcount, const struct tern_datatype *recvtype)
{
    return tern_check_level() != TERN_CHECK_NONE && sendcount > 0 && recvcount > 0 &&
           sendtype->type.size > 0 && recvtype->type.size > 0 &&
           sendtype->type.true_lb == recvtype->type.true_lb;
}

int tern_entry_refuse_alias(struct tern_object *object, const char *procedure,
                            const char *in_place)
{
    tern_error(TERN_ERR_BUFFER,
               "sendbuf and recvbuf are the same buffer; pass MPI_IN_PLACE as %s, or two buffers",
               in_place);
    return tern_raise_on(object, procedure, TERN_ERR_BUFFER);
}

int tern_entry_refuse_uncommitted(struct tern_object *object, const char *procedure,
                                  const char *argument, const struct tern_datatype *datatype)
{
    if (datatype->predefined)
        tern_error(TERN_ERR_TYPE, "%s is %s, %s", argument, datatype->name,
                   datatype->type.lb_marked || datatype->type.ub_marked
                       ? "which only marks a bound of other datatypes"
                       : "which the Fortran compiler does not have");
    else
        tern_error(TERN_ERR_TYPE, "%s is not committed; call MPI_Type_commit first", argument);
    return tern_raise_on(object, procedure, TERN_ERR_TYPE);
}

int tern_entry_refuse_length(struct tern_object *object, const char *procedure,
                             const char *argument, MPI_Count count,
                             const struct tern_datatype *datatype)
{
    tern_error(TERN_ERR_COUNT,
               "%s is %lld elements of %lld bytes, together more than 2^63 - 1 bytes", argument,
               count, (long long)datatype->type.size);
    return tern_raise_on(object, procedure, TERN_ERR_COUNT);
}

int tern_entry_refuse_length_at(struct tern_object *object, const char *procedure,
                                const char *argument, struct tern_ints counts,
                                const MPI_Datatype types[], const struct tern_datatype *datatype,
                                int64_t index)
{
    char element[80];
    snprintf(element, sizeof element, "%s[%lld]", argument, (long long)index);
    return tern_entry_refuse_length(object, procedure, element, tern_ints_at(counts, index),
                                    types ? tern_datatype_of(types[index]) : datatype);
}

int tern_entry_refuse_type(struct tern_object *object, const char *procedure, const char *argument,
                           const MPI_Datatype types[], int64_t index)
{
    char element[80];
    snprintf(element, sizeof element, "%s[%lld]", argument, (long long)index);
    if (!tern_check_bad_handle(types[index]) && tern_entry_valid(types[index], TERN_MAGIC_DATATYPE))
        return tern_entry_refuse_uncommitted(object, procedure, element,
                                             tern_datatype_of(types[index]));
    return tern_entry_refuse_handle(object, procedure, TERN_ERR_TYPE, element, types[index],
                                    "MPI_DATATYPE_NULL");
}

int tern_entry_refuse_request(struct tern_object *object, const char *procedure,
                              const char *argument, const MPI_Request requests[], int64_t index)
{
    char element[80];
    snprintf(element, sizeof element, "%s[%lld]", argument, (long long)index);
    return tern_entry_refuse_handle(object, procedure, TERN_ERR_REQUEST, element, requests[index],
                                    "MPI_REQUEST_NULL");
}

int tern_entry_refuse_choice(struct tern_object *object, const char *procedure, int code,
                             const char *argument, int value, const char *allowed)
{
    tern_error(code, "%s is %d; it must be %s", argument, value, allowed);
    return tern_raise_on(object, procedure, code);
}

int tern_entry_refuse_string(struct tern_object *object, const char *procedure, int code,
                             const char *argument, const char *string, int least, int most)
{
    if (!string)
        return tern_entry_refuse_null(object, procedure, code, argument);
    tern_error(code, "%s has %zu characters; it must have %d to %d", argument, strlen(string),
               least, most);
    return tern_raise_on(object, procedure, code);
}

int tern_entry_refuse_result(struct tern_object *object, const char *procedure,
                             const char *argument, MPI_Count value)
{
    tern_error(TERN_ERR_TRUNCATE, "%s would be %lld, which does not fit; call %s_c", argument,
               value, procedure);
    return tern_raise_on(object, procedure, TERN_ERR_TRUNCATE);
}
