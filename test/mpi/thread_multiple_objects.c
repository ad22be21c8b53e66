/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; libs: -lpthread; args: 200; long-args: 20000 */
/* Threads create and free types, groups, infos and attributes at the same time. */
#include "check.h"
#include <pthread.h>

enum { THREADS = 4 };
static int rounds, key;

static void *churn(void *arg)
{
    int id = (int) (intptr_t) arg;
    for (int i = 0; i < rounds; i++) {
        MPI_Datatype inner, type;
        MPI_Group world, group;
        MPI_Info info;
        int n, bytes, flag, out[20], in[20];
        char value[20], got[20];
        void *attribute = NULL;
        CHECK_OK(MPI_Type_vector(2 + id, 1, 2, MPI_INT, &inner));
        CHECK_OK(MPI_Type_contiguous(2, inner, &type));
        CHECK_OK(MPI_Type_free(&inner));
        CHECK_OK(MPI_Type_commit(&type));
        CHECK_OK(MPI_Type_size(type, &bytes));
        CHECK_INT(bytes, 2 * (2 + id) * 4);
        CHECK_OK(MPI_Type_set_attr(type, key, (void *) (intptr_t) i));
        CHECK_OK(MPI_Type_get_attr(type, key, &attribute, &flag));
        CHECK_INT((intptr_t) attribute, i);
        for (int k = 0; k < 20; k++)
            out[k] = in[k] = id * 100 + k;
        CHECK_OK(MPI_Sendrecv(out, 1, type, 0, id, in, 1, type, 0, id, MPI_COMM_SELF,
                              MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Type_free(&type));
        CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
        CHECK_OK(MPI_Group_incl(world, 1, &rank, &group));
        CHECK_OK(MPI_Group_size(group, &n));
        CHECK_INT(n, 1);
        CHECK_OK(MPI_Group_free(&group));
        CHECK_OK(MPI_Group_free(&world));
        CHECK_OK(MPI_Info_create(&info));
        snprintf(value, sizeof value, "%d", id * 100000 + i);
        CHECK_OK(MPI_Info_set(info, "key", value));
        CHECK_OK(MPI_Info_get(info, "key", sizeof got - 1, got, &flag));
        CHECK_STRING(got, value);
        CHECK_OK(MPI_Info_free(&info));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    rounds = argument(argc, argv, 200);
    pthread_t threads[THREADS];
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL));
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, churn, (void *) i), 0);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_OK(MPI_Type_free_keyval(&key));
    return end();
}
