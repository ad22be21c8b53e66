/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sessions and handles of performance variables (MPI-4.1 section 15.3.7).
 *
 * The library always counts; a handle stores the count at which it began. So sessions are
 * independent, and starting and stopping costs the message path nothing. Only levels, sizes and
 * states run without being started (`continuous`) and cannot be written, because they show the
 * state of the library.
 *
 * The owner of a high-water mark keeps the highest level since the mark was last restarted. Before
 * a restart every handle of the variable reads the mark, so that no handle loses a peak.
 */

#include "lib/mpi/tool/tool_pvar.h"

#include "lib/btl/path.h"
#include "lib/btl/peer.h"
#include "lib/mpi/object/comm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mpi/procedures.h"

/* What an MPI_T_pvar_session points to. */
struct session {
    struct tern_list_node link;
    struct tern_list_node handles;
};

/* What an MPI_T_pvar_handle points to. */
struct handle {
    struct tern_list_node link;
    struct tern_variable *variable;
    const struct tern_comm *comm; /* NULL if there is none, or if it was freed */
    /* true if the communicator was freed: the handle keeps its last values */
    bool gone;
    bool running;
    int count;
    uint64_t *base;   /* `count` values of the variable at the last start or reading */
    uint64_t value[]; /* `count` values: the amounts so far */
};

static struct tern_list_node sessions = {&sessions, &sessions};
static bool rooms_are_there;

static bool is_continuous(const struct tern_variable *variable)
{
    return !tern_variable_counts(variable) && variable->class != MPI_T_PVAR_CLASS_HIGHWATERMARK;
}

static struct session *session_at(struct tern_list_node *link)
{
    return TERN_CONTAINER(link, struct session, link);
}

static struct handle *handle_at(struct tern_list_node *link)
{
    return TERN_CONTAINER(link, struct handle, link);
}

static struct session *find_session(MPI_T_pvar_session wanted)
{
    for (struct tern_list_node *link = sessions.next; link != &sessions; link = link->next)
        if ((void *)wanted == session_at(link))
            return (void *)wanted;
    return NULL;
}

static struct handle *find_handle(struct session *session, MPI_T_pvar_handle wanted)
{
    for (struct tern_list_node *link = session->handles.next; link != &session->handles;
         link = link->next)
        if ((void *)wanted == handle_at(link))
            return (void *)wanted;
    return NULL;
}

/* ---- values ---- */

/* Reads the current values of the library. */
static void sample(const struct handle *handle, uint64_t *values)
{
    const struct tern_variable *variable = handle->variable;
    memset(values, 0, (size_t)handle->count * sizeof *values);
    if (!variable->read)
        return;
    if (rooms_are_there || variable->kind == TERN_VARIABLE_STATE)
        variable->read(variable, handle->comm, values);
}

/* Updates handle->value. */
static void update(struct handle *handle)
{
    uint64_t *now = handle->base + handle->count; /* room after `base` */
    if (handle->gone || !handle->running)
        return;
    sample(handle, now);
    for (int i = 0; i < handle->count; i++) {
        bool grown = (int64_t)(now[i] - handle->base[i]) > 0;
        if (!tern_variable_counts(handle->variable)) {
            if (is_continuous(handle->variable) || now[i] > handle->value[i])
                handle->value[i] = now[i];
        } else if (grown) { /* ticks converted to time may seem to decrease a little */
            handle->value[i] += now[i] - handle->base[i];
            handle->base[i] = now[i];
        }
    }
}

static void for_each_handle(void (*act)(struct handle *handle, const void *argument),
                            const void *argument)
{
    for (struct tern_list_node *at = sessions.next; at != &sessions; at = at->next) {
        struct tern_list_node *handles = &session_at(at)->handles;
        for (struct tern_list_node *link = handles->next; link != handles; link = link->next)
            act(handle_at(link), argument);
    }
}

