/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: singleton 1 2 */
/* OMPI_Affinity_str shows the processor that a process has bound itself to, in words and as a
 * picture, among as many as there are. */
#define _GNU_SOURCE /* sched_setaffinity */
#include "check.h"

#include <mpi-ext.h>
#include <sched.h>

static int count(const char *text, char wanted)
{
    int found = 0;
    for (; *text; text++)
        found += *text == wanted;
    return found;
}

int main(int argc, char **argv)
{
    char bound[OMPI_AFFINITY_STRING_MAX], current[OMPI_AFFINITY_STRING_MAX],
        exists[OMPI_AFFINITY_STRING_MAX];
    cpu_set_t set, one;
    int first = 0;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    start(&argc, &argv);
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    while (!CPU_ISSET(first, &set))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK_OK(OMPI_Affinity_str(OMPI_AFFINITY_LAYOUT_FMT, bound, current, exists));
    CHECK(*bound && exists[0] == '[');
    CHECK_INT(count(exists, '.'), online);
    CHECK_INT(count(exists, '['), count(exists, ']'));
    if (online > 1) {
        CHECK_INT(count(current, 'B'), 1);
        CHECK_INT(count(current, '.'), online - 1);
        CHECK_INT(strlen(current), strlen(exists));
    }
    CHECK_OK(OMPI_Affinity_str(OMPI_AFFINITY_RSRC_STRING_FMT, bound, current, exists));
    CHECK(strncmp(exists, "socket 0 has ", 13) == 0);
    if (online > 1) {
        int socket, core, thread, end = -1;
        CHECK_INT(sscanf(current, "socket %d[core %d[hwt %d]]%n", &socket, &core, &thread, &end), 3);
        CHECK_INT(end, strlen(current));
        CHECK(socket >= 0 && core >= 0 && core < online && thread >= 0);
    }
    return_errors(MPI_COMM_WORLD);
    CHECK_CLASS(OMPI_Affinity_str((ompi_affinity_fmt_t)7, bound, current, exists), MPI_ERR_ARG);
    CHECK_CLASS(OMPI_Affinity_str(OMPI_AFFINITY_LAYOUT_FMT, bound, NULL, exists), MPI_ERR_ARG);
    return end();
}
