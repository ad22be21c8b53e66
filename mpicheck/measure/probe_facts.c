/* SPDX-License-Identifier: BSD-3-Clause */

/* What a host is: one record for each fact, read from the kernel's files. Facts whose key begins
 * with "nic." or "addr." belong to interfaces; facts that begin with "now." are shown, but may
 * differ between healthy hosts. */
#include <mpi.h>

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "probe.h"
#include "probe_gpu.h"

static int id;

static void fact(const char *key, const char *value)
{
    probe_say("fact %d %s %s", id, key, *value ? value : "-");
}

/* Reads the first line of a file. Returns false if the file is not there or is empty. */
static bool first_line(const char *path, char *ret_line, size_t room)
{
    FILE *file = fopen(path, "r");
    bool read = file && fgets(ret_line, (int)room, file);
    if (file)
        fclose(file);
    if (read)
        ret_line[strcspn(ret_line, "\n")] = 0;
    return read && *ret_line;
}

static void file_fact(const char *key, const char *path)
{
    char line[512];
    if (first_line(path, line, sizeof line))
        fact(key, line);
}

/* Reads the value of a line "NAME : value" or "NAME: value unit". */
static void line_fact(const char *key, const char *path, const char *name)
{
    char line[512];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, name, strlen(name)) || !strchr(" \t:", line[strlen(name)]))
            continue;
        char *value = strchr(line, ':');
        value = value ? value + 1 : line;
        value += strspn(value, " \t");
        value[strcspn(value, "\n")] = 0;
        fact(key, value);
        break;
    }
    if (file)
        fclose(file);
}

static void library_facts(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = 0;
    fact("mpi", version);
}

static void memory_fact(void)
{
    char line[128];
    long long kib = 0;
    FILE *file = fopen("/proc/meminfo", "r");
    if (file && fgets(line, sizeof line, file))
        sscanf(line, "MemTotal: %lld", &kib);
    if (file)
        fclose(file);
    /* firmware takes some more or less of equal modules, so whole GiB are compared */
    snprintf(line, sizeof line, "%.0f GiB", (double)kib / (1 << 20));
    fact("memory", line);
}

/* The processors of each NUMA node, as "0:0-7,16-23 1:8-15,24-31". */
static void node_fact(void)
{
    enum { NODES_MOST = 64 };
    char path[PATH_MAX], list[512], text[4096];
    size_t used = 0;
    for (int node = 0; node < NODES_MOST; node++) {
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
        if (!first_line(path, list, sizeof list) || used + strlen(list) + 8 > sizeof text)
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d:%s", used ? " " : "", node,
                                 list);
    }
    if (used)
        fact("cpu.nodes", text);
}

static void processor_facts(void)
{
    char text[64];
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
    fact("cpus", text);
    snprintf(text, sizeof text, "%d", CPU_COUNT(&set));
    fact("cpus.usable", text);
    line_fact("cpu.model", "/proc/cpuinfo", "model name");
    line_fact("cpu.microcode", "/proc/cpuinfo", "microcode");
    line_fact("now.mhz", "/proc/cpuinfo", "cpu MHz");
    file_fact("cpu.smt", "/sys/devices/system/cpu/smt/active");
    file_fact("cpu.governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    file_fact("cpu.max_khz", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq");
    file_fact("numa", "/sys/devices/system/node/online");
    node_fact();
}

static void limit_fact(const char *key, int resource)
{
    struct rlimit limit;
    char text[32] = "unlimited";
    if (getrlimit(resource, &limit))
        return;
    if (limit.rlim_cur != RLIM_INFINITY)
        snprintf(text, sizeof text, "%llu", (unsigned long long)limit.rlim_cur);
    fact(key, text);
}

