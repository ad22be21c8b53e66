/* SPDX-License-Identifier: BSD-3-Clause */

/* Progress lines of a long collective access. */

#include "lib/io/access/watch.h"

#include "lib/util/base/log.h"
#include "lib/util/base/now.h"
#include "lib/settings/param.h"

#include <stdio.h>
#include <time.h>

/* Writes a number of bytes for people: "37.5 MB". */
static const char *show_bytes(double bytes, char text[32])
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
    int unit = 0;
    for (; bytes >= 1000 && unit < 6; unit++)
        bytes /= 1000;
    snprintf(text, 32, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}

void tern_file_watch_begin(struct tern_file_watch *watch, const char *path, bool writes,
                           int64_t bytes)
{
    *watch = (struct tern_file_watch){.on = bytes > 0 && tern_param_bool("io_progress")};
    if (!watch->on)
        return;
    watch->path = path;
    watch->writes = writes;
    watch->bytes = bytes;
    watch->began_ns = watch->shown_ns = tern_now_ns();
}

void tern_file_watch_show(struct tern_file_watch *watch, int64_t part, int64_t whole)
{
    char moved[32], all[32], rate[32];
    if (!watch->on || part <= 0)
        return;
    uint64_t now = tern_now_ns();
    uint64_t pause_ns = (uint64_t)tern_param_int("io_progress_pause") * 1000000u;
    if (now - watch->shown_ns < pause_ns || part >= whole)
        return;
    double seconds = (double)(now - watch->began_ns) / 1e9, done = (double)part / (double)whole;
    watch->shown_ns = now;
    watch->shown = true;
    tern_log("%s \"%s\": %s of %s, %s/s, %.0f s left", watch->writes ? "writing" : "reading",
             watch->path, show_bytes(done * (double)watch->bytes, moved),
             show_bytes((double)watch->bytes, all),
             show_bytes(done * (double)watch->bytes / (seconds + 1e-9), rate),
             seconds / done - seconds);
}

void tern_file_watch_end(struct tern_file_watch *watch)
{
    char all[32], rate[32];
    if (!watch->on || !watch->shown)
        return;
    double seconds = (double)(tern_now_ns() - watch->began_ns) / 1e9;
    tern_log("%s \"%s\": done, %s in %.1f s, %s/s", watch->writes ? "writing" : "reading",
             watch->path, show_bytes((double)watch->bytes, all), seconds,
             show_bytes((double)watch->bytes / (seconds + 1e-9), rate));
    watch->on = false;
}
