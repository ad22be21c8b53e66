/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every rank says who it is, where it runs, which cores it may use, and which networks its host has.
 *
 *     mpirun -n 4 ./hello
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { ROOM = 200 };

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

/* Writes the networks of this host, except the loopback: ", eth0 10.1.0.7, ib0 10.2.0.7". */
static void find_networks(char *text)
{
    struct ifaddrs *all, *at;
    size_t used = 0;
    text[0] = 0;
    if (getifaddrs(&all))
        return;
    for (at = all; at && used < ROOM - 40; at = at->ifa_next) {
        char address[INET_ADDRSTRLEN];
        if (!at->ifa_addr || at->ifa_addr->sa_family != AF_INET || !(at->ifa_flags & IFF_RUNNING) ||
            at->ifa_flags & IFF_LOOPBACK)
            continue;
        inet_ntop(AF_INET, &((struct sockaddr_in *)at->ifa_addr)->sin_addr, address, sizeof address);
        used += snprintf(text + used, ROOM - used, ", %s %s", at->ifa_name, address);
    }
    freeifaddrs(all);
}

int main(int argc, char **argv)
{
    int rank, size, length;
    char host[MPI_MAX_PROCESSOR_NAME], cores[ROOM], networks[ROOM];

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    find_cores(cores);
    find_networks(networks);
    printf("Hello from rank %d of %d on %s, cores %s%s\n", rank, size, host, cores, networks);
    MPI_Finalize();
    return 0;
}
