/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Names, groups and hints of windows. Of the hints, no_locks spares the progress thread, and
 * alloc_shared_noncontig places the parts of MPI_Win_allocate_shared. The others are stored and can
 * be queried: operations are as ordered and as atomic as any of them asks for.
 */

#include "lib/mpi/object/group.h"
#include "lib/mpi/object/info.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/win/win.h"
#include "lib/util/base/error.h"
#include "lib/util/machine/memory_kinds.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *key, *preset;
    bool lasting; /* has its effect when the window is made; MPI_Win_set_info leaves it */
} known[] = {
    {"no_locks", "false", true},
    {"accumulate_ordering", "rar,raw,war,waw", false},
    {"accumulate_ops", "same_op_no_op", false},
    {"mpi_accumulate_granularity", "1", false},
    {"same_size", "false", false},
    {"same_disp_unit", "false", false},
    {"alloc_shared_noncontig", "false", true},
    {"mpi_minimum_memory_alignment", NULL, true},
};
enum { KNOWN = sizeof known / sizeof *known };

/* Takes the hints of `info`, which may be NULL; `made`: the window is made already. */
static int take_hints(struct tern_win *win, const struct tern_info *info, bool made)
{
    int rc = 0;
    if (!win->hints)
        win->hints = tern_info_new();
    if (!win->hints)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the hints of a window");
    for (int i = 0; info && i < KNOWN && !rc; i++) {
        const char *value = tern_info_find(info, known[i].key);
        if (value && !(made && known[i].lasting))
            rc = tern_info_put(win->hints, known[i].key, value);
    }
    return rc;
}

int tern_win_take_hints(struct tern_win *win, const struct tern_info *info)
{
    return take_hints(win, info, false);
}

bool tern_win_hint(const struct tern_win *win, const char *key)
{
    const char *value = tern_info_find(win->hints, key);
    return value && strcasecmp(value, "true") == 0;
}

int tern_mpi_win_set_info(struct tern_win *win, struct tern_info *info)
{
    return take_hints(win, info, true);
}

int tern_mpi_win_get_info(struct tern_win *win, struct tern_info **ret_info_used)
{
    struct tern_info *info;
    int rc = tern_mpi_info_create(&info);
    if (rc)
        return rc;
    for (int i = 0; i < KNOWN && !rc; i++) {
        const char *value = tern_info_find(win->hints, known[i].key);
        value = value ? value : known[i].preset;
        if (value)
            rc = tern_info_put(info, known[i].key, value);
    }
    if (!rc)
        rc = tern_info_put(info, "mpi_memory_alloc_kinds", tern_memory_kinds);
    if (rc)
        tern_info_release(info);
    else
        *ret_info_used = info;
    return rc;
}

int tern_mpi_win_get_group(struct tern_win *win, struct tern_group **ret_group)
{
    tern_group_retain(win->comm->group);
    *ret_group = win->comm->group;
    return 0;
}

int tern_mpi_win_set_name(struct tern_win *win, const char *win_name)
{
    snprintf(win->name, sizeof win->name, "%s", win_name);
    /* so that mpirun --where names it */
    snprintf(win->comm->name, sizeof win->comm->name, "%s", *win_name ? win_name : "a window");
    return 0;
}

int tern_mpi_win_get_name(struct tern_win *win, char *win_name, int *resultlen)
{
    const char *name = win ? win->name : "MPI_WIN_NULL";
    *resultlen = (int)strlen(name);
    memcpy(win_name, name, (size_t)*resultlen + 1);
    return 0;
}
