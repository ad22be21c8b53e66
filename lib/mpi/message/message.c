/* SPDX-License-Identifier: BSD-3-Clause */

/* Matched probes and receives (MPI-4.1 section 3.8): a message taken out of matching becomes an
 * object of its own. */

#include "lib/mpi/message/message.h"

#include "lib/mpi/check/check.h"
#include "lib/mpi/object/gate.h"

#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/fortran.h"
#include "lib/mpi/object/raise_next.h"
#include "lib/mpi/request/request_object.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

#include "lib/mpi/procedures.h"

struct tern_message tern_message_no_proc = {
    .obj = {.handle = (struct tern_handle *)&ompi_message_no_proc, .refs = 1}};

static int probe(int source, int tag, struct tern_comm *comm, int *flag,
                 struct tern_message **ret_message, MPI_Status *status)
{
    struct tern_unexpected *unexpected;
    MPI_Status found_status;

    *ret_message = NULL;
    if (source == MPI_PROC_NULL) {
        tern_status_copy(status, &tern_status_proc_null);
        *ret_message = &tern_message_no_proc;
        *flag = 1;
        return 0;
    }
    struct tern_message *message =
        malloc(sizeof *message); /* before the message is taken: it must not be lost */
    if (!message)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a message handle");
    int error = tern_pml_improbe(&comm->p2p, source, tag, &unexpected, &found_status);
    if (error || !unexpected) {
        free(message);
        *flag = 0;
        return error;
    }
    tern_object_init(&message->obj, TERN_MAGIC_MESSAGE);
    message->unexpected = unexpected;
    message->comm = comm;
    tern_comm_retain(comm);
    tern_status_copy(status, &found_status);
    *ret_message = message;
    *flag = 1;
    return 0;
}

int tern_mpi_improbe(int source, int tag, struct tern_comm *comm, int *flag,
                     struct tern_message **ret_message, MPI_Status *status)
{
    int error = probe(source, tag, comm, flag, ret_message, status);
    if (!error && !*flag)
        tern_test_note_probe("MPI_Improbe", &comm->p2p, source, tag);
    return error;
}

int tern_mpi_mprobe(int source, int tag, struct tern_comm *comm, struct tern_message **ret_message,
                    MPI_Status *status)
{
    const struct tern_probe awaited = {.context = &comm->p2p, .source = source, .tag = tag};
    struct tern_waiter waiter = {
        .lane = comm->p2p.lane, .procedure = "MPI_Mprobe", .probe = &awaited};

    for (;;) {
        int found;
        int error = probe(source, tag, comm, &found, ret_message, status);
        if (error || found)
            return error;
        tern_wait(&waiter);
    }
}

int tern_mpi_imrecv(void *buf, MPI_Count count, struct tern_datatype *datatype,
                    struct tern_message **message, struct tern_request **ret_request)
{
    struct tern_message *taken = *message;

    if (taken == &tern_message_no_proc) {
        *message = NULL;
        *ret_request = &tern_request_no_message;
        return 0;
    }
    tern_raise_next_on(taken->comm);
    int error = tern_pml_imrecv(taken->unexpected, buf, count, &datatype->type, ret_request);
    if (error)
        return error;
    tern_raise_next_on(NULL);
    if (tern_check_full()) /* an error found at completion needs it: the user may have freed comm */
        tern_request_hold_always(*ret_request, taken->comm, datatype);
    else
        tern_request_hold(*ret_request, taken->comm, datatype);
    tern_comm_release(taken->comm);
    tern_fortran_drop(&taken->obj);
    tern_object_free(&taken->obj);
    *message = NULL;
    return 0;
}

int tern_mpi_mrecv(void *buf, MPI_Count count, struct tern_datatype *datatype,
                   struct tern_message **message, MPI_Status *status)
{
    struct tern_request *request;
    int error = tern_mpi_imrecv(buf, count, datatype, message, &request);
    if (error)
        return error;
    if (tern_check_full()) {
        const struct tern_check_part parts[TERN_CHECK_PARTS] = {{.name = "buf",
                                                                 .buffer = buf,
                                                                 .blocks = 1,
                                                                 .count = count,
                                                                 .type = datatype,
                                                                 .output = true}};
        tern_check_request_made(request, parts);
    }
    return tern_mpi_wait(&request, status);
}
