/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events (MPI-4.1 section 15.3.8).
 *
 * The library raises an event where it happens, deep inside and with its locks held. So a callback
 * for messages and collectives must be registered as calling nothing of MPI but MPI_T_event_* and
 * MPI_T_pvar_* (MPI_T_CB_REQUIRE_MPI_RESTRICTED). If the program has MPI_THREAD_MULTIPLE, the
 * callback must be registered as thread-safe. An event is dropped and counted if a tool has only
 * callbacks of lower levels, or if the event happens inside one of the tool's callbacks.
 *
 * Callbacks run without the tools' mutex, because they have locks of their own and may hold them
 * when they call MPI_T. So a registration is counted as used while one of its callbacks runs.
 * Freeing the registration takes effect when its last callback has returned.
 */

#include "lib/mpi/tool/tool.h"

#include "lib/coll/plan/plan.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/object/info.h"
#include "lib/pml/pml.h"
#include "lib/util/base/event.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/mpi/procedures.h"

enum { ELEMENTS_MAX = 5, LEVELS = MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE + 1 };

/* ---- sources and types ---- */

enum source { SOURCE_MESSAGES, SOURCE_COLLECTIVES, SOURCE_TOOLS, SOURCES };

static const struct {
    const char *name, *help;
} sources[SOURCES] = {
    [SOURCE_MESSAGES] = {"messages", "Point to point messages, including those of collectives."},
    [SOURCE_COLLECTIVES] = {"collectives", "Collective operations of this process."},
    [SOURCE_TOOLS] = {"tools", "What tools do."},
};

enum element { INT, LONG }; /* MPI_INT, MPI_UNSIGNED_LONG_LONG */

static const struct type {
    const char *name, *room, *help;
    enum source source;
    int bind;
    const struct tern_tool_enum *items;
    int count;
    enum element elements[ELEMENTS_MAX];
} types[TERN_EVENTS] = {
    [TERN_EVENT_UNEXPECTED] =
        {"pml_message_unexpected",
         "pml",
         "A message arrived before its receive was posted. Elements: source (rank in its "
         "communicator), tag, 1 for a message of a collective, bytes, length of the queue "
         "including this message.",
         SOURCE_MESSAGES,
         MPI_T_BIND_NO_OBJECT,
         NULL,
         5,
         {INT, INT, INT, LONG, LONG}},
    [TERN_EVENT_RENDEZVOUS] =
        {"pml_rendezvous_started",
         "pml",
         "A message was announced to its receiver; its data stay in the sender's memory until the "
         "receiver is ready. Elements: destination (rank in its communicator), tag, 1 for a "
         "message of a collective, bytes.",
         SOURCE_MESSAGES,
         MPI_T_BIND_NO_OBJECT,
         NULL,
         4,
         {INT, INT, INT, LONG}},
    [TERN_EVENT_COLLECTIVE] =
        {"coll_started",
         "coll",
         "A collective starts on the communicator. Elements: the collective (an item of the "
         "enumeration), the algorithm (an item of the enumeration of the variable "
         "coll_NAME_algorithm; 0 if there is only one).",
         SOURCE_COLLECTIVES,
         MPI_T_BIND_MPI_COMM,
         &tern_tool_collectives,
         2,
         {INT, INT}},
    [TERN_EVENT_PARAM] = {"mpi_cvar_changed",
                          "mpi",
                          "A tool has written a control variable. Element: its index.",
                          SOURCE_TOOLS,
                          MPI_T_BIND_NO_OBJECT,
                          NULL,
                          1,
                          {INT}},
};

static size_t size_of(enum element element)
{
    return element == INT ? sizeof(int) : sizeof(unsigned long long);
}

/* Returns the offset of an element. The elements lie one after the other, each at a multiple of its
 * size. */
static size_t displacement(const struct type *type, int element)
{
    size_t at = 0;
    for (int i = 0;; i++) {
        size_t size = size_of(type->elements[i]);
        at = (at + size - 1) / size * size;
        if (i == element)
            return at;
        at += size;
    }
}

