/* SPDX-License-Identifier: BSD-3-Clause */
/* check_level full: the judge finds which ranks differ and says it, a type signature is a number of its basic elements only, and
 * memory that is written twice is found. */
#include "lib/mpi/check/check.h"
#include "lib/mpi/check/check_record.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/procedures.h"
#include "lib/util/base/error.h"
#include "random.h"
#include "suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100 };
static struct tern_record *records[MOST];
static char text[1024];

/* Record of rank `place`, with one fact. */
static void state(int place, int members, const char *procedure, uint64_t key, uint64_t value, const char *words)
{
    struct tern_record *record = calloc(1, tern_record_size(1, 0));
    record->members = record->local = members;
    record->place = place;
    record->fact_count = 1;
    snprintf(record->procedure, sizeof record->procedure, "%s", procedure);
    snprintf(record->comm_name, sizeof record->comm_name, "ocean");
    record->facts[0] = (struct tern_fact){.key = key, .value = value};
    snprintf(record->facts[0].text, sizeof record->facts[0].text, "%s", words);
    free(records[place]);
    records[place] = record;
}

static bool judge(int members)
{
    return tern_check_judge((const struct tern_record *const *)records, members, text, sizeof text);
}

static void drop_all(void)
{
    for (int i = 0; i < MOST; i++) {
        free(records[i]);
        records[i] = NULL;
    }
}

static const uint64_t root_key = (uint64_t)TERN_FACT_ROOT << 60;

START_TEST(all_alike)
{
    for (int i = 0; i < 8; i++)
        state(i, 8, "MPI_Bcast", root_key, 3, "root 3");
    ck_assert(judge(8));
}
END_TEST

START_TEST(the_few_come_first)
{
    for (int i = 0; i < 8; i++)
        state(i, 8, "MPI_Bcast", root_key, i == 2 || i == 5, i == 2 || i == 5 ? "root 1" : "root 0");
    ck_assert(!judge(8));
    ck_assert_str_eq(text, "ranks 2, 5 called MPI_Bcast with root 1, ranks 0, 1, 3, 4, 6, 7 with root 0 on ocean");
}
END_TEST

START_TEST(names_before_arguments)
{
    for (int i = 0; i < 4; i++)
        state(i, 4, i == 1 ? "MPI_Barrier" : "MPI_Bcast", root_key, (uint64_t)i, "root");
    ck_assert(!judge(4));
    ck_assert_str_eq(text, "rank 1 called MPI_Barrier, ranks 0, 2, 3 MPI_Bcast on ocean");
}
END_TEST

START_TEST(who_has_not_come_is_not_judged)
{
    state(0, 3, "MPI_Bcast", root_key, 0, "root 0");
    state(2, 3, "MPI_Bcast", root_key, 0, "root 0");
    ck_assert(judge(3));
    state(2, 3, "MPI_Bcast", root_key, 2, "root 2");
    ck_assert(!judge(3));
    ck_assert_str_eq(text, "rank 2 called MPI_Bcast with root 2, rank 0 with root 0 on ocean");
}
END_TEST

START_TEST(different_keys_are_different_matters)
{
    for (int i = 0; i < 4; i++)
        state(i, 4, "MPI_Scatterv", tern_fact_key(TERN_FACT_DATA, 0, 0, (uint32_t)i), (uint64_t)i, "recvcount");
    ck_assert(judge(4));
}
END_TEST

START_TEST(many_ranks_are_a_short_text)
{
    for (int i = 0; i < MOST; i++)
        state(i, MOST, "MPI_Bcast", root_key, i % 2, i % 2 ? "root 1" : "root 0");
    ck_assert(!judge(MOST));
    ck_assert_int_lt(strlen(text), sizeof text - 1);
    ck_assert_ptr_nonnull(strstr(text, "(50 in all)"));
    for (int i = 0; i < MOST; i++)
        state(i, MOST, "MPI_Bcast", root_key, i == 50, i == 50 ? "root 1" : "root 0");
    ck_assert(!judge(MOST));
    ck_assert_str_eq(text, "rank 50 called MPI_Bcast with root 1, ranks 0 to 49, 51 to 99 with root 0 on ocean");
}
END_TEST

START_TEST(two_groups_have_letters)
{
    for (int i = 0; i < 5; i++) {
        state(i, 5, "MPI_Allgather", root_key, i >= 2, i >= 2 ? "sendcount 2" : "recvcount 1");
        records[i]->local = 2;
    }
    ck_assert(!judge(5));
    ck_assert_str_eq(text, "ranks 0, 1 of group A called MPI_Allgather with recvcount 1, ranks 0, 1, 2 of group B with "
                           "sendcount 2 on ocean (group A: 2 ranks, group B: 3)");
}
END_TEST

