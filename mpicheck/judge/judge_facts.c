/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/judge/judge_facts.h"

#include <stdlib.h>
#include <string.h>

#include "mpicheck/data/fold.h"

/* How facts are called, and what shows them. `prefix` ends with the key, or is its beginning. */
static const struct {
    const char *prefix, *label, *command;
    enum tern_mc_severity severity;
} known[] = {
    {"mpi", "MPI library", "mpi_info --version", TERN_MC_FAIL},
    {"kernel", "kernel", "uname -r", TERN_MC_WARN},
    {"system", "system", "cat /etc/os-release", TERN_MC_WARN},
    {"libc", "C library", "getconf GNU_LIBC_VERSION", TERN_MC_WARN},
    {"cpus.usable", "usable processors", "taskset -p $$; cat /proc/self/status", TERN_MC_WARN},
    {"cpus", "processors", "lscpu", TERN_MC_WARN},
    {"cpu.quota", "quota of processors", "cat /sys/fs/cgroup/cpu.max", TERN_MC_WARN},
    {"cpu.governor", "governor", "cpupower frequency-set -g performance", TERN_MC_WARN},
    {"memory", "memory", "dmidecode -t memory", TERN_MC_WARN},
    {"limit.memlock", "limit of locked memory", "ulimit -l; /etc/security/limits.conf",
     TERN_MC_WARN},
    {"limit.", "limit", "ulimit -a; /etc/security/limits.conf", TERN_MC_WARN},
    {"tcp.", "TCP setting", "sysctl net.ipv4", TERN_MC_WARN},
    {"nic.", "interface", "ip -s link; ethtool", TERN_MC_WARN},
    {"ib.", "InfiniBand", "ibstat", TERN_MC_WARN},
    {"gpu", "GPU", "nvidia-smi", TERN_MC_WARN},
};

enum { FACTS_MOST = 1000, VALUE_MOST = 48, NAMES_MOST = 40 };

static const char *const not_compared[] = {"hostname", "now.", "addr."};

static bool ends_with(const char *key, const char *end)
{
    size_t length = strlen(key), tail = strlen(end);
    return length >= tail && strcmp(key + length - tail, end) == 0;
}

static bool is_of_device(const char *key)
{
    return strncmp(key, "nic.", 4) == 0 || strncmp(key, "ib.", 3) == 0;
}

bool tern_mc_fact_counts(const char *key)
{
    for (size_t i = 0; i < sizeof not_compared / sizeof *not_compared; i++)
        if (strncmp(key, not_compared[i], strlen(not_compared[i])) == 0)
            return false;
    return !is_of_device(key) || !(ends_with(key, ".address") || ends_with(key, "_errors"));
}

/* Returns a host's value; NULL if the host does not take part, or lacks the device. */
static const char *value_of(const struct tern_mc_host *host, const char *key)
{
    const char *value = tern_mc_fact(host, key);
    if (host->gone || host->fact_count == 0)
        return NULL;
    return value || is_of_device(key) ? value : "none";
}

/* Returns the value that most hosts have (Boyer and Moore's vote), and how many have it. */
static const char *majority(const struct tern_mc_data *data, const char *key, int *ret_count,
                            int *ret_all)
{
    const char *leader = NULL;
    int votes = 0;
    *ret_count = *ret_all = 0;
    for (int i = 0; i < data->count; i++) {
        const char *value = value_of(&data->hosts[i], key);
        if (!value)
            continue;
        if (votes == 0)
            leader = value;
        votes += strcmp(value, leader) == 0 ? 1 : -1;
        (*ret_all)++;
    }
    for (int i = 0; leader && i < data->count; i++) {
        const char *value = value_of(&data->hosts[i], key);
        *ret_count += value && strcmp(value, leader) == 0;
    }
    return leader;
}

static int find_known(const char *key)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].prefix);
        if (strncmp(key, known[i].prefix, length) == 0 &&
            (known[i].prefix[length - 1] == '.' || key[length] == 0 || key[length] == 's' ||
             key[length] == '.'))
            return (int)i;
    }
    return -1;
}

