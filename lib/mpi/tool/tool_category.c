/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Categories (MPI-4.1 section 15.3.9). A category is a room of parameters, with the performance
 * variables and events that name the room. btl_shm lies inside btl. Categories never change.
 */

#include "lib/mpi/tool/tool.h"

#include "lib/settings/param.h"

#include <string.h>

#include "lib/mpi/procedures.h"

static int category_count(void)
{
    int count = 0;
    while (tern_param_rooms[count])
        count++;
    return count;
}

/* Returns the category at `index`, or NULL if there are fewer. */
static const struct tern_param_room *category(int index)
{
    return index >= 0 && index < category_count() ? tern_param_rooms[index] : NULL;
}

/* Returns true if `room` lies directly inside `outer`: if `outer` is the longest name of a room
 * that `room` begins with. */
static bool lies_in(const char *room, const char *outer)
{
    const char *longest = "";
    for (int i = 0; tern_param_rooms[i]; i++) {
        const char *name = tern_param_rooms[i]->name;
        size_t length = strlen(name);
        if (strncmp(room, name, length) == 0 && room[length] == '_' && length > strlen(longest))
            longest = name;
    }
    return strcmp(longest, outer) == 0;
}

/* Returns the number of members of one kind in the category, and stores the first `len` indices. */
static int list_members(const char *category, int count, const char *(*room_of)(int index), int len,
                        int indices[])
{
    int found = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(room_of(i), category) != 0)
            continue;
        if (found < len)
            indices[found] = i;
        found++;
    }
    return found;
}

static const char *cvar_room(int index)
{
    const struct tern_param_room *room = NULL;
    tern_param_at(index, &room);
    return room->name;
}

static int list_cvars(const char *name, int len, int indices[])
{
    int count = 0;
    while (tern_param_at(count, NULL))
        count++;
    return list_members(name, count, cvar_room, len, indices);
}

static int list_pvars(const char *name, int len, int indices[])
{
    return list_members(name, tern_tool_variable_count(), tern_tool_variable_room, len, indices);
}

static int list_events(const char *name, int len, int indices[])
{
    return list_members(name, tern_tool_event_count(), tern_tool_event_room, len, indices);
}

static int list_categories(const char *name, int len, int indices[])
{
    int found = 0;
    for (int i = 0; i < category_count(); i++) {
        if (!lies_in(category(i)->name, name))
            continue;
        if (found < len)
            indices[found] = i;
        found++;
    }
    return found;
}

int tern_mpi_t_category_get_num(int *num_cat)
{
    if (!num_cat)
        return MPI_T_ERR_INVALID;
    *num_cat = category_count();
    return MPI_SUCCESS;
}

int tern_mpi_t_category_get_info(int cat_index, char *name, int *name_len, char *desc,
                                 int *desc_len, int *num_cvars, int *num_pvars, int *num_categories)
{
    const struct tern_param_room *room = category(cat_index);
    if (!room)
        return MPI_T_ERR_INVALID_INDEX;
    tern_tool_give_string(room->name, name, name_len);
    tern_tool_give_string(room->help ? room->help : "", desc, desc_len);
    tern_tool_give_int(num_cvars, list_cvars(room->name, 0, NULL));
    tern_tool_give_int(num_pvars, list_pvars(room->name, 0, NULL));
    tern_tool_give_int(num_categories, list_categories(room->name, 0, NULL));
    return MPI_SUCCESS;
}

int tern_mpi_t_category_get_num_events(int cat_index, int *num_events)
{
    const struct tern_param_room *room = category(cat_index);
    if (!room)
        return MPI_T_ERR_INVALID_INDEX;
    if (!num_events)
        return MPI_T_ERR_INVALID;
    *num_events = list_events(room->name, 0, NULL);
    return MPI_SUCCESS;
}

int tern_mpi_t_category_get_index(const char *name, int *cat_index)
{
    if (!name || !cat_index)
        return MPI_T_ERR_INVALID;
    for (int i = 0; i < category_count(); i++)
        if (strcmp(category(i)->name, name) == 0) {
            *cat_index = i;
            return MPI_SUCCESS;
        }
    return MPI_T_ERR_INVALID_NAME;
}

static int give_members(int cat_index, int len, int indices[],
                        int (*list)(const char *name, int len, int indices[]))
{
    const struct tern_param_room *room = category(cat_index);
    if (!room)
        return MPI_T_ERR_INVALID_INDEX;
    if (len < 0 || (len > 0 && !indices))
        return MPI_T_ERR_INVALID;
    list(room->name, len, indices);
    return MPI_SUCCESS;
}

int tern_mpi_t_category_get_cvars(int cat_index, int len, int indices[])
{
    return give_members(cat_index, len, indices, list_cvars);
}

int tern_mpi_t_category_get_pvars(int cat_index, int len, int indices[])
{
    return give_members(cat_index, len, indices, list_pvars);
}

int tern_mpi_t_category_get_events(int cat_index, int len, int indices[])
{
    return give_members(cat_index, len, indices, list_events);
}

int tern_mpi_t_category_get_categories(int cat_index, int len, int indices[])
{
    return give_members(cat_index, len, indices, list_categories);
}

int tern_mpi_t_category_changed(int *update_number)
{
    if (!update_number)
        return MPI_T_ERR_INVALID;
    *update_number = 0;
    return MPI_SUCCESS;
}
