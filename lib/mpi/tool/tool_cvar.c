/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Control variables: every parameter is one, with the parameter's index (lib/settings/param.h). A
 * parameter with choices is an int with an enumeration. Other texts are strings, and sizes are
 * unsigned long long.
 *
 * Most parameters are read when the library starts for the first time. So a tool sets them before
 * MPI_Init and MPI_Session_init; later it gets MPI_T_ERR_CVAR_SET_NEVER. The other parameters may
 * change at any time.
 */

#include "lib/mpi/object/running.h"
#include "lib/mpi/tool/tool.h"

#include "lib/util/base/event.h"
#include "lib/settings/param.h"
#include "lib/settings/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/mpi/procedures.h"

/* What an MPI_T_cvar_handle points to. */
struct cvar_handle {
    struct tern_list_node link;
    int index;
    int count; /* number of elements: characters of a string, else 1 */
};

static struct tern_list_node handles = {&handles, &handles};

enum { STRING_LEAST = 256 };

static MPI_Datatype datatype_of(const struct tern_setting *param)
{
    if (param->type == TERN_PARAM_SIZE)
        return MPI_UNSIGNED_LONG_LONG;
    return param->type == TERN_PARAM_STRING && !param->choices ? MPI_CHAR : MPI_INT;
}

static const struct tern_tool_enum *enum_of(const struct tern_setting *param, int index)
{
    return param->type == TERN_PARAM_BOOL ? &tern_tool_boolean : tern_tool_param_choices(index);
}

int tern_mpi_t_cvar_get_num(int *num_cvar)
{
    int count = 0;
    if (!num_cvar)
        return MPI_T_ERR_INVALID;
    while (tern_param_at(count, NULL))
        count++;
    *num_cvar = count;
    return MPI_SUCCESS;
}

/* Returns true if the parameter was read when the library started, so that it cannot be written any
 * more. */
static bool is_settled(const struct tern_setting *param)
{
    return param->when == TERN_PARAM_AT_START && tern_library_known;
}

static int scope_of(const struct tern_setting *param)
{
    if (is_settled(param))
        return MPI_T_SCOPE_READONLY;
    return param->scope == TERN_PARAM_ALL_EQUAL ? MPI_T_SCOPE_ALL_EQ : MPI_T_SCOPE_LOCAL;
}

int tern_mpi_t_cvar_get_info(int cvar_index, char *name, int *name_len, int *verbosity,
                             MPI_Datatype *datatype, MPI_T_enum *enumtype, char *desc,
                             int *desc_len, int *bind, int *scope)
{
    const struct tern_setting *param = tern_param_at(cvar_index, NULL);
    if (!param)
        return MPI_T_ERR_INVALID_INDEX;
    tern_tool_give_string(param->name, name, name_len);
    tern_tool_give_string(param->help, desc, desc_len);
    tern_tool_give_int(verbosity, param->internal ? MPI_T_VERBOSITY_MPIDEV_ALL
                                                  : MPI_T_VERBOSITY_TUNER_BASIC);
    tern_tool_give_int(bind, MPI_T_BIND_NO_OBJECT);
    tern_tool_give_int(scope, scope_of(param));
    if (datatype)
        *datatype = datatype_of(param);
    if (enumtype)
        *enumtype = (MPI_T_enum)enum_of(param, cvar_index);
    return MPI_SUCCESS;
}

int tern_mpi_t_cvar_get_index(const char *name, int *cvar_index)
{
    if (!name || !cvar_index)
        return MPI_T_ERR_INVALID;
    int index = tern_param_index(name);
    if (index < 0)
        return MPI_T_ERR_INVALID_NAME;
    *cvar_index = index;
    return MPI_SUCCESS;
}

static struct cvar_handle *find_handle(MPI_T_cvar_handle wanted)
{
    for (struct tern_list_node *link = handles.next; link != &handles; link = link->next)
        if ((void *)wanted == TERN_CONTAINER(link, struct cvar_handle, link))
            return (void *)wanted;
    return NULL;
}

static const char *text_of(const struct tern_setting *param)
{
    const char *text = tern_param_string(param->name);
    return text ? text : "";
}

