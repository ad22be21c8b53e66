/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/socket.h"

#include "lib/btl/tcp/congestion.h"
#include "lib/btl/tcp/listener.h"
#include "lib/btl/tcp/silence.h"
#include "lib/settings/param.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

/* Send buffer within a host; the system doubles it for its own overhead. A message of 1 MiB has
 * room in it, and so leaves by one call. More would fall out of the cache before it is read. */
enum { HOST_SNDBUF = 576 * 1024 };

static struct {
    int sndbuf, rcvbuf; /* bytes; 0: the system chooses */
} sizes;

void tern_tcp_socket_init(void)
{
    sizes.sndbuf = (int)tern_param_int("btl_tcp_sndbuf");
    sizes.rcvbuf = (int)tern_param_int("btl_tcp_rcvbuf");
}

void tern_tcp_set_options(int fd, bool same_host)
{
    int sndbuf = sizes.sndbuf ? sizes.sndbuf : same_host ? HOST_SNDBUF : 0;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    tern_tcp_silence_watch(fd);
    tern_tcp_set_congestion(fd, same_host);
    if (sndbuf)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(int));
    if (sizes.rcvbuf)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &sizes.rcvbuf, sizeof(int));
}
