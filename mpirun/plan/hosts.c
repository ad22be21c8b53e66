/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/hosts.h"

#include <arpa/inet.h>
#include <ctype.h>
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
#include "lib/util/text.h"
#include "lib/util/log.h"
#include "mpirun/plan/allocation.h"
#include "mpirun/plan/rankfile.h"

enum { MOST_SLOTS = 1 << 20 };

static int read_slots(const char *text, const char *where, int *ret_slots)
{
    char *end;
    long slots = strtol(text, &end, 10);
    if (end == text || *end || slots < 1 || slots > MOST_SLOTS)
        return tern_error(TERN_ERR_ARG, "\"%s\" is not a number of slots (in %s); expected 1 to %d", text, where,
                          MOST_SLOTS);
    *ret_slots = (int)slots;
    return 0;
}

static int set_name(const char *name, size_t length, struct tern_host_entry *entry)
{
    const char *text = name, *at = memchr(name, '@', length);
    if (at && (size_t)(at - name) < sizeof entry->user) {
        memcpy(entry->user, name, at - name);
        entry->user[at - name] = '\0';
    }
    if (at) {
        length -= at + 1 - name;
        name = at + 1;
    }
    if (!length || length >= sizeof entry->name)
        return tern_error(TERN_ERR_ARG, "\"%s\" is not a host name", text);
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
        entry.implied = true;
    }
    *ret_entry = entry;
    return 0;
}

/* Comments become space, lines stay: after # or // to the end of the line, and from one mark to the other, which may be lines away.
 * One that has no end is none. */
static void blank_comments(char *text)
{
    for (char *at = text; *at;) {
        char *end = NULL;
        if (*at == '#' || strncmp(at, "//", 2) == 0)
            end = at + strcspn(at, "\n");
        else if (strncmp(at, "/*", 2) == 0 && (end = strstr(at + 2, "*/")))
            end += 2;
        if (!end)
            end = ++at; /* no comment here */
        for (; at < end; at++)
            if (*at != '\n')
                *at = ' ';
    }
}

/* Without the space around "=", as in "slots = 4". */
static void close_up(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        const char *next = at + strspn(at, " \t\r");
        bool space = next > at;
        if (space && (*next == '=' || (to > text && to[-1] == '=')))
            at = next;
        if (!*at)
            break;
        *to++ = *at;
    }
    *to = '\0';
}

/* Is it `names[i]=...` for one of these, which may have - or _ inside? */
static bool is_one_of(const char *word, const char *const *names)
{
    for (; *names; names++) {
        const char *at = word, *name = *names;
        while (*name && (tolower((unsigned char)*at) == *name || (*at == '-' && *name == '_'))) {
            at++;
            name++;
        }
        if (!*name && *at == '=')
            return true;
    }
    return false;
}

int tern_host_parse_line(const char *line, struct tern_host_entry *ret_entry)
{
    static const char *const slots[] = { "slots", "slot", "cpus", "cpu", "count", NULL };
    static const char *const most[] = { "max_slots", "slots_max", NULL };
    static const char *const of_no_use[] = { "port", "username", "user_name", "user", "rack", NULL };
    struct tern_host_entry entry = { 0 };
    char *copy = tern_must_copy(line), *rest = copy, *word;
    copy[strcspn(copy, "\n")] = '\0';
    blank_comments(copy);
    close_up(copy);
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
        } else if (is_one_of(word, slots)) {
            error = read_slots(value + 1, word, &entry.slots);
        } else if (is_one_of(word, most)) {
            error = read_slots(value + 1, word, &entry.max_slots);
        } else if (!is_one_of(word, of_no_use)) {
            error = tern_error(
                TERN_ERR_ARG,
                "\"%s\" is not understood in a hostfile; lines are \"HOST slots=N max-slots=N\"",
                word);
        }
        if (error < 0)
            break;
    }
    free(copy);
    if (error == 0 && entry.max_slots && entry.slots > entry.max_slots)
        error = tern_error(TERN_ERR_ARG, "host %s has slots=%d, more than its max_slots=%d", entry.name,
                           entry.slots, entry.max_slots);
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

