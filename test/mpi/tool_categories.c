/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: singleton */
/* Every variable and event stands in exactly one category, and categories form a tree. */
#include "check.h"

enum { MOST = 512 };

static void check_members(const char *what, int total, int (*get_total)(int, int *),
                          int (*get)(int, int, int[]))
{
    static int seen[MOST], members[MOST];
    int categories;
    memset(seen, 0, sizeof seen);
    CHECK(total <= MOST);
    CHECK_OK(MPI_T_category_get_num(&categories));
    for (int c = 0; c < categories; c++) {
        int count = -1;
        CHECK_OK(get_total(c, &count));
        CHECK(count >= 0 && count <= total);
        members[count < MOST ? count : 0] = -77;
        CHECK_OK(get(c, count, members));
        if (count < MOST)
            CHECK_INT(members[count], count ? -77 : members[count]);
        for (int i = 0; i < count; i++) {
            CHECK(members[i] >= 0 && members[i] < total);
            seen[members[i]]++;
        }
        if (count > 1) { /* fewer than there are */
            int first = members[0];
            members[1] = -1;
            CHECK_OK(get(c, 1, members));
            CHECK_INT(members[0], first);
            CHECK_INT(members[1], -1);
        }
    }
    for (int i = 0; i < total; i++)
        if (seen[i] != 1)
            FAIL("%s %d stands in %d categories, expected 1", what, i, seen[i]);
}

static int cvars_of(int c, int *count)
{
    return MPI_T_category_get_info(c, NULL, NULL, NULL, NULL, count, NULL, NULL);
}

static int pvars_of(int c, int *count)
{
    return MPI_T_category_get_info(c, NULL, NULL, NULL, NULL, NULL, count, NULL);
}

int main(void)
{
    int provided, total, categories, outer, inner, count, indices[MOST], stamp = -1, again = -2;
    char name[64], help[256];
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_category_changed(&stamp));
    CHECK_OK(MPI_T_cvar_get_num(&total));
    check_members("control variable", total, cvars_of, MPI_T_category_get_cvars);
    CHECK_OK(MPI_T_pvar_get_num(&total));
    CHECK(total > 20);
    check_members("performance variable", total, pvars_of, MPI_T_category_get_pvars);
    CHECK_OK(MPI_T_event_get_num(&total));
    check_members("event", total, MPI_T_category_get_num_events, MPI_T_category_get_events);

    CHECK_OK(MPI_T_category_get_num(&categories));
    for (int c = 0; c < categories; c++) {
        int name_length = sizeof name, help_length = sizeof help;
        CHECK_OK(
            MPI_T_category_get_info(c, name, &name_length, help, &help_length, NULL, NULL, NULL));
        CHECK(*name);
        CHECK_OK(MPI_T_category_get_index(name, &inner));
        CHECK_INT(inner, c);
    }
    CHECK_OK(MPI_T_category_get_index("btl", &outer));
    CHECK_OK(MPI_T_category_get_index("btl_shm", &inner));
    CHECK_OK(MPI_T_category_get_info(outer, NULL, NULL, NULL, NULL, NULL, NULL, &count));
    CHECK(count >= 1);
    CHECK_OK(MPI_T_category_get_categories(outer, count, indices));
    int found = 0;
    for (int i = 0; i < count; i++)
        found += indices[i] == inner;
    CHECK_INT(found, 1);
    CHECK_INT(MPI_T_category_get_info(categories, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
              MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_category_get_cvars(-1, 0, NULL), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_category_get_index("nothing", &inner), MPI_T_ERR_INVALID_NAME);
    CHECK_OK(MPI_T_category_changed(&again));
    CHECK_INT(stamp, again);
    return MPI_T_finalize();
}
