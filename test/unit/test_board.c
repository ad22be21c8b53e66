/* SPDX-License-Identifier: BSD-3-Clause */

/* Memory that ranks find by name (lib/node/segment.h), and boards made of it: both ranks in one process. */
#include "lib/node/board.h"
#include "lib/node/segment.h"
#include "lib/util/base/error.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 256 << 10, RANKS = 2 };

static int64_t length; /* of the post that was looked at last */

static void open_segment(void)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, BYTES), 0);
    tern_segment = (struct tern_segment){.local_size = RANKS};
    ck_assert_int_eq(tern_segment_open(fd, (struct tern_half){0, BYTES}), 0);
}

static void close_segment(void)
{
    munmap(tern_segment.base, BYTES);
    close(tern_segment.fd);
    tern_segment = (struct tern_segment){.fd = -1};
}

static struct tern_segment_name named(uint32_t serial)
{
    return (struct tern_segment_name){.context = 7, .leader = 0, .serial = serial};
}

static int meet(uint32_t serial, size_t size, uint64_t *ret_offset)
{
    struct tern_segment_name name = named(serial);
    return tern_segment_meet(&name, RANKS, size, ret_offset);
}

START_TEST(the_same_name_is_the_same_memory_once)
{
    uint64_t a, b, other, again;
    ck_assert_int_eq(meet(1, 100, &a), 0);
    ck_assert_int_eq(meet(2, 100, &other), 0);
    ck_assert_int_eq(meet(1, 100, &b), 0);
    ck_assert_uint_eq(a, b);
    ck_assert_uint_ne(a, other);
    ck_assert_int_eq(meet(1, 100, &again), 0); /* all have asked: the name is free */
    ck_assert_uint_ne(a, again);
    struct tern_segment_name neighbor = named(1);
    neighbor.leader = 1; /* another group of the same context */
    ck_assert_int_eq(tern_segment_meet(&neighbor, RANKS, 100, &other), 0);
    ck_assert_uint_ne(other, again);
}
END_TEST

/* Rank 1 asks when there is memory again, but rank 0 was told that there is none. */
START_TEST(a_refusal_is_the_same_for_all)
{
    enum { HALF = 100 << 10 };
    uint64_t first, offset = 0;
    ck_assert_int_eq(meet(1, HALF, &first), 0);
    ck_assert_int_eq(meet(1, HALF, &first), 0);
    ck_assert_int_eq(meet(2, HALF, &offset), TERN_ERR_NO_MEM);
    tern_segment_part(first);
    for (int r = 0; r < RANKS; r++)
        ck_assert_int_eq(meet(3, HALF, &offset), 0);
    tern_segment_part(offset);
    ck_assert_int_eq(meet(2, HALF, &offset), TERN_ERR_NO_MEM);
    ck_assert_int_eq(meet(2, HALF, &offset), 0); /* the next one of that name */
}
END_TEST

/* Where not even a refusal can be written down, all later names are refused. */
START_TEST(without_any_memory_all_are_refused)
{
    uint64_t offset = 0;
    while (tern_segment_take(1, &offset) == 0)
        ;
    ck_assert_int_eq(meet(1, 100, &offset), TERN_ERR_NO_MEM);
    tern_segment_give(offset, 1);
    ck_assert_int_eq(meet(1, 100, &offset), TERN_ERR_NO_MEM);
    ck_assert_int_eq(meet(2, 100, &offset), TERN_ERR_NO_MEM);
}
END_TEST

static void open_boards(struct tern_board boards[RANKS], const struct tern_board_shape *shape)
{
    struct tern_segment_name name = named(9);
    for (int r = 0; r < RANKS; r++)
        ck_assert_int_eq(tern_board_open(&boards[r], &name, r, RANKS, shape), 0);
}

/* Rank 0 posts `bytes` bytes of the turn's number. */
static void post(struct tern_board *board, uint32_t turn, int64_t bytes)
{
    void *room = tern_board_room(board, turn, bytes);
    ck_assert_ptr_nonnull(room);
    memset(room, (int)turn, (size_t)bytes);
    tern_board_post(board, turn, bytes);
}