START_TEST(an_edge_has_two_ends)
{
    uint64_t edge = tern_fact_key(TERN_FACT_EDGE, 0, 0, 2); /* from rank 0 to rank 2 */
    state(0, 3, "MPI_Neighbor_alltoall", edge, 7, "sendcount 1 of MPI_INT to rank 2");
    state(1, 3, "MPI_Neighbor_alltoall", root_key, 0, "");
    ck_assert(judge(3)); /* rank 2 has not come */
    state(2, 3, "MPI_Neighbor_alltoall", root_key, 0, "");
    ck_assert(!judge(3));
    ck_assert_str_eq(text, "rank 0 called MPI_Neighbor_alltoall with sendcount 1 of MPI_INT to rank 2 on ocean; rank 2 has no "
                           "such neighbour");
    state(2, 3, "MPI_Neighbor_alltoall", edge, 7, "recvcount 1 of MPI_INT from rank 0");
    ck_assert(judge(3));
}
END_TEST

/* ---- what has come ---- */

static int answers, refusals; /* of all ranks, and of the last text */
static char answered[MOST];   /* by place: '+' may go on, '-' was refused, 0 waits */

static void answer(const struct tern_record *record, const char *said)
{
    answers++;
    refusals += *said != 0;
    answered[record->place] = *said ? '-' : '+';
    snprintf(text, sizeof text, "%s", said);
}

/* Rank `place` of four calls for the group of `n` ranks with a tag. */
static void come(int place, int tag, int n, const int ranks[], bool threads)
{
    struct tern_record *record = calloc(1, tern_record_size(1, n));
    record->occasion.series = TERN_SERIES_OF_GROUP | (uint64_t)tag << 8 | (uint64_t)n;
    record->members = record->local = 4;
    record->place = place;
    record->awaited = n;
    record->threads = threads;
    record->fact_count = 1;
    snprintf(record->procedure, sizeof record->procedure, "MPI_Comm_create_group");
    snprintf(record->comm_name, sizeof record->comm_name, "ocean");
    record->facts[0] = (struct tern_fact){.key = root_key, .value = (uint64_t)(16 * tag + n)};
    snprintf(record->facts[0].text, sizeof record->facts[0].text, "tag %d, %d ranks", tag, n);
    memcpy((int32_t *)tern_record_awaited(record), ranks, (size_t)n * sizeof *ranks);
    ck_assert(tern_gather_record(record, answer));
    free(record);
}

static void forget(void)
{
    tern_gather_forget();
    memset(answered, 0, sizeof answered);
    answers = refusals = 0;
}

static const int all[] = {0, 1, 2, 3};

START_TEST(a_part_is_complete_without_the_others)
{
    const int some[] = {1, 3};
    come(3, 5, 2, some, false);
    ck_assert_int_eq(answers, 0);
    come(1, 5, 2, some, false);
    ck_assert(answered[1] == '+' && answered[3] == '+' && answers == 2);
    come(3, 5, 2, some, false); /* another call */
    ck_assert_int_eq(answers, 2);
}
END_TEST

START_TEST(who_wait_for_each_other_are_refused)
{
    come(0, 5, 4, all, false);
    come(2, 5, 4, all, false);
    ck_assert_int_eq(answers, 0);
    come(1, 6, 4, all, false);
    ck_assert_int_eq(refusals, 3);
    ck_assert_str_eq(text, "rank 1 called MPI_Comm_create_group with tag 6, 4 ranks, ranks 0, 2 with tag 5, 4 ranks on ocean");
    come(3, 7, 4, all, false); /* late, and with a third opinion */
    ck_assert_int_eq(refusals, 4);
    for (int i = 0; i < 4; i++) /* all may try again */
        come(i, 5, 4, all, false);
    ck_assert(answers == 8 && refusals == 4);
}
END_TEST

/* Ranks 1 and 2 belong to both groups; rank 0 comes late, and to the one that rank 1 does not mean. */
START_TEST(who_is_late_for_a_dispute_is_not_awaited)
{
    come(1, 5, 3, all, false);
    come(2, 5, 4, all, false);
    come(3, 5, 4, all, false);
    ck_assert_int_eq(refusals, 3);
    come(0, 5, 4, all, false);
    ck_assert_int_eq(refusals, 4);
    for (int i = 0; i < 3; i++)
        come(i, 5, 3, all, false);
    for (int i = 0; i < 4; i++)
        come(i, 5, 4, all, false);
    ck_assert(answers == 4 + 3 + 4 && refusals == 4);
}
END_TEST