/* As tern_host_is_here, and its first address as text. */
static bool identify(const char *name, char *address, size_t room)
{
    char own[256] = "";
    gethostname(own, sizeof own - 1);
    *address = '\0';
    if (strcasecmp(name, "localhost") == 0 || strcasecmp(name, own) == 0)
        return true;
    /* a short name and a full one of the same host */
    size_t length = strcspn(own, ".");
    if (strncasecmp(name, own, length) == 0 && (name[length] == '\0' || name[length] == '.') &&
        (name[length] == '\0' || own[length] == '\0'))
        return true;
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *found;
    if (getaddrinfo(name, NULL, &hints, &found))
        return false;
    bool here = false;
    for (struct addrinfo *at = found; at && !here; at = at->ai_next)
        here = is_own_address(at->ai_addr);
    if (getnameinfo(found->ai_addr, found->ai_addrlen, address, room, NULL, 0, NI_NUMERICHOST))
        *address = '\0';
    freeaddrinfo(found);
    return here;
}

bool tern_host_is_here(const char *name)
{
    char address[48];
    return identify(name, address, sizeof address);
}

static void identify_entry(struct tern_host_entry *entry)
{
    entry->here = identify(entry->name, entry->address, sizeof entry->address);
}

char *tern_host_address(const char *name)
{
    char text[INET6_ADDRSTRLEN + 32];
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *found;
    if (getaddrinfo(name, NULL, &hints, &found))
        return NULL;
    bool good = getnameinfo(found->ai_addr, found->ai_addrlen, text, sizeof text, NULL, 0,
                            NI_NUMERICHOST) == 0;
    freeaddrinfo(found);
    return good ? tern_must_copy(text) : NULL;
}

/* ---- lists ---- */

/* A host may have several names: then its address tells. */
static struct tern_host_entry *find(const struct tern_host_list *list,
                                    const struct tern_host_entry *wanted)
{
    for (int i = 0; i < list->count; i++) {
        struct tern_host_entry *entry = &list->items[i];
        if ((wanted->here && entry->here) || strcasecmp(entry->name, wanted->name) == 0 ||
            (*wanted->address && strcmp(entry->address, wanted->address) == 0))
            return entry;
    }
    return NULL;
}

int tern_host_list_find(const struct tern_host_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++) {
        if (strcasecmp(list->items[i].name, name) == 0)
            return i;
    }
    struct tern_host_entry wanted = { 0 };
    snprintf(wanted.name, sizeof wanted.name, "%s", name);
    identify_entry(&wanted);
    const struct tern_host_entry *found = find(list, &wanted);
    return found ? (int)(found - list->items) : -1;
}

static int add_slots(int some, int more, int most)
{
    return more < most - some ? some + more : most;
}

void tern_host_list_add(struct tern_host_list *list, const struct tern_host_entry *entry)
{
    struct tern_host_entry *known = find(list, entry);
    if (known) {
        if (*entry->address && !entry->here && strcasecmp(known->name, entry->name))
            tern_log("%s and %s are one host, %s; its slots are added up", known->name, entry->name,
                     entry->address);
        known->slots = add_slots(known->slots ? known->slots : 1, entry->slots ? entry->slots : 1,
                                 MOST_SLOTS);
        known->max_slots = add_slots(known->max_slots, entry->max_slots, MOST_SLOTS);
        known->implied &= entry->implied;
        return;
    }
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 16;
        list->items = tern_must_grow(list->items, list->room * sizeof *list->items);
    }
    list->items[list->count++] = *entry;
}

int tern_hostfile_parse(const char *path, const char *text, struct tern_host_list *list)
{
    char *copy = tern_must_copy(text), *rest = copy, *line;
    if (strncmp(rest, "\xef\xbb\xbf", 3) == 0) /* an editor's mark of UTF-8 */
        rest += 3;
    blank_comments(rest);
    int error = 0, number = 0;
    while (error >= 0 && (line = strsep(&rest, "\n"))) {
        struct tern_host_entry entry;
        number++;
        error = tern_host_parse_line(line, &entry);
        if (error == 0) {
            identify_entry(&entry);
            tern_host_list_add(list, &entry);
            tern_strings_add(&list->sequence, entry.name);
        }
    }
    free(copy);
    if (error >= 0)
        return 0;
    char *said = tern_must_copy(tern_error_text(error));
    tern_error(error, "%s, line %d: %s", path, number, said);
    free(said);
    return error;
}