/* Updates a handle of `variable`, or any handle if `variable` is NULL. */
static void update_if_of(struct handle *handle, const void *variable)
{
    if (!variable || handle->variable == variable)
        update(handle);
}

/* Lets the handle count from the current values on. */
static void begin(struct handle *handle)
{
    const struct tern_variable *variable = handle->variable;
    if (variable->class == MPI_T_PVAR_CLASS_HIGHWATERMARK) {
        for_each_handle(update_if_of, variable);
        if (rooms_are_there)
            variable->restart(variable);
    }
    sample(handle, handle->base);
}

static int start(struct handle *handle)
{
    if (is_continuous(handle->variable))
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    if (!handle->running)
        begin(handle);
    handle->running = true;
    return MPI_SUCCESS;
}

static int stop(struct handle *handle)
{
    if (is_continuous(handle->variable))
        return MPI_T_ERR_PVAR_NO_STARTSTOP;
    update(handle);
    handle->running = false;
    return MPI_SUCCESS;
}

static int reset(struct handle *handle)
{
    if (is_continuous(handle->variable))
        return MPI_T_ERR_PVAR_NO_WRITE;
    update(handle);
    if (!handle->gone)
        begin(handle);
    for (int i = 0; i < handle->count; i++)
        handle->value[i] = tern_variable_counts(handle->variable) ? 0 : handle->base[i];
    return MPI_SUCCESS;
}

/* Returns the path to a process, in whichever lane there is one, or NULL. */
static const char *path_to(struct tern_process process)
{
    const char *path = NULL;
    for (const struct tern_peer *peer = tern_peer_newest(); peer && !path; peer = peer->all_next)
        if (tern_peer_is(peer, process))
            path = tern_path_text(&peer->path);
    return path;
}

static void give_paths(const struct handle *handle, char *texts)
{
    for (int rank = 0; rank < handle->count; rank++) {
        const char *path = NULL;
        if (handle->comm && rooms_are_there)
            path = path_to(tern_peers_process(handle->comm->p2p.peers, rank));
        snprintf(texts + (size_t)rank * TERN_PATH_MOST, TERN_PATH_MOST, "%s", path ? path : "");
    }
}

static void give(const struct handle *handle, void *buf)
{
    if (handle->variable->kind == TERN_VARIABLE_PATHS) {
        give_paths(handle, buf);
        return;
    }
    for (int i = 0; i < handle->count; i++)
        switch (handle->variable->kind) {
        case TERN_VARIABLE_COUNT:
            ((unsigned long long *)buf)[i] = handle->value[i];
            break;
        case TERN_VARIABLE_SECONDS:
            ((double *)buf)[i] = (double)handle->value[i] * 1e-9;
            break;
        case TERN_VARIABLE_PART:
            ((double *)buf)[i] = (double)handle->value[i] * 1e-6;
            break;
        case TERN_VARIABLE_STATE:
            ((int *)buf)[i] = (int)handle->value[i];
            break;
        case TERN_VARIABLE_PATHS: /* above */
            break;
        }
}

/* ---- called by the rest of the library ---- */

void tern_tool_begin(void)
{
    tern_tool_lock();
    rooms_are_there = true;
    tern_tool_unlock();
}

static void let_go(struct handle *handle, const void *comm)
{
    if (!handle->comm || (comm && handle->comm != comm))
        return;
    update(handle);
    handle->gone = true;
    handle->comm = NULL;
}

void tern_tool_pvar_forget_comm(const struct tern_comm *comm)
{
    for_each_handle(let_go, comm);
}

/* ---- descriptions ---- */

int tern_mpi_t_pvar_get_num(int *num_pvar)
{
    if (!num_pvar)
        return MPI_T_ERR_INVALID;
    *num_pvar = tern_tool_variable_count();
    return MPI_SUCCESS;
}

int tern_tool_variable_count(void)
{
    int count = 0;
    while (tern_tool_variable(count))
        count++;
    return count;
}