/* Returns the fact's name in words: "kernel", "eth0 mtu", "limit stack". */
static char *label_of(const char *key, int row)
{
    if (strncmp(key, "nic.", 4) == 0 || strncmp(key, "ib.", 3) == 0) {
        const char *device = strchr(key, '.') + 1, *what = strrchr(key, '.');
        return tern_mc_format("%.*s %s", (int)(what - device), device, what + 1);
    }
    if (row < 0)
        return tern_mc_format("%s", key);
    size_t length = strlen(known[row].prefix);
    const char *rest = known[row].prefix[length - 1] == '.' ? key + length : "";
    return tern_mc_format("%s%s%s", known[row].label, *rest ? " " : "", rest);
}

static int hosts_with(const struct tern_mc_data *data, const char *key, const char *value,
                      int *ret_hosts)
{
    int count = 0;
    for (int i = 0; i < data->count; i++) {
        const char *own = value_of(&data->hosts[i], key);
        if (own && strcmp(own, value) == 0)
            ret_hosts[count++] = i;
    }
    return count;
}

/* Returns true if a fault of the host already tells what this fact would say. */
static bool is_said(const struct tern_mc_findings *findings, const char *key, int host)
{
    return strcmp(key, "cpu.quota") == 0 && tern_mc_is_named(findings, "node.quota", host);
}

static void name_odd(const struct tern_mc_data *data, struct tern_mc_findings *findings,
                     const char *key, const char *common, int commons)
{
    int *hosts = tern_mc_alloc(data->count, sizeof *hosts), row = find_known(key);
    char *label = label_of(key, row);
    for (int i = 0; i < data->count; i++) {
        const char *value = value_of(&data->hosts[i], key);
        if (!value || strcmp(value, common) == 0 || is_said(findings, key, i))
            continue;
        int count = hosts_with(data, key, value, hosts);
        if (hosts[0] != i)
            continue; /* named with the first host of this value */
        tern_mc_find(findings, data, row < 0 ? TERN_MC_WARN : known[row].severity, "fact.odd",
                     hosts, count,
                     tern_mc_format("%s %.*s; %d other%s: %.*s", label, VALUE_MOST, value, commons,
                                    commons == 1 ? "" : "s", VALUE_MOST, common),
                     row < 0 ? NULL
                             : tern_mc_format("%s (on %s)", known[row].command,
                                              data->hosts[i].name));
    }
    free(label);
    free(hosts);
}

/* No value is that of most hosts: the two most frequent ones are named. */
static void name_different(const struct tern_mc_data *data, struct tern_mc_findings *findings,
                           const char *key)
{
    int *hosts = tern_mc_alloc(data->count, sizeof *hosts);
    int *all = tern_mc_alloc(data->count, sizeof *all), count = 0, row = find_known(key);
    char *label = label_of(key, row), *said = tern_mc_format("%s differs:", label);
    int shown = 0;
    for (int i = 0; i < data->count; i++) {
        const char *value = value_of(&data->hosts[i], key);
        if (!value)
            continue;
        all[count++] = i;
        int alike = hosts_with(data, key, value, hosts);
        if (hosts[0] != i || shown >= 2)
            continue;
        char *names = tern_mc_names(data, hosts, alike, NAMES_MOST);
        char *more = tern_mc_format("%s%s %.*s on %s", said, shown ? "," : "", VALUE_MOST, value,
                                    names);
        free(names);
        free(said);
        said = more;
        shown++;
    }
    tern_mc_find(findings, data, row < 0 ? TERN_MC_WARN : known[row].severity, "fact.differs", all,
                 count, said, row < 0 ? NULL : tern_mc_format("%s", known[row].command));
    free(label);
    free(hosts);
    free(all);
}

/* A device that most hosts have. Its state stands for all its facts. */
static void name_missing(const struct tern_mc_data *data, struct tern_mc_findings *findings,
                         const char *key)
{
    int *hosts = tern_mc_alloc(data->count, sizeof *hosts), count = 0, present = 0;
    for (int i = 0; i < data->count; i++) {
        if (data->hosts[i].gone || data->hosts[i].fact_count == 0)
            continue;
        if (tern_mc_fact(&data->hosts[i], key))
            present++;
        else
            hosts[count++] = i;
    }
    if (count > 0 && present > count) {
        const char *device = strchr(key, '.') + 1;
        tern_mc_find(findings, data, TERN_MC_WARN, "fact.missing", hosts, count,
                     tern_mc_format("no interface %.*s; %d other%s: it is there",
                                    (int)(strrchr(key, '.') - device), device, present,
                                    present == 1 ? "" : "s"),
                     tern_mc_format("ip link (on %s)", data->hosts[hosts[0]].name));
    }
    free(hosts);
}

