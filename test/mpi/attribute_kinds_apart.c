/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* A keyval belongs to one kind of object, is invalid once freed, and predefined ones are nobody's to
 * change; every wrong use is MPI_ERR_KEYVAL. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int predefined[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_APPNUM,
                                     MPI_LASTUSEDCODE, MPI_UNIVERSE_SIZE};
    int of_comms, of_types, flag, again;
    void *value;
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_comms,
                                    NULL));
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &of_types,
                                    NULL));
    CHECK(of_comms != of_types);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, of_types, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, of_types, &value, &flag), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_delete_attr(MPI_COMM_WORLD, of_types), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Type_set_attr(MPI_INT, of_comms, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Type_get_attr(MPI_INT, of_comms, &value, &flag), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Type_delete_attr(MPI_INT, of_comms), MPI_ERR_KEYVAL);
    again = of_types;
    CHECK_CLASS(MPI_Comm_free_keyval(&again), MPI_ERR_KEYVAL);
    CHECK_INT(again, of_types);
    again = of_comms;
    CHECK_CLASS(MPI_Type_free_keyval(&again), MPI_ERR_KEYVAL);

    CHECK_CLASS(MPI_Comm_delete_attr(MPI_COMM_WORLD, of_comms), MPI_ERR_KEYVAL); /* not set */
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, of_comms, &value, &flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, of_comms, NULL)); /* NULL is a value */
    value = &flag;
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, of_comms, &value, &flag));
    CHECK_INT(flag, 1);
    CHECK(value == NULL);
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, of_comms));

    for (size_t i = 0; i < sizeof predefined / sizeof *predefined; i++) {
        int keyval = predefined[i];
        CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag));
        CHECK_INT(flag, 1);
        CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &flag), MPI_ERR_KEYVAL);
        CHECK_CLASS(MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval), MPI_ERR_KEYVAL);
        CHECK_CLASS(MPI_Comm_free_keyval(&keyval), MPI_ERR_KEYVAL);
        CHECK_CLASS(MPI_Type_get_attr(MPI_INT, keyval, &value, &flag), MPI_ERR_KEYVAL);
    }
    again = of_comms;
    CHECK_OK(MPI_Comm_free_keyval(&of_comms));
    CHECK_INT(of_comms, MPI_KEYVAL_INVALID);
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, again, NULL), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_free_keyval(&again), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_free_keyval(&of_comms), MPI_ERR_KEYVAL);
    CHECK_CLASS(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, &value, &flag),
                MPI_ERR_KEYVAL);
    CHECK_OK(MPI_Type_free_keyval(&of_types));
    return end();
}
