/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/base/directory_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/util/net/launcher.h"

int tern_directory_listen(const char *directory, const char *name, int type)
{
    struct sockaddr_un address;
    int at = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = at < 0 ? -1 : socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    tern_directory_address(at, name, &address);
    /* the last two: a sandbox may refuse accept4 */
    bool opened = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                  listen(fd, SOMAXCONN) == 0 && accept4(fd, NULL, NULL, SOCK_CLOEXEC) < 0 &&
                  errno == EAGAIN;
    if (at >= 0)
        close(at);
    if (opened)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}
