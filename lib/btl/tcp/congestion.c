/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/congestion.h"

#include "lib/rte/rte.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char *chosen = "system"; /* a name; "system": the system's default; "": we choose */

static int use(int fd, const char *name)
{
    return setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, (socklen_t)strlen(name));
}

void tern_tcp_choose_congestion(void)
{
    chosen = tern_param_string("btl_tcp_congestion");
    if (!*chosen || strcmp(chosen, "system") == 0)
        return;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int error = fd < 0 || use(fd, chosen) == 0 ? 0 : errno;
    if (fd >= 0)
        close(fd);
    if (!error)
        return;
    if (tern_rte.rank == 0)
        tern_log(
            "btl_tcp_congestion is %s, which this system does not offer (%s); expected a name in "
            "/proc/sys/net/ipv4/tcp_allowed_congestion_control. The system's default is used",
            chosen, strerror(error));
    chosen = "system";
}

/* If the system's default paces packets, sets the best permitted one that does not. */
void tern_tcp_set_congestion(int fd, bool same_host)
{
    char systems[16] = "";
    socklen_t length = sizeof systems - 1;
    if (strcmp(chosen, "system") == 0)
        return;
    if (*chosen) {
        use(fd, chosen);
        return;
    }
    getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, systems, &length);
    bool paces = strncmp(systems, "bbr", 3) == 0;
    if (same_host || (paces && use(fd, "cubic") < 0))
        use(fd, "reno");
}
