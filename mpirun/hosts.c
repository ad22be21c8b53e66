/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/hosts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/util/error.h"

static int read_slots(const char *text, const char *where, int *ret_slots)
{
    char *end;
    long slots = strtol(text, &end, 10);
    if (end == text || *end || slots < 1 || slots > 1 << 20)
        return tern_error(TERN_ERR_ARG, "\"%s\" is not a number of slots (in %s)", text, where);
    *ret_slots = (int)slots;
    return 0;
}

static int set_name(const char *name, size_t length, struct tern_host_entry *entry)
{
    const char *at = memchr(name, '@', length);
    if (at) {
        length -= at + 1 - name;
        name = at + 1;
    }
    if (!length || length >= sizeof entry->name)
        return tern_error(TERN_ERR_ARG, "\"%s\" is not a host name", name);
    memcpy(entry->name, name, length);
    entry->name[length] = '\0';
    return 0;
}

int tern_host_parse(const char *text, struct tern_host_entry *ret_entry)
{
    struct tern_host_entry entry = { 0 };
    const char *colon = strchr(text, ':');
    /* more than one colon: an IPv6 address, with slots only after brackets */
    if (text[0] == '[') {
        const char *close = strchr(text, ']');
        if (!close)
            return tern_error(TERN_ERR_ARG, "\"%s\" is not a host name", text);
        colon = close[1] == ':' ? close + 1 : NULL;
        int error = set_name(text + 1, close - text - 1, &entry);
        if (error)
            return error;
    } else {
        if (colon && strchr(colon + 1, ':'))
            colon = NULL;
        int error = set_name(text, colon ? (size_t)(colon - text) : strlen(text), &entry);
        if (error)
            return error;
    }
    if (colon && strcmp(colon + 1, "*")) {
        int error = read_slots(colon + 1, text, &entry.slots);
        if (error)
            return error;
    } else if (!colon) {
        entry.slots = 1;
    }
    *ret_entry = entry;
    return 0;
}

int tern_host_parse_line(const char *line, struct tern_host_entry *ret_entry)
{
    struct tern_host_entry entry = { 0 };
    char *copy = tern_must_copy(line), *rest = copy, *word;
    copy[strcspn(copy, "#\n")] = '\0';
    int error = 1;
    while ((word = strsep(&rest, " \t\r"))) {
        if (!*word)
            continue;
        char *value = strchr(word, '=');
        if (error == 1) {
            char *colon = strchr(word, ':');
            if (colon && !strchr(colon + 1, ':')) {
                error = tern_host_parse(word, &entry);
            } else {
                error = set_name(word, strlen(word), &entry);
            }
        } else if (value &&
                   (strncasecmp(word, "slots=", 6) == 0 || strncasecmp(word, "cpus=", 5) == 0 ||
                    strncasecmp(word, "count=", 6) == 0)) {
            error = read_slots(value + 1, "a hostfile", &entry.slots);
        } else if (value && (strncasecmp(word, "max-slots=", 10) == 0 ||
                             strncasecmp(word, "max_slots=", 10) == 0 ||
                             strncasecmp(word, "slots_max=", 10) == 0)) {
            error = read_slots(value + 1, "a hostfile", &entry.max_slots);
        } else if (!value || (strncasecmp(word, "port=", 5) && strncasecmp(word, "username=", 9) &&
                              strncasecmp(word, "user=", 5) && strncasecmp(word, "rack=", 5))) {
            error = tern_error(
                TERN_ERR_ARG,
                "\"%s\" is not understood in a hostfile; lines are \"HOST slots=N max-slots=N\"",
                word);
        }
        if (error < 0)
            break;
    }
    free(copy);
    if (error == 0)
        *ret_entry = entry;
    return error;
}

static bool same_address(const struct sockaddr *a, const struct sockaddr *b)
{
    if (!a || !b || a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    if (a->sa_family == AF_INET6)
        return memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
                      &((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr)) == 0;
    return false;
}

static bool is_own_address(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET &&
        ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET)
        return true;
    struct ifaddrs *interfaces;
    if (getifaddrs(&interfaces) < 0)
        return false;
    bool own = false;
    for (struct ifaddrs *at = interfaces; at && !own; at = at->ifa_next)
        own = same_address(at->ifa_addr, address);
    freeifaddrs(interfaces);
    return own;
}

bool tern_host_is_here(const char *name, bool *ret_known)
{
    *ret_known = true;
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    if (strcasecmp(name, "localhost") == 0 || strcasecmp(name, own) == 0)
        return true;
    /* a short name and a full one of the same host */
    size_t length = strcspn(own, ".");
    if (strncasecmp(name, own, length) == 0 && (name[length] == '\0' || name[length] == '.') &&
        (name[length] == '\0' || own[length] == '\0'))
        return true;
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *found;
    if (getaddrinfo(name, NULL, &hints, &found)) {
        *ret_known = false;
        return false;
    }
    bool here = false;
    for (struct addrinfo *at = found; at && !here; at = at->ai_next)
        here = is_own_address(at->ai_addr);
    freeaddrinfo(found);
    return here;
}

static int check_here(const struct tern_host_entry *entry)
{
    bool known;
    if (tern_host_is_here(entry->name, &known))
        return 0;
    if (!known)
        return tern_error(TERN_ERR_ARG, "unknown host %s", entry->name);
    return tern_error(TERN_ERR_ARG,
                      "cannot start on host %s: this version runs on one machine only",
                      entry->name);
}

struct total {
    int lines, said, unsaid, max;
};

static int read_file(const char *path, struct total *total)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return tern_error(TERN_ERR_ARG, "cannot read the hostfile %s: %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    int error = 0;
    while (error >= 0 && getline(&line, &room, file) >= 0) {
        struct tern_host_entry entry;
        error = tern_host_parse_line(line, &entry);
        if (error == 0)
            error = check_here(&entry);
        if (error)
            continue;
        total->lines++;
        total->said += entry.slots;
        total->unsaid += entry.slots == 0;
        total->max += entry.max_slots;
    }
    free(line);
    fclose(file);
    return error < 0 ? error : 0;
}

int tern_hosts_count_slots(const struct tern_strings *hosts, const struct tern_strings *files,
                           int *ret_slots, int *ret_max_slots)
{
    struct total total = { 0 };
    for (int i = 0; i < files->count; i++) {
        int error = read_file(files->items[i], &total);
        if (error)
            return error;
    }
    if (files->count && !total.lines)
        return tern_error(TERN_ERR_ARG, "the hostfile %s names no host", files->items[0]);
    /* A host that is listed once without a number has a slot per core; listed again and again, a
     * slot each time. */
    int slots = total.said + (total.said || total.unsaid > 1 ? total.unsaid : 0);
    int host_slots = 0;
    bool counted = false, all = false;
    for (int i = 0; i < hosts->count; i++) {
        struct tern_host_entry entry;
        int error = tern_host_parse(hosts->items[i], &entry);
        if (error == 0)
            error = check_here(&entry);
        if (error)
            return error;
        host_slots += entry.slots;
        counted |= strchr(hosts->items[i], ':') != NULL;
        all |= entry.slots == 0;
    }
    /* With both, --host chooses among the hosts of the file, and says how many slots only if it
     * gives a number. */
    if (hosts->count && (!files->count || counted))
        slots = all ? 0 : host_slots;
    *ret_slots = slots;
    *ret_max_slots = total.max;
    return 0;
}
