/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* A handle that was never set is an error of its class, which names the argument and what it is,
 * wherever it points: to no memory, to memory that may not be read, to no address at all, to other
 * memory. The elements of arrays are named by their index. */
#include "check.h"

#include <sys/mman.h>

static _Alignas(16) char letters[] = "some text that is no handle";

/* Requests: the other one of the array stays as it is. */
static void requests(MPI_Request garbage, const char *what)
{
    MPI_Request both[2] = {MPI_REQUEST_NULL, garbage}, one = garbage;
    MPI_Status status;
    int flag, index, in = -1;
    CHECK_OK(MPI_Irecv(&in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &both[0]));
    REFUSED(MPI_Waitall(2, both, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST,
            "array_of_requests[1] is %s", what);
    REFUSED(MPI_Testany(2, both, &index, &flag, &status), MPI_ERR_REQUEST,
            "array_of_requests[1] is %s", what);
    REFUSED(MPI_Startall(2, both), MPI_ERR_REQUEST, "array_of_requests[1] is %s", what);
    REFUSED(MPI_Wait(&one, &status), MPI_ERR_REQUEST, "request is %s", what);
    REFUSED(MPI_Test(&one, &flag, &status), MPI_ERR_REQUEST, "request is %s", what);
    REFUSED(MPI_Request_free(&one), MPI_ERR_REQUEST, "request is %s", what);
    CHECK(both[1] == garbage && one == garbage);
    CHECK_OK(MPI_Send(&rank, 1, MPI_INT, rank, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Wait(&both[0], &status));
    CHECK_INT(in, rank);
}

static void others(const void *garbage, const char *what)
{
    int buf = 0, flag, ones[2] = {1, 1};
    MPI_Aint at[2] = {0, 8};
    MPI_Datatype type, types[2] = {MPI_INT, (MPI_Datatype)garbage};
    MPI_Group group;
    MPI_Comm comm = (MPI_Comm)garbage;
    MPI_Win win = (MPI_Win)garbage;
    MPI_Info info = (MPI_Info)garbage;
    MPI_Message message = (MPI_Message)garbage;
    REFUSED(MPI_Barrier(comm), MPI_ERR_COMM, "comm is %s", what);
    REFUSED(MPI_Comm_free(&comm), MPI_ERR_COMM, "comm is %s", what);
    REFUSED(MPI_Send(&buf, 1, MPI_INT, 0, 0, comm), MPI_ERR_COMM, "comm is %s", what);
    REFUSED(MPI_Send(&buf, 1, types[1], 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE,
            "datatype is %s", what);
    REFUSED(MPI_Bcast(&buf, 1, types[1], 0, MPI_COMM_WORLD), MPI_ERR_TYPE, "datatype is %s", what);
    REFUSED(MPI_Type_create_struct(2, ones, at, types, &type), MPI_ERR_TYPE,
            "array_of_types[1] is %s", what);
    REFUSED(MPI_Allreduce(MPI_IN_PLACE, &buf, 1, MPI_INT, (MPI_Op)garbage, MPI_COMM_WORLD), MPI_ERR_OP,
            "op is %s", what);
    REFUSED(MPI_Group_incl((MPI_Group)garbage, 0, NULL, &group), MPI_ERR_GROUP,
            "group is %s", what);
    REFUSED(MPI_Win_fence(0, win), MPI_ERR_WIN, "win is %s", what);
    REFUSED(MPI_Info_free(&info), MPI_ERR_INFO, "info is %s", what);
    REFUSED(MPI_Mrecv(&buf, 1, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_ERR_REQUEST,
            "message is %s", what);
    REFUSED(MPI_Comm_set_errhandler(MPI_COMM_WORLD, (MPI_Errhandler)garbage), MPI_ERR_ERRHANDLER,
            "errhandler is %s", what);
    CHECK_CLASS(MPI_File_get_atomicity((MPI_File)garbage, &flag), MPI_ERR_FILE);
    CHECK_INT(MPI_Comm_c2f((MPI_Comm)garbage), -1);
    CHECK_INT(MPI_Request_c2f((MPI_Request)garbage), -1);
}

int main(int argc, char **argv)
{
    long page = sysconf(_SC_PAGESIZE);
    start(&argc, &argv);
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    int guarded = 1;
#else
    int guarded = 0; /* a sanitizer's handler, or a processor without this */
#endif
    char *none = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *hidden = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(none != MAP_FAILED && hidden != MAP_FAILED);
    CHECK_INT(munmap(none, 2 * page), 0);
    const void *garbage[] = {&size, letters, (void *)(intptr_t)8, none, hidden,
                             (void *)(intptr_t)0x44000000, (void *)(uintptr_t)0xdeadbeefdeadbeef};
    keep_messages(MPI_COMM_WORLD);
    for (int i = 0; i < (guarded ? 7 : 2); i++) {
        char what[80];
        snprintf(what, sizeof what, "%p, not a handle%s", garbage[i],
                 i < 2 ? " of this MPI library" : ": there is no memory");
        requests((MPI_Request)garbage[i], what);
        others(garbage[i], what);
    }
    return end();
}