const char *tern_tool_variable_room(int index)
{
    return tern_tool_variable(index)->room;
}

int tern_mpi_t_pvar_get_info(int pvar_index, char *name, int *name_len, int *verbosity,
                             int *var_class, MPI_Datatype *datatype, MPI_T_enum *enumtype,
                             char *desc, int *desc_len, int *bind, int *readonly, int *continuous,
                             int *atomic)
{
    const struct tern_variable *variable = tern_tool_variable(pvar_index);
    if (!variable)
        return MPI_T_ERR_INVALID_INDEX;
    tern_tool_give_string(variable->name, name, name_len);
    tern_tool_give_string(variable->help, desc, desc_len);
    tern_tool_give_int(verbosity, MPI_T_VERBOSITY_USER_DETAIL);
    tern_tool_give_int(var_class, variable->class);
    tern_tool_give_int(bind, variable->bind);
    tern_tool_give_int(readonly, is_continuous(variable));
    tern_tool_give_int(continuous, is_continuous(variable));
    tern_tool_give_int(atomic, tern_variable_counts(variable));
    if (datatype)
        *datatype = variable->kind == TERN_VARIABLE_COUNT   ? MPI_UNSIGNED_LONG_LONG
                    : variable->kind == TERN_VARIABLE_STATE ? MPI_INT
                    : variable->kind == TERN_VARIABLE_PATHS ? MPI_CHAR
                                                            : MPI_DOUBLE;
    if (enumtype)
        *enumtype = (MPI_T_enum)variable->items;
    return MPI_SUCCESS;
}

