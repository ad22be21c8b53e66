/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/silence.h"

#include <linux/sockios.h>
#include <linux/tcp.h> /* netinet/tcp.h does not know tcpi_segs_in */
#include <netinet/in.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { LOOKS = 8, LEAST_S = 3, LONGEST_PERIOD_MS = 1000 };

static int limit_s = LEAST_S;

void tern_tcp_silence_set_limit(int timeout_s)
{
    limit_s = timeout_s > LEAST_S ? timeout_s : LEAST_S;
}

void tern_tcp_silence_watch(int fd)
{
    int idle_s = limit_s / 3, between_s = limit_s < 12 ? 1 : limit_s / 6;
    int probes = (limit_s - idle_s) / between_s;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between_s, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(int));
    /* safe during the handshake, for which the peer always has room */
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &(int){limit_s * 1000}, sizeof(int));
}

void tern_tcp_silence_begin(int fd)
{
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &(int){0}, sizeof(int));
}

uint64_t tern_tcp_silence_period_ms(void)
{
    uint64_t period_ms = (uint64_t)limit_s * 1000 / LOOKS;
    return period_ms < LONGEST_PERIOD_MS ? period_ms : LONGEST_PERIOD_MS;
}

bool tern_tcp_silence_note(struct tern_tcp_silence *silence, bool waits, uint32_t segments,
                           uint64_t elapsed_ms)
{
    uint64_t most_ms = 2 * tern_tcp_silence_period_ms();
    if (!waits || segments != silence->segments) {
        *silence = (struct tern_tcp_silence){.segments = segments};
        return false;
    }
    /* After a long time without a look, this process or its host may have been stopped. So not all
     * of that time counts. */
    silence->silent_ms += (uint32_t)(elapsed_ms < most_ms ? elapsed_ms : most_ms);
    return silence->silent_ms >= (uint32_t)limit_s * 1000;
}

bool tern_tcp_silence_look(struct tern_tcp_silence *silence, int fd, uint64_t elapsed_ms)
{
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    int waiting = 0;
    bool waits = ioctl(fd, SIOCOUTQ, &waiting) == 0 && waiting > 0;
    if (waits && (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) ||
                  size < offsetof(struct tcp_info, tcpi_segs_in) + sizeof info.tcpi_segs_in))
        waits = false; /* the system does not count segments: it gives up by itself, but late */
    bool ends = tern_tcp_silence_note(silence, waits, waits ? info.tcpi_segs_in : 0, elapsed_ms);
    silence->unheard = silence->silent_ms && info.tcpi_unacked ? waiting : 0;
    return ends;
}
