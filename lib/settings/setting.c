/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/settings/setting.h"

#include "lib/util/base/text.h"

#include <stdio.h>
#include <string.h>

extern const struct tern_param_room tern_params_mpi, tern_params_check, tern_params_btl,
    tern_params_btl_shm, tern_params_btl_ofi, tern_params_btl_tcp, tern_params_pml,
    tern_params_coll, tern_params_rma, tern_params_io, tern_params_topo, tern_params_launch,
    tern_params_accel;

const struct tern_param_room *const tern_param_rooms[] = {
    &tern_params_mpi,     &tern_params_check,
    &tern_params_btl,     &tern_params_btl_shm,
    &tern_params_btl_ofi, &tern_params_btl_tcp,
    &tern_params_pml,     &tern_params_coll,
    &tern_params_accel,   &tern_params_rma,
    &tern_params_io,      &tern_params_topo,
    &tern_params_launch,  NULL,
};

const struct tern_setting *tern_param_at(int index, const struct tern_param_room **ret_room)
{
    for (const struct tern_param_room *const *room = tern_param_rooms; *room; room++) {
        if (index < (*room)->count) {
            if (ret_room)
                *ret_room = *room;
            return index < 0 ? NULL : &(*room)->params[index];
        }
        index -= (*room)->count;
    }
    return NULL;
}

int tern_param_index(const char *name)
{
    const struct tern_setting *param;
    for (int index = 0; (param = tern_param_at(index, NULL)); index++)
        if (strcmp(param->name, name) == 0)
            return index;
    return -1;
}

/* Returns the next name of a setting, which a blank or a 0 ends, and its length; NULL if there is
 * none. *at is NULL at first. */
static const char *next_name(const struct tern_setting *setting, const char **at, size_t *ret_size)
{
    const char *also = setting->also ? setting->also : "";
    bool first = !*at && setting->name;
    const char *name = first ? setting->name : *at ? *at : also;
    *ret_size = strcspn(name, " ");
    *at = first ? also : name + *ret_size;
    *at += strspn(*at, " ");
    return *name ? name : NULL;
}

bool tern_setting_name(const struct tern_setting *setting, int index, char *ret_name, size_t room)
{
    static const char orte[] = "orte_";
    size_t size;
    for (int prte = 0; prte <= (setting->launcher ? 1 : 0); prte++) {
        const char *name, *at = NULL;
        while ((name = next_name(setting, &at, &size))) {
            if ((prte && strncmp(name, orte, strlen(orte))) || index-- > 0)
                continue;
            size = size < room ? size : room - 1;
            memcpy(ret_name, name, size);
            ret_name[size] = '\0';
            *ret_name = prte ? 'p' : *ret_name;
            return true;
        }
    }
    return false;
}

bool tern_setting_is_called(const struct tern_setting *setting, const char *name)
{
    char orte[128];
    if ((setting->name && strcmp(setting->name, name) == 0) ||
        tern_text_find_word(setting->also, " ", name, strlen(name)))
        return true;
    if (!setting->launcher || strncmp(name, "prte_", 5) || strlen(name) >= sizeof orte)
        return false;
    snprintf(orte, sizeof orte, "o%s", name + 1);
    return tern_setting_is_called(setting, orte);
}

const struct tern_setting *tern_param_find(const char *name)
{
    const struct tern_setting *param;
    for (int index = 0; (param = tern_param_at(index, NULL)); index++)
        if (tern_setting_is_called(param, name))
            return param;
    return NULL;
}

const char *tern_param_nearest(const char *name)
{
    int most = 1 + (int)strlen(name) / 4; /* at a larger distance it is another word */
    const char *nearest = NULL;
    const struct tern_setting *param;
    for (int index = 0; (param = tern_param_at(index, NULL)); index++) {
        int distance = tern_text_distance(name, param->name);
        if (distance <= most) {
            most = distance - 1;
            nearest = param->name;
        }
    }
    return nearest;
}

void tern_nearest_try(struct tern_nearest *nearest, const struct tern_setting *setting)
{
    enum { SHORTEST = 3 }; /* a shorter name is near to any short word */
    char name[sizeof nearest->name];
    for (int n = 0; tern_setting_name(setting, n, name, sizeof name); n++) {
        int distance = tern_text_distance(nearest->to, name);
        if (strlen(name) < SHORTEST || distance > nearest->most)
            continue;
        nearest->most = distance - 1;
        memcpy(nearest->name, name, sizeof name);
    }
}
