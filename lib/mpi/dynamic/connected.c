/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/dynamic/connected.h"

#include "lib/mpi/procedures.h"
#include "lib/pml/pml.h"
#include "lib/rte/report.h"
#include "lib/util/error.h"

#include <stdlib.h>

/* A communicator, in the order in which they were made. */
struct connected {
    struct tern_comm *comm; /* a reference */
    struct tern_request *parting; /* the barrier, once it was started */
    struct connected *next;
};

static struct connected *first;
static int joined, parting; /* number of entries that are not parted yet, and that are now */
struct tern_comm *tern_connected_parent;

static enum tern_joined state(void)
{
    return joined ? TERN_JOINED : parting ? TERN_PARTING : TERN_APART;
}

/* Changes the numbers of entries, and tells the launcher whether this process is connected to other
 * jobs. A process says that it parts before it does. So the launcher knows it when the other end
 * has seen the barrier's end, and perhaps exits. */
static void count(int more_joined, int more_parting)
{
    enum tern_joined before = state();
    joined += more_joined;
    parting += more_parting;
    if (state() != before && tern_report_is_open())
        tern_report_joined(state());
}

int tern_connected_add(struct tern_comm *comm)
{
    struct connected *entry = malloc(sizeof *entry), **end = &first;
    if (!entry)
        return tern_error(TERN_ERR_NO_MEM, "no memory to note a connected job");
    *entry = (struct connected){.comm = comm};
    tern_comm_retain(comm);
    count(1, 0);
    while (*end)
        end = &(*end)->next;
    *end = entry;
    return 0;
}

bool tern_connected_has(const struct tern_comm *comm)
{
    for (const struct connected *entry = first; entry; entry = entry->next)
        if (entry->comm == comm)
            return true;
    return false;
}

/* Starts the barrier. Returns 0 or TERN_ERR_*. */
static int start(struct connected *entry)
{
    struct tern_call call;
    count(-1, 1);
    tern_call_barrier(&call, &entry->comm->coll);
    return tern_call_start(&call, &entry->parting);
}

/* Waits for the barrier. Returns its error. */
static int finish(struct connected *entry)
{
    tern_request_wait_in(entry->parting, tern_wait_procedure);
    int rc = entry->parting->error;
    entry->parting->kind->release(entry->parting);
    return rc;
}

/* Takes the entry out of the list and frees it. */
static void drop(struct connected *entry)
{
    struct connected **link = &first;
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    if (entry->comm == tern_connected_parent)
        tern_connected_parent = NULL;
    tern_comm_release(entry->comm);
    free(entry);
    count(0, -1);
}

int tern_connected_part(struct tern_comm *comm)
{
    struct connected *entry = first;
    while (entry->comm != comm)
        entry = entry->next;
    int rc = start(entry);
    if (!rc)
        rc = finish(entry);
    drop(entry);
    return rc;
}

void tern_connected_part_all(void)
{
    struct tern_comm *parent = tern_connected_parent;
    for (struct connected *entry = first; entry; entry = entry->next)
        if (start(entry))
            entry->parting = NULL;
    while (first) {
        if (first->parting)
            finish(first);
        drop(first);
    }
    if (parent)
        tern_comm_release(parent); /* the user has not freed it */
}

int tern_mpi_comm_get_parent(struct tern_comm **ret_parent)
{
    *ret_parent = tern_connected_parent;
    return 0;
}
