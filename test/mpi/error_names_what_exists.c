/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* A message about the number of a thing says which numbers there are, also if there is one thing,
 * or none: never "0 to 0" or "0 to -1". */
#include "check.h"

/* And it says no nonsense. */
#define REFUSED_WELL(call, class, ...) \
    do { \
        int code_ = call; \
        CHECK(!strstr(error_message, "0 to 0") && !strstr(error_message, "0 to -1")); \
        REFUSED(code_, class, __VA_ARGS__); \
    } while (0)

int main(int argc, char **argv)
{
    MPI_Comm grid;
    MPI_Group all, some;
    MPI_Info info;
    char key[MPI_MAX_INFO_KEY + 1];
    int coords[2], place, wrong, periods[2] = {0, 1}, last;
    char numbers[30] = "0";
    start(&argc, &argv);
    last = size - 1;
    if (last)
        snprintf(numbers, sizeof numbers, "0 to %d", last);
    keep_messages(MPI_COMM_WORLD);

    int large[2] = {size + 1, 1}, flat[2] = {1, size + 1}, good[2] = {size, 1};
    REFUSED_WELL(MPI_Cart_create(MPI_COMM_WORLD, 1, large, periods, 0, &grid), MPI_ERR_ARG,
                 "dims[0] needs %d processes; comm has %d", size + 1, size);
    REFUSED_WELL(MPI_Cart_create(MPI_COMM_WORLD, 2, flat, periods, 0, &grid), MPI_ERR_ARG,
                 "dims[0] to dims[1] need %d processes; comm has %d", size + 1, size);
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 2, good, periods, 0, &grid));
    coords[0] = size, coords[1] = 7;
    REFUSED_WELL(MPI_Cart_rank(grid, coords, &place), MPI_ERR_ARG,
                 "coords[0] is %d, and dimension 0 is not periodic; expected %s", size, numbers);
    REFUSED_WELL(MPI_Cart_coords(grid, size, 2, coords), MPI_ERR_RANK,
                 "rank is %d; it must be %s", size, numbers);
    CHECK_OK(MPI_Comm_free(&grid));

    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    wrong = size;
    REFUSED_WELL(MPI_Group_incl(all, 1, &wrong, &some), MPI_ERR_RANK,
                 "ranks[0] is %d; expected %s", size, numbers);
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Info_create(&info));
    REFUSED_WELL(MPI_Info_get_nthkey(info, 0, key), MPI_ERR_ARG, "n is 0; there is none");
    CHECK_OK(MPI_Info_set(info, "a", "b"));
    REFUSED_WELL(MPI_Info_get_nthkey(info, 1, key), MPI_ERR_ARG, "n is 1; expected 0");
    CHECK_OK(MPI_Info_free(&info));
    return end();
}
