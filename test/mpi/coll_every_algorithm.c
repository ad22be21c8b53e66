/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 6 7 9 16; args: 1 2; long-args: 0 12; limit: 600;
   env: OMPI_MCA_coll_segment_bytes=1000; needs: MPI_T_event_handle_alloc MPI_Bcast_init */
/* Every algorithm that a tool or a user can name is right in every form: random calls
 * (random_calls.h), blocking, nonblocking and persistent, several at a time. Where it cannot do a
 * call another one does; where all can do something (4, 8, 16 ranks) each must have done a call of
 * each form. args: seed (0: from the clock), calls for each. */
#include "random_calls.h"

#include <time.h>

enum { AT_ONCE = 4, MOST_CHOICES = 32, MOST_TRIES = 60 };

static const char *const names[KINDS] = {
    "barrier",   "bcast",     "gather",     "gatherv",        "scatter",
    "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
    "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
    "scan",      "exscan"};

static int ran[MOST_CHOICES]; /* calls of the kind that is tried */
static enum kind tried;

static void count_call(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety level, void *user_data)
{
    int kind, choice, length = 64;
    char name[64];
    (void)registration, (void)level;
    CHECK_OK(MPI_T_event_read(instance, 0, &kind));
    CHECK_OK(MPI_T_event_read(instance, 1, &choice));
    CHECK_OK(MPI_T_enum_get_item(*(MPI_T_enum *)user_data, kind, NULL, name, &length));
    if (strcmp(name, names[tried]) == 0)
        ran[choice]++;
}

static void watch_calls(void)
{
    static MPI_T_enum kinds;
    int index, provided;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_event_get_index("coll_started", &index));
    CHECK_OK(MPI_T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, &kinds, NULL, NULL,
                                  NULL, NULL));
    for (int i = 0; i < team_count; i++) {
        MPI_T_event_registration registration;
        CHECK_OK(MPI_T_event_handle_alloc(index, &teams[i].comm, MPI_INFO_NULL, &registration));
        CHECK_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE,
                                               MPI_INFO_NULL, &kinds, count_call));
    }
}

/* The variable that chooses the algorithm of a kind and its choices; without one: a single choice,
 * by itself. */
static int open_choices(enum kind kind, MPI_T_cvar_handle *ret_handle, MPI_T_enum *ret_items)
{
    char variable[64];
    int index, count, choices;
    snprintf(variable, sizeof variable, "coll_%s_algorithm", names[kind]);
    *ret_handle = MPI_T_CVAR_HANDLE_NULL;
    if (MPI_T_cvar_get_index(variable, &index) != MPI_SUCCESS) {
        CHECK(kind == GATHERV || kind == SCATTERV);
        return 1;
    }
    CHECK_OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, ret_items, NULL, NULL, NULL, NULL));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, ret_handle, &count));
    CHECK_OK(MPI_T_enum_get_info(*ret_items, &choices, NULL, NULL));
    CHECK(choices > 1 && choices <= MOST_CHOICES);
    return choices;
}

static void call_some(int count, enum form form, int *number, uint64_t *random, uint64_t *own)
{
    static struct operation calls[AT_ONCE];
    int order[AT_ONCE], intra = team_count < 4 ? team_count : 3;
    for (int i = 0; i < count; i++) {
        draw_call(&calls[i], (*number)++, tried, form, &teams[random_below(random, intra)], random,
                  own);
        call(&calls[i]);
        int j = random_below(random, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (int i = 0; i < count; i++)
        finish(&calls[order[i]]);
}

/* On numbers of ranks that are powers of two, and more than two, all can do something, in every form. The algorithms for
 * several nodes have a program of their own. */
static int must_run(const char *name)
{
    int many = size >= 4 && (size & (size - 1)) == 0;
    return many && strcmp(name, "hierarchical") != 0 && strcmp(name, "multi_leader") != 0;
}

static void agree_on_seed(uint64_t *seed)
{
    if (*seed == 0)
        *seed = (uint64_t)time(NULL);
    for (int r = 1; rank == 0 && r < size; r++)
        CHECK_OK(MPI_Send(seed, 1, MPI_UINT64_T, r, 0, MPI_COMM_WORLD));
    if (rank)
        CHECK_OK(MPI_Recv(seed, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    else
        printf("seed %llu\n", (unsigned long long)*seed);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    uint64_t seed = argument(argc, argv, 1);
    int wanted = argc > 2 ? atoi(argv[2]) : 2, number = 0, fell_back = 0, done = 0;
    agree_on_seed(&seed);
    uint64_t random = seed, own = seed * 1000 + rank;
    make_layouts(&random);
    make_teams();
    watch_calls();
    for (tried = BARRIER; tried < KINDS; tried++) {
        MPI_T_cvar_handle handle;
        MPI_T_enum items;
        int choices = open_choices(tried, &handle, &items);
        for (int choice = 0; choice < choices; choice++)
            for (enum form form = BLOCKING; form < FORMS; form++) {
                char name[64] = "";
                int length = sizeof name, calls = 0;
                if (choices > 1) {
                    CHECK_OK(MPI_T_cvar_write(handle, &choice));
                    CHECK_OK(MPI_T_enum_get_item(items, choice, NULL, name, &length));
                }
                memset(ran, 0, sizeof ran);
                int needed = choice && must_run(name);
                while (calls < wanted || (needed && !ran[choice] && calls < MOST_TRIES)) {
                    int count = 1 + random_below(&random, AT_ONCE);
                    call_some(count, form, &number, &random, &own);
                    calls += count;
                }
                int all = 0;
                for (int i = 0; i < MOST_CHOICES; i++)
                    all += ran[i];
                CHECK_INT(all, calls);
                if (needed && !ran[choice])
                    FAIL("%s %s has done none of %d calls of form %d", names[tried], name, calls,
                         form);
                done += choice ? ran[choice] : 0;
                fell_back += choice ? calls - ran[choice] : 0;
            }
        int none = 0;
        if (choices > 1) {
            CHECK_OK(MPI_T_cvar_write(handle, &none));
            CHECK_OK(MPI_T_cvar_handle_free(&handle));
        }
    }
    if (rank == 0)
        printf("%d calls by the algorithm that was asked for, %d by another one\n", done,
               fell_back);
    CHECK(size == 1 || done > fell_back);
    free_teams_and_layouts();
    CHECK_OK(MPI_T_finalize());
    return end();
}