static MPI_Count nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

int tern_tool_event_count(void)
{
    return TERN_EVENTS;
}

const char *tern_tool_event_room(int index)
{
    return types[index].room;
}

static bool is_source(int index)
{
    return index >= 0 && index < SOURCES;
}

static bool is_type(int index)
{
    return index >= 0 && index < TERN_EVENTS;
}

/* Returns an empty info object, because no hints are used yet. The caller frees it. */
static int give_no_hints(MPI_Info *info)
{
    if (!info)
        return MPI_SUCCESS;
    struct tern_info *made = tern_info_new();
    if (!made)
        return MPI_T_ERR_MEMORY;
    *info = (MPI_Info)made->obj.handle;
    return MPI_SUCCESS;
}

int tern_mpi_t_source_get_num(int *num_sources)
{
    if (!num_sources)
        return MPI_T_ERR_INVALID;
    *num_sources = SOURCES;
    return MPI_SUCCESS;
}

int tern_mpi_t_source_get_info(int source_index, char *name, int *name_len, char *desc,
                               int *desc_len, MPI_T_source_order *ordering,
                               MPI_Count *ticks_per_second, MPI_Count *max_ticks, MPI_Info *info)
{
    if (!is_source(source_index))
        return MPI_T_ERR_INVALID_INDEX;
    tern_tool_give_string(sources[source_index].name, name, name_len);
    tern_tool_give_string(sources[source_index].help, desc, desc_len);
    if (ordering) /* threads raise events at the same time */
        *ordering = tern_threads ? MPI_T_SOURCE_UNORDERED : MPI_T_SOURCE_ORDERED;
    if (ticks_per_second)
        *ticks_per_second = 1000000000;
    if (max_ticks)
        *max_ticks = LLONG_MAX;
    return give_no_hints(info);
}

int tern_mpi_t_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
    if (!is_source(source_index))
        return MPI_T_ERR_INVALID_INDEX;
    if (!timestamp)
        return MPI_T_ERR_INVALID;
    *timestamp = nanoseconds();
    return MPI_SUCCESS;
}

int tern_mpi_t_event_get_num(int *num_events)
{
    if (!num_events)
        return MPI_T_ERR_INVALID;
    *num_events = TERN_EVENTS;
    return MPI_SUCCESS;
}

int tern_mpi_t_event_get_info(int event_index, char *name, int *name_len, int *verbosity,
                              MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                              int *num_elements, MPI_T_enum *enumtype, MPI_Info *info, char *desc,
                              int *desc_len, int *bind)
{
    if (!is_type(event_index))
        return MPI_T_ERR_INVALID_INDEX;
    const struct type *type = &types[event_index];
    tern_tool_give_string(type->name, name, name_len);
    tern_tool_give_string(type->help, desc, desc_len);
    tern_tool_give_int(verbosity, MPI_T_VERBOSITY_USER_DETAIL);
    tern_tool_give_int(bind, type->bind);
    if (enumtype)
        *enumtype = (MPI_T_enum)type->items;
    for (int i = 0; num_elements && i < type->count && i < *num_elements; i++) {
        if (array_of_datatypes)
            array_of_datatypes[i] = type->elements[i] == INT ? MPI_INT : MPI_UNSIGNED_LONG_LONG;
        if (array_of_displacements)
            array_of_displacements[i] = (MPI_Aint)displacement(type, i);
    }
    tern_tool_give_int(num_elements, type->count);
    return give_no_hints(info);
}

