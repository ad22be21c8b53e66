/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/machine/pci_way.h"

#include "lib/util/base/read_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tern_pci_find(const char *root, const char *link, struct tern_pci_way *ret_way)
{
    char path[PATH_MAX], real[PATH_MAX], line[32];
    const char *begin;
    int length = snprintf(path, sizeof path, "%s%s", root, link);
    if (length >= (int)sizeof path || !realpath(path, real) || !(begin = strstr(real, "/pci")))
        return false;
    while (!strchr(strrchr(real, '/'), ':')) /* a part of a PCI device, such as virtio2 */
        *strrchr(real, '/') = '\0';
    ret_way->node = -1;
    snprintf(ret_way->way, sizeof ret_way->way, "%s", begin);
    length = snprintf(path, sizeof path, "%s/numa_node", real);
    if (length < (int)sizeof path && tern_read_line(path, line, sizeof line))
        ret_way->node = (int)strtol(line, NULL, 10);
    return true;
}

const char *tern_pci_address(const struct tern_pci_way *way)
{
    return strrchr(way->way, '/') + 1;
}

enum tern_pci_reach tern_pci_reach(const struct tern_pci_way *one,
                                   const struct tern_pci_way *other)
{
    int common = 0; /* folders that both ways have */
    for (const char *a = one->way, *b = other->way; *a && *a == *b; a++, b++)
        common += a[1] == '/';
    return common > 1                                       ? TERN_PCI_SWITCH
           : common == 1                                    ? TERN_PCI_ROOT
           : one->node >= 0 && one->node == other->node     ? TERN_PCI_NODE
                                                            : TERN_PCI_FAR;
}
