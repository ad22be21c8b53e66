/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/tool/tool.h"

#include "lib/coll/plan/plan.h"
#include "lib/mpi/object/comm.h"
#include "lib/settings/param.h"
#include "lib/settings/value.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mpi/procedures.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int tern_tool_started;

static const char *collective_names[TERN_COLLECTIVES]; /* filled in by MPI_T_init_thread */
const struct tern_tool_enum tern_tool_collectives = {"collective", TERN_COLLECTIVES,
                                                     collective_names};

void tern_tool_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void tern_tool_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

int tern_tool_enter(void)
{
    tern_tool_lock();
    if (tern_tool_started)
        return 0;
    tern_tool_unlock();
    return MPI_T_ERR_NOT_INITIALIZED;
}

void tern_tool_leave(void)
{
    tern_tool_unlock();
}

int tern_mpi_t_init_thread(int required, int *provided)
{
    if (!provided)
        return MPI_T_ERR_INVALID;
    tern_tool_lock();
    tern_tool_started++;
    for (int i = 0; i < TERN_COLLECTIVES; i++)
        collective_names[i] = tern_plan_collective_name((enum tern_collective)i);
    tern_tool_unlock();
    *provided = required < MPI_THREAD_SINGLE     ? MPI_THREAD_SINGLE
                : required > MPI_THREAD_MULTIPLE ? MPI_THREAD_MULTIPLE
                                                 : required;
    return MPI_SUCCESS;
}

void tern_tool_give_string(const char *string, char *buffer, int *length)
{
    if (!length)
        return;
    if (buffer && *length > 0)
        snprintf(buffer, (size_t)*length, "%s", string);
    *length = (int)strlen(string) + 1;
}

struct tern_comm *tern_tool_comm_of(const void *object)
{
    const struct tern_handle *handle = object ? *(void *const *)object : NULL;
    struct tern_comm *comm = handle && tern_handle_is(handle, TERN_MAGIC_COMM) ? handle->state
                                                                              : NULL;
    return comm && comm->p2p.peers ? comm : NULL;
}

/* ---- enumerations ---- */

const struct tern_tool_enum tern_tool_boolean = {"boolean", 2,
                                                 (const char *const[]){"false", "true"}};
/* in the order of enum tern_world */
const struct tern_tool_enum tern_tool_states = {
    "mpi_state", 5, (const char *const[]){"not started", "starting", "running", "ending", "ended"}};

/* The enumerations of parameters, by index of the parameter; made when first asked for. */
enum { PARAMS_MAX = 256 };
static struct tern_tool_enum *choices[PARAMS_MAX];

/* Makes an enumeration in one block: the enumeration, its items, their texts. An empty choice means
 * that the library decides. */
static struct tern_tool_enum *make_choices(const struct tern_setting *param)
{
    int count = 0;
    char name[64];
    while (tern_param_choice_name(param, count, name, sizeof name))
        count++;
    struct {
        struct tern_tool_enum head;
        const char *items[];
    } *made = malloc(sizeof *made + (size_t)count * (sizeof *made->items + sizeof name));
    if (!made)
        return NULL;
    char *text = (char *)&made->items[count];
    for (int i = 0; i < count; i++, text += sizeof name) {
        tern_param_choice_name(param, i, text, sizeof name);
        made->items[i] = *text ? text : "automatic";
    }
    made->head = (struct tern_tool_enum){param->name, count, made->items};
    return &made->head;
}

const struct tern_tool_enum *tern_tool_param_choices(int index)
{
    const struct tern_setting *param = tern_param_at(index, NULL);
    if (index >= PARAMS_MAX || !param->choices)
        return NULL;
    if (!choices[index])
        choices[index] = make_choices(param);
    return choices[index];
}

/* Finds an enumeration that this library has given out. Programs may pass any pointer, so reads no
 * other. */
static const struct tern_tool_enum *find_enum(MPI_T_enum enumtype)
{
    const void *wanted = enumtype;
    if (wanted == &tern_tool_boolean || wanted == &tern_tool_states ||
        wanted == &tern_tool_collectives)
        return wanted;
    for (int i = 0; wanted && i < PARAMS_MAX; i++)
        if (wanted == choices[i])
            return wanted;
    return NULL;
}

int tern_mpi_t_enum_get_info(MPI_T_enum enumtype, int *num, char *name, int *name_len)
{
    const struct tern_tool_enum *found = find_enum(enumtype);
    if (!found)
        return MPI_T_ERR_INVALID_HANDLE;
    tern_tool_give_int(num, found->count);
    tern_tool_give_string(found->name, name, name_len);
    return MPI_SUCCESS;
}

int tern_mpi_t_enum_get_item(MPI_T_enum enumtype, int index, int *value, char *name, int *name_len)
{
    const struct tern_tool_enum *found = find_enum(enumtype);
    if (!found)
        return MPI_T_ERR_INVALID_HANDLE;
    if (index < 0 || index >= found->count)
        return MPI_T_ERR_INVALID_INDEX; /* the class _ITEM is deprecated since MPI-4.0 */
    tern_tool_give_int(value, index);
    tern_tool_give_string(found->items[index], name, name_len);
    return MPI_SUCCESS;
}
