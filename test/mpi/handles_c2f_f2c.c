/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* Fortran handles of all kinds lead back to the same C handle; statuses survive both ways. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm comms[40];
    MPI_Datatype type;
    MPI_Group group;
    MPI_Info info;
    MPI_Errhandler handler;
    MPI_Request request;
    MPI_Op ops[] = { MPI_SUM, MPI_MAX, MPI_MAXLOC, MPI_OP_NULL };
    MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE, MPI_BYTE, MPI_2INT, MPI_DATATYPE_NULL };
    MPI_Fint seen[40];
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_SELF)) == MPI_COMM_SELF);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_EMPTY)) == MPI_GROUP_EMPTY);
    CHECK(MPI_Group_f2c(MPI_Group_c2f(MPI_GROUP_NULL)) == MPI_GROUP_NULL);
    CHECK(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_NULL)) == MPI_INFO_NULL);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    for (int i = 0; i < 4; i++)
        CHECK(MPI_Op_f2c(MPI_Op_c2f(ops[i])) == ops[i]);
    for (int i = 0; i < 5; i++)
        CHECK(MPI_Type_f2c(MPI_Type_c2f(types[i])) == types[i]);
    for (int i = 0; i < 40; i++) {
        CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[i]));
        seen[i] = MPI_Comm_c2f(comms[i]);
        for (int k = 0; k < i; k++)
            CHECK(seen[k] != seen[i]);
    }
    for (int i = 0; i < 40; i++) {
        CHECK(MPI_Comm_f2c(seen[i]) == comms[i]);
        CHECK_INT(MPI_Comm_c2f(comms[i]), seen[i]);
        CHECK_OK(MPI_Comm_free(&comms[i]));
    }
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    CHECK(MPI_Type_f2c(MPI_Type_c2f(type)) == type);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    CHECK(MPI_Group_f2c(MPI_Group_c2f(group)) == group);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Info_create(&info));
    CHECK(MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(handler)) == handler);
    CHECK_OK(MPI_Errhandler_free(&handler));

    int x = 5, y = 0, count = -1, cancelled = -1;
    MPI_Status status, again;
    MPI_Fint f_status[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    CHECK_OK(MPI_Irecv(&y, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &request));
    MPI_Fint f_request = MPI_Request_c2f(request);
    CHECK(MPI_Request_f2c(f_request) == request);
    CHECK_OK(MPI_Send(&x, 1, MPI_INT, 0, 7, MPI_COMM_SELF));
    request = MPI_Request_f2c(f_request);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_INT(y, 5);
    memset(&again, 0, sizeof again);
    CHECK_OK(MPI_Status_c2f(&status, f_status));
    CHECK_OK(MPI_Status_f2c(f_status, &again));
    CHECK_INT(again.MPI_SOURCE, 0);
    CHECK_INT(again.MPI_TAG, 7);
    CHECK_OK(MPI_Get_count(&again, MPI_INT, &count));
    CHECK_INT(count, 1);
    CHECK_OK(MPI_Test_cancelled(&again, &cancelled));
    CHECK_INT(cancelled, 0);
    return end();
}