/* Makes a handle. Ignores obj_handle, because no variable is bound to an object. */
int tern_mpi_t_cvar_handle_alloc(int cvar_index, void *obj_handle, MPI_T_cvar_handle *handle,
                                 int *count)
{
    const struct tern_setting *param = tern_param_at(cvar_index, NULL);
    (void)obj_handle;
    if (!param)
        return MPI_T_ERR_INVALID_INDEX;
    if (!handle || !count)
        return MPI_T_ERR_INVALID;
    struct cvar_handle *made = malloc(sizeof *made);
    if (!made)
        return MPI_T_ERR_OUT_OF_HANDLES;
    made->index = cvar_index;
    made->count = 1;
    if (datatype_of(param) == MPI_CHAR) {
        int length = (int)strlen(text_of(param)) + 1;
        made->count = length > STRING_LEAST ? length : STRING_LEAST;
    }
    tern_list_append(&handles, &made->link);
    *handle = (MPI_T_cvar_handle)made;
    *count = made->count;
    return MPI_SUCCESS;
}

static void free_handle(struct cvar_handle *handle)
{
    tern_list_remove(&handle->link);
    free(handle);
}

int tern_mpi_t_cvar_handle_free(MPI_T_cvar_handle *handle)
{
    struct cvar_handle *found = handle ? find_handle(*handle) : NULL;
    if (!found)
        return MPI_T_ERR_INVALID_HANDLE;
    free_handle(found);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return MPI_SUCCESS;
}

void tern_tool_cvar_clear(void)
{
    while (!tern_list_empty(&handles))
        free_handle(TERN_CONTAINER(handles.next, struct cvar_handle, link));
}

int tern_mpi_t_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
    struct cvar_handle *found = find_handle(handle);
    if (!found)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!buf)
        return MPI_T_ERR_INVALID;
    const struct tern_setting *param = tern_param_at(found->index, NULL);
    if (param->choices) {
        int choice = tern_param_choice(param->name);
        /* a wrong choice is ignored, or MPI does not start */
        *(int *)buf = choice < 0 ? 0 : choice;
    } else if (param->type == TERN_PARAM_STRING) {
        snprintf(buf, (size_t)found->count, "%s", text_of(param));
    } else if (param->type == TERN_PARAM_SIZE) {
        *(unsigned long long *)buf = (unsigned long long)tern_param_int(param->name);
    } else {
        *(int *)buf = (int)tern_param_int(param->name);
    }
    return MPI_SUCCESS;
}

/* Turns the value in `buf` into the text of a parameter. Returns false if the parameter cannot have
 * this value. */
static bool text_of_value(const struct tern_setting *param, const struct cvar_handle *handle,
                          const void *buf, char *text)
{
    if (param->choices)
        return tern_param_choice_name(param, *(const int *)buf, text, (size_t)handle->count + 64);
    if (param->type == TERN_PARAM_STRING)
        return snprintf(text, (size_t)handle->count, "%.*s", handle->count, (const char *)buf) <
               handle->count;
    if (param->type == TERN_PARAM_SIZE)
        return snprintf(text, (size_t)handle->count + 64, "%llu",
                        *(const unsigned long long *)buf) > 0;
    return snprintf(text, (size_t)handle->count + 64, "%d", *(const int *)buf) > 0;
}

static int write_value(MPI_T_cvar_handle handle, const void *buf, int *ret_index)
{
    struct cvar_handle *found = find_handle(handle);
    if (!found)
        return MPI_T_ERR_INVALID_HANDLE;
    if (!buf)
        return MPI_T_ERR_INVALID;
    const struct tern_setting *param = tern_param_at(found->index, NULL);
    if (is_settled(param))
        return MPI_T_ERR_CVAR_SET_NEVER;
    if (param->when == TERN_PARAM_AT_START && tern_world == TERN_WORLD_STARTING)
        return MPI_T_ERR_CVAR_SET_NOT_NOW; /* another thread is reading the parameters */
    char *text = malloc((size_t)found->count + 64);
    if (!text)
        return MPI_T_ERR_MEMORY;
    int rc = text_of_value(param, found, buf, text) && tern_param_write(param->name, text) == 0
                 ? MPI_SUCCESS
                 : MPI_T_ERR_INVALID;
    free(text);
    *ret_index = found->index;
    return rc;
}

/* Writes a variable. Takes the mutex itself, because callbacks that listen to the change run
 * without it. */
int tern_mpi_t_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
    int index, rc = tern_tool_enter();
    if (rc)
        return rc;
    rc = write_value(handle, buf, &index);
    tern_tool_leave();
    if (rc == MPI_SUCCESS && tern_event_wanted(TERN_EVENT_PARAM))
        tern_event_raise(TERN_EVENT_PARAM, NULL, (int64_t[]){index});
    return rc;
}