int tern_mpi_t_event_get_index(const char *name, int *event_index)
{
    if (!name || !event_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; i < TERN_EVENTS; i++)
        if (strcmp(types[i].name, name) == 0) {
            *event_index = i;
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

/* ---- registrations ---- */

/* What an MPI_T_event_registration points to. */
struct registration {
    struct tern_list_node link;
    enum tern_event type;
    /* the communicator that it is bound to, which may be freed; NULL if none */
    const struct tern_comm *comm;
    struct {
        MPI_T_event_cb_function *function; /* NULL if there is no callback of this level */
        void *user_data;
    } callbacks[LEVELS];
    MPI_T_event_dropped_cb_function *dropped_handler;
    MPI_Count dropped; /* events dropped since the handler was called last */
    int used;          /* number of callbacks that run now */
    bool freed;
    MPI_T_event_free_cb_function *free_function;
    void *free_data;
};

static struct tern_list_node registrations = {&registrations, &registrations};

static struct registration *registration_at(struct tern_list_node *link)
{
    return TERN_CONTAINER(link, struct registration, link);
}

static struct registration *find_registration(MPI_T_event_registration wanted)
{
    for (struct tern_list_node *link = registrations.next; link != &registrations;
         link = link->next)
        if ((void *)wanted == registration_at(link) && !registration_at(link)->freed)
            return (void *)wanted;
    return NULL;
}

static void update_mask(void)
{
    uint32_t mask = 0;
    for (struct tern_list_node *link = registrations.next; link != &registrations;
         link = link->next)
        for (int level = 0; level < LEVELS; level++)
            if (registration_at(link)->callbacks[level].function && !registration_at(link)->freed)
                mask |= 1u << registration_at(link)->type;
    __atomic_store_n(&tern_event_mask, mask, __ATOMIC_RELEASE);
}

static void raise_event(enum tern_event type, const void *comm, const int64_t *values);

int tern_mpi_t_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
                                  MPI_T_event_registration *event_registration)
{
    const struct tern_comm *comm = NULL;
    (void)info;
    if (!is_type(event_index))
        return MPI_T_ERR_INVALID_INDEX;
    if (!event_registration)
        return MPI_T_ERR_INVALID;
    if (types[event_index].bind == MPI_T_BIND_MPI_COMM && !(comm = tern_tool_comm_of(obj_handle)))
        return MPI_T_ERR_INVALID;
    struct registration *made = calloc(1, sizeof *made);
    if (!made)
        return MPI_T_ERR_OUT_OF_HANDLES;
    made->type = (enum tern_event)event_index;
    made->comm = comm;
    tern_list_append(&registrations, &made->link);
    if (!tern_event_raise)
        tern_event_raise = raise_event;
    *event_registration = (MPI_T_event_registration)made;
    return MPI_SUCCESS;
}

int tern_mpi_t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info)
{
    (void)info;
    return find_registration(event_registration) ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

int tern_mpi_t_event_handle_get_info(MPI_T_event_registration event_registration,
                                     MPI_Info *info_used)
{
    if (!find_registration(event_registration))
        return MPI_T_ERR_INVALID_HANDLE;
    return info_used ? give_no_hints(info_used) : MPI_T_ERR_INVALID;
}

static bool is_level(MPI_T_cb_safety level)
{
    return (int)level >= 0 && (int)level < LEVELS;
}

/* Registers a callback for a level. A NULL function removes the callback of this level. */
int tern_mpi_t_event_register_callback(MPI_T_event_registration event_registration,
                                       MPI_T_cb_safety cb_safety, MPI_Info info, void *user_data,
                                       MPI_T_event_cb_function event_cb_function)
{
    struct registration *found = find_registration(event_registration);
    (void)info;
    if (!found)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!is_level(cb_safety))
        return MPI_T_ERR_INVALID;
    found->callbacks[cb_safety].function = event_cb_function;
    found->callbacks[cb_safety].user_data = user_data;
    update_mask();
    return MPI_SUCCESS;
}

