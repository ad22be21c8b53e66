/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/streams.h"

#include <fcntl.h>
#include <unistd.h>

/* The system gives the lowest number that is free. The streams stay open in programs that are
 * executed, the other descriptor must not even for a moment. */
void tern_streams_hold(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (fd >= 0 && fd <= STDERR_FILENO)
            fcntl(fd, F_SETFD, 0);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}
