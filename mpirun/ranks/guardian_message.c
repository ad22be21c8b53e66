/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ends of the guardian's socket use these functions. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "mpirun/ranks/guardian.h"

int tern_guardian_send(int fd, const struct tern_guardian_message *message, const int *fds,
                       int fd_count)
{
    union {
        char bytes[CMSG_SPACE(3 * sizeof(int))];
        struct cmsghdr align;
    } control = { 0 };
    struct iovec part = { (void *)message, sizeof *message };
    struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1 };
    if (fd_count) {
        header.msg_control = control.bytes;
        header.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
        memcpy(CMSG_DATA(rights), fds, fd_count * sizeof(int));
    }
    for (;;) {
        if (sendmsg(fd, &header, MSG_NOSIGNAL) >= 0)
            return 0;
        if (errno == EAGAIN) {
            struct pollfd room = { fd, POLLOUT, 0 };
            poll(&room, 1, -1);
        } else if (errno == ETOOMANYREFS) {
            /* Too many descriptors are in flight (RLIMIT_NOFILE). The guardian receives them while
             * it starts ranks. */
            poll(NULL, 0, 1);
        } else if (errno != EINTR) {
            return -1;
        }
    }
}

int tern_guardian_receive(int fd, struct tern_guardian_message *ret_message, int ret_fds[3],
                          int *ret_fd_count)
{
    union {
        char bytes[CMSG_SPACE(3 * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = { ret_message, sizeof *ret_message };
    struct msghdr header = { .msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes };
    *ret_fd_count = 0;
    ssize_t length;
    do
        length = recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        return errno == EAGAIN ? 0 : -1;
    struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    if (rights && rights->cmsg_type == SCM_RIGHTS) {
        *ret_fd_count = (int)((rights->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(ret_fds, CMSG_DATA(rights), *ret_fd_count * sizeof(int));
    }
    return length == sizeof *ret_message ? 1 : -1;
}