START_TEST(groups_in_turn_are_no_dispute)
{
    const int low[] = {0, 1}, high[] = {1, 2};
    come(0, 1, 2, low, false);
    come(1, 2, 2, high, false); /* waits for rank 2, who waits for nobody */
    ck_assert_int_eq(answers, 0);
    come(2, 2, 2, high, false);
    come(1, 1, 2, low, false);
    ck_assert(answers == 4 && refusals == 0);
}
END_TEST

START_TEST(with_threads_another_call_may_come)
{
    const int pair[] = {0, 1};
    come(0, 1, 2, pair, false);
    come(1, 2, 2, pair, true);
    come(0, 2, 2, pair, false);
    come(1, 1, 2, pair, true);
    ck_assert(answers == 4 && refusals == 0);
}
END_TEST

START_TEST(only_who_is_awaited_is_missing)
{
    const int some[] = {1, 2, 3};
    int32_t places[4];
    struct tern_occasion occasion = {.series = TERN_SERIES_OF_GROUP | 5 << 8 | 3};
    come(2, 5, 3, some, false);
    ck_assert_int_eq(tern_gather_missing(&occasion, 2, answer, 4, places), 2);
    ck_assert(places[0] == 1 && places[1] == 3);
    come(1, 5, 3, some, false);
    ck_assert_int_eq(tern_gather_missing(&occasion, 1, answer, 4, places), TERN_SAID_BY_ANOTHER);
    ck_assert_int_eq(tern_gather_missing(&occasion, 2, answer, 4, places), 1);
}
END_TEST

/* ---- signatures ---- */

static struct tern_datatype *named(MPI_Datatype type)
{
    return tern_datatype_of(type);
}

static struct tern_datatype *structure(int n, const int lengths[], const MPI_Datatype types[])
{
    MPI_Aint at[8];
    struct tern_datatype *made;
    for (int i = 0; i < n; i++)
        at[i] = 64 * i;
    ck_assert_int_eq(tern_mpi_type_create_struct(false, n, (struct tern_ints){lengths, sizeof *lengths},
                                                 (struct tern_ints){at, sizeof *at}, types, &made),
                     0);
    return made;
}

START_TEST(only_the_elements_count)
{
    struct tern_datatype *ten, *vector;
    ck_assert_int_eq(tern_mpi_type_contiguous(false, 10, named(MPI_INT), &ten), 0);
    ck_assert_int_eq(tern_mpi_type_vector(false, 5, 2, 7, named(MPI_INT), &vector), 0);
    uint64_t ints = tern_check_signature(named(MPI_INT), 30);
    ck_assert(tern_check_signature(ten, 3) == ints);
    ck_assert(tern_check_signature(vector, 3) == ints);
    ck_assert(tern_check_signature(named(MPI_INT), 29) != ints);
    ck_assert(tern_check_signature(named(MPI_FLOAT), 30) != ints);
    ck_assert(tern_check_signature(named(MPI_UNSIGNED), 30) != ints);
    ck_assert(tern_check_signature(named(MPI_INT), 0) == tern_check_signature(named(MPI_DOUBLE), 0));
    /* of a size nobody walks through */
    ck_assert(tern_check_signature(ten, 1ll << 40) == tern_check_signature(named(MPI_INT), 10ll << 40));
    ck_assert(tern_check_signature(ten, 1ll << 40) != tern_check_signature(ten, (1ll << 40) + 1));
    tern_datatype_release(ten);
    tern_datatype_release(vector);
}
END_TEST

START_TEST(their_order_counts)
{
    struct tern_datatype *a = structure(2, (int[]){2, 1}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE});
    struct tern_datatype *b = structure(3, (int[]){1, 1, 1}, (MPI_Datatype[]){MPI_INT, MPI_INT, MPI_DOUBLE});
    struct tern_datatype *c = structure(2, (int[]){1, 2}, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT});
    ck_assert(tern_check_signature(a, 4) == tern_check_signature(b, 4));
    ck_assert(tern_check_signature(a, 4) != tern_check_signature(c, 4));
    tern_datatype_release(a);
    tern_datatype_release(b);
    tern_datatype_release(c);
}
END_TEST

