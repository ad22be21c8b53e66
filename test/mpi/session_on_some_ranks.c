/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5; needs: MPI_Session_init */
/* A session waits for nobody: ranks that never use MPI may end before, while and after others do. */
#include "check.h"

static void use_session(int members)
{
    MPI_Session session;
    MPI_Group all, some;
    MPI_Comm comm;
    int me, sum = 0;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    CHECK_OK(MPI_Group_range_incl(all, 1, (int[][3]){{0, 2 * members - 2, 2}}, &some));
    CHECK_OK(MPI_Comm_create_from_group(some, "some", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    CHECK_OK(MPI_Comm_rank(comm, &me));
    CHECK_OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, members * (members - 1) / 2);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Group_free(&some));
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Session_finalize(&session));
}

int main(void)
{
    int ranks = getenv("TEST_RANKS") ? atoi(getenv("TEST_RANKS")) : 2, place = atoi(getenv("PMIX_RANK"));
    if (place % 2)
        return 0;
    use_session((ranks + 1) / 2);
    usleep(50000); /* the launcher has seen the others' end */
    use_session((ranks + 1) / 2);
    return 0;
}
