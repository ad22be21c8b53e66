/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every rank says who it is, where it runs, which cores it may use, and by which network interface others reach its
 * host.
 *
 *     mpirun -n 4 ./hello
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 128 };

/* Writes the cores that this process may use, as "0-3,8". */
static void find_cores(char *text)
{
    cpu_set_t set;
    size_t used = 0;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    text[0] = 0;
    for (int first = 0; first < CPU_SETSIZE && used < ROOM - 24; first++) {
        if (!CPU_ISSET(first, &set))
            continue;
        int last = first;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
            last++;
        used += snprintf(text + used, ROOM - used, last > first ? "%s%d-%d" : "%s%d", used ? "," : "", first, last);
        first = last;
    }
}

/* Writes the first interface that is up and not the loopback, with its address: "eth0 10.1.0.7". */
static void find_nic(char *text)
{
    struct ifaddrs *all, *at;
    snprintf(text, ROOM, "no network");
    if (getifaddrs(&all))
        return;
    for (at = all; at; at = at->ifa_next) {
        char address[INET_ADDRSTRLEN];
        if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET || !(at->ifa_flags & IFF_RUNNING) ||
            at->ifa_flags & IFF_LOOPBACK)
            continue;
        inet_ntop(AF_INET, &((struct sockaddr_in *)at->ifa_addr)->sin_addr, address, sizeof address);
        snprintf(text, ROOM, "%s %s", at->ifa_name, address);
        break;
    }
    freeifaddrs(all);
}

int main(int argc, char **argv)
{
    int rank, size, length;
    char host[MPI_MAX_PROCESSOR_NAME], cores[ROOM], nic[ROOM];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    find_cores(cores);
    find_nic(nic);
    printf("Hello from rank %d of %d on %s, cores %s, %s\n", rank, size, host, cores, nic);
    MPI_Finalize();
    return 0;
}
