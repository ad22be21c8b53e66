/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of where ranks are: large jobs take a page, circles and chains are found, and what hosts
 * send may be damaged. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpirun/where/where_circles.h"
#include "mpirun/where/where_table.h"

enum { MANY = 10000, PAGE_LINES = 50, PAGE_BYTES = 12000 };

static struct tern_where_rank ranks[MANY];

static void seen(int rank, char state)
{
    ranks[rank] = (struct tern_where_rank){.state = TERN_RANK_IN_MPI,
                                           .host = "n1",
                                           .seen = true,
                                           .where = {.rank = rank,
                                                     .pid = 100,
                                                     .state = state,
                                                     .is_ours = true}};
}

static void waits(int rank, int kind, const char *procedure, int peer, int tag)
{
    seen(rank, 'S');
    struct tern_wait_record *record = &ranks[rank].where.record;
    ranks[rank].where.waits = true;
    *record = (struct tern_wait_record){
        .kind = kind,
        .comm_size = MANY,
        .awaited_count = 1,
        .awaited = {{.kind = kind, .rank = peer, .world = peer, .tag = tag}},
        .run_count = kind == TERN_WAIT_COLLECTIVE,
        .members = {{.first = 0, .stride = 1, .count = MANY}}};
    snprintf(record->procedure, sizeof record->procedure, "%s", procedure);
    snprintf(record->comm, sizeof record->comm, "MPI_COMM_WORLD");
}

static void waits_for_next(int rank)
{
    waits(rank, TERN_WAIT_RECV, "MPI_Recv", rank + 1, 1);
}

