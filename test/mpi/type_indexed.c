/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* The six indexed constructors agree with their typemaps, also with empty and descending blocks. */
#include "typemap.h"

enum { BLOCKS = 6 };

int main(int argc, char **argv)
{
    static const int lengths[][BLOCKS] = {
        { 1, 2, 3, 1, 2, 1 }, { 0, 4, 0, 2, 1, 0 }, { 1, 1, 1, 1, 1, 1 }, { 5, 0, 0, 0, 0, 5 },
    };
    static const int places[][BLOCKS] = {
        { 0, 2, 5, 10, 12, 20 }, { 40, 33, 21, 12, 4, 0 }, { -10, 5, -30, 60, 20, -20 },
        { 7, 8, 14, 22, 30, 50 },
    };
    start(&argc, &argv);
    MPI_Datatype basics[] = { MPI_CHAR, MPI_INT, MPI_DOUBLE }, type;
    int sizes[] = { 1, 4, 8 };
    for (int b = 0; b < 3; b++) {
        struct typemap basic = map_basic(sizes[b]), m;
        for (int p = 0; p < 4; p++) {
            MPI_Aint bytes[BLOCKS], in_extents[BLOCKS];
            for (int i = 0; i < BLOCKS; i++) {
                in_extents[i] = (MPI_Aint) places[p][i] * sizes[b];
                bytes[i] = (MPI_Aint) places[p][i] * 8;
            }
            for (int l = 0; l < 4; l++) {
                for (int n = 0; n <= BLOCKS; n += l + 1) {
                    CHECK_OK(MPI_Type_indexed(n, lengths[l], places[p], basics[b], &type));
                    m = map_blocks(n, lengths[l], in_extents, &basic, 1);
                    check_and_free("indexed", &type, &m);
                    CHECK_OK(MPI_Type_create_hindexed(n, lengths[l], bytes, basics[b], &type));
                    m = map_blocks(n, lengths[l], bytes, &basic, 1);
                    check_and_free("hindexed", &type, &m);
                }
            }
            for (int length = 0; length < 2; length++) {
                int same[BLOCKS] = { length, length, length, length, length, length };
                CHECK_OK(MPI_Type_create_indexed_block(BLOCKS, length, places[p], basics[b],
                                                       &type));
                m = map_blocks(BLOCKS, same, in_extents, &basic, 1);
                check_and_free("indexed_block", &type, &m);
                CHECK_OK(MPI_Type_create_hindexed_block(BLOCKS, length, bytes, basics[b], &type));
                m = map_blocks(BLOCKS, same, bytes, &basic, 1);
                check_and_free("hindexed_block", &type, &m);
            }
        }
        map_free(&basic);
    }
    return end();
}
