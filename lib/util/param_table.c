/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/param_table.h"

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

const struct tern_param_alias tern_param_aliases[] = {
    {"btl_shm_single_copy", "btl_vader_single_copy_mechanism"},
    {"btl_shm_single_copy", "btl_sm_single_copy_mechanism"},
    {"plm_rsh_agent", "orte_rsh_agent"},
    {"plm_rsh_agent", "pls_rsh_agent"},
    {"plm_rsh_agent", "plm_ssh_agent"},
    {"plm_rsh_args", "plm_ssh_args"},
    {"plm_rsh_no_tree_spawn", "plm_ssh_no_tree_spawn"},
    {"plm_rsh_disable_qrsh", "plm_ssh_disable_qrsh"},
    {0},
};

const struct tern_param *tern_param_at(int index, const struct tern_param_room **ret_room)
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
    const struct tern_param *param;
    for (int index = 0; (param = tern_param_at(index, NULL)); index++)
        if (strcmp(param->name, name) == 0)
            return index;
    return -1;
}

const struct tern_param *tern_param_find(const char *name)
{
    return tern_param_at(tern_param_index(name), NULL);
}
