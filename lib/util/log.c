/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char log_name[128] = "tern";

void tern_log_name(const char *name)
{
    snprintf(log_name, sizeof log_name, "%s", name);
}

void tern_log(const char *format, ...)
{
    int saved_errno = errno;
    char line[2048];
    int used = snprintf(line, sizeof line, "%s: ", log_name);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(line + used, sizeof line - used - 1, format, args);
    va_end(args);
    if (more > 0)
        used += more;
    if (used > (int)sizeof line - 2)
        used = sizeof line - 2;
    line[used++] = '\n';
    for (char *at = line; used > 0;) {
        ssize_t n = write(STDERR_FILENO, at, used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        at += n;
        used -= n;
    }
    errno = saved_errno;
}
