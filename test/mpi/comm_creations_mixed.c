/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5; args: 400; long-args: 20000; needs: MPI_Comm_idup */
/* Communicators of all descents, made in any order from any of those that live, blocking or not, with freeing in between,
 * also of the parent, and with ranks that fail on the way: no two that live at a time share a message. With an even number
 * of ranks with threads. */
#include "check.h"

enum { MOST = 24, TAG = 5 };

struct made {
    MPI_Comm comm;
    MPI_Request request; /* of a duplicate under way; MPI_REQUEST_NULL: none */
    int side;            /* of an intercommunicator; -1: none */
};
static struct made made[MOST];
static int count, unlucky;
static uint64_t random_state = 11;

static int copy(MPI_Comm comm, int keyval, void *state, void *value, void *copied, int *flag)
{
    (void)comm, (void)keyval, (void)state, (void)value, (void)copied;
    *flag = 0;
    return unlucky == rank ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void add(MPI_Comm comm, MPI_Request request, int side)
{
    made[count++] = (struct made){comm, request, side};
}

static void finish(struct made *one)
{
    CHECK_OK(MPI_Wait(&one->request, MPI_STATUS_IGNORE));
}

/* Everybody tells a number to the next rank, on all at the same time. */
static void talk(void)
{
    MPI_Request requests[MOST];
    int out[MOST], to[MOST], from[MOST];
    for (int i = 0; i < count; i++) {
        int me, mine, theirs;
        finish(&made[i]);
        CHECK_OK(MPI_Comm_rank(made[i].comm, &me));
        CHECK_OK(MPI_Comm_size(made[i].comm, &mine));
        theirs = mine;
        if (made[i].side >= 0)
            CHECK_OK(MPI_Comm_remote_size(made[i].comm, &theirs));
        int talks = made[i].side < 0 || me < (mine < theirs ? mine : theirs);
        to[i] = !talks ? MPI_PROC_NULL : made[i].side < 0 ? (me + 1) % mine : me;
        from[i] = !talks ? MPI_PROC_NULL : made[i].side < 0 ? (me + mine - 1) % mine : me;
        out[i] = i;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, to[i], TAG, made[i].comm, &requests[i]));
    }
    for (int i = count - 1; i >= 0; i--) {
        int in = i;
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, from[i], TAG, made[i].comm, MPI_STATUS_IGNORE));
        CHECK_INT(in, i);
    }
    CHECK_OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
}

/* One rank's callback fails; the others get their duplicate, and everybody goes on. */
static void fail_on_one_rank(MPI_Comm parent, int keyval)
{
    MPI_Comm twin = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int mine, me, blocking = random_below(&random_state, 2);
    CHECK_OK(MPI_Comm_size(parent, &mine));
    CHECK_OK(MPI_Comm_rank(parent, &me));
    unlucky = random_below(&random_state, size);
    CHECK_OK(MPI_Comm_set_attr(parent, keyval, NULL));
    return_errors(parent);
    int code = blocking ? MPI_Comm_dup(parent, &twin) : MPI_Comm_idup(parent, &twin, &request);
    CHECK_CLASS(code, rank == unlucky ? MPI_ERR_OTHER : MPI_SUCCESS);
    if (rank != unlucky) {
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_free(&twin));
    }
    CHECK_OK(MPI_Comm_delete_attr(parent, keyval));
}

static void make(struct made *parent, int keyval)
{
    MPI_Comm comm, half, inter;
    MPI_Request request;
    MPI_Group group;
    int me, mine, dims[1], periods[1] = {0};
    int intra = parent->side < 0;
    finish(parent);
    CHECK_OK(MPI_Comm_rank(parent->comm, &me));
    CHECK_OK(MPI_Comm_size(parent->comm, &mine));
    switch (random_below(&random_state, 8)) {
    case 0:
    case 1:
        CHECK_OK(MPI_Comm_dup(parent->comm, &comm));
        add(comm, MPI_REQUEST_NULL, parent->side);
        break;
    case 2:
    case 3:
        CHECK_OK(MPI_Comm_idup(parent->comm, &comm, &request));
        add(comm, request, parent->side);
        break;
    case 4:
        if (!intra)
            break;
        CHECK_OK(MPI_Comm_group(parent->comm, &group));
        CHECK_OK(MPI_Comm_create(parent->comm, group, &comm));
        CHECK_OK(MPI_Group_free(&group));
        add(comm, MPI_REQUEST_NULL, -1);
        break;
    case 5:
        if (!intra)
            break;
        dims[0] = mine;
        CHECK_OK(MPI_Cart_create(parent->comm, 1, dims, periods, 0, &comm));
        add(comm, MPI_REQUEST_NULL, -1);
        break;
    case 6: fail_on_one_rank(parent->comm, keyval); break;
    default:
        if (!intra || mine < 2)
            break;
        CHECK_OK(MPI_Comm_split(parent->comm, me % 2, me, &half));
        CHECK_OK(MPI_Intercomm_create(half, 0, parent->comm, 1 - me % 2, 9, &inter));
        add(inter, MPI_REQUEST_NULL, me % 2);
        CHECK_OK(MPI_Comm_free(&half));
    }
}

static void remove_one(int i)
{
    finish(&made[i]);
    CHECK_OK(MPI_Comm_free(&made[i].comm));
    made[i] = made[--count];
}

int main(int argc, char **argv)
{
    const char *ranks = getenv("TEST_RANKS");
    int keyval;
    start_threads(&argc, &argv, ranks && atoi(ranks) % 2 ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    struct made world = {MPI_COMM_WORLD, MPI_REQUEST_NULL, -1};
    for (int step = argument(argc, argv, 400); step > 0; step--) {
        int parent = random_below(&random_state, count + 1);
        if (count == MOST || random_below(&random_state, 3) == 0) {
            if (count > 0)
                remove_one(random_below(&random_state, count));
        } else {
            make(parent == count ? &world : &made[parent], keyval);
        }
        if (step % 10 == 0)
            talk();
    }
    while (count > 0)
        remove_one(count - 1);
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    return end();
}