/* A struct of 512 members is looked through once. */
START_TEST(a_signature_is_found_out_once)
{
    enum { MEMBERS = 512 };
    static int lengths[MEMBERS];
    static MPI_Aint at[MEMBERS];
    static MPI_Datatype types[MEMBERS];
    struct tern_datatype *made, *pair;
    for (int i = 0; i < MEMBERS; i++) {
        lengths[i] = 1 + i % 3;
        at[i] = 32 * i;
        types[i] = i % 2 ? MPI_INT : MPI_DOUBLE;
    }
    ck_assert_int_eq(tern_mpi_type_create_struct(false, MEMBERS, (struct tern_ints){lengths, sizeof *lengths},
                                                 (struct tern_ints){at, sizeof *at}, types, &made),
                     0);
    ck_assert_uint_eq(made->findings.power, 0);
    uint64_t one = tern_check_signature(made, 1), thousand = tern_check_signature(made, 1000);
    ck_assert_uint_ne(made->findings.power, 0);
    ck_assert(one != thousand && tern_check_signature(made, 1) == one);
    /* what is kept is what counts, also in types made from it */
    made->findings.sum++;
    ck_assert(tern_check_signature(made, 1) != one);
    made->findings.sum--;
    ck_assert_int_eq(tern_mpi_type_contiguous(false, 1000, made, &pair), 0);
    ck_assert(tern_check_signature(pair, 1) == thousand);
    tern_datatype_release(pair);
    tern_datatype_release(made);
}
END_TEST

/* ---- buffers ---- */

enum { TYPES = 8, SPAN = 1 << 14, BLOCKS = 4 };

/* With holes, columns that interleave, elements that overlap the next one or themselves, negative extents. */
static void make_types(struct tern_datatype *types[TYPES])
{
    struct tern_datatype *vector;
    types[0] = named(MPI_INT);
    types[1] = named(MPI_SHORT_INT);
    ck_assert_int_eq(tern_mpi_type_vector(false, 3, 1, 5, named(MPI_INT), &vector), 0);
    types[2] = vector;
    ck_assert_int_eq(tern_mpi_type_create_resized(false, vector, 0, 4, &types[3]), 0);
    ck_assert_int_eq(tern_mpi_type_create_resized(false, vector, 0, 20, &types[4]), 0);
    ck_assert_int_eq(tern_mpi_type_create_resized(false, vector, 0, -64, &types[5]), 0);
    types[6] = structure(3, (int[]){2, 1, 3}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_CHAR});
    ck_assert_int_eq(tern_mpi_type_indexed(false, 3, (struct tern_ints){(int[]){3, 1, 2}, 4},
                                           (struct tern_ints){(int[]){0, 2, 8}, 4}, named(MPI_INT), &types[7]),
                     0);
}

/* How often each byte is in a part, one run after the other. True: one more than once. */
static bool count_bytes(const struct tern_check_part *part, const char *memory, unsigned char times[SPAN])
{
    bool twice = false;
    int64_t next = 0;
    for (int i = 0; i < part->blocks; i++) {
        int64_t count = part->counts.values ? tern_ints_at(part->counts, i) : part->count;
        int64_t at = part->displs.values ? tern_ints_at(part->displs, i) * part->type->type.extent : next;
        struct tern_cursor cursor;
        struct iovec run;
        tern_cursor_init(&cursor, &part->type->type, (const char *)part->buffer + at, count);
        while (tern_cursor_runs(&cursor, &run, 1, SIZE_MAX, NULL) == 1)
            for (size_t k = 0; k < run.iov_len; k++)
                twice |= ++times[(char *)run.iov_base + k - memory] > 1;
        next = at + count * part->type->type.extent;
    }
    return twice;
}

static void random_part(struct tern_check_part *part, struct tern_datatype *types[TYPES], const char *memory,
                        int counts[BLOCKS], int displs[BLOCKS])
{
    *part = (struct tern_check_part){
        .name = "buffer",
        .count_name = "count",
        .buffer = memory + SPAN / 2 + choose(-200, 200),
        .blocks = (int)choose(1, 3) == 1 ? (int)choose(1, BLOCKS) : 1,
        .count = choose(0, 6),
        .type = types[choose(0, TYPES - 1)],
        .output = choose(0, 1),
    };
    int at = 0;
    for (int i = 0; i < BLOCKS; i++) {
        counts[i] = (int)choose(0, 4);
        displs[i] = at += (int)choose(-1, 8);
    }
    if (part->blocks > 1 || choose(0, 1))
        part->counts = (struct tern_ints){counts, 4};
    if (part->counts.values && choose(0, 3))
        part->displs = (struct tern_ints){displs, 4};
}

