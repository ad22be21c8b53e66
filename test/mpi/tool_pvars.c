/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3; env: OMPI_MCA_btl=shm,self */
/* Performance variables count what really happens, between start and stop, for each session on its
 * own; levels and marks of the queues, and what belongs to one communicator or peer. */
#include "check.h"

enum { MESSAGES = 10, BYTES = 100, BIG = 1 << 20 };

static int index_of(const char *name, int *class, int *bind, int *continuous)
{
    int count;
    CHECK_OK(MPI_T_pvar_get_num(&count));
    for (int i = 0; i < count; i++) {
        char got[96];
        int length = sizeof got;
        CHECK_OK(MPI_T_pvar_get_info(i, got, &length, NULL, class, NULL, NULL, NULL, NULL, bind,
                                     NULL, continuous, NULL));
        if (strcmp(got, name) == 0)
            return i;
    }
    FAIL("no variable is called %s", name);
}

static MPI_T_pvar_handle open_variable(MPI_T_pvar_session session, const char *name, MPI_Comm comm,
                                       int expected_count)
{
    int class, bind, continuous, count = -1, index = index_of(name, &class, &bind, &continuous);
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    CHECK_INT(bind, comm == MPI_COMM_NULL ? MPI_T_BIND_NO_OBJECT : MPI_T_BIND_MPI_COMM);
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, comm == MPI_COMM_NULL ? NULL : &comm, &handle,
                                     &count));
    CHECK_INT(count, expected_count);
    if (!continuous)
        CHECK_OK(MPI_T_pvar_start(session, handle));
    return handle;
}

static unsigned long long value(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    unsigned long long got = 77;
    CHECK_OK(MPI_T_pvar_read(session, handle, &got));
    return got;
}

