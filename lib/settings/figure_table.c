/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/settings/figure_table.h"

#include <string.h>

int tern_figure_index(const char *name)
{
    for (int i = 0; tern_figure_rows[i].name; i++)
        if (strcmp(tern_figure_rows[i].name, name) == 0)
            return i;
    return -1;
}