START_TEST(memory_is_compared_byte_by_byte)
{
    static char memory[SPAN];
    static unsigned char times[2][SPAN];
    struct tern_datatype *types[TYPES];
    int counts[2][BLOCKS], displs[2][BLOCKS], faults = 0, fine = 0;
    tern_checks = TERN_CHECK_FULL;
    seed = 99 + (uint64_t)_i;
    make_types(types);
    for (int round = 0; round < 20000; round++) {
        struct tern_check_part parts[TERN_CHECK_PARTS];
        bool fault = false, meet = false;
        memset(times, 0, sizeof times);
        for (int p = 0; p < 2; p++) {
            random_part(&parts[p], types, memory, counts[p], displs[p]);
            bool twice = count_bytes(&parts[p], memory, times[p]);
            fault |= twice && parts[p].output;
        }
        for (int i = 0; i < SPAN; i++)
            meet |= times[0][i] && times[1][i];
        fault |= meet && (parts[0].output || parts[1].output);
        ck_assert_msg(tern_check_buffers(parts, "") == (fault ? TERN_ERR_BUFFER : 0), "round %d", round);
        faults += fault;
        fine += !fault;
    }
    ck_assert(faults > 1000 && fine > 1000);
    tern_checks = TERN_CHECK_BASIC;
    for (int i = 2; i < TYPES; i++)
        tern_datatype_release(types[i]);
}
END_TEST

/* Elements that lie apart are looked at once for all counts; those that interleave for each larger count. */
START_TEST(what_elements_overlap_is_found_out_once)
{
    static char memory[SPAN];
    struct tern_datatype *types[TYPES];
    struct tern_check_part parts[TERN_CHECK_PARTS] = {
        {.name = "buffer", .buffer = memory + SPAN / 2, .blocks = 1, .count = 2, .output = true}};
    tern_checks = TERN_CHECK_FULL;
    make_types(types);
    parts[0].type = types[6];
    ck_assert_int_eq(tern_check_buffers(parts, ""), 0);
    ck_assert(types[6]->findings.disjoint == INT64_MAX);
    parts[0].type = types[3];
    ck_assert_int_eq(tern_check_buffers(parts, ""), 0);
    ck_assert_int_eq(types[3]->findings.disjoint, 2);
    parts[0].count = 5;
    ck_assert_int_eq(tern_check_buffers(parts, ""), 0);
    ck_assert_int_eq(types[3]->findings.disjoint, 5);
    parts[0].count = 6; /* the next column is in the next block */
    ck_assert_int_eq(tern_check_buffers(parts, ""), TERN_ERR_BUFFER);
    ck_assert_int_eq(types[3]->findings.disjoint, 5);
    types[3]->findings.disjoint = 6; /* what is kept is believed */
    ck_assert_int_eq(tern_check_buffers(parts, ""), 0);
    tern_checks = TERN_CHECK_BASIC;
    for (int i = 2; i < TYPES; i++)
        tern_datatype_release(types[i]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check");
    TCase *judging = suite_case(suite, "judge"), *gathering = suite_case(suite, "gathering");
    TCase *signatures = suite_case(suite, "signature"), *buffers = suite_case(suite, "buffers");
    tcase_add_checked_fixture(gathering, NULL, forget);
    tcase_add_test(gathering, a_part_is_complete_without_the_others);
    tcase_add_test(gathering, who_wait_for_each_other_are_refused);
    tcase_add_test(gathering, who_is_late_for_a_dispute_is_not_awaited);
    tcase_add_test(gathering, groups_in_turn_are_no_dispute);
    tcase_add_test(gathering, with_threads_another_call_may_come);
    tcase_add_test(gathering, only_who_is_awaited_is_missing);
    tcase_add_checked_fixture(judging, NULL, drop_all);
    tcase_add_test(judging, all_alike);
    tcase_add_test(judging, the_few_come_first);
    tcase_add_test(judging, names_before_arguments);
    tcase_add_test(judging, who_has_not_come_is_not_judged);
    tcase_add_test(judging, different_keys_are_different_matters);
    tcase_add_test(judging, many_ranks_are_a_short_text);
    tcase_add_test(judging, two_groups_have_letters);
    tcase_add_test(judging, an_edge_has_two_ends);
    tcase_add_test(signatures, only_the_elements_count);
    tcase_add_test(signatures, their_order_counts);
    tcase_add_test(signatures, a_signature_is_found_out_once);
    tcase_add_loop_test(buffers, memory_is_compared_byte_by_byte, 0, 2);
    tcase_add_test(buffers, what_elements_overlap_is_found_out_once);
    return suite_run(suite);
}
