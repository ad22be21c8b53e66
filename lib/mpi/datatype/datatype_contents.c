/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Type_get_envelope and MPI_Type_get_contents. The counts and addresses of a datatype that
 * MPI_Type_xxx_c made are among the large counts, in the order of the arguments. */
#include "lib/mpi/object/gate.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/datatype/datatype_envelope.h"
#include "lib/mpi/procedures.h"
#include "lib/util/base/error.h"

/* Returns true if number i of a large type is a count. The other numbers (dimensions, order, ...)
 * stay integers. */
static bool is_large_number(const struct tern_envelope *envelope, int64_t i)
{
    if (!envelope->large)
        return false;
    if (envelope->combiner == MPI_COMBINER_SUBARRAY)
        return i > 0 && i < envelope->number_count - 1;
    if (envelope->combiner == MPI_COMBINER_DARRAY)
        return i >= 3 && i < 3 + envelope->numbers[2];
    return true;
}

/* Returns the envelope that programs see. It shares its arrays with the datatype. */
static struct tern_envelope shown(const struct tern_datatype *datatype)
{
    if (!datatype->envelope)
        return (struct tern_envelope){.combiner = MPI_COMBINER_NAMED};
    if (tern_datatype_is_pair(datatype))
        return (struct tern_envelope){.combiner = TERN_COMBINER_VALUE_INDEX,
                                      .type_count = datatype->envelope->type_count,
                                      .types = datatype->envelope->types};
    return *datatype->envelope;
}

struct needs {
    int64_t integers, addresses, large;
};

static struct needs needs_of(const struct tern_envelope *envelope)
{
    struct needs needs = {0};
    for (int64_t i = 0; i < envelope->number_count; i++)
        if (is_large_number(envelope, i))
            needs.large++;
        else
            needs.integers++;
    if (envelope->large)
        needs.large += envelope->address_count;
    else
        needs.addresses = envelope->address_count;
    return needs;
}

int tern_mpi_type_get_envelope(struct tern_datatype *datatype, MPI_Count *ret_num_integers,
                               MPI_Count *ret_num_addresses, MPI_Count *ret_num_large_counts,
                               MPI_Count *ret_num_datatypes, int *combiner)
{
    const struct tern_envelope seen = shown(datatype), *envelope = &seen;
    struct needs needs = needs_of(envelope);
    if (needs.large > 0 && !ret_num_large_counts)
        return tern_error(TERN_ERR_TYPE,
                          "datatype was made with large counts (use MPI_Type_get_envelope_c)");
    *ret_num_integers = needs.integers;
    *ret_num_addresses = needs.addresses;
    if (ret_num_large_counts)
        *ret_num_large_counts = needs.large;
    *ret_num_datatypes = envelope->type_count;
    *combiner = envelope->combiner;
    return 0;
}

static int too_few(const char *argument, MPI_Count max, int64_t needed)
{
    return tern_error(TERN_ERR_ARG,
                      "%s is %lld, but the datatype has %lld (ask MPI_Type_get_envelope first)",
                      argument, (long long)max, (long long)needed);
}

static int check_room(const struct tern_envelope *envelope, MPI_Count max_integers,
                      MPI_Count max_addresses, MPI_Count max_large_counts, MPI_Count max_datatypes)
{
    struct needs needs = needs_of(envelope);
    if (max_integers < needs.integers)
        return too_few("max_integers", max_integers, needs.integers);
    if (max_addresses < needs.addresses)
        return too_few("max_addresses", max_addresses, needs.addresses);
    if (needs.large > 0 && max_large_counts < 0) /* called without room for large counts */
        return tern_error(TERN_ERR_TYPE,
                          "datatype was made with large counts (use MPI_Type_get_contents_c)");
    if (max_large_counts < needs.large && needs.large > 0)
        return too_few("max_large_counts", max_large_counts, needs.large);
    if (max_datatypes < envelope->type_count)
        return too_few("max_datatypes", max_datatypes, envelope->type_count);
    return 0;
}

int tern_mpi_type_get_contents(struct tern_datatype *datatype, MPI_Count max_integers,
                               MPI_Count max_addresses, MPI_Count max_large_counts,
                               MPI_Count max_datatypes, int array_of_integers[],
                               MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
                               MPI_Datatype array_of_datatypes[])
{
    const struct tern_envelope seen = shown(datatype), *envelope = &seen;
    if (!datatype->envelope)
        return tern_error(TERN_ERR_TYPE, "datatype is %s, which is predefined and has no contents",
                          datatype->name);
    int error = check_room(envelope, max_integers, max_addresses, max_large_counts, max_datatypes);
    if (error)
        return error;
    int64_t integers = 0, large = 0;
    for (int64_t i = 0; i < envelope->number_count; i++)
        if (is_large_number(envelope, i))
            array_of_large_counts[large++] = envelope->numbers[i];
        else
            array_of_integers[integers++] = (int)envelope->numbers[i];
    for (int64_t i = 0; i < envelope->address_count; i++)
        if (envelope->large)
            array_of_large_counts[large++] = envelope->addresses[i];
        else
            array_of_addresses[i] = envelope->addresses[i];
    for (int64_t i = 0; i < envelope->type_count; i++) {
        struct tern_datatype *type = envelope->types[i];
        tern_datatype_retain(type);
        if (!type->predefined)
            type->handles++;
        array_of_datatypes[i] = tern_datatype_handle(type);
        tern_check_handle_made(array_of_datatypes[i]);
    }
    return 0;
}
