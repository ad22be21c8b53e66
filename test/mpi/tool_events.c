/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* Events are told when they happen, with their values, to the callback that is careful enough, and
 * only for the communicator they are bound to; what cannot be told is counted as dropped. */
#include "check.h"

enum { BIG = 1 << 20 };

static struct seen {
    int calls, values[4], source;
    unsigned long long longs[4];
    MPI_Count time;
    MPI_T_cb_safety level;
    MPI_T_event_registration registration;
} unexpected, rendezvous, collective, changed;
static MPI_T_event_instance last_instance;
static int freed_calls, dropped_calls;
static MPI_Count dropped;

/* First the ints, then the longs. */
static void look(MPI_T_event_instance instance, MPI_T_event_registration registration,
                 MPI_T_cb_safety level, void *user_data)
{
    struct seen *seen = user_data;
    int longs = seen == &unexpected ? 2 : seen == &rendezvous ? 1 : 0;
    int ints = seen == &changed ? 1 : longs ? 3 : 2;
    struct {
        int ints[3];
        unsigned long long longs[2];
    } all;
    int internal = 0;
    if (ints == 3)
        CHECK_OK(MPI_T_event_read(instance, 2, &internal));
    if (internal)
        return; /* of a barrier */
    for (int i = 0; i < ints; i++)
        CHECK_OK(MPI_T_event_read(instance, i, &seen->values[i]));
    seen->calls++;
    seen->level = level;
    seen->registration = registration;
    last_instance = instance;
    for (int i = 0; i < longs; i++)
        CHECK_OK(MPI_T_event_read(instance, ints + i, &seen->longs[i]));
    CHECK_INT(MPI_T_event_read(instance, ints + longs, &all), MPI_T_ERR_INVALID_INDEX);
    memset(&all, 0, sizeof all);
    CHECK_OK(MPI_T_event_copy(instance, &all));
    CHECK_BYTES(all.ints, seen->values, (size_t)ints * sizeof(int));
    CHECK_BYTES(all.longs, seen->longs, (size_t)longs * sizeof *all.longs);
    CHECK_OK(MPI_T_event_get_timestamp(instance, &seen->time));
    CHECK_OK(MPI_T_event_get_source(instance, &seen->source));
}

static void was_freed(MPI_T_event_registration registration, MPI_T_cb_safety level, void *user_data)
{
    (void)registration, (void)level;
    CHECK(user_data == &freed_calls);
    freed_calls++;
}

static void was_dropped(MPI_Count count, MPI_T_event_registration registration, int source,
                        MPI_T_cb_safety level, void *user_data)
{
    (void)registration, (void)source, (void)level, (void)user_data;
    dropped_calls++;
    dropped += count;
}

static MPI_T_event_registration open_event(const char *name, void *object, MPI_T_cb_safety level,
                                           struct seen *seen)
{
    MPI_T_event_registration registration = MPI_T_EVENT_REGISTRATION_NULL;
    int index;
    CHECK_OK(MPI_T_event_get_index(name, &index));
    CHECK_OK(MPI_T_event_handle_alloc(index, object, MPI_INFO_NULL, &registration));
    CHECK_OK(MPI_T_event_register_callback(registration, level, MPI_INFO_NULL, seen, look));
    return registration;
}

