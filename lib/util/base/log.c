/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/log.h"

#include "lib/util/base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char log_name[128] = "tern";
static bool (*taker)(const char *text);

void tern_log_divert(bool (*take)(const char *text))
{
    taker = take;
}

void tern_log_name(const char *name)
{
    tern_text_make_printable(name, false, log_name, sizeof log_name);
}

void tern_log(const char *format, ...)
{
    int saved_errno = errno;
    char text[2048], line[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (taker && taker(text)) {
        errno = saved_errno;
        return;
    }
    int used = snprintf(line, sizeof line, "%s: ", log_name);
    used += (int)tern_text_make_printable(text, true, line + used, sizeof line - used - 1);
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