/* What is promised of every variable holds. */
static void walk(MPI_Comm comm)
{
    MPI_T_pvar_session session;
    int count;
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_get_num(&count));
    for (int i = 0; i < count; i++) {
        char name[96], help[256];
        int name_length = sizeof name, help_length = sizeof help, verbosity = -1, class, bind,
            readonly, continuous, atomic, elements, index;
        MPI_Datatype type;
        MPI_T_enum items;
        MPI_T_pvar_handle handle;
        static unsigned long long values[64];
        CHECK_OK(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &items, help,
                                     &help_length, &bind, &readonly, &continuous, &atomic));
        CHECK(*name && *help);
        CHECK_OK(MPI_T_pvar_get_index(name, class, &index));
        CHECK_INT(index, i);
        CHECK((items != MPI_T_ENUM_NULL) == (class == MPI_T_PVAR_CLASS_STATE));
        if (bind == MPI_T_BIND_MPI_COMM)
            CHECK_INT(MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &elements),
                      MPI_T_ERR_INVALID);
        CHECK_OK(MPI_T_pvar_handle_alloc(session, i, &comm, &handle, &elements));
        CHECK(type == MPI_CHAR ? elements % size == 0 : elements == 1 || elements == size);
        if (continuous)
            CHECK_INT(MPI_T_pvar_start(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
        CHECK_INT(MPI_T_pvar_stop(session, handle),
                  continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS);
        CHECK_OK(MPI_T_pvar_read(session, handle, values));
        CHECK_INT(MPI_T_pvar_reset(session, handle),
                  readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
        CHECK_INT(MPI_T_pvar_write(session, handle, values),
                  readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS);
        CHECK_INT(MPI_T_pvar_readreset(session, handle, values), readonly ? MPI_T_ERR_PVAR_NO_WRITE
                                                                 : !atomic
                                                                     ? MPI_T_ERR_PVAR_NO_ATOMIC
                                                                     : MPI_SUCCESS);
        CHECK_OK(MPI_T_pvar_handle_free(session, &handle));
        CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
    }
    CHECK_OK(MPI_T_pvar_session_free(&session));
}

static void exchange(int messages)
{
    static char buffer[BYTES];
    for (int i = 0; i < messages; i++)
        if (rank == 0)
            CHECK_OK(MPI_Send(buffer, BYTES, MPI_CHAR, 1, i, MPI_COMM_WORLD));
        else if (rank == 1)
            CHECK_OK(MPI_Recv(buffer, BYTES, MPI_CHAR, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Afterwards nothing of what the ranks have sent each other so far is under way. */
static void settle(void)
{
    MPI_Request requests[6];
    int x = 0, y[3], count = 0;
    for (int peer = 0; peer < size; peer++) {
        if (peer == rank)
            continue;
        CHECK_OK(MPI_Irecv(&y[peer], 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[count++]));
        CHECK_OK(MPI_Issend(&x, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[count++]));
    }
    CHECK_OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}

static void check_traffic(void)
{
    MPI_T_pvar_session one, two;
    unsigned long long ranks[3];
    static char big[BIG];
    const char *way = rank == 0 ? "sent" : "received";
    char name[64];
    CHECK_OK(MPI_T_pvar_session_create(&one));
    CHECK_OK(MPI_T_pvar_session_create(&two));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    settle();
    snprintf(name, sizeof name, "pml_messages_%s", way);
    MPI_T_pvar_handle messages = open_variable(one, name, MPI_COMM_NULL, 1);
    snprintf(name, sizeof name, "pml_bytes_%s", way);
    MPI_T_pvar_handle bytes = open_variable(one, name, MPI_COMM_NULL, 1);
    snprintf(name, sizeof name, "btl_shm_bytes_%s", way);
    MPI_T_pvar_handle shm_bytes = open_variable(one, name, MPI_COMM_NULL, 1);
    snprintf(name, sizeof name, "btl_self_messages_%s", way);
    MPI_T_pvar_handle self = open_variable(one, name, MPI_COMM_NULL, 1);
    snprintf(name, sizeof name, "pml_peer_bytes_%s", way);
    MPI_T_pvar_handle peers = open_variable(one, name, MPI_COMM_WORLD, size);
    MPI_T_pvar_handle eager = open_variable(one, "pml_eager_sent", MPI_COMM_NULL, 1);
    MPI_T_pvar_handle announced = open_variable(one, "pml_rendezvous_sent", MPI_COMM_NULL, 1);

    int n = rank < 2 ? MESSAGES : 0;
    exchange(MESSAGES);
    CHECK_INT(value(one, messages), n);
    CHECK_INT(value(one, bytes), n * BYTES);
    CHECK_INT(value(one, shm_bytes), n * BYTES);
    CHECK_INT(value(one, self), 0);
    CHECK_OK(MPI_T_pvar_read(one, peers, ranks));
    for (int i = 0; i < size; i++)
        CHECK_INT(ranks[i], rank < 2 && i == !rank ? MESSAGES * BYTES : 0);
    CHECK_INT(value(one, eager), rank == 0 ? MESSAGES : 0);
    CHECK_INT(value(one, announced), 0);

    /* another session begins at nothing, and what it does does not concern the first */
    snprintf(name, sizeof name, "pml_messages_%s", way);
    MPI_T_pvar_handle other = open_variable(two, name, MPI_COMM_NULL, 1);
    CHECK_INT(value(two, other), 0);
    exchange(1);
    CHECK_INT(value(two, other), n / MESSAGES);
    CHECK_OK(MPI_T_pvar_reset(two, other));
    CHECK_INT(value(two, other), 0);
    CHECK_INT(value(one, messages), n + n / MESSAGES);
    CHECK_INT(MPI_T_pvar_read(two, messages, ranks), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_pvar_read(one, MPI_T_PVAR_ALL_HANDLES, ranks), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_pvar_read(MPI_T_PVAR_SESSION_NULL, other, ranks), MPI_T_ERR_INVALID_SESSION);

    /* stopped: not counted; started again: goes on from there */
    CHECK_OK(MPI_T_pvar_stop(one, MPI_T_PVAR_ALL_HANDLES));
    exchange(3);
    CHECK_INT(value(one, messages), n + n / MESSAGES);
    CHECK_OK(MPI_T_pvar_start(one, MPI_T_PVAR_ALL_HANDLES));
    exchange(1);
    unsigned long long got = 0, written = 1000;
    CHECK_OK(MPI_T_pvar_readreset(one, messages, &got));
    CHECK_INT(got, n + 2 * (n / MESSAGES));
    CHECK_INT(value(one, messages), 0);
    CHECK_OK(MPI_T_pvar_write(one, messages, &written));
    exchange(1);
    CHECK_INT(value(one, messages), 1000 + n / MESSAGES);

    CHECK_OK(MPI_T_pvar_reset(one, MPI_T_PVAR_ALL_HANDLES));
    MPI_Status status;
    if (rank == 0) {
        CHECK_OK(MPI_Send(big, BIG, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
        CHECK_INT(value(one, announced), 1);
        CHECK_INT(value(one, eager), 0);
        CHECK_INT(value(one, bytes), BIG);
        CHECK_OK(MPI_Sendrecv(big, 8, MPI_CHAR, 0, 1, big + 8, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD,
                              &status));
        CHECK_INT(value(one, self), 1);
    } else if (rank == 1) {
        CHECK_OK(MPI_Recv(big, BIG, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &status));
        CHECK_INT(value(one, bytes), BIG);
    }
    CHECK_OK(MPI_T_pvar_session_free(&two));
    CHECK_OK(MPI_T_pvar_session_free(&one));
    CHECK_INT(MPI_T_pvar_session_free(&one), MPI_T_ERR_INVALID_SESSION);
}

/* `n` messages wait at rank 1 until they are counted; then they are received. */
static void queue_up(MPI_Comm comm, int n, void (*look)(MPI_Comm comm, int n))
{
    int x = 0;
    CHECK_OK(MPI_Barrier(comm));
    if (rank == 0)
        for (int i = 0; i <= n; i++)
            CHECK_OK(MPI_Send(&x, 1, MPI_INT, 1, i, comm));
    if (rank == 1) {
        CHECK_OK(MPI_Recv(&x, 1, MPI_INT, 0, n, comm, MPI_STATUS_IGNORE)); /* the last one */
        if (look)
            look(comm, n);
        for (int i = 0; i < n; i++)
            CHECK_OK(MPI_Recv(&x, 1, MPI_INT, 0, i, comm, MPI_STATUS_IGNORE));
    }
}

static MPI_T_pvar_session queues;
static MPI_T_pvar_handle unexpected, unexpected_here, unexpected_elsewhere;

static void look_at_queue(MPI_Comm comm, int n)
{
    (void)comm;
    CHECK_INT(value(queues, unexpected_here), n);
    n = (int)value(queues, unexpected) - n;
    CHECK(n >= 0 && n <= 3); /* rank 0 may be in the next barrier already */
    CHECK_INT(value(queues, unexpected_elsewhere), 0);
}

static void check_queues(void)
{
    MPI_Comm comm;
    MPI_Request requests[7];
    MPI_T_pvar_session later;
    int x[7];
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_T_pvar_session_create(&queues));
    CHECK_OK(MPI_T_pvar_session_create(&later));
    unexpected = open_variable(queues, "pml_unexpected_length", MPI_COMM_NULL, 1);
    unexpected_here = open_variable(queues, "pml_comm_unexpected_length", comm, 1);
    unexpected_elsewhere = open_variable(queues, "pml_comm_unexpected_length", MPI_COMM_WORLD, 1);
    MPI_T_pvar_handle peak = open_variable(queues, "pml_unexpected_longest", MPI_COMM_NULL, 1);
    MPI_T_pvar_handle early = open_variable(queues, "pml_unexpected_messages", MPI_COMM_NULL, 1);
    queue_up(comm, 20, look_at_queue);
    if (rank == 1) {
        CHECK(value(queues, peak) >= 20 && value(queues, peak) <= 23);
        CHECK(value(queues, early) >= 20);
        CHECK_INT(value(queues, unexpected_here), 0);
    }
    unsigned long long first = value(queues, peak);
    MPI_T_pvar_handle later_peak = open_variable(later, "pml_unexpected_longest", MPI_COMM_NULL, 1);
    queue_up(comm, 4, look_at_queue);
    if (rank == 1) {
        CHECK(value(later, later_peak) >= 4 && value(later, later_peak) <= 7);
        CHECK_INT(value(queues, peak), first); /* the second session has not lowered it */
        CHECK_OK(MPI_T_pvar_reset(later, later_peak));
        CHECK_INT(value(queues, peak), first);
        CHECK(value(later, later_peak) <= 3);
    }

    MPI_T_pvar_handle posted = open_variable(queues, "pml_posted_length", MPI_COMM_NULL, 1);
    MPI_T_pvar_handle posted_here = open_variable(queues, "pml_comm_posted_length", comm, 1);
    MPI_T_pvar_handle posted_peak = open_variable(queues, "pml_posted_longest", MPI_COMM_NULL, 1);
    unsigned long long before = value(queues, posted);
    for (int i = 0; i < 7; i++)
        CHECK_OK(MPI_Irecv(&x[i], 1, MPI_INT, MPI_ANY_SOURCE, 1000 + i, comm, &requests[i]));
    CHECK_INT(value(queues, posted), before + 7);
    CHECK_INT(value(queues, posted_here), 7);
    for (int i = 0; i < 7; i++)
        CHECK_OK(MPI_Cancel(&requests[i]));
    CHECK_OK(MPI_Waitall(7, requests, MPI_STATUSES_IGNORE));
    CHECK_INT(value(queues, posted_here), 0);
    CHECK(value(queues, posted_peak) >= 7);

    /* the communicator goes, its variables keep what they had */
    queue_up(comm, 2, NULL);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(value(queues, posted_here), 0);
    CHECK_OK(MPI_T_pvar_handle_free(queues, &posted_here));
    CHECK_OK(MPI_T_pvar_session_free(&later));
    CHECK_OK(MPI_T_pvar_session_free(&queues));
}

static void check_collectives(void)
{
    MPI_T_pvar_session session;
    MPI_Request request;
    int x = rank, y;
    CHECK_OK(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle barriers = open_variable(session, "coll_barrier_started", MPI_COMM_NULL, 1);
    MPI_T_pvar_handle sums = open_variable(session, "coll_allreduce_started", MPI_COMM_NULL, 1);
    MPI_T_pvar_handle scans = open_variable(session, "coll_scan_started", MPI_COMM_NULL, 1);
    for (int i = 0; i < 3; i++)
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(value(session, barriers), 3);
    CHECK_INT(value(session, sums), 1);
    CHECK_INT(value(session, scans), 0);
    CHECK_OK(MPI_T_pvar_session_free(&session));
}

static void check_waiting(void)
{
    MPI_T_pvar_session session;
    double blocked = -1;
    int x = 1, slept = 0;
    CHECK_OK(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle timer = open_variable(session, "pml_time_blocked", MPI_COMM_NULL, 1);
    MPI_T_pvar_handle sleeps = open_variable(session, "pml_sleeps", MPI_COMM_NULL, 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    /* until rank 1 has slept, which other programs keep from its processor now and then */
    while (rank == 0 && !slept) {
        usleep(200000);
        CHECK_OK(MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
        CHECK_OK(MPI_Recv(&slept, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    while (rank == 1 && !slept) {
        CHECK_OK(MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        slept = value(session, sleeps) > 0;
        CHECK_OK(MPI_Send(&slept, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    }
    if (rank == 1) {
        CHECK_OK(MPI_T_pvar_read(session, timer, &blocked));
        CHECK(blocked > 0);
    }
    CHECK_OK(MPI_T_pvar_session_free(&session));
}

/* The path to each rank is a text: to oneself, and to those with whom messages were exchanged. */
static void check_paths(void)
{
    enum { TEXT = 128 };
    MPI_T_pvar_session session;
    char texts[3][TEXT];
    int x = rank;
    for (int peer = 0; peer < size; peer++)
        CHECK_OK(MPI_Sendrecv_replace(&x, 1, MPI_INT, peer, 0, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle paths = open_variable(session, "pml_peer_path", MPI_COMM_WORLD, size * TEXT);
    CHECK_OK(MPI_T_pvar_read(session, paths, texts));
    for (int peer = 0; peer < size; peer++)
        CHECK(strcmp(texts[peer], "self") == 0 ? peer == rank : strncmp(texts[peer], "shm", 3) == 0);
    CHECK_OK(MPI_T_pvar_session_free(&session));
}

/* MPI_COMM_WORLD is no communicator before MPI_Init and after MPI_Finalize. */
static void check_no_world(MPI_T_pvar_session session)
{
    MPI_T_pvar_handle handle;
    MPI_Comm world = MPI_COMM_WORLD;
    int index, count;
    CHECK_OK(MPI_T_pvar_get_index("pml_peer_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_INT(MPI_T_pvar_handle_alloc(session, index, &world, &handle, &count), MPI_T_ERR_INVALID);
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    int provided;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_pvar_session_create(&session));
    MPI_T_pvar_handle all = open_variable(session, "pml_messages_sent", MPI_COMM_NULL, 1);
    MPI_T_pvar_handle length = open_variable(session, "pml_unexpected_length", MPI_COMM_NULL, 1);
    CHECK_INT(value(session, all), 0);
    check_no_world(session);
    start(&argc, &argv);
    walk(MPI_COMM_WORLD);
    check_traffic();
    check_queues();
    check_collectives();
    check_paths();
    check_waiting();
    MPI_T_pvar_handle mine = open_variable(session, "pml_peer_messages_sent", MPI_COMM_WORLD, size);
    unsigned long long before = value(session, all), ranks[3];
    CHECK(before > 0);
    CHECK_OK(MPI_Finalize());
    CHECK(value(session, all) >= before); /* with what MPI_Finalize has sent */
    CHECK_INT(value(session, length), 0);
    CHECK_OK(MPI_T_pvar_read(session, mine, ranks));
    check_no_world(session);
    return MPI_T_finalize();
}