/* Every type can be described. */
static void walk(void)
{
    int types, sources;
    CHECK_OK(MPI_T_event_get_num(&types));
    CHECK_OK(MPI_T_source_get_num(&sources));
    CHECK(types >= 4 && sources >= 1);
    for (int i = 0; i < types; i++) {
        char name[64], help[512];
        int name_length = sizeof name, help_length = sizeof help, elements = 8, less = 1, bind,
            index;
        MPI_Datatype datatypes[8], first = MPI_DATATYPE_NULL;
        MPI_Aint places[8];
        MPI_Info info = MPI_INFO_NULL;
        CHECK_OK(MPI_T_event_get_info(i, name, &name_length, NULL, datatypes, places, &elements,
                                      NULL, &info, help, &help_length, &bind));
        CHECK(*name && *help && elements >= 1 && elements <= 8 && places[0] == 0);
        CHECK(info != MPI_INFO_NULL);
        CHECK_OK(MPI_Info_free(&info));
        CHECK_OK(MPI_T_event_get_index(name, &index));
        CHECK_INT(index, i);
        CHECK_OK(MPI_T_event_get_info(i, NULL, NULL, NULL, &first, NULL, &less, NULL, NULL, NULL,
                                      NULL, NULL));
        CHECK_INT(less, elements);
        CHECK(first == datatypes[0]);
    }
    for (int i = 0; i < sources; i++) {
        char name[64];
        int length = sizeof name;
        MPI_T_source_order order;
        MPI_Count ticks, most, now = 0, later = 0;
        CHECK_OK(MPI_T_source_get_info(i, name, &length, NULL, NULL, &order, &ticks, &most, NULL));
        CHECK_INT(order, MPI_T_SOURCE_ORDERED);
        CHECK(ticks > 0 && most > ticks);
        CHECK_OK(MPI_T_source_get_timestamp(i, &now));
        CHECK_OK(MPI_T_source_get_timestamp(i, &later));
        CHECK(now > 0 && later >= now);
    }
    CHECK_INT(MPI_T_source_get_timestamp(sources, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_event_get_index("no such event", &types), MPI_T_ERR_INVALID_NAME);
}

static void check_messages(void)
{
    static char big[BIG];
    int x = 5;
    MPI_T_event_registration unexpected_at =
        open_event("pml_message_unexpected", NULL, MPI_T_CB_REQUIRE_MPI_RESTRICTED, &unexpected);
    MPI_T_event_registration rendezvous_at =
        open_event("pml_rendezvous_started", NULL, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, &rendezvous);
    MPI_Count before, after;
    CHECK_OK(MPI_T_source_get_timestamp(0, &before));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        CHECK_OK(MPI_Send(&x, 1, MPI_INT, 1, 77, MPI_COMM_WORLD));
        CHECK_OK(MPI_Send(big, BIG, MPI_CHAR, 1, 78, MPI_COMM_WORLD));
        CHECK_INT(rendezvous.calls, 1);
        CHECK_INT(rendezvous.values[0], 1);
        CHECK_INT(rendezvous.values[1], 78);
        CHECK_INT(rendezvous.longs[0], BIG);
        CHECK(rendezvous.registration == rendezvous_at);
        CHECK_INT(rendezvous.level, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    } else if (rank == 1) {
        MPI_Status status;
        CHECK_OK(MPI_Probe(0, 78, MPI_COMM_WORLD, &status)); /* the other is there, too */
        CHECK_INT(unexpected.calls, 2);
        CHECK_INT(unexpected.values[0], 0);
        CHECK_INT(unexpected.values[1], 78);
        CHECK_INT(unexpected.longs[0], BIG);
        CHECK(unexpected.longs[1] >= 2 && unexpected.longs[1] <= 4); /* others of the next barrier */
        CHECK_OK(MPI_T_source_get_timestamp(unexpected.source, &after));
        CHECK(unexpected.time >= before && unexpected.time <= after);
        CHECK_OK(MPI_Recv(big, BIG, MPI_CHAR, 0, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Recv(&x, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_T_event_handle_free(unexpected_at, &freed_calls, was_freed));
    CHECK_INT(freed_calls, 1);
    CHECK_INT(MPI_T_event_handle_free(unexpected_at, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_OK(MPI_T_event_handle_free(rendezvous_at, NULL, NULL));
    int told = unexpected.calls;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_INT(unexpected.calls, told);
    if (last_instance)
        CHECK_INT(MPI_T_event_copy(last_instance, big), MPI_T_ERR_INVALID_HANDLE);
}

/* Writes a choice, by its name, into the variable. */
static void choose(const char *variable, const char *wanted)
{
    MPI_T_cvar_handle handle;
    MPI_T_enum items;
    int index, count, choices;
    char name[64];
    CHECK_OK(MPI_T_cvar_get_index(variable, &index));
    CHECK_OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK_OK(MPI_T_enum_get_info(items, &choices, NULL, NULL));
    for (int i = 0; i < choices; i++) {
        int length = sizeof name;
        CHECK_OK(MPI_T_enum_get_item(items, i, NULL, name, &length));
        if (strcmp(name, wanted) == 0)
            CHECK_OK(MPI_T_cvar_write(handle, &i));
    }
    CHECK_OK(MPI_T_cvar_handle_free(&handle));
}

static void check_collectives(void)
{
    MPI_Comm comm;
    MPI_T_enum items;
    MPI_Request request;
    int index, length, x = 1;
    char name[64];
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_T_event_registration at =
        open_event("coll_started", &comm, MPI_T_CB_REQUIRE_THREAD_SAFE, &collective);
    CHECK_OK(MPI_T_event_get_index("coll_started", &index));
    CHECK_INT(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &at), MPI_T_ERR_INVALID);
    CHECK_OK(MPI_T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, &items, NULL, NULL,
                                  NULL, NULL));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* not the one it is bound to */
    CHECK_INT(collective.calls, 0);
    choose("coll_bcast_algorithm", "chain");
    CHECK_OK(MPI_Bcast(&x, 1, MPI_INT, 0, comm));
    CHECK_INT(collective.calls, 1);
    length = sizeof name;
    CHECK_OK(MPI_T_enum_get_item(items, collective.values[0], NULL, name, &length));
    CHECK_STRING(name, "bcast");

    CHECK_OK(MPI_T_cvar_get_index("coll_bcast_algorithm", &index));
    CHECK_OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
    length = sizeof name;
    CHECK_OK(MPI_T_enum_get_item(items, collective.values[1], NULL, name, &length));
    CHECK_STRING(name, "chain");

    CHECK_OK(MPI_Ibarrier(comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(collective.calls, 2);
    CHECK_OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &request));
    CHECK_INT(collective.calls, 2);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_Start(&request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_INT(collective.calls, 5);
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Comm_free(&comm)); /* the registration stays, and is told nothing */
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_INT(collective.calls, 5);
}

/* A callback that may call anything is too careless for what happens inside the library, and what
 * happens while a callback of this thread runs cannot be told either. */
static void check_dropped(void)
{
    MPI_Comm self = MPI_COMM_SELF;
    static struct seen careless;
    MPI_T_event_registration at =
        open_event("coll_started", &self, MPI_T_CB_REQUIRE_NONE, &careless);
    CHECK_OK(MPI_T_event_set_dropped_handler(at, was_dropped));
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Barrier(MPI_COMM_SELF));
    CHECK_INT(careless.calls, 0);
    CHECK_INT(dropped, 3);
    CHECK(dropped_calls >= 1);
    CHECK_OK(MPI_T_event_register_callback(at, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL));
    CHECK_OK(MPI_Barrier(MPI_COMM_SELF)); /* nobody listens: nothing is dropped */
    CHECK_INT(dropped, 3);
    CHECK_OK(MPI_T_event_handle_free(at, NULL, NULL));
}

static void check_changed(void)
{
    MPI_T_cvar_handle handle;
    MPI_T_event_registration at =
        open_event("mpi_cvar_changed", NULL, MPI_T_CB_REQUIRE_NONE, &changed);
    unsigned long long bytes;
    int index, count;
    CHECK_OK(MPI_T_cvar_get_index("pml_send_buffer", &index));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK_OK(MPI_T_cvar_read(handle, &bytes));
    CHECK_OK(MPI_T_cvar_write(handle, &bytes));
    CHECK_INT(changed.calls, 1);
    CHECK_INT(changed.values[0], index);
    CHECK_INT(changed.level, MPI_T_CB_REQUIRE_NONE);
    CHECK_OK(MPI_T_event_handle_free(at, NULL, NULL));
    CHECK_OK(MPI_T_cvar_handle_free(&handle));
}

static void check_hints(void)
{
    MPI_T_event_registration at =
        open_event("pml_message_unexpected", NULL, MPI_T_CB_REQUIRE_THREAD_SAFE, &unexpected);
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "some_hint", "yes"));
    CHECK_OK(MPI_T_event_handle_set_info(at, info));
    CHECK_OK(MPI_T_event_callback_set_info(at, MPI_T_CB_REQUIRE_THREAD_SAFE, info));
    CHECK_INT(MPI_T_event_callback_set_info(at, MPI_T_CB_REQUIRE_NONE, info), MPI_T_ERR_INVALID);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_T_event_handle_get_info(at, &info));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_T_event_callback_get_info(at, MPI_T_CB_REQUIRE_THREAD_SAFE, &info));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_T_event_handle_free(at, NULL, NULL));
    CHECK_INT(MPI_T_event_handle_get_info(at, &info), MPI_T_ERR_INVALID_HANDLE);
}

int main(int argc, char **argv)
{
    int provided;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    walk();
    start(&argc, &argv);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    check_messages();
    check_collectives();
    check_dropped();
    check_changed();
    check_hints();
    CHECK_OK(MPI_Finalize());
    return MPI_T_finalize();
}
