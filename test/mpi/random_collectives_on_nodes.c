/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 6 7 9 16; args: 1 40; long-args: 2 400; needs: MPI_Bcast_init */
/* Random collectives (random_calls.h) by the algorithms for several nodes: the library is made to believe in nodes of 1 to 4
 * ranks, in blocks and dealt out, with 1 to 3 network cards. On intercommunicators by each way in turn. args: seed, rounds
 * for each. */
#include "random_calls.h"

enum { AT_ONCE = 5 };

static void set_param(const char *name, int value)
{
    MPI_T_cvar_handle handle;
    int index, count;
    CHECK_OK(MPI_T_cvar_get_index(name, &index));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK_OK(MPI_T_cvar_write(handle, &value));
    CHECK_OK(MPI_T_cvar_handle_free(&handle));
}

static void set_algorithm(const char *collective, const char *wanted)
{
    char name[64], item[64];
    int index, verbosity, bind, scope, value, length, items, room = 0;
    MPI_Datatype type;
    MPI_T_enum choices;
    snprintf(name, sizeof name, "coll_%s_algorithm", collective);
    CHECK_OK(MPI_T_cvar_get_index(name, &index));
    CHECK_OK(MPI_T_cvar_get_info(index, NULL, &room, &verbosity, &type, &choices, NULL, &room, &bind, &scope));
    CHECK_OK(MPI_T_enum_get_info(choices, &items, NULL, &room));
    for (int i = 0; i < items; i++) {
        length = sizeof item;
        CHECK_OK(MPI_T_enum_get_item(choices, i, &value, item, &length));
        if (!strcmp(item, wanted)) {
            set_param(name, value);
            return;
        }
    }
    FAIL("%s is no choice of %s", wanted, name);
}

static void run_rounds(uint64_t *random, uint64_t *own, int rounds)
{
    static struct operation calls[AT_ONCE];
    for (int round = 0; round < rounds;) {
        int count = 1 + random_below(random, AT_ONCE), order[AT_ONCE];
        for (int i = 0; i < count; i++) {
            const struct team *team = &teams[random_below(random, team_count)];
            enum kind kind = (enum kind)random_below(random, team->inter ? SCAN : KINDS);
            draw_call(&calls[i], round++, kind, (enum form)random_below(random, FORMS), team, random, own);
            call(&calls[i]);
            int j = random_below(random, i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        for (int i = 0; i < count; i++)
            finish(&calls[order[i]]);
    }
}

int main(int argc, char **argv)
{
    static const char *const collectives[] = {"barrier", "bcast", "gather", "scatter", "allgather", "allgatherv", "alltoall", "reduce",
                                              "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan"};
    int provided;
    start(&argc, &argv);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    uint64_t random = argument(argc, argv, 1), own = random * 1000 + rank;
    int rounds = argc > 2 ? atoi(argv[2]) : 40;
    make_layouts(&random);
    for (int layout = 0; layout < 8; layout++) {
        MPI_Comm world;
        const char *const inter[] = {"linear", "leaders"};
        set_param("coll_ranks_per_node", 1 + layout / 2);
        set_param("coll_ranks_scattered", layout % 2);
        set_param("coll_nics", 1 + layout % 3);
        for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
            set_algorithm(collectives[i], "hierarchical");
        for (int i = 0; layout % 4 >= 2 && i < 4; i++)
            set_algorithm((const char *[]){"bcast", "reduce", "allreduce", "allgather"}[i], "multi_leader");
        set_algorithm("inter", inter[layout % 2]);
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world)); /* this one was opened before there were nodes */
        add_team(world);
        make_teams();
        run_rounds(&random, &own, rounds);
        for (; team_count; team_count--)
            if (teams[team_count - 1].comm != MPI_COMM_WORLD)
                CHECK_OK(MPI_Comm_free(&teams[team_count - 1].comm));
    }
    free_teams_and_layouts();
    CHECK_OK(MPI_T_finalize());
    return end();
}
