/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/choice.h"

#include "lib/btl/btl.h"
#include "lib/rte/rte.h"
#include "lib/util/net/btl_list.h"
#include "lib/util/net/fabric_devices.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"

#include <stdlib.h>
#include <string.h>

static const char *list; /* the parameter; NULL or empty: all are permitted */

bool tern_btl_permitted(const char *name)
{
    return tern_btl_list_permits(list, name);
}

bool tern_btl_named(const char *name)
{
    return list && *list && *list != '^' && tern_btl_permitted(name);
}

bool tern_btl_network_needed(void)
{
    return tern_rte.size > tern_rte.local_size ||
           (tern_rte.size > 1 && !tern_btl_permitted("shm"));
}

bool tern_btl_ofi_possible(void)
{
    const char *provider = tern_param_string("btl_ofi_provider");
    return (provider && *provider) || tern_fabric_devices(NULL, 0);
}

/* Returns true if the list has a name that is none of ours, or one that has no use here. */
static bool names_others(void)
{
    const char *names[TERN_BTLS_MAX];
    int count = 0;
    for (const struct tern_btl *const *btl = tern_btls; *btl; btl++)
        if (strcmp((*btl)->name, "ofi") != 0 || tern_btl_ofi_possible())
            names[count++] = (*btl)->name;
    return tern_btl_list_names_others(list, names, count);
}

/* Returns true if the user chose another message layer, with which Open MPI does not read `btl`. */
static bool other_layer(void)
{
    const char *pml = getenv("OMPI_MCA_pml");
    return pml && *pml && *pml != '^' && strcmp(pml, "ob1");
}

/* Returns true if the list leaves out what the ranks need to reach each other. All ranks answer
 * alike. */
static bool too_short(void)
{
    bool shm = tern_btl_permitted("shm");
    bool network = tern_btl_permitted("tcp") ||
                   (tern_btl_permitted("ofi") && tern_btl_ofi_possible());
    if (!tern_btl_permitted("self"))
        return true;
    return (tern_rte.size > 1 && !network && !shm) || (tern_rte.node_count > 1 && !network);
}

void tern_btl_choose(void)
{
    list = tern_param_string("btl");
    if (!list || !*list || !too_short())
        return;
    if (*list != '^' && !names_others() && !other_layer())
        return;
    if (tern_rte.rank == 0)
        tern_log("warning: the parameter btl is `%s` and leaves out what these ranks need; self, "
                 "shm and tcp are used, the only ones that can carry messages here",
                 list);
    list = NULL;
}
