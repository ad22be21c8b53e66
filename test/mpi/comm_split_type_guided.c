/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; needs: MPI_Session_init */
/* MPI_Comm_split_type by hardware and by process set: those who are bound to one part of the named kind come together,
 * who is not gets MPI_COMM_NULL, as with a kind that nobody knows; unguided, each split is smaller and names its kind. */
#define _GNU_SOURCE
#include "check.h"

#include <sched.h>

static cpu_set_t allowed;

static int nth_cpu(int n)
{
    for (int cpu = 0;; cpu = (cpu + 1) % CPU_SETSIZE)
        if (CPU_ISSET(cpu, &allowed) && n-- == 0)
            return cpu;
}

static void bind_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    CHECK_INT(sched_setaffinity(0, sizeof set, &set), 0);
}

static MPI_Info hint(const char *key, const char *value)
{
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, key, value));
    return info;
}

static MPI_Comm split(MPI_Comm comm, int type, const char *key, const char *value)
{
    MPI_Comm part;
    MPI_Info info = key ? hint(key, value) : MPI_INFO_NULL;
    CHECK_OK(MPI_Comm_split_type(comm, type, -rank, info, &part));
    if (info != MPI_INFO_NULL)
        CHECK_OK(MPI_Info_free(&info));
    return part;
}

/* The members have all the same number, nobody else in the world has it, and they are ordered by key. */
static void check_part(MPI_Comm *part, int number)
{
    int n, members = 0, numbers[64], worlds[64], everybody[64];
    CHECK(*part != MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_size(*part, &n));
    CHECK_OK(MPI_Allgather(&number, 1, MPI_INT, numbers, 1, MPI_INT, *part));
    CHECK_OK(MPI_Allgather(&rank, 1, MPI_INT, worlds, 1, MPI_INT, *part));
    CHECK_OK(MPI_Allgather(&number, 1, MPI_INT, everybody, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        members += everybody[i] == number;
    CHECK_INT(n, members);
    for (int i = 0; i < n; i++) {
        CHECK_INT(numbers[i], number);
        CHECK(i == 0 || worlds[i] < worlds[i - 1]);
    }
    CHECK_OK(MPI_Comm_free(part));
}

static void nobody(MPI_Comm part)
{
    CHECK(part == MPI_COMM_NULL);
}

static void guided(int type, int cpu)
{
    MPI_Comm part = split(MPI_COMM_WORLD, type, "mpi_hw_resource_type", "hwloc://PU");
    check_part(&part, cpu);
    part = split(MPI_COMM_WORLD, type, "mpi_hw_resource_type", "mpi_shared_memory");
    check_part(&part, 0);
    part = split(MPI_COMM_WORLD, type, "mpi_hw_resource_type", "hwloc://Machine");
    check_part(&part, 0);
    nobody(split(MPI_COMM_WORLD, type, "mpi_hw_resource_type", "hwloc://Kitchen"));
    nobody(split(MPI_COMM_WORLD, type, "something_else", "hwloc://PU"));
    nobody(split(MPI_COMM_WORLD, type, NULL, NULL));
}

/* Down to parts that cannot be divided; returns the number of splits. */
static int unguided(MPI_Comm comm)
{
    int splits = 0;
    for (MPI_Comm part, above = comm;; above = part, splits++) {
        MPI_Info info;
        char type[MPI_MAX_INFO_VAL] = "", first[MPI_MAX_INFO_VAL];
        int n, before, flag;
        CHECK_OK(MPI_Comm_size(above, &before));
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Comm_split_type(above, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part));
        CHECK_OK(MPI_Info_get(info, "mpi_hw_resource_type", sizeof type - 1, type, &flag));
        CHECK_OK(MPI_Info_free(&info));
        if (above != comm)
            CHECK_OK(MPI_Comm_free(&above));
        if (part == MPI_COMM_NULL)
            return splits;
        CHECK_INT(flag, 1);
        CHECK_OK(MPI_Comm_size(part, &n));
        CHECK(n < before);
        memcpy(first, type, sizeof type);
        CHECK_OK(MPI_Bcast(first, sizeof first, MPI_CHAR, 0, part));
        CHECK(strcmp(first, type) == 0);
    }
}

static void by_set(void)
{
    MPI_Comm part;
    MPI_Info both;
    int type = MPI_COMM_TYPE_RESOURCE_GUIDED;
    part = split(MPI_COMM_WORLD, type, "mpi_pset_name", "mpi://WORLD");
    check_part(&part, 0);
    part = split(MPI_COMM_WORLD, type, "mpi_pset_name", "mpi://SELF");
    check_part(&part, rank);
    nobody(split(MPI_COMM_WORLD, type, "mpi_pset_name", "mpi://NOWHERE"));
    nobody(split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "mpi_pset_name", "mpi://WORLD"));
    both = hint("mpi_pset_name", "mpi://WORLD");
    CHECK_OK(MPI_Info_set(both, "mpi_hw_resource_type", "hwloc://PU"));
    return_errors(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, type, 0, both, &part), MPI_ERR_INFO);
    CHECK_OK(MPI_Info_free(&both));
}

static void on_intercomm(int cpu)
{
    MPI_Comm half, inter, part;
    int remote, number = cpu, me;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &inter));
    CHECK_OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
    CHECK_OK(MPI_Comm_remote_size(part, &remote));
    CHECK_INT(remote, (size + (rank % 2)) / 2);
    CHECK_OK(MPI_Comm_free(&part));
    CHECK_OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part));
    if (part != MPI_COMM_NULL) {
        /* Both sides are bound alike: the odd ranks get the processor of an even one. */
        CHECK_OK(MPI_Comm_rank(part, &me));
        CHECK_OK(MPI_Bcast(&number, 1, MPI_INT, rank % 2 ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL, part));
        CHECK_INT(number, cpu);
        CHECK_OK(MPI_Comm_free(&part));
    }
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    memset(&allowed, 0xff, sizeof allowed); /* whatever the launcher has bound us to */
    CHECK_INT(sched_setaffinity(0, sizeof allowed, &allowed), 0);
    CHECK_INT(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int count = CPU_COUNT(&allowed), cpu = nth_cpu(rank % count);
    bind_to(cpu);
    guided(MPI_COMM_TYPE_HW_GUIDED, cpu);
    guided(MPI_COMM_TYPE_RESOURCE_GUIDED, cpu);
    int splits = unguided(MPI_COMM_WORLD);
    /* Nothing divides those who may use the same processor. */
    bind_to(nth_cpu(0));
    CHECK_INT(unguided(MPI_COMM_WORLD), 0);
    if (count > 1 && size > 1) {
        CHECK(splits > 0);
        bind_to(cpu);
        on_intercomm(cpu);
        /* The last rank is bound to nothing in particular. */
        if (rank == size - 1)
            CHECK_INT(sched_setaffinity(0, sizeof allowed, &allowed), 0);
        MPI_Comm part = split(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "hwloc://PU");
        CHECK((part == MPI_COMM_NULL) == (rank == size - 1));
        if (part != MPI_COMM_NULL)
            CHECK_OK(MPI_Comm_free(&part));
    }
    by_set();
    return end();
}