/* Posts may be as many turns ahead as their kind has places, whichever shape the board has. */
START_TEST(a_post_stands_until_all_have_done_its_turn)
{
    static const struct tern_board_shape own = {.slots = 4, .sheets = 4, .sheet_bytes = 320};
    static const struct {
        const struct tern_board_shape *shape;
        int64_t bytes;
        uint32_t ahead;
    } rows[] = {{&tern_board_common, 8, 32}, {&tern_board_common, 1000, 8}, {&tern_board_common, 4000, 4},
                {&own, 112, 4},              {&own, 320, 4}};
    struct tern_board boards[RANKS];
    open_boards(boards, rows[_i].shape);
    if (rows[_i].bytes > rows[_i].shape->sheet_bytes)
        for (int r = 0; r < RANKS; r++)
            ck_assert_int_eq(tern_board_lengthen(&boards[r], 4096), 0);
    uint32_t ahead = rows[_i].ahead;
    for (int r = 0; r < RANKS; r++)
        ck_assert_uint_eq(tern_board_enter(&boards[r], 100), 1);
    for (uint32_t turn = 1; turn <= 90; turn++) {
        if (turn > ahead) {
            uint32_t oldest = turn - ahead;
            const unsigned char *seen = tern_board_look(&boards[1], oldest, 0, &length);
            ck_assert_ptr_null(tern_board_room(&boards[0], turn, rows[_i].bytes));
            ck_assert_ptr_nonnull(seen);
            ck_assert_int_eq(length, rows[_i].bytes);
            for (int64_t i = 0; i < rows[_i].bytes; i++)
                ck_assert_uint_eq(seen[i], oldest);
            tern_board_done(&boards[0], oldest);
            tern_board_done(&boards[1], oldest);
        }
        ck_assert_ptr_null(tern_board_look(&boards[1], turn, 0, &length));
        post(&boards[0], turn, rows[_i].bytes);
    }
    for (int r = 0; r < RANKS; r++)
        tern_board_close(&boards[r]);
}
END_TEST

/* A post that is for something else is none, and its poster can be found. */
START_TEST(posts_for_something_else_are_none)
{
    struct tern_board boards[RANKS];
    tern_turn mine = (tern_turn)7 << 32 | 1, theirs = (tern_turn)9 << 32 | 1, other = 0;
    open_boards(boards, &tern_board_common);
    for (int r = 0; r < RANKS; r++)
        tern_board_enter(&boards[r], 2);
    ck_assert_int_eq(tern_board_find_other(&boards[1], mine, -1, &other), -1);
    ck_assert_ptr_nonnull(tern_board_room(&boards[0], 1, 8));
    tern_board_post(&boards[0], theirs, 8);
    ck_assert_ptr_null(tern_board_look(&boards[1], mine, 0, &length));
    ck_assert_ptr_nonnull(tern_board_look(&boards[1], theirs, 0, &length));
    ck_assert_int_eq(tern_board_find_other(&boards[1], mine, -1, &other), 0);
    ck_assert(other == theirs);
    ck_assert_int_eq(tern_board_find_other(&boards[1], mine, 0, &other), -1);
    ck_assert_int_eq(tern_board_find_other(&boards[1], theirs, -1, &other), -1);
    ck_assert_int_eq(tern_board_find_other(&boards[1], mine + 1, -1, &other), -1); /* another turn */
    for (int r = 0; r < RANKS; r++)
        tern_board_close(&boards[r]);
}
END_TEST

/* Turns 6 to 75 are skipped by both ranks, before turns 3 to 5 are done, in any order of these. */
START_TEST(turns_that_are_skipped_count_as_done)
{
    static const uint32_t orders[][3] = {{3, 4, 5}, {5, 4, 3}, {4, 5, 3}};
    enum { FIRST = 6, COUNT = 70, ALL = FIRST + COUNT - 1 };
    struct tern_board boards[RANKS];
    open_boards(boards, &tern_board_common);
    for (int r = 0; r < RANKS; r++) {
        struct tern_board_skip *late = malloc(sizeof *late), *early = malloc(sizeof *early);
        tern_board_enter(&boards[r], ALL + 2);
        *late = (struct tern_board_skip){.first = FIRST + 30, .count = COUNT - 30};
        tern_board_skip(&boards[r], late);
        tern_board_done(&boards[r], 1);
        tern_board_done(&boards[r], 2);
        tern_board_done(&boards[r], orders[_i][0]);
        *early = (struct tern_board_skip){.first = FIRST, .count = 30};
        tern_board_skip(&boards[r], early);
        ck_assert_uint_lt(boards[r].done, 5);
        tern_board_done(&boards[r], orders[_i][1]);
        tern_board_done(&boards[r], orders[_i][2]);
        ck_assert_uint_eq(boards[r].done, ALL);
        tern_board_done(&boards[r], ALL + 1);
        ck_assert_uint_eq(boards[r].done, ALL + 1);
    }
    post(&boards[0], ALL + 2, 8);
    for (int r = 0; r < RANKS; r++)
        tern_board_close(&boards[r]);
}
END_TEST