static void system_facts(void)
{
    struct statvfs shm;
    char text[64];
    file_fact("kernel", "/proc/sys/kernel/osrelease");
    line_fact("system", "/etc/os-release", "PRETTY_NAME");
    if (confstr(_CS_GNU_LIBC_VERSION, text, sizeof text))
        fact("libc", text);
    file_fact("thp", "/sys/kernel/mm/transparent_hugepage/enabled");
    file_fact("ptrace_scope", "/proc/sys/kernel/yama/ptrace_scope");
    file_fact("tcp.congestion", "/proc/sys/net/ipv4/tcp_congestion_control");
    file_fact("tcp.rmem", "/proc/sys/net/ipv4/tcp_rmem");
    file_fact("tcp.wmem", "/proc/sys/net/ipv4/tcp_wmem");
    file_fact("clocksource", "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    file_fact("now.load", "/proc/loadavg");
    limit_fact("limit.memlock", RLIMIT_MEMLOCK);
    limit_fact("limit.stack", RLIMIT_STACK);
    limit_fact("limit.files", RLIMIT_NOFILE);
    if (statvfs("/dev/shm", &shm) == 0) {
        double gib = (double)shm.f_blocks * (double)shm.f_frsize / (1 << 30);
        snprintf(text, sizeof text, "%.0f GiB", gib);
        fact("dev_shm", text);
    }
}

/* The quota of processor time of this process's group, in processors; none: no record. */
static void quota_fact(void)
{
    char line[512], path[600], text[64];
    double quota = 0, period = 0;
    FILE *groups = fopen("/proc/self/cgroup", "r");
    while (groups && fgets(line, sizeof line, groups)) {
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':');
        char *name = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!name)
            continue;
        *name++ = 0;
        bool unified = controllers[1] == 0;
        if (unified)
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", name);
        else if (strcmp(controllers + 1, "cpu") == 0 || strncmp(controllers + 1, "cpu,", 4) == 0)
            snprintf(path, sizeof path, "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", name);
        else
            continue;
        if (!first_line(path, text, sizeof text) || sscanf(text, "%lf %lf", &quota, &period) < 1)
            continue;
        period = period > 0 ? period : 100000;
        if (quota > 0) {
            snprintf(text, sizeof text, "%.2f", quota / period);
            fact("cpu.quota", text);
            break;
        }
    }
    if (groups)
        fclose(groups);
}

/* ---- interfaces ---- */

static void nic_file(const char *nic, const char *file)
{
    char path[PATH_MAX], key[128], value[128];
    snprintf(path, sizeof path, "/sys/class/net/%s/%s", nic, file);
    snprintf(key, sizeof key, "nic.%s.%s", nic, strrchr(file, '/') ? strrchr(file, '/') + 1 : file);
    if (first_line(path, value, sizeof value))
        fact(key, value);
}

static void nic_driver(const char *nic)
{
    char path[PATH_MAX], link[PATH_MAX], key[128];
    snprintf(path, sizeof path, "/sys/class/net/%s/device/driver", nic);
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (length <= 0)
        return;
    link[length] = 0;
    snprintf(key, sizeof key, "nic.%s.driver", nic);
    fact(key, strrchr(link, '/') ? strrchr(link, '/') + 1 : link);
}

/* Asks by a socket, because /sys may be that of another network namespace. */
static void nic_mtu(const char *nic)
{
    struct ifreq request = {0};
    int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", nic);
    if (any >= 0 && ioctl(any, SIOCGIFMTU, &request) == 0) {
        char key[64], value[32];
        snprintf(key, sizeof key, "nic.%s.mtu", nic);
        snprintf(value, sizeof value, "%d", request.ifr_mtu);
        fact(key, value);
    }
    if (any >= 0)
        close(any);
}

