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
    &tern_params_mpi,
    &tern_params_check,
    &tern_params_btl,
    &tern_params_btl_shm,
    &tern_params_btl_ofi,
    &tern_params_btl_tcp,
    &tern_params_pml,
    &tern_params_coll,
    &tern_params_accel,
    &tern_params_rma,
    &tern_params_io,
    &tern_params_topo,
    &tern_params_launch,
    NULL,
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

bool tern_setting_name(const struct tern_setting *setting, int index, char *ret_name, size_t room)
{
    const char *at = setting->also ? setting->also : "";
    if (index == 0)
        return snprintf(ret_name, room, "%s", setting->name) >= 0;
    for (; --index > 0; at += strspn(at, " "))
        at += strcspn(at, " ");
    return *at && snprintf(ret_name, room, "%.*s", (int)strcspn(at, " "), at) >= 0;
}

bool tern_setting_is_called(const struct tern_setting *setting, const char *name)
{
    char own[128];
    for (int i = 0; tern_setting_name(setting, i, own, sizeof own); i++)
        if (strcmp(own, name) == 0)
            return true;
    return false;
}

const struct tern_setting *tern_param_find(const char *name)
{
    const struct tern_setting *param;
    for (int index = 0; (param = tern_param_at(index, NULL)); index++)
        if (strcmp(param->name, name) == 0 ||
            (param->also && tern_setting_is_called(param, name)))
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