/* A rank that was slow twice in writing a long post to a sheet asks its readers to take the lines,
 * for 512 posts. Slow writing to a sheet whose readers were asked does not count: so each of the
 * four sheets is written to three times without asking, and two of them count. Of two ranks none
 * asks. */
START_TEST(a_slow_writer_asks_its_readers)
{
    enum { MOST = 3, BYTES_OF_POST = 2048, TURNS = 1600 };
    static const struct {
        int ranks;
        uint32_t slow_turns; /* the first ones */
        /* from turn 5 on the rank asks in the first turns of each period */
        uint32_t asked, period;
    } rows[] = {{3, 4, 0, TURNS}, {3, 5, 512, TURNS}, {3, TURNS, 515, 523}, {2, TURNS, 0, TURNS}};
    uint64_t quick = tern_ticks_of_us(1) / 50, slow = tern_ticks_of_us(100);
    int ranks = rows[_i].ranks;
    struct tern_board boards[MOST];
    struct tern_segment_name name = named(9);
    for (int r = 0; r < ranks; r++) {
        ck_assert_int_eq(tern_board_open(&boards[r], &name, r, ranks, &tern_board_common), 0);
        ck_assert_int_eq(tern_board_lengthen(&boards[r], 4096), 0);
        tern_board_enter(&boards[r], TURNS);
    }
    for (uint32_t turn = 1; turn <= TURNS; turn++) {
        ck_assert_ptr_nonnull(tern_board_room(&boards[0], turn, BYTES_OF_POST));
        tern_board_wrote(&boards[0], BYTES_OF_POST, turn <= rows[_i].slow_turns ? slow : quick);
        tern_board_post(&boards[0], turn, BYTES_OF_POST);
        char *place = (char *)tern_board_look(&boards[1], turn, 0, &length);
        bool asks = turn > 4 && (turn - 5) % rows[_i].period < rows[_i].asked;
        ck_assert_int_eq(tern_board_asks(&boards[1], turn, 0), asks);
        tern_board_read(&boards[1], turn, 0, place, BYTES_OF_POST);
        for (int r = 0; r < ranks; r++)
            tern_board_done(&boards[r], turn);
    }
    for (int r = 0; r < ranks; r++)
        tern_board_close(&boards[r]);
}
END_TEST

/* The last one to close a board gives all its memory back, and the next one finds it zeroed. */
START_TEST(boards_give_their_memory_back)
{
    struct tern_board boards[RANKS];
    size_t used = 0;
    for (int again = 0; again < 20; again++) {
        open_boards(boards, &tern_board_common);
        for (int r = 0; r < RANKS; r++)
            ck_assert_int_eq(tern_board_lengthen(&boards[r], 4096), 0);
        ck_assert_ptr_eq(boards[0].areas, boards[1].areas);
        ck_assert_ptr_eq(boards[0].long_sheets, boards[1].long_sheets);
        ck_assert_ptr_null(tern_board_look(&boards[1], 1, 0, &length));
        tern_board_enter(&boards[0], 1);
        post(&boards[0], 1, 8);
        tern_board_close(&boards[0]);
        ck_assert_ptr_nonnull(tern_board_look(&boards[1], 1, 0, &length)); /* the other one has it yet */
        tern_board_close(&boards[1]);
        ck_assert(!again || tern_segment_used() == used);
        used = tern_segment_used();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("board");
    TCase *test = suite_case(suite, "two ranks");
    tcase_add_checked_fixture(test, open_segment, close_segment);
    tcase_add_test(test, the_same_name_is_the_same_memory_once);
    tcase_add_test(test, a_refusal_is_the_same_for_all);
    tcase_add_test(test, without_any_memory_all_are_refused);
    tcase_add_loop_test(test, a_post_stands_until_all_have_done_its_turn, 0, 5);
    tcase_add_loop_test(test, turns_that_are_skipped_count_as_done, 0, 3);
    tcase_add_loop_test(test, a_slow_writer_asks_its_readers, 0, 4);
    tcase_add_test(test, posts_for_something_else_are_none);
    tcase_add_test(test, boards_give_their_memory_back);
    return suite_run(suite);
}
