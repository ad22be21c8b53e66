/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Hints on communicators (MPI-4.1 section 7.4.4). All hints that MPI names are promises of the
 * program. A receive that breaks the promise not to use a wildcard is refused
 * (lib/mpi/life/entry.h). The other hints are stored and can be queried, but change nothing.
 * Unknown hints are not stored. (mpi_assert_strict_persistent_collective_ordering is longer than
 * MPI_MAX_INFO_KEY allows.)
 */

#include "lib/mpi/object/comm.h"
#include "lib/mpi/object/info.h"
#include "lib/mpi/procedures.h"
#include "lib/util/base/error.h"
#include "lib/util/machine/memory_kinds.h"

#include <strings.h>

static const struct {
    const char *key;
    unsigned hint;
} known[] = {
    {"mpi_assert_no_any_tag", TERN_COMM_NO_ANY_TAG},
    {"mpi_assert_no_any_source", TERN_COMM_NO_ANY_SOURCE},
    {"mpi_assert_exact_length", TERN_COMM_EXACT_LENGTH},
    {"mpi_assert_allow_overtaking", TERN_COMM_ALLOW_OVERTAKING},
    {"mpi_assert_strict_start_ordering", TERN_COMM_STRICT_STARTS},
};
enum { KNOWN = sizeof known / sizeof *known };

/* Sets hints. Ignores a value that is neither true nor false, like an unknown hint. */
void tern_comm_take_hints(struct tern_comm *comm, const struct tern_info *info)
{
    for (int i = 0; info && i < KNOWN; i++) {
        const char *value = tern_info_find(info, known[i].key);
        if (value && strcasecmp(value, "true") == 0)
            comm->hints |= known[i].hint;
        else if (value && strcasecmp(value, "false") == 0)
            comm->hints &= ~known[i].hint;
    }
}

int tern_mpi_comm_set_info(struct tern_comm *comm, struct tern_info *info)
{
    tern_comm_take_hints(comm, info);
    return 0;
}

/* Returns the hints. The memory kinds are a fact, not a hint: returns the supported ones, whatever
 * the user set. */
int tern_mpi_comm_get_info(struct tern_comm *comm, struct tern_info **ret_info_used)
{
    struct tern_info *info;
    int rc = tern_mpi_info_create(&info);
    if (rc)
        return rc;
    for (int i = 0; i < KNOWN && !rc; i++)
        rc = tern_info_put(info, known[i].key, comm->hints & known[i].hint ? "true" : "false");
    if (!rc)
        rc = tern_info_put(info, "mpi_memory_alloc_kinds", tern_memory_kinds);
    if (rc) {
        tern_info_release(info);
        return rc;
    }
    *ret_info_used = info;
    return 0;
}
