/* SPDX-License-Identifier: BSD-3-Clause */

/* check_level full: checks of single messages and requests. */

#include "lib/mpi/check/check.h"

#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <stdlib.h>

void tern_check_say_unreceived(struct tern_comm *comm)
{
    MPI_Status status;
    if (!tern_check_full())
        return;
    tern_progress();
    uint64_t count = tern_pml_unreceived(&comm->p2p, &status);
    const char *name = comm->name[0] ? comm->name : "a communicator without a name";
    if (count == 1)
        tern_log("%s: a message of %zu bytes from rank %d with tag %d on %s was never received",
                 tern_check_procedure(), status._ucount, status.MPI_SOURCE, status.MPI_TAG, name);
    else if (count)
        tern_log(
            "%s: %lu messages on %s were never received; one has %zu bytes and came from rank %d "
            "with tag %d",
            tern_check_procedure(), (unsigned long)count, name, status._ucount, status.MPI_SOURCE,
            status.MPI_TAG);
}

/* Returns true if the request belongs to one operation. What is complete at once, such as a message
 * to MPI_PROC_NULL, shares one request with others. */
static bool is_own(const struct tern_handle *handle)
{
    const struct tern_request *request = handle->state;
    return request && request->kind != &tern_request_static_kind;
}

static int by_address(const void *a, const void *b)
{
    const MPI_Request *one = *(const MPI_Request *const *)a;
    const MPI_Request *other = *(const MPI_Request *const *)b;
    if (*one != *other)
        return *one < *other ? -1 : 1;
    return one < other ? -1 : one > other;
}

/* Refuses an array that has a request twice: completing it would free the request twice. Without
 * memory for the search, refuses nothing. */
static int check_twice(int64_t count, const MPI_Request requests[])
{
    const MPI_Request **sorted = count > 1 ? malloc((size_t)count * sizeof *sorted) : NULL;
    int rc = 0;
    for (int64_t i = 0; sorted && i < count; i++)
        sorted[i] = &requests[i];
    if (sorted)
        qsort(sorted, (size_t)count, sizeof *sorted, by_address);
    for (int64_t i = 1; sorted && i < count && !rc; i++) {
        const struct tern_handle *handle = (const struct tern_handle *)*sorted[i];
        if (handle == (const struct tern_handle *)*sorted[i - 1] && is_own(handle))
            rc = tern_error(TERN_ERR_REQUEST,
                            "array_of_requests[%ld] and [%ld] are one request; give each request "
                            "once",
                            (long)(sorted[i - 1] - requests), (long)(sorted[i] - requests));
    }
    free(sorted);
    return rc;
}

int tern_check_requests(int64_t count, const MPI_Request requests[])
{
    int64_t first = -1;
    if (tern_check_full() && requests) {
        int rc = check_twice(count, requests);
        if (rc)
            return rc;
    }
    const struct tern_session *session = NULL;
    for (int64_t i = 0; tern_check_full() && requests && i < count; i++) {
        const struct tern_request *request = ((const struct tern_handle *)requests[i])->state;
        if (!request || !request->held)
            continue;
        const struct tern_comm *comm = request->comm;
        if (first >= 0 && comm->session != session)
            return tern_error(TERN_ERR_SESSION,
                              "array_of_requests[%ld] and [%ld] belong to different sessions; "
                              "complete them in different calls",
                              (long)first, (long)i);
        first = i;
        session = comm->session;
    }
    return 0;
}

int tern_check_received(const struct tern_comm *comm, const struct tern_check_part *part,
                        const MPI_Status *status)
{
    if (!(comm->hints & TERN_COMM_EXACT_LENGTH) || !part->name)
        return 0;
    return tern_check_length((int64_t)part->count * part->type->type.size, status);
}

int tern_check_length(int64_t expected, const MPI_Status *status)
{
    if (status->_cancelled || status->MPI_SOURCE == MPI_PROC_NULL ||
        (int64_t)status->_ucount == expected)
        return 0;
    return tern_error(
        TERN_ERR_COUNT,
        "the message from rank %d with tag %d has %zu bytes, but its receive buffer has %ld; the "
        "communicator's hint mpi_assert_exact_length promises equal lengths",
        status->MPI_SOURCE, status->MPI_TAG, status->_ucount, (long)expected);
}
