/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/* Memory of MPI_Alloc_mem that the program has not freed stays as it is after MPI_Finalize, though ranks shared it before;
 * also under a session that ends and another that begins. Freed blocks are taken again. */
#include "check.h"

enum { BLOCKS = 20, BYTES = 30000 };

int main(int argc, char **argv)
{
    static char *blocks[BLOCKS];
    MPI_Session session;
    char *late;
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK_OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &late));
    fill(late, BYTES, 99);
    CHECK_OK(MPI_Session_finalize(&session));
    CHECK_FILLED(late, BYTES, 99);
    start(&argc, &argv);
    CHECK_FILLED(late, BYTES, 99);
    for (int i = 0; i < BLOCKS; i++) {
        CHECK_OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &blocks[i]));
        fill(blocks[i], BYTES, i + rank);
    }
    for (int i = 0; i < BLOCKS; i += 3)
        CHECK_OK(MPI_Free_mem(blocks[i]));
    CHECK_OK(MPI_Free_mem(late));
    int my_rank = rank;
    int rc = end();
    for (int i = 0; i < BLOCKS; i++)
        if (i % 3) {
            CHECK_FILLED(blocks[i], BYTES, i + my_rank);
            memset(blocks[i], 1, BYTES);
        }
    return rc;
}
