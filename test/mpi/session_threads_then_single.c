/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* A session with MPI_THREAD_MULTIPLE ends; in one with MPI_THREAD_SINGLE after it all communicators
 * still make progress. Rank 0 is in another session all the time, so that what the ranks know of each
 * other stays. */
#include "check.h"
#include <stdbool.h>

enum { COMMS = 10, WORDS = 50000 };

static void use_session(const char *level, const char *name)
{
    MPI_Session session;
    MPI_Info info;
    MPI_Group group;
    static int out[WORDS], in[WORDS];
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "thread_level", level));
    CHECK_OK(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session));
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    CHECK_OK(MPI_Group_rank(group, &rank));
    CHECK_OK(MPI_Group_size(group, &size));
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm comm;
        MPI_Status status;
        int count = -1, sum = -1;
        char tag[64];
        snprintf(tag, sizeof tag, "%s %d", name, i);
        CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
        out[0] = 100 * i + rank;
        CHECK_OK(MPI_Sendrecv(out, WORDS, MPI_INT, (rank + 1) % size, i, in, WORDS, MPI_INT,
                              (rank + size - 1) % size, i, comm, &status));
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_INT(count, WORDS);
        CHECK_INT(in[0], 100 * i + (rank + size - 1) % size);
        CHECK_OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK_INT(sum, i * size);
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(void)
{
    const char *place = getenv("OMPI_COMM_WORLD_RANK");
    bool stays = place && strcmp(place, "0") == 0;
    MPI_Session other;
    if (stays)
        CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &other));
    use_session("MPI_THREAD_MULTIPLE", "many");
    use_session("MPI_THREAD_SINGLE", "one");
    use_session("MPI_THREAD_MULTIPLE", "many again");
    if (stays)
        CHECK_OK(MPI_Session_finalize(&other));
    return 0;
}