static int check_callback(MPI_T_event_registration registration, MPI_T_cb_safety level)
{
    const struct registration *found = find_registration(registration);
    if (!found)
        return MPI_T_ERR_INVALID_HANDLE;
    return is_level(level) && found->callbacks[level].function ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int tern_mpi_t_event_callback_set_info(MPI_T_event_registration event_registration,
                                       MPI_T_cb_safety cb_safety, MPI_Info info)
{
    (void)info;
    return check_callback(event_registration, cb_safety);
}

int tern_mpi_t_event_callback_get_info(MPI_T_event_registration event_registration,
                                       MPI_T_cb_safety cb_safety, MPI_Info *info_used)
{
    int rc = check_callback(event_registration, cb_safety);
    if (rc)
        return rc;
    return info_used ? give_no_hints(info_used) : MPI_T_ERR_INVALID;
}

int tern_mpi_t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                         MPI_T_event_dropped_cb_function dropped_cb_function)
{
    struct registration *found = find_registration(event_registration);
    if (!found)
        return MPI_T_ERR_INVALID_HANDLE;
    found->dropped_handler = dropped_cb_function;
    return MPI_SUCCESS;
}

/* Completes the freeing of a registration. Needs the mutex, and releases it while it calls the
 * tool. */
static void finish_free(struct registration *registration, MPI_T_cb_safety level)
{
    tern_list_remove(&registration->link);
    tern_tool_unlock();
    if (registration->free_function)
        registration->free_function((MPI_T_event_registration)registration, level,
                                    registration->free_data);
    free(registration);
    tern_tool_lock();
}

/* Frees a registration. Takes the mutex itself. */
int tern_mpi_t_event_handle_free(MPI_T_event_registration event_registration, void *user_data,
                                 MPI_T_event_free_cb_function free_cb_function)
{
    int rc = tern_tool_enter();
    if (rc)
        return rc;
    struct registration *found = find_registration(event_registration);
    if (found) {
        found->freed = true;
        found->free_function = free_cb_function;
        found->free_data = user_data;
        update_mask();
        if (found->used == 0)
            finish_free(found, MPI_T_CB_REQUIRE_NONE);
    }
    tern_tool_leave();
    return found ? MPI_SUCCESS : MPI_T_ERR_INVALID_HANDLE;
}

void tern_tool_event_clear(void)
{
    for (struct tern_list_node *link = registrations.next, *next; link != &registrations;
         link = next) {
        struct registration *registration = registration_at(link);
        next = link->next;
        registration->freed = true;
        if (registration->used == 0) {
            tern_list_remove(link);
            free(registration);
        }
    }
    update_mask();
}

/* ---- raising ---- */

/* What an MPI_T_event_instance points to. It lies on the stack of the function that raises the
 * event. */
struct instance {
    const struct type *type;
    const int64_t *values;
    MPI_Count time;
};
static __thread const struct instance *current; /* not NULL while this thread is in a callback */

static MPI_T_cb_safety level_of(enum tern_event type)
{
    if (type == TERN_EVENT_PARAM)
        return MPI_T_CB_REQUIRE_NONE; /* raised outside of the library's locks */
    return tern_threads ? MPI_T_CB_REQUIRE_THREAD_SAFE : MPI_T_CB_REQUIRE_MPI_RESTRICTED;
}

/* Returns the lowest level that has a callback and is safe enough; LEVELS if there is none. */
static int choose_callback(const struct registration *registration, MPI_T_cb_safety level)
{
    int chosen = (int)level;
    while (chosen < LEVELS && !registration->callbacks[chosen].function)
        chosen++;
    return chosen;
}

/* Tells the tool how many events were dropped. Needs the mutex, and releases it meanwhile. */
static void tell_dropped(struct registration *registration, MPI_T_cb_safety level, void *user_data)
{
    MPI_Count count = registration->dropped;
    MPI_T_event_dropped_cb_function *handler = registration->dropped_handler;
    if (!count || !handler)
        return;
    registration->dropped = 0;
    tern_tool_unlock();
    handler(count, (MPI_T_event_registration)registration, types[registration->type].source, level,
            user_data);
    tern_tool_lock();
}

