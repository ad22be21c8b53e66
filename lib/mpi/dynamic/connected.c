/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/dynamic/connected.h"

#include "lib/mpi/procedures.h"
#include "lib/pml/pml.h"
#include "lib/rte/jobs.h"
#include "lib/rte/report.h"
#include "lib/util/base/error.h"
#include "lib/util/net/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A communicator, in the order in which they were made. */
struct connected {
    struct tern_comm *comm; /* a reference */
    bool parts;                   /* true from the beginning of its end */
    struct tern_request *parting; /* the barrier, once it was started */
    struct connected *next;
};

static struct connected *first;
struct tern_comm *tern_connected_parent;

/* The jobs to which this process is connected, as words for the launcher: its own job first. */
struct names {
    char text[TERN_CARD_MOST + 1];
    size_t length;
};

/* Adds the name of a job, unless it is there. Without room adds TERN_JOINED_TO_ALL. */
static void add_name(struct names *names, uint32_t job, bool parts)
{
    enum { BYTES = 10 }; /* of the id; as digits they are unlike those of any other job */
    struct tern_job_id id = tern_job_id_of(job);
    char word[2 * BYTES + 2];
    for (int i = 0; i < BYTES; i++)
        snprintf(word + 2 * i, 3, "%02x", id.bytes[i]);
    if (strstr(names->text, word))
        return;
    bool fits = names->length + sizeof word + 3 <= sizeof names->text;
    if (!fits && names->text[names->length - 2] == TERN_JOINED_TO_ALL[0])
        return;
    names->length += (size_t)snprintf(names->text + names->length,
                                      sizeof names->text - names->length, "%s%s ",
                                      fits && parts ? TERN_JOINED_PARTS : "",
                                      fits ? word : TERN_JOINED_TO_ALL);
}

static void add_group(struct names *names, const struct tern_group *group, bool parts)
{
    uint32_t latest = 0;
    for (int i = 0; group && i < group->size; i++) {
        uint32_t job = tern_group_process(group, i).job;
        if (job != latest)
            add_name(names, latest = job, parts);
    }
}

/* Adds the jobs of all communicators that part, or of all others. Returns their number. */
static int add_jobs(struct names *names, bool parts)
{
    int count = 0;
    for (const struct connected *entry = first; entry; entry = entry->next) {
        if (entry->parts != parts)
            continue;
        if (count++ == 0)
            add_name(names, 0, parts);
        add_group(names, entry->comm->group, parts);
        add_group(names, entry->comm->remote_group, parts);
    }
    return count;
}

/* Tells the launcher to which jobs this process is connected, when that has changed. A process says
 * that it parts before it does. So the launcher knows it when the other end has seen the barrier's
 * end, and perhaps exits. */
static void tell(void)
{
    static struct names told;
    struct names names = {.text = ""};
    int joined = add_jobs(&names, false), parting = add_jobs(&names, true);
    if (strcmp(names.text, told.text) == 0 || !tern_report_is_open())
        return;
    told = names;
    tern_report_joined(joined ? TERN_JOINED : parting ? TERN_PARTING : TERN_APART, names.text);
}

int tern_connected_add(struct tern_comm *comm)
{
    struct connected *entry = malloc(sizeof *entry), **end = &first;
    if (!entry)
        return tern_error(TERN_ERR_NO_MEM, "no memory to note a connected job");
    *entry = (struct connected){.comm = comm};
    tern_comm_retain(comm);
    while (*end)
        end = &(*end)->next;
    *end = entry;
    tell();
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
    entry->parts = true;
    tell();
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
    tell();
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