static void nic_facts(void)
{
    struct if_nameindex *nics = if_nameindex();
    for (struct if_nameindex *nic = nics; nic && nic->if_name; nic++) {
        if (strcmp(nic->if_name, "lo") == 0)
            continue;
        nic_file(nic->if_name, "operstate");
        nic_mtu(nic->if_name);
        nic_file(nic->if_name, "speed");
        nic_file(nic->if_name, "duplex");
        nic_file(nic->if_name, "device/numa_node");
        nic_file(nic->if_name, "address");
        nic_file(nic->if_name, "statistics/rx_errors");
        nic_file(nic->if_name, "statistics/tx_errors");
        nic_driver(nic->if_name);
    }
    if_freenameindex(nics);
}

static int prefix_length(const struct sockaddr *mask)
{
    int bits = 0;
    const unsigned char *at =
        mask->sa_family == AF_INET
            ? (const unsigned char *)&((const struct sockaddr_in *)mask)->sin_addr
            : (const unsigned char *)&((const struct sockaddr_in6 *)mask)->sin6_addr;
    for (int i = 0; i < (mask->sa_family == AF_INET ? 4 : 16); i++)
        for (int bit = 7; bit >= 0; bit--)
            bits += at[i] >> bit & 1;
    return bits;
}

static void address_facts(void)
{
    struct ifaddrs *all, *at;
    if (getifaddrs(&all))
        return;
    for (at = all; at; at = at->ifa_next) {
        char text[INET6_ADDRSTRLEN] = "", key[64], value[96];
        if (!at->ifa_addr || !at->ifa_netmask || at->ifa_flags & IFF_LOOPBACK)
            continue;
        int family = at->ifa_addr->sa_family;
        if (family == AF_INET) {
            inet_ntop(family, &((struct sockaddr_in *)at->ifa_addr)->sin_addr, text, sizeof text);
        } else if (family == AF_INET6) {
            const struct in6_addr *address = &((struct sockaddr_in6 *)at->ifa_addr)->sin6_addr;
            if (IN6_IS_ADDR_LINKLOCAL(address))
                continue;
            inet_ntop(family, address, text, sizeof text);
        } else {
            continue;
        }
        snprintf(key, sizeof key, "nic.%s.running", at->ifa_name);
        fact(key, at->ifa_flags & IFF_RUNNING ? "yes" : "no");
        snprintf(key, sizeof key, "addr.%s", at->ifa_name);
        snprintf(value, sizeof value, "%s/%d", text, prefix_length(at->ifa_netmask));
        fact(key, value);
    }
    freeifaddrs(all);
}

/* ---- devices ---- */

static void infiniband_facts(void)
{
    DIR *folder = opendir("/sys/class/infiniband");
    for (struct dirent *at; folder && (at = readdir(folder));) {
        char path[PATH_MAX], key[300];
        if (*at->d_name == '.')
            continue;
        static const char *const files[] = {"state", "rate", "phys_state"};
        for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
            snprintf(path, sizeof path, "/sys/class/infiniband/%s/ports/1/%s", at->d_name,
                     files[i]);
            snprintf(key, sizeof key, "ib.%.200s.%s", at->d_name, files[i]);
            file_fact(key, path);
        }
    }
    if (folder)
        closedir(folder);
}

/* GPUs that the driver lets this process use, and their names. */
static void gpu_facts(void)
{
    int count = probe_gpu_count();
    char text[96], key[32];
    snprintf(text, sizeof text, "%d", count);
    fact("gpus", text);
    for (int gpu = 0; gpu < count; gpu++) {
        snprintf(key, sizeof key, "gpu.%d.name", gpu);
        probe_gpu_name(gpu, text, sizeof text);
        fact(key, text);
    }
    file_fact("gpu.driver", "/proc/driver/nvidia/version");
}

void probe_facts(const struct probe_job *job)
{
    char name[256] = "";
    id = job->ids[job->rank];
    gethostname(name, sizeof name - 1);
    fact("hostname", name);
    library_facts();
    system_facts();
    processor_facts();
    memory_fact();
    quota_fact();
    nic_facts();
    address_facts();
    infiniband_facts();
    gpu_facts();
}