static int read_file(const char *path, struct tern_host_list *list)
{
    const char *why;
    char *text = tern_read_text(path, &why);
    int error;
    if (!text)
        error = tern_error(TERN_ERR_ARG, "cannot read the hostfile %s: %s", path, why);
    else
        error = tern_hostfile_parse(path, text, list);
    free(text);
    return error;
}

static int read_words(const struct tern_strings *words, struct tern_host_list *list)
{
    for (int i = 0; i < words->count; i++) {
        struct tern_host_entry entry;
        int error = tern_host_parse(words->items[i], &entry);
        if (error)
            return error;
        identify_entry(&entry);
        for (int rank = 0; rank < entry.slots || rank == 0; rank++)
            tern_strings_add(&list->sequence, entry.name);
        struct tern_host_entry *known = find(list, &entry);
        if (known && (!known->slots || (!entry.slots && !entry.implied)))
            known->slots = 0; /* NAME:*, once and for all */
        else
            tern_host_list_add(list, &entry);
    }
    return 0;
}

/* Those of `list` that `choice` names, in the order of the choice and with its slots where it says
 * how many. */
static int choose(const struct tern_host_list *list, const struct tern_host_list *choice,
                  struct tern_host_list *ret_list)
{
    struct tern_host_list chosen = { .where = choice->where, .sequence = choice->sequence };
    for (int i = 0; i < choice->count; i++) {
        struct tern_host_entry *named = &choice->items[i];
        struct tern_host_entry *known = find(list, named);
        if (!known)
            return tern_error(TERN_ERR_ARG, "host %s is not in %s", named->name, list->where);
        struct tern_host_entry entry = *known;
        if (named->slots && !named->implied) {
            entry.slots = named->slots;
            entry.implied = false;
        }
        if (named->max_slots)
            entry.max_slots = named->max_slots;
        tern_host_list_add(&chosen, &entry);
    }
    *ret_list = chosen;
    return 0;
}

bool tern_host_name_is_good(const char *name)
{
    char shown[sizeof ((struct tern_host_entry *)0)->name];
    tern_text_make_printable(name, false, shown, sizeof shown);
    return *name && *name != '-' && strcmp(name, shown) == 0 && !strpbrk(name, " /");
}

/* Names reach a shell's or ssh's command line and the terminal. */
static int check_names(const struct tern_host_list *list)
{
    for (int i = 0; i < list->count; i++) {
        const char *name = list->items[i].name, *user = list->items[i].user;
        if (!tern_host_name_is_good(name) || (*user && !tern_host_name_is_good(user)))
            return tern_error(TERN_ERR_ARG, "\"%s%s%s\" in %s is not the name of a host: it begins with \"-\", or has a blank, a slash "
                              "or a control code in it", user, *user ? "@" : "", name, list->where);
    }
    return 0;
}

int tern_hosts_collect(const struct tern_strings *hosts, const struct tern_strings *files,
                       const struct tern_rankfile *rankfile, struct tern_host_list *ret_list)
{
    struct tern_host_list list = { .where = "this machine" };
    struct tern_host_list listed = { .where = files->count ? files->items[0] : "" };
    struct tern_host_list named = { .where = "--host" };
    int error = tern_allocation_find(&list, &list.where);
    for (int i = 0; i < list.count; i++)
        identify_entry(&list.items[i]);
    for (int i = 0; i < files->count && !error; i++)
        error = read_file(files->items[i], &listed);
    if (!error && files->count && !listed.count)
        error = tern_error(TERN_ERR_ARG, "the hostfile %s names no host", files->items[0]);
    if (!error && listed.count) {
        error = list.count ? choose(&list, &listed, &list) : 0;
        list = list.count ? list : listed;
    }
    if (!error)
        error = read_words(hosts, &named);
    if (!error && named.count) {
        error = list.count ? choose(&list, &named, &list) : 0;
        list = list.count ? list : named;
    }
    if (error)
        return error;
    if (!list.count && rankfile) {
        list.where = rankfile->path;
        tern_rankfile_hosts(rankfile, &list);
    }
    error = check_names(&list);
    if (error)
        return error;
    if (!list.count) {
        struct tern_host_entry own = { .here = true };
        gethostname(own.name, sizeof own.name - 1);
        tern_host_list_add(&list, &own);
    }
    for (int i = 0; i < list.count && !listed.count && !named.count; i++)
        tern_strings_add(&list.sequence, list.items[i].name);
    *ret_list = list;
    return 0;
}