int tern_mpi_t_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
    const struct tern_variable *variable;
    if (!name || !pvar_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; (variable = tern_tool_variable(i)); i++)
        if (variable->class == var_class && strcmp(variable->name, name) == 0) {
            *pvar_index = i;
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

/* ---- sessions and handles ---- */

int tern_mpi_t_pvar_session_create(MPI_T_pvar_session *pe_session)
{
    if (!pe_session)
        return MPI_T_ERR_INVALID;
    struct session *made = malloc(sizeof *made);
    if (!made)
        return MPI_T_ERR_OUT_OF_SESSIONS;
    tern_list_init(&made->handles);
    tern_list_append(&sessions, &made->link);
    *pe_session = (MPI_T_pvar_session)made;
    return MPI_SUCCESS;
}

static void free_handle(struct handle *handle)
{
    tern_list_remove(&handle->link);
    free(handle);
}

static void free_session(struct session *session)
{
    while (!tern_list_empty(&session->handles))
        free_handle(handle_at(session->handles.next));
    tern_list_remove(&session->link);
    free(session);
}

int tern_mpi_t_pvar_session_free(MPI_T_pvar_session *pe_session)
{
    struct session *session = pe_session ? find_session(*pe_session) : NULL;
    if (!session)
        return MPI_T_ERR_INVALID_SESSION;
    free_session(session);
    *pe_session = MPI_T_PVAR_SESSION_NULL;
    return MPI_SUCCESS;
}

void tern_tool_pvar_clear(void)
{
    while (!tern_list_empty(&sessions))
        free_session(session_at(sessions.next));
}

int tern_mpi_t_pvar_handle_alloc(MPI_T_pvar_session pe_session, int pvar_index, void *obj_handle,
                                 MPI_T_pvar_handle *handle, int *count)
{
    struct session *session = find_session(pe_session);
    struct tern_variable *variable = tern_tool_variable(pvar_index);
    const struct tern_comm *comm = NULL;
    if (!session)
        return MPI_T_ERR_INVALID_SESSION;
    if (!variable)
        return MPI_T_ERR_INVALID_INDEX;
    if (!handle || !count)
        return MPI_T_ERR_INVALID;
    if (variable->bind == MPI_T_BIND_MPI_COMM && !(comm = tern_tool_comm_of(obj_handle)))
        return MPI_T_ERR_INVALID;
    int values = variable->per_rank ? comm->p2p.size : 1;
    struct handle *made = calloc(1, sizeof *made + 3 * (size_t)values * sizeof *made->value);
    if (!made)
        return MPI_T_ERR_OUT_OF_HANDLES;
    made->variable = variable;
    made->comm = comm;
    made->running = is_continuous(variable);
    made->count = values;
    made->base = made->value + values;
    tern_list_append(&session->handles, &made->link);
    *handle = (MPI_T_pvar_handle)made;
    *count = variable->kind == TERN_VARIABLE_PATHS ? values * TERN_PATH_MOST : values;
    return MPI_SUCCESS;
}

int tern_mpi_t_pvar_handle_free(MPI_T_pvar_session pe_session, MPI_T_pvar_handle *handle)
{
    struct session *session = find_session(pe_session);
    if (!session)
        return MPI_T_ERR_INVALID_SESSION;
    struct handle *found = handle ? find_handle(session, *handle) : NULL;
    if (!found)
        return MPI_T_ERR_INVALID_HANDLE;
    free_handle(found);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

/* Applies an action to one handle, or to all handles that allow it. */
static int apply(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle,
                 int (*act)(struct handle *handle))
{
    struct session *session = find_session(pe_session);
    if (!session)
        return MPI_T_ERR_INVALID_SESSION;
    if (handle != MPI_T_PVAR_ALL_HANDLES) {
        struct handle *found = find_handle(session, handle);
        return found ? act(found) : MPI_T_ERR_INVALID_HANDLE;
    }
    for (struct tern_list_node *link = session->handles.next; link != &session->handles;
         link = link->next)
        if (!is_continuous(handle_at(link)->variable))
            act(handle_at(link));
    return MPI_SUCCESS;
}

int tern_mpi_t_pvar_start(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle)
{
    return apply(pe_session, handle, start);
}

int tern_mpi_t_pvar_stop(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle)
{
    return apply(pe_session, handle, stop);
}

int tern_mpi_t_pvar_reset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle)
{
    return apply(pe_session, handle, reset);
}

/* Finds a handle, and checks the buffer for its values. */
static int find_for_buffer(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, const void *buf,
                           struct handle **ret_handle)
{
    struct session *session = find_session(pe_session);
    if (!session)
        return MPI_T_ERR_INVALID_SESSION;
    *ret_handle = find_handle(session, handle);
    if (!*ret_handle)
        return MPI_T_ERR_INVALID_HANDLE;
    return buf ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int tern_mpi_t_pvar_read(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void *buf)
{
    struct handle *found;
    int rc = find_for_buffer(pe_session, handle, buf, &found);
    if (rc)
        return rc;
    update(found);
    give(found, buf);
    return MPI_SUCCESS;
}

int tern_mpi_t_pvar_write(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, const void *buf)
{
    struct handle *found;
    int rc = find_for_buffer(pe_session, handle, buf, &found);
    if (rc)
        return rc;
    if (is_continuous(found->variable))
        return MPI_T_ERR_PVAR_NO_WRITE;
    update(found);
    for (int i = 0; i < found->count; i++)
        found->value[i] = found->variable->kind == TERN_VARIABLE_SECONDS
                              ? (uint64_t)(((const double *)buf)[i] * 1e9)
                              : ((const unsigned long long *)buf)[i];
    return MPI_SUCCESS;
}

int tern_mpi_t_pvar_readreset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void *buf)
{
    struct handle *found;
    int rc = find_for_buffer(pe_session, handle, buf, &found);
    if (rc)
        return rc;
    if (is_continuous(found->variable))
        return MPI_T_ERR_PVAR_NO_WRITE;
    if (!tern_variable_counts(found->variable))
        return MPI_T_ERR_PVAR_NO_ATOMIC;
    update(found);
    give(found, buf);
    memset(found->value, 0, (size_t)found->count * sizeof *found->value);
    return MPI_SUCCESS;
}
