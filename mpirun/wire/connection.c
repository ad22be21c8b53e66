/* SPDX-License-Identifier: BSD-3-Clause */
/* A silent process may have been stopped; a silent host is dead, or as good as dead. The
 * difference: a host on which every process is stopped still acknowledges TCP segments, because its
 * kernel does that. Beats are sent on a link all the time, so a host that does not acknowledge
 * shows within a second as retransmissions.
 *
 * TCP_INFO cannot be used, because the socket belongs to another process, and the agent may not
 * even look at sshd's descriptors. But every user may read /proc/net/tcp. */
#include "mpirun/wire/connection.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ESTABLISHED = 1, TOLERATED = 1 }; /* one segment may get lost at any time */

bool tern_connection_line_read(const char *text, struct tern_connection_line *ret_line)
{
    struct tern_connection_line line;
    unsigned retransmissions, probes;
    if (sscanf(text, " %*d: %32[0-9A-F]:%x %32[0-9A-F]:%x %x %*x:%*x %*x:%*x %x %*u %u %lu",
               line.local, &line.local_port, line.remote, &line.remote_port, &line.state,
               &retransmissions, &probes, &line.inode) != 8)
        return false;
    line.unanswered = retransmissions > probes ? retransmissions : probes;
    *ret_line = line;
    return true;
}

/* Returns true if hexadecimal digits and text are the same address. The kernel prints 32 bits at a
 * time. An IPv4 address may stand at the end of an IPv6 one. */
static bool same_address(const char *digits, const char *text)
{
    char plain[INET6_ADDRSTRLEN + 1], wanted[33];
    uint32_t words[4];
    int used = 0, family = strchr(text, ':') ? AF_INET6 : AF_INET;
    snprintf(plain, sizeof plain, "%s", text);
    plain[strcspn(plain, "%")] = '\0'; /* the scope of a link-local address */
    if (inet_pton(family, plain, words) != 1)
        return false;
    for (int i = 0; i < (family == AF_INET ? 1 : 4); i++)
        used += snprintf(wanted + used, sizeof wanted - used, "%08X", (unsigned)words[i]);
    size_t length = strlen(digits);
    return length >= (size_t)used && strcmp(digits + length - used, wanted) == 0;
}

bool tern_connection_is(const struct tern_connection_line *line, const char *ssh_connection)
{
    char client[64], server[64];
    unsigned client_port, server_port;
    return sscanf(ssh_connection, "%63s %u %63s %u", client, &client_port, server, &server_port) ==
               4 &&
           line->local_port == server_port && line->remote_port == client_port &&
           same_address(line->local, server) && same_address(line->remote, client);
}

/* Returns true if the process has a descriptor of this socket. */
static bool has_socket(pid_t process, unsigned long inode)
{
    char path[300], target[64], wanted[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)process);
    snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
    DIR *descriptors = opendir(path);
    struct dirent *entry;
    bool found = false;
    while (descriptors && !found && (entry = readdir(descriptors))) {
        snprintf(path, sizeof path, "/proc/%d/fd/%s", (int)process, entry->d_name);
        ssize_t length = readlink(path, target, sizeof target - 1);
        target[length > 0 ? length : 0] = '\0';
        found = strcmp(target, wanted) == 0;
    }
    if (descriptors)
        closedir(descriptors);
    return found;
}

static bool answers_in(const char *table, pid_t ssh, const char *ssh_connection)
{
    FILE *file = fopen(table, "re");
    char text[512];
    bool answers = false;
    while (file && !answers && fgets(text, sizeof text, file)) {
        struct tern_connection_line line;
        if (tern_connection_line_read(text, &line) && line.state == ESTABLISHED &&
            (ssh ? has_socket(ssh, line.inode) : tern_connection_is(&line, ssh_connection)))
            answers = line.unanswered <= TOLERATED;
    }
    if (file)
        fclose(file);
    return answers;
}

bool tern_connection_answers(pid_t ssh)
{
    static const char *const families[] = { "tcp", "tcp6" };
    const char *ssh_connection = getenv("SSH_CONNECTION");
    bool answers = false;
    if (!ssh && !ssh_connection)
        return false;
    for (int i = 0; i < 2 && !answers; i++) {
        char table[64];
        if (ssh)
            snprintf(table, sizeof table, "/proc/%d/net/%s", (int)ssh, families[i]);
        else
            snprintf(table, sizeof table, "/proc/self/net/%s", families[i]);
        answers = answers_in(table, ssh, ssh_connection);
    }
    return answers;
}

bool tern_socket_answers(int fd)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
           info.tcpi_state == ESTABLISHED && info.tcpi_retransmits <= TOLERATED &&
           info.tcpi_probes <= TOLERATED;
}