static const char **all_keys(const struct tern_mc_data *data, int *ret_count)
{
    const char **keys = tern_mc_alloc(FACTS_MOST, sizeof *keys);
    int count = 0;
    for (int i = 0; i < data->count; i++)
        for (int f = 0; f < data->hosts[i].fact_count; f++) {
            const char *key = data->hosts[i].facts[f].key;
            int at = 0;
            while (at < count && strcmp(keys[at], key))
                at++;
            if (at == count && count < FACTS_MOST && tern_mc_fact_counts(key))
                keys[count++] = key;
        }
    *ret_count = count;
    return keys;
}

const char **tern_mc_facts_that_differ(const struct tern_mc_data *data, int *ret_count)
{
    int all, count = 0, alike, asked;
    const char **keys = all_keys(data, &all);
    for (int i = 0; i < all; i++) {
        majority(data, keys[i], &alike, &asked);
        if (alike < asked)
            keys[count++] = keys[i];
    }
    *ret_count = count;
    return keys;
}

/* ---- addresses ---- */

/* Returns true if a message passed from or to this address. Other addresses may well be the same on
 * all hosts, such as those of bridges for containers. */
static bool is_used(const struct tern_mc_data *data, const char *address)
{
    for (int i = 0; i < data->count; i++)
        for (int s = 0; s < data->hosts[i].socket_count; s++) {
            const struct tern_mc_socket *at = &data->hosts[i].sockets[s];
            if (strcmp(at->own, address) == 0 || strcmp(at->other, address) == 0)
                return true;
        }
    return false;
}

static void name_address(const struct tern_mc_data *data, struct tern_mc_findings *findings,
                         const char *address, int first)
{
    int *hosts = tern_mc_alloc(data->count, sizeof *hosts), count = 0;
    size_t length = strlen(address);
    for (int i = 0; i < data->count; i++)
        for (int f = 0; f < data->hosts[i].fact_count; f++) {
            const struct tern_mc_fact *fact = &data->hosts[i].facts[f];
            if (strncmp(fact->key, "addr.", 5) == 0 &&
                strncmp(fact->value, address, length) == 0 && fact->value[length] == '/') {
                hosts[count++] = i;
                break;
            }
        }
    if (count > 1 && hosts[0] == first)
        tern_mc_find(findings, data, TERN_MC_FAIL, "address.twice", hosts, count,
                     tern_mc_format("all have the address %s, by which messages go", address),
                     tern_mc_format("ip address (on %s); arping -D %s", data->hosts[hosts[1]].name,
                                    address));
    free(hosts);
}

static void judge_addresses(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    for (int i = 0; i < data->count; i++)
        for (int f = 0; f < data->hosts[i].fact_count; f++) {
            const struct tern_mc_fact *fact = &data->hosts[i].facts[f];
            char address[64];
            size_t length = strcspn(fact->value, "/");
            if (strncmp(fact->key, "addr.", 5) || length >= sizeof address)
                continue;
            memcpy(address, fact->value, length);
            address[length] = 0;
            if (tern_mc_owner(data, address) < 0 && is_used(data, address))
                name_address(data, findings, address, i);
        }
}

void tern_mc_judge_facts(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    int count;
    const char **keys = all_keys(data, &count);
    judge_addresses(data, findings);
    for (int i = 0; i < count; i++) {
        int commons, all;
        const char *common = majority(data, keys[i], &commons, &all);
        if (is_of_device(keys[i]) && ends_with(keys[i], ".operstate"))
            name_missing(data, findings, keys[i]);
        if (!common || commons == all)
            continue;
        if (2 * commons > all)
            name_odd(data, findings, keys[i], common, commons);
        else
            name_different(data, findings, keys[i]);
    }
    free(keys);
}