static void tell(struct registration *registration, const struct instance *instance)
{
    MPI_T_cb_safety level = level_of(registration->type);
    int chosen = choose_callback(registration, level);
    void *user_data = chosen < LEVELS ? registration->callbacks[chosen].user_data : NULL;
    if (chosen == LEVELS || current) {
        registration->dropped++;
        if (!current)
            tell_dropped(registration, level, user_data);
        return;
    }
    MPI_T_event_cb_function *function = registration->callbacks[chosen].function;
    current = instance;
    tell_dropped(registration, level, user_data);
    tern_tool_unlock();
    function((MPI_T_event_instance)instance, (MPI_T_event_registration)registration, level,
             user_data);
    tern_tool_lock();
    current = NULL;
}

static bool listens(const struct registration *registration, enum tern_event type, const void *comm)
{
    if (registration->type != type || registration->freed)
        return false;
    if (types[type].bind == MPI_T_BIND_MPI_COMM && registration->comm != comm)
        return false;
    return choose_callback(registration, MPI_T_CB_REQUIRE_NONE) < LEVELS;
}

static void raise_event(enum tern_event type, const void *comm, const int64_t *values)
{
    struct instance instance = {&types[type], values, nanoseconds()};
    tern_tool_lock();
    for (struct tern_list_node *link = registrations.next, *next; link != &registrations;
         link = next) {
        struct registration *registration = registration_at(link);
        if (!listens(registration, type, comm)) {
            next = link->next;
            continue;
        }
        registration->used++; /* keeps it in the list */
        tell(registration, &instance);
        next = link->next;
        if (--registration->used == 0 && registration->freed)
            finish_free(registration, level_of(type));
    }
    tern_tool_unlock();
}

void tern_tool_event_forget_comm(const struct tern_comm *comm)
{
    for (struct tern_list_node *link = registrations.next; link != &registrations;
         link = link->next)
        if (registration_at(link)->comm == comm)
            registration_at(link)->comm = NULL; /* no event has this */
}

/* ---- reading an event ---- */

static const struct instance *find_instance(MPI_T_event_instance wanted)
{
    return current && (void *)wanted == (const void *)current ? current : NULL;
}

static void copy_element(const struct instance *instance, int element, void *to)
{
    if (instance->type->elements[element] == INT)
        *(int *)to = (int)instance->values[element];
    else
        *(unsigned long long *)to = (unsigned long long)instance->values[element];
}

int tern_mpi_t_event_read(MPI_T_event_instance event_instance, int element_index, void *buffer)
{
    const struct instance *instance = find_instance(event_instance);
    if (!instance)
        return MPI_T_ERR_INVALID_HANDLE;
    if (element_index < 0 || element_index >= instance->type->count)
        return MPI_T_ERR_INVALID_INDEX;
    if (!buffer)
        return MPI_T_ERR_INVALID;
    copy_element(instance, element_index, buffer);
    return MPI_SUCCESS;
}

int tern_mpi_t_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
    const struct instance *instance = find_instance(event_instance);
    if (!instance)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!buffer)
        return MPI_T_ERR_INVALID;
    for (int i = 0; i < instance->type->count; i++)
        copy_element(instance, i, (char *)buffer + displacement(instance->type, i));
    return MPI_SUCCESS;
}

int tern_mpi_t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count *event_timestamp)
{
    const struct instance *instance = find_instance(event_instance);
    if (!instance)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!event_timestamp)
        return MPI_T_ERR_INVALID;
    *event_timestamp = instance->time;
    return MPI_SUCCESS;
}

int tern_mpi_t_event_get_source(MPI_T_event_instance event_instance, int *source_index)
{
    const struct instance *instance = find_instance(event_instance);
    if (!instance)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!source_index)
        return MPI_T_ERR_INVALID;
    *source_index = (int)instance->type->source;
    return MPI_SUCCESS;
}