static int lines_of(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void has(const char *table, const char *words)
{
    ck_assert_msg(strstr(table, words) != NULL, "no '%s' in:%s", words, table);
}

/* Returns the table after checking that it is a page. The caller frees it. */
static char *page(int size)
{
    char *table = tern_where_table(ranks, size);
    ck_assert_int_le(lines_of(table), PAGE_LINES);
    ck_assert_uint_le(strlen(table), PAGE_BYTES);
    for (const char *line = strchr(table, '\n'); line; line = strchr(line + 1, '\n'))
        ck_assert(strncmp(line, "\n    ", 5) == 0);
    return table;
}

START_TEST(one_is_late)
{
    for (int rank = 0; rank < MANY; rank++)
        waits(rank, TERN_WAIT_COLLECTIVE, "MPI_Allreduce", rank ? (rank - 1) / 2 : 17, 0);
    seen(17, 'R');
    ranks[17].where.cpu_permille = 998;
    strcpy(ranks[17].where.place, "in spin at hang.c:12 (hang)");
    seen(18, 'T');
    char *table = page(MANY);
    has(table, "\n      9998 ranks wait in MPI_Allreduce, number 0 on MPI_COMM_WORLD (9998 of its "
               "10000 ranks), for 0 s: 0-16,19-9999");
    has(table, "\n         1 rank computes outside MPI, in spin at hang.c:12 (hang), 99 % of a "
               "processor: 17 (host n1, pid 100)");
    has(table, "\n         1 rank is stopped by a signal, outside MPI: 18 (host n1, pid 100)");
    has(table, "\n    MPI_Allreduce, number 0 on MPI_COMM_WORLD, lacks ranks 17,18");
    has(table, " for rank 17, which computes outside MPI");
    free(table);
}
END_TEST

START_TEST(large_circle)
{
    for (int rank = 0; rank < MANY; rank++)
        waits(rank, TERN_WAIT_RECV, "MPI_Recv", (rank + 1) % MANY, 7);
    char *table = page(MANY);
    has(table, "\n     10000 ranks wait in MPI_Recv, tag 7, MPI_COMM_WORLD, for different ranks");
    has(table, "\n    a circle of 10000 ranks: rank 0 waits in MPI_Recv for rank 1, tag 7, "
               "MPI_COMM_WORLD; rank 1 waits in MPI_Recv for rank 2");
    has(table, "; ... up to rank 0 again");
    free(table);
}
END_TEST

/* 5000 circles, and each rank in a place of its own. */
START_TEST(everything_differs)
{
    for (int rank = 0; rank < MANY; rank++) {
        waits(rank, TERN_WAIT_SEND, "MPI_Send", rank ^ 1, rank);
        ranks[rank].where.record.unasked_count = 3;
    }
    char *table = page(MANY);
    has(table, "9984 ranks in 9984 further places");
    has(table, "a circle of 2 ranks: rank 0 waits in MPI_Send for rank 1, tag 0, MPI_COMM_WORLD; "
               "rank 1 waits in MPI_Send for rank 0, tag 1, MPI_COMM_WORLD");
    has(table, "and 4997 more circles");
    has(table, "and 9994 more ranks have messages that they have not asked for");
    free(table);
}
END_TEST

/* More ranks run than functions are looked for. */
START_TEST(many_run)
{
    for (int rank = 0; rank < 64; rank++) {
        seen(rank, 'R');
        ranks[rank].where.cpu_permille = 900 + rank;
        if (rank < 8)
            strcpy(ranks[rank].where.place, "in work (solver)");
    }
    char *table = page(64);
    has(table, "56 ranks compute outside MPI, or in a loop of tests or probes, 90 to 96 % of a "
               "processor: 8-63");
    has(table, "8 ranks compute outside MPI, in work (solver), 90 % of a processor: 0-7");
    free(table);
}
END_TEST

/* The tags of a window or a file say nothing to a user. */
START_TEST(own_tags)
{
    waits(0, TERN_WAIT_RECV, "MPI_Win_wait", 1, -4);
    waits(1, TERN_WAIT_RECV, "MPI_Win_wait", 0, -4);
    strcpy(ranks[0].where.record.comm, "a window");
    strcpy(ranks[1].where.record.comm, "a window");
    char *table = page(2);
    has(table, "2 ranks wait in MPI_Win_wait, a window, for different ranks, for 0 s: 0,1");
    has(table, "rank 0 waits in MPI_Win_wait for rank 1, a window; rank 1 waits");
    free(table);
}
END_TEST

/* A thread that waits beside a first one that computes holds nobody up. */
START_TEST(beside)
{
    waits(0, TERN_WAIT_RECV, "MPI_Recv", 1, 1);
    waits(1, TERN_WAIT_RECV, "MPI_Recv", 0, 1);
    ranks[1].where.record.process = 5;
    ranks[1].where.record.thread = 6;
    ranks[1].where.state = 'R';
    strcpy(ranks[1].where.place, "in spin at hang.c:12 (hang)");
    char *table = page(2);
    has(table, "1 rank waits in MPI_Recv, tag 1, MPI_COMM_WORLD (in a second thread; the first one "
               "computes, in spin at hang.c:12 (hang)), for rank 0");
    ck_assert_ptr_null(strstr(table, "circle"));
    has(table, "1 rank waits in the end for rank 1");
    free(table);
    ranks[1].where.state = 'S';
    strcpy(ranks[1].where.place, "in sleep");
    table = page(2);
    has(table, "(in a second thread; the first one sleeps, in sleep), for rank 0");
    has(table, "a circle of 2 ranks");
    free(table);
}
END_TEST

/* Ranks leave some collectives before the others have come. */
START_TEST(left)
{
    static const char *const stays[] = {"MPI_Barrier", "MPI_Allgatherv", "MPI_Reduce_scatter",
                                        "MPI_Wait of MPI_Ialltoall", "MPI_Comm_split"},
                             *const leaves[] = {"MPI_Bcast", "MPI_Wait of MPI_Ireduce", "MPI_Reduce",
                                                "MPI_Gatherv", "MPI_Exscan", "MPI_Iscatter",
                                                "MPI_Ineighbor_alltoall"};
    for (int i = 0; i < 12; i++) {
        for (int rank = 0; rank < 2; rank++)
            waits(rank, TERN_WAIT_COLLECTIVE, i < 5 ? stays[i] : leaves[i - 5], 3, 0);
        for (int rank = 2; rank < 5; rank++)
            seen(rank, 'S');
        char *table = page(5);
        if (i < 5)
            has(table, "number 0 on MPI_COMM_WORLD, lacks ranks 2-4");
        else
            ck_assert_ptr_null(strstr(table, "lacks ranks"));
        has(table, "2 ranks wait in the end for rank 3");
        free(table);
    }
}
END_TEST

START_TEST(chains)
{
    for (int rank = 0; rank < 8; rank++)
        waits(rank, TERN_WAIT_RECV, "MPI_Recv", rank + 1, 1);
    waits(3, TERN_WAIT_RECV, "MPI_Recv", 1, 1); /* 1, 2, 3 are a circle, and 0 waits for it */
    seen(8, 'S');
    strcpy(ranks[8].where.place, "in sleep");
    waits(9, TERN_WAIT_RECV, "MPI_Recv", 9, 1); /* for itself */
    char *table = page(10);
    has(table, "a circle of 3 ranks: rank 1 waits in MPI_Recv for rank 2");
    has(table, "a circle of 1 rank: rank 9 waits in MPI_Recv for rank 9");
    has(table, "\n    4 ranks wait in the end for rank 8, which sleeps outside MPI, in sleep");
    free(table);
}
END_TEST

/* A message is on its way to a rank of the circle, and its host does not answer: no deadlock. */
START_TEST(silent_host)
{
    for (int rank = 0; rank < 5; rank++)
        waits(rank, TERN_WAIT_RECV, "MPI_Recv", (rank + 1) % 3, 7);
    waits(3, TERN_WAIT_RECV, "MPI_Recv", 4, 7);
    waits(4, TERN_WAIT_RECV, "MPI_Recv", 3, 7);
    ranks[2].where.record.unheard_bytes = 72;
    ranks[2].where.record.unheard_world = 1;
    ranks[2].where.unheard_s = 5;
    ranks[4].where.record.unheard_bytes = 80;
    ranks[4].where.record.unheard_world = 0;
    char *table = page(5);
    has(table, "\n    72 bytes from rank 2 have not been acknowledged by the host of rank 1 (n1) for "
               "5 s: does the network between them work?");
    ck_assert_ptr_null(strstr(table, "a circle of 3 ranks"));
    has(table, "a circle of 2 ranks: rank 3 waits in MPI_Recv for rank 4"); /* 0 is not in it */
    free(table);
    ranks[2].where.state = 'T'; /* nobody looks whether the bytes have been acknowledged */
    table = page(5);
    ck_assert_ptr_null(strstr(table, "72 bytes"));
    has(table, "a circle of 3 ranks");
    free(table);
    ranks[2].where.state = 'S';
    ranks[2].where.record.unheard_world = -1;
    table = page(5);
    has(table, "72 bytes from rank 2 have not been acknowledged by the host of a rank of another "
               "job for 5 s");
    free(table);
}
END_TEST

START_TEST(states)
{
    static const char *const words[] = {
        "1 rank is not started yet", "1 rank sleeps without MPI", "1 rank sleeps outside MPI",
        "1 rank sleeps after MPI_Finalize", "1 rank has ended"};
    for (int state = 0; state < TERN_RANK_STATES; state++) {
        seen(state, 'S');
        ranks[state].state = state;
    }
    seen(5, 'S');
    ranks[5].seen = false;
    char *table = page(6);
    for (int state = 0; state < TERN_RANK_STATES; state++)
        has(table, words[state]);
    has(table, "1 rank is not seen: host n1 has not answered: 5");
    free(table);
    ranks[TERN_RANK_WITHOUT_MPI].job_in_mpi = true;
    table = page(6);
    has(table, "1 rank sleeps before MPI_Init");
    free(table);
}
END_TEST

/* A rank may write into the node's memory what it likes. */
START_TEST(damaged_records)
{
    struct tern_parcel parcel = {0};
    srand(5);
    for (int i = 0; i < 2000; i++) {
        struct tern_where damaged = {.rank = i % 4, .state = 'S', .waits = true}, read;
        for (size_t k = 0; k < sizeof damaged.record; k++)
            ((char *)&damaged.record)[k] = (char)rand();
        damaged.record.kind = rand() % (TERN_WAIT_KINDS + 1);
        damaged.record.awaited[0].world = rand() % 8 - 2;
        parcel.size = 0;
        tern_where_pack(&damaged, &parcel);
        struct tern_reader reader = {.at = parcel.bytes, .left = parcel.size};
        tern_where_unpack(&reader, &read);
        ck_assert(!reader.bad && !reader.left && read.waits);
        ck_assert_uint_lt(strnlen(read.record.procedure, sizeof read.record.procedure),
                          sizeof read.record.procedure);
        seen(i % 4, 'S');
        ranks[i % 4].where = read;
        if (i >= 4)
            free(tern_where_table(ranks, 4));
    }
    tern_parcel_free(&parcel);
}
END_TEST

/* Rank 1 has the lock that rank 2 wants; ranks 3 and 4 have one that the other one wants. */
START_TEST(locks_of_windows)
{
    seen(0, 'R');
    seen(1, 'R');
    for (int rank = 2; rank < 6; rank++)
        waits(rank, TERN_WAIT_LOCK, "MPI_Win_lock", rank == 2 ? 0 : rank == 5 ? 1 : 7 - rank, 0);
    ranks[2].where.record.awaited[0].world = 1;
    strcpy(ranks[2].where.record.comm, "counters");
    strcpy(ranks[3].where.record.comm, "a window");
    ranks[5].where.record.awaited[0].world = -1;
    char *table = page(6);
    has(table, "1 rank waits in MPI_Win_lock, for a shared lock of rank 0's part of window counters, which rank 1 holds, exclusive, for 0 s: 2");
    has(table, "1 rank waits in the end for rank 1, which");
    has(table, "a circle of 2 ranks: rank 3 waits in MPI_Win_lock, for a shared lock of rank 4's part of a window, "
               "which rank 4 holds, exclusive; rank 4 waits in MPI_Win_lock, for a shared lock of rank 3's part of window MPI_COMM_WORLD, which rank 3 holds, exclusive");
    has(table, "rank 1's part of window MPI_COMM_WORLD, which another rank holds, exclusive, for 0 s: 5");
    free(table);
    ranks[2].where.record.number = 1;
    ranks[2].where.record.exclusive = 1;
    ranks[3].where.record.comm_id = 32;
    table = page(6);
    has(table, "for an exclusive lock of rank 0's part of window counters, which rank 1 holds, shared");
    has(table, "part of a window without a name (id 20), which");
    free(table);
    ranks[2].where.record.number = 3;
    table = page(6);
    has(table, "which 3 ranks share; rank 1 took it last");
    free(table);
}
END_TEST

/* Rank 0 waits for 2 and 1, and 1 for 3 and 0; rank 4 for one of two; 5 for a rank of job 3. */
START_TEST(several_requests)
{
    for (int rank = 0; rank < 6; rank++)
        waits(rank, TERN_WAIT_RECV, "MPI_Waitall", rank + 2, 1);
    seen(2, 'S');
    seen(3, 'S');
    for (int rank = 0; rank < 5; rank++) {
        struct tern_wait_record *record = &ranks[rank].where.record;
        record->requests = 6;
        record->awaited_count = 2;
        record->awaited[1] = (struct tern_awaited){
            .kind = TERN_WAIT_SEND, .rank = 1 - rank, .world = 1 - rank, .tag = 4};
    }
    ranks[4].where.record.any = 1;
    ranks[4].where.record.awaited[1].world = 4;
    ranks[5].where.record.awaited[0].job = 3;
    char *table = page(6);
    has(table, "\n    rank 0 waits for rank 2, tag 1; a receive by rank 1, tag 4; and 4 more");
    has(table, "\n    rank 4 waits for any of: rank 6, tag 1; a receive by rank 4, tag 4; and 4 more");
    has(table, "\n    a circle of 2 ranks: rank 0 waits in MPI_Waitall for rank 1, tag 4, "
               "MPI_COMM_WORLD; rank 1 waits in MPI_Waitall for rank 0, tag 4, MPI_COMM_WORLD");
    ck_assert_ptr_null(strstr(table, "a circle of 1 rank")); /* 4 waits for any */
    has(table, "for rank 7 of job 3");
    free(table);
}
END_TEST

/* Two communicators with one id and name: even ranks of 8, and the first three. Rank 6 has passed. */
START_TEST(some_ranks)
{
    for (int rank = 0; rank < 8; rank++) {
        bool even = rank % 2 == 0;
        waits(rank, TERN_WAIT_COLLECTIVE, "MPI_Barrier", 0, 0);
        struct tern_wait_record *record = &ranks[rank].where.record;
        record->comm_id = 16;
        record->comm_size = even ? 4 : 3;
        record->number = rank == 6 ? 2 : 1;
        record->members_hash = even ? 77 : 78;
        record->members[0] = (struct tern_members){even ? 0 : 1, 2, even ? 4 : 3};
    }
    seen(2, 'S');
    seen(3, 'S');
    seen(7, 'S');
    char *table = page(8);
    has(table, "MPI_Barrier, number 1 on MPI_COMM_WORLD (2 of its 4 ranks), for 0 s: 0,4");
    has(table, "MPI_Barrier, number 1 on MPI_COMM_WORLD (2 of its 3 ranks), for 0 s: 1,5");
    has(table, "MPI_Barrier, number 1 on MPI_COMM_WORLD, lacks rank 2");
    has(table, "MPI_Barrier, number 1 on MPI_COMM_WORLD, lacks rank 3");
    free(table);
}
END_TEST

/* Job 1: 0 waits for 1, which waits for rank 3 of job 2, which waits for rank 0. 2 and 3 wait for each
 * other in one job, and 4 for the circle. */
START_TEST(circles_across_jobs)
{
    struct tern_where_waits waits = {0};
    for (int rank = 0; rank < 5; rank++)
        waits_for_next(rank);
    ranks[1].where.record.awaited[0].job = 2;
    ranks[1].where.record.awaited[0].world = 3;
    ranks[3].where.record.awaited[0].world = 2;
    ranks[4].where.record.awaited[0].world = 0;
    char *text = tern_where_write_waits(ranks, 5, 1);
    tern_where_read_waits(&waits, text);
    tern_where_read_waits(&waits, "2 3 2 1 -2 MPI_Barrier\n2 3 1 0 9 MPI_Recv\nnonsense\n2 3\n"
                                  "2 0 2 1 1 MPI_Recv");
    ck_assert_int_eq(waits.count, 7);
    char *circles = tern_where_circles(&waits);
    has(circles, "\n    a circle across jobs: ");
    has(circles, "rank 0 of job 1 waits in MPI_Recv for rank 1 of job 1, tag 1");
    has(circles, "rank 1 of job 1 waits in MPI_Recv for rank 3 of job 2, tag 1");
    has(circles, "rank 3 of job 2 waits in MPI_Recv for rank 0 of job 1, tag 9");
    ck_assert_int_eq(lines_of(circles), 1);
    free(circles);
    free(text);
    free(waits.list);
    ranks[1].where.record.awaited[0].job = 0;
    text = tern_where_write_waits(ranks, 5, 1);
    ck_assert_str_eq(text, ""); /* no rank waits for another job */
    free(text);
    waits = (struct tern_where_waits){0};
    circles = tern_where_circles(&waits);
    ck_assert_str_eq(circles, "");
    free(circles);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("where");
    TCase *tcase = tcase_create("table");
    suite_add_tcase(suite, tcase);
    tcase_add_test(tcase, one_is_late);
    tcase_add_test(tcase, locks_of_windows);
    tcase_add_test(tcase, large_circle);
    tcase_add_test(tcase, everything_differs);
    tcase_add_test(tcase, many_run);
    tcase_add_test(tcase, own_tags);
    tcase_add_test(tcase, beside);
    tcase_add_test(tcase, left);
    tcase_add_test(tcase, chains);
    tcase_add_test(tcase, several_requests);
    tcase_add_test(tcase, some_ranks);
    tcase_add_test(tcase, circles_across_jobs);
    tcase_add_test(tcase, silent_host);
    tcase_add_test(tcase, states);
    tcase_add_test(tcase, damaged_records);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
