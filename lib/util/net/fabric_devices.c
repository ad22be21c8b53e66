/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/net/fabric_devices.h"

#include "lib/util/base/log.h"

#include <dirent.h>
#include <stdio.h>

/* Classes of devices in /sys/class. The kernel lists EFA and Omni-Path devices under infiniband,
 * too. */
static const char *const classes[] = {"infiniband", "cxi", "hfi1"};

bool tern_fabric_devices(char *text, size_t room)
{
    bool any = false;
    size_t used = 0;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        char path[64];
        snprintf(path, sizeof path, "/sys/class/%s", classes[i]);
        DIR *dir = opendir(path);
        for (struct dirent *entry; dir && (entry = readdir(dir));) {
            if (entry->d_name[0] == '.')
                continue;
            if (text && used < room)
                used += (size_t)snprintf(text + used, room - used, "%s%s (%s)", any ? ", " : "",
                                         entry->d_name, classes[i]);
            any = true;
        }
        if (dir)
            closedir(dir);
    }
    if (text && room && !any)
        text[0] = 0;
    return any;
}

void tern_fabric_devices_show(void)
{
    char text[400];
    bool any = tern_fabric_devices(text, sizeof text);
    tern_log("fabric: devices in /sys/class/infiniband, cxi and hfi1: %s", any ? text : "none");
}
