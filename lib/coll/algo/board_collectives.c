/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives of one node by way of the board (lib/node/board.h). Every rank posts what other ranks
 * need, and takes what it needs. A byte is written once and read by all; there is no message, no
 * header, no matching. If ranks share cores, each rank needs its core once per turn.
 *
 * Data that do not fit into a post are cut into pieces, one turn for each. Posts may be several
 * turns ahead of the takes. Blocks are cut by bytes, because two ranks may have types with units of
 * different sizes. Then data of a type with gaps are packed before, or unpacked at the end.
 *
 * Reductions work in rank order, from right to left: correct for any operation, with identical bits
 * on all ranks. In `board` every rank reduces everything. In `slices` each rank reduces its slice
 * of every piece and posts the result for the others, so that each byte is reduced once.
 *
 * A plan's turns get their numbers when it is started, in the order of calls, which is equal on all
 * ranks. Nonblocking runs may be in several turns at a time and end in any order. Persistent runs
 * may be started in different orders, so each of them has a board of its own.
 */
#include "lib/node/board.h"
#include "lib/coll/plan/build.h"
#include "lib/coll/price/topology.h"

/* Limits of bytes and steps. From several MiB on, messages are as fast. If each rank gets a
 * different block, messages are as fast from fewer bytes on, because no block is read twice. A plan
 * for the board keeps all its steps in the array, so there must not be too many. */
enum { MOST_BYTES = 4 << 20, MOST_BYTES_APART = 128 << 10, MOST_STEPS = 4096 };

/* Bytes of a piece if there are two ranks, which write and read at the same time. More ranks mostly
 * share cores, so they use fewer turns. */
enum { PIECE_OF_TWO = 16 << 10 };

/* Posts are AHEAD pieces ahead of the takes. With slices, posts are AHEAD pieces ahead of the
 * reductions, and these AHEAD pieces ahead of taking the results. A piece has two turns then. So
 * the turn of the farthest post is 4 * AHEAD after the last turn that this rank has done, and the
 * board must have room for it. */
enum { AHEAD = 1 };
_Static_assert(4 * AHEAD <= TERN_BOARD_LONG_SHEETS, "a rank does not wait for itself");

/* --- steps --- */

/* Adds a post: `from` becomes the bytes from `at` on of a post of `whole` bytes. */
static void add_post(struct tern_plan *plan, uint32_t turn, struct tern_ref from, int64_t at,
                     int64_t whole)
{
    struct tern_ref post = {0, whole, -1, TERN_RECV_BUFFER};
    tern_plan_add(plan, (struct tern_step){TERN_STEP_POST, 0, -1, AFTER_ALL, from, post, turn,
                                           (uint32_t)at});
}

/* Add a step that uses a post from byte `at` on; if `whole`, these are all bytes of the post. */
static void add_take(struct tern_plan *plan, uint32_t turn, int peer, int64_t at,
                     struct tern_ref to, bool whole)
{
    struct tern_ref none = {0, 0, -1, TERN_RECV_BUFFER};
    tern_plan_add(plan, (struct tern_step){TERN_STEP_TAKE, whole ? TERN_STEP_WHOLE : 0, peer,
                                           AFTER_ALL, none, to, turn, (uint32_t)at});
}

static void add_join(struct tern_plan *plan, uint32_t turn, int peer, int64_t at,
                     struct tern_ref to, bool whole)
{
    tern_plan_add(plan, (struct tern_step){TERN_STEP_JOIN, whole ? TERN_STEP_WHOLE : 0, peer,
                                           AFTER_ALL, in_temp(0, 0, to.count), to, turn,
                                           (uint32_t)at});
}

/* Marks that more bytes follow in the post of the last step. */
static void hold_back(struct tern_plan *plan)
{
    plan->head[plan->head_count - 1].flags |= TERN_STEP_MORE;
}

/* Marks that this rank has no more steps in the turn. */
static void end_turn(struct tern_plan *plan, uint32_t turn)
{
    struct tern_step *last = plan->head_count ? &plan->head[plan->head_count - 1] : NULL;
    if (!last || last->kind < TERN_STEP_POST || last->turn != turn) {
        tern_plan_add(plan, step_none());
        last = &plan->head[plan->head_count - 1];
        last->turn = turn;
    }
    last->flags |= TERN_STEP_DONE;
}

/* --- pieces --- */

/* Returns the most bytes of a post. */
static int64_t post_bytes(const struct tern_plan_args *args)
{
    return args->sheet < args->segment_bytes ? args->sheet : args->segment_bytes;
}

/* Returns how much of each of `blocks` blocks fits into a post, in units of `unit` bytes; 0: not
 * even one unit. */
static int64_t piece_units(const struct tern_plan_args *args, int64_t blocks, int64_t unit)
{
    int64_t units = post_bytes(args) / blocks / (unit ? unit : 1);
    return unit == 1 && units > 64 ? units / 64 * 64 : units; /* whole cache lines */
}

/* Returns the number of pieces of `count` units, which is the number of turns; at least 1. */
static uint32_t count_pieces(int64_t count, int64_t piece)
{
    return count > piece ? (uint32_t)((count + piece - 1) / piece) : 1;
}

static int64_t length_of_piece(int64_t count, int64_t piece, uint32_t k)
{
    int64_t rest = count - k * piece;
    return rest < 0 ? 0 : rest < piece ? rest : piece;
}

/* --- moving: blocks from and to all ranks, some, or one; of equal length, except in allgatherv
 * --- */

struct move {
    int64_t bytes; /* bytes of a block, of the longest if they differ */
    int blocks;    /* number of blocks in the input */
    bool whole;    /* all blocks go into a post, also the poster's own block, which no rank takes */
    bool posts, takes;
    int from; /* rank whose posts are taken; -1: all other ranks */
    struct tern_ref input;
    int64_t piece;
    uint32_t turns;
};

static struct tern_ref input_of(const struct tern_plan_args *args)
{
    switch (args->collective) {
    case TERN_BARRIER:
    case TERN_BCAST: return in_recv(0, args->recv_count);
    case TERN_SCATTER: return in_send(0, args->size * args->send_count);
    case TERN_ALLTOALL:
        return args->in_place ? in_recv(0, args->size * args->recv_count)
                              : in_send(0, args->size * args->send_count);
    default: return args->in_place ? recv_block(args, args->rank) : in_send(0, args->send_count);
    }
}

/* Returns where the block that rank `r` posts for this rank goes. */
static struct tern_ref output_of(const struct tern_plan_args *args, int r)
{
    bool one = args->collective <= TERN_BCAST || args->collective == TERN_SCATTER;
    return one ? in_recv(0, args->recv_count) : recv_block(args, r);
}

/* Returns the bytes of a block of rank r, or for rank r. */
static int64_t length_of_block(const struct tern_plan_args *args, const struct move *move, int r)
{
    return args->collective == TERN_ALLGATHERV ? data_bytes(args, recv_block(args, r))
                                               : move->bytes;
}

static int64_t longest_block(const struct tern_plan_args *args)
{
    int64_t longest = 0;
    for (int r = 0; r < args->size; r++) {
        int64_t bytes = data_bytes(args, recv_block(args, r));
        longest = bytes > longest ? bytes : longest;
    }
    return longest;
}

static struct move describe_move(const struct tern_plan_args *args)
{
    bool root = args->rank == args->root;
    bool out = args->collective == TERN_BCAST || args->collective == TERN_SCATTER;
    bool in = args->collective == TERN_GATHER;
    bool sends = (root && args->collective == TERN_SCATTER) || (!root && in);
    bool apart = args->collective == TERN_SCATTER || args->collective == TERN_ALLTOALL;
    struct move move = {
        .bytes = sends                                  ? args->send_count * args->send_size
                 : args->collective == TERN_ALLGATHERV ? longest_block(args)
                                                       : args->recv_count * args->recv_size,
        .blocks = apart ? args->size : 1,
        .posts = out ? root : in ? !root : true,
        .takes = out ? !root : in ? root : true,
        .from = out ? args->root : -1,
        .input = input_of(args),
    };
    move.piece = piece_units(args, move.blocks, 1);
    if (args->size == 2 && move.piece > PIECE_OF_TWO)
        move.piece = PIECE_OF_TWO;
    move.turns = move.piece ? count_pieces(move.bytes, move.piece) : 0;
    move.whole =
        !apart || (move.turns == 1 && args->size * move.bytes <= TERN_BOARD_SLOT_BYTES);
    return move;
}

/* Returns the place of block `b` in rank r's posts, counted in blocks; -1: not in the post. */
static int posted_place(const struct move *move, int r, int b)
{
    return move->whole || b < r ? b : b == r ? -1 : b - 1;
}

/* Packs the input first if it must be cut and has gaps. The output is unpacked at the end. */
static void pack_input(struct tern_plan *plan, struct move *move)
{
    bool bytes = move->input.buffer == TERN_SEND_BUFFER ? plan->args.send_bytes
                                                        : plan->args.recv_bytes;
    if (move->turns == 1 || bytes || !move->posts)
        return;
    int64_t own = length_of_block(&plan->args, move, plan->args.rank);
    struct tern_ref packed = in_temp(0, 0, move->blocks * own);
    int64_t units = move->input.count / move->blocks;
    for (int b = 0; b < move->blocks; b++)
        if (posted_place(move, plan->args.rank, b) >= 0)
            add_copy(plan, part(move->input, b * units, units), part(packed, b * own, own),
                     AFTER_ALL);
    move->input = packed;
}

static bool unpacks(const struct tern_plan *plan, const struct move *move)
{
    return move->takes && move->turns > 1 && !plan->args.recv_bytes;
}

static struct tern_ref packed_output(const struct tern_plan_args *args, const struct move *move,
                                     int r)
{
    return in_temp(1, move->from < 0 ? r * move->bytes : 0, length_of_block(args, move, r));
}

static void post_piece(struct tern_plan *plan, const struct move *move, uint32_t k)
{
    int64_t own = length_of_block(&plan->args, move, plan->args.rank);
    int64_t length = length_of_piece(own, move->piece, k);
    int64_t units = move->turns == 1 ? move->input.count / move->blocks : own;
    int64_t whole = (move->blocks - !move->whole) * length;
    if (move->turns == 1 && move->whole) {
        add_post(plan, k, move->input, 0, whole);
        return;
    }
    bool more = false;
    for (int b = 0; b < move->blocks; b++) {
        int place = posted_place(move, plan->args.rank, b);
        if (place < 0)
            continue;
        if (more)
            hold_back(plan);
        add_post(plan, k,
                 part(move->input, b * units + k * move->piece, move->turns == 1 ? units : length),
                 place * length, whole);
        more = true;
    }
}

static void take_piece_of(struct tern_plan *plan, const struct move *move, int r, uint32_t k)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t length = length_of_piece(length_of_block(args, move, r), move->piece, k);
    /* a shorter block than those of other ranks */
    if (!length && args->collective == TERN_ALLGATHERV)
        return;
    struct tern_ref to = unpacks(plan, move) ? packed_output(args, move, r) : output_of(args, r);
    int block = move->blocks > 1 ? posted_place(move, r, args->rank) : 0;
    add_take(plan, k, r, block * length,
             move->turns == 1 ? to : part(to, k * move->piece, length), move->blocks == 1);
}

static void take_piece(struct tern_plan *plan, const struct move *move, uint32_t k)
{
    if (move->from >= 0)
        take_piece_of(plan, move, move->from, k);
    else
        /* starts with the next rank, so that not all ranks read one post first */
        for (int i = 1; i < plan->args.size; i++)
            take_piece_of(plan, move, wrap((int64_t)plan->args.rank + i, plan->args.size), k);
}

/* Copies the block that this rank sends to itself. */
static void copy_own(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    bool rooted = args->collective == TERN_GATHER || args->collective == TERN_SCATTER;
    if (args->in_place || args->collective <= TERN_BCAST || (rooted && args->rank != args->root))
        return;
    bool apart = args->collective == TERN_SCATTER || args->collective == TERN_ALLTOALL;
    add_copy(plan, in_send(apart ? args->rank * args->send_count : 0, args->send_count),
             output_of(args, args->rank), AFTER_ALL);
}

static void unpack_output(struct tern_plan *plan, const struct move *move)
{
    const struct tern_plan_args *args = &plan->args;
    if (move->from >= 0)
        add_copy(plan, packed_output(args, move, move->from), output_of(args, move->from),
                 AFTER_ALL);
    for (int r = 0; r < args->size && move->from < 0; r++)
        if (r != args->rank)
            add_copy(plan, packed_output(args, move, r), output_of(args, r), AFTER_ALL);
}

static void move_on_board(struct tern_plan *plan)
{
    struct move move = describe_move(&plan->args);
    plan->turns = move.turns;
    set_temporaries(plan, 2, plan->args.size * move.bytes, false);
    pack_input(plan, &move);
    uint32_t posted = 0;
    for (uint32_t k = 0; k < move.turns; k++) {
        /* a rank that takes nothing is ahead of the other ranks anyway */
        uint32_t ahead = move.takes ? AHEAD : 0;
        for (; move.posts && posted < move.turns && posted <= k + ahead; posted++)
            post_piece(plan, &move, posted);
        if (k == 0)
            copy_own(plan);
        if (move.takes)
            take_piece(plan, &move, k);
        end_turn(plan, k);
    }
    if (unpacks(plan, &move))
        unpack_output(plan, &move);
}

/* --- reducing --- */

/* Reduces the posts of ranks 0 .. last, from byte `at` on, to `to`. `whole`: these are all bytes of
 * the posts. */
static void join_posts(struct tern_plan *plan, uint32_t turn, int last, int64_t at,
                       struct tern_ref to, bool whole)
{
    if (to.count)
        add_take(plan, turn, last, at, to, whole);
    for (int r = last - 1; r >= 0 && to.count; r--)
        add_join(plan, turn, r, at, to, whole);
}

/* Sets the temporary that reducing a piece needs if its type has gaps. */
static void set_join_memory(struct tern_plan *plan, int64_t units)
{
    set_temporaries(plan, 1, units, true);
}

/* Every rank reduces all it needs. `blocks` as in struct move. */
static void reduce_on_board(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    int n = args->size, p = args->rank;
    int64_t size = args->recv_size, count = size ? args->recv_count : 0;
    bool apart = args->collective == TERN_REDUCE_SCATTER_BLOCK;
    int last = args->collective == TERN_SCAN                        ? p
               : args->collective == TERN_EXSCAN                    ? p - 1
               : args->collective == TERN_REDUCE && p != args->root ? -1
                                                                    : n - 1;
    int blocks = apart ? n : 1;
    int64_t piece = piece_units(args, blocks, size);
    plan->turns = count_pieces(count, piece);
    set_join_memory(plan, piece < count ? piece : count);
    for (uint32_t k = 0; k < plan->turns; k++) {
        int64_t length = length_of_piece(count, piece, k), bytes = length * size;
        for (int b = 0; b < blocks; b++) {
            if (b)
                hold_back(plan);
            add_post(plan, k, in_input(args, b * count + k * piece, length), b * bytes,
                     blocks * bytes);
        }
        if (last >= 0)
            join_posts(plan, k, last, apart ? p * bytes : 0, in_recv(k * piece, length),
                       blocks == 1);
        end_turn(plan, k);
    }
}

/* --- reducing, with results of unequal length --- */

struct shares {
    int64_t total;  /* units of the vector */
    /* number of pieces into which each block is cut evenly; 0: a post is too short */
    uint32_t turns;
};

/* Returns the units of a post that has the longest piece of each block. */
static int64_t longest_post(const struct tern_plan_args *args, uint32_t turns)
{
    int64_t units = 0;
    for (int r = 0; r < args->size; r++)
        units += (tern_recv_count(args, r) + turns - 1) / turns;
    return units;
}

static struct shares describe_shares(const struct tern_plan_args *args)
{
    struct shares shares = {.total = tern_recv_total(args)};
    int64_t most = post_bytes(args) / (args->recv_size ? args->recv_size : 1);
    if (most <= args->size)
        return shares;
    /* Search for the fewest turns for which posts are short enough. `enough` surely suffices: it
     * leaves room for one more unit of each block, because pieces of a block differ by at most one
     * unit. */
    uint32_t fewest = count_pieces(shares.total, most),
             enough = count_pieces(shares.total, most - args->size);
    while (fewest < enough) {
        uint32_t middle = fewest + (enough - fewest) / 2;
        if (longest_post(args, middle) <= most)
            enough = middle;
        else
            fewest = middle + 1;
    }
    shares.turns = enough;
    return shares;
}

/* Returns the length of piece k of rank r's block. *ret_begin: where the piece begins in the
 * block. */
static int64_t piece_of_share(const struct tern_plan_args *args, const struct shares *shares, int r,
                              uint32_t k, int64_t *ret_begin)
{
    int64_t length = tern_recv_count(args, r);
    *ret_begin = cut(length, (int)shares->turns, k);
    return cut(length, (int)shares->turns, (int64_t)k + 1) - *ret_begin;
}

/* Posts piece k of all blocks. Returns where in a post the piece of this rank's block begins. */
static int64_t post_pieces(struct tern_plan *plan, const struct shares *shares, uint32_t k)
{
    const struct tern_plan_args *args = &plan->args;
    int64_t whole = 0, at = 0, mine = 0, block = 0, begin;
    for (int r = 0; r < args->size; r++)
        whole += piece_of_share(args, shares, r, k, &begin);
    bool more = false;
    for (int r = 0; r < args->size; r++) {
        int64_t length = piece_of_share(args, shares, r, k, &begin);
        if (r == args->rank)
            mine = at;
        if (length || (!whole && !more)) {
            if (more)
                hold_back(plan);
            add_post(plan, k, in_input(args, block + begin, length), at * args->recv_size,
                     whole * args->recv_size);
            more = true;
        }
        at += length;
        block += tern_recv_count(args, r);
    }
    return mine * args->recv_size;
}

/* In place, results would overwrite input that must still be posted: they are kept in a
 * temporary. */
static void reduce_shares_on_board(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct shares shares = describe_shares(args);
    int64_t length = tern_recv_count(args, args->rank), begin;
    bool aside = args->in_place && shares.turns > 1;
    plan->turns = shares.turns;
    set_temporaries(plan, 2, length, true);
    for (uint32_t k = 0; k < shares.turns; k++) {
        int64_t at = post_pieces(plan, &shares, k);
        int64_t piece = piece_of_share(args, &shares, args->rank, k, &begin);
        if (args->recv_size)
            join_posts(plan, k, args->size - 1, at,
                       aside ? in_temp(1, begin, piece) : in_recv(begin, piece), false);
        end_turn(plan, k);
    }
    if (aside)
        add_copy(plan, in_temp(1, 0, length), in_recv(0, length), AFTER_ALL);
}

/* --- slices --- */

struct slices {
    int64_t count, piece, bytes; /* units of the vector and of a piece; bytes of a unit */
    uint32_t pieces;
    bool to_all;
};

static struct tern_ref slice_of(const struct tern_plan *plan, const struct slices *slices,
                                uint32_t k, int rank)
{
    int64_t length = length_of_piece(slices->count, slices->piece, k);
    int64_t begin = cut(length, plan->args.size, rank);
    return in_recv(k * slices->piece + begin, cut(length, plan->args.size, rank + 1) - begin);
}

/* Returns true if this rank takes slices of other ranks. The first ranks have the longest
 * slices. */
static bool takes_slices(const struct tern_plan *plan, const struct slices *slices, uint32_t k)
{
    const struct tern_plan_args *args = &plan->args;
    int other = args->rank == 0;
    return (slices->to_all || args->rank == args->root) && other < args->size &&
           slice_of(plan, slices, k, other).count;
}

/* Turn 2k: all ranks post piece k. */
static void post_whole_piece(struct tern_plan *plan, const struct slices *slices, uint32_t k)
{
    int64_t length = length_of_piece(slices->count, slices->piece, k);
    add_post(plan, 2 * k, in_input(&plan->args, k * slices->piece, length), 0,
             length * slices->bytes);
}

/* Turn 2k + 1: each rank posts its slice of the result. */
static void join_slice(struct tern_plan *plan, const struct slices *slices, uint32_t k)
{
    const struct tern_plan_args *args = &plan->args;
    struct tern_ref mine = slice_of(plan, slices, k, args->rank), to = mine;
    int64_t at = (mine.offset - k * slices->piece) * slices->bytes;
    if (!slices->to_all && args->rank != args->root) /* this rank has no receive buffer */
        to = in_temp(1, 0, mine.count);
    if (mine.count)
        join_posts(plan, 2 * k, args->size - 1, at, to, false);
    end_turn(plan, 2 * k);
    bool taken = mine.count && (slices->to_all || args->rank != args->root);
    if (taken)
        add_post(plan, 2 * k + 1, to, 0, mine.count * slices->bytes);
    else if (!takes_slices(plan, slices, k))
        /* an empty post, because every rank must post or take in each turn */
        add_post(plan, 2 * k + 1, part(to, 0, 0), 0, 0);
}

static void take_slices(struct tern_plan *plan, const struct slices *slices, uint32_t k)
{
    const struct tern_plan_args *args = &plan->args;
    for (int i = 1; i < args->size && takes_slices(plan, slices, k); i++) {
        int r = wrap((int64_t)args->rank + i, args->size);
        struct tern_ref theirs = slice_of(plan, slices, k, r);
        if (theirs.count)
            add_take(plan, 2 * k + 1, r, 0, theirs, true);
    }
    end_turn(plan, 2 * k + 1);
}

static void reduce_in_slices(struct tern_plan *plan)
{
    const struct tern_plan_args *args = &plan->args;
    struct slices slices = {
        .count = args->recv_size ? args->recv_count : 0,
        .piece = piece_units(args, 1, args->recv_size),
        .bytes = args->recv_size,
        .to_all = args->collective == TERN_ALLREDUCE,
    };
    slices.pieces = count_pieces(slices.count, slices.piece);
    plan->turns = 2 * slices.pieces;
    set_temporaries(plan, 2, cut(slices.piece, args->size, 1), true);
    for (uint32_t k = 0; k < slices.pieces + 2 * AHEAD; k++) {
        if (k < slices.pieces)
            post_whole_piece(plan, &slices, k);
        if (k >= AHEAD && k - AHEAD < slices.pieces)
            join_slice(plan, &slices, k - AHEAD);
        if (k >= 2 * AHEAD)
            take_slices(plan, &slices, k - 2 * AHEAD);
    }
}

/* --- when the board is used, and for how many bytes --- */

/* Returns the bytes that the rank with the longest post has to post; equal on all ranks. */
static int64_t bytes_to_post(const struct tern_plan_args *args)
{
    if (args->collective == TERN_REDUCE_SCATTER)
        return describe_shares(args).total * args->recv_size;
    bool reduces = args->collective >= TERN_REDUCE;
    struct move move = describe_move(args);
    int64_t bytes = reduces ? args->recv_count * args->recv_size : move.bytes;
    bool apart = args->collective == TERN_REDUCE_SCATTER_BLOCK || (!reduces && move.blocks > 1);
    return apart ? args->size * bytes : bytes;
}

static void tell_length(struct tern_plan *plan)
{
    int64_t bytes = bytes_to_post(&plan->args), most = post_bytes(&plan->args);
    plan->post_bytes = (int32_t)(bytes < most ? bytes : most);
}

void tern_plan_use_board(struct tern_plan *plan)
{
    if (plan->args.collective == TERN_REDUCE_SCATTER)
        reduce_shares_on_board(plan);
    else if (plan->args.collective >= TERN_REDUCE)
        reduce_on_board(plan);
    else
        move_on_board(plan);
    tell_length(plan);
}

void tern_plan_use_slices(struct tern_plan *plan)
{
    reduce_in_slices(plan);
    tell_length(plan);
}

static bool fits(const struct tern_plan_args *args, int64_t steps_of_turn)
{
    bool one_node = !args->topology || args->topology->nodes == 1;
    if (!args->sheet || !one_node)
        return false;
    int64_t bytes = bytes_to_post(args);
    bool reduces = args->collective >= TERN_REDUCE;
    bool moves_apart = args->collective == TERN_ALLTOALL || args->collective == TERN_SCATTER;
    int64_t most = moves_apart && args->size > 2 ? MOST_BYTES_APART : MOST_BYTES;
    if (bytes > (args->sheet > TERN_BOARD_SHEET_BYTES ? most : args->sheet))
        return false;
    if (args->collective == TERN_REDUCE_SCATTER) {
        struct shares shares = describe_shares(args);
        return shares.turns && shares.turns * steps_of_turn <= MOST_STEPS;
    }
    bool apart = moves_apart || args->collective == TERN_REDUCE_SCATTER_BLOCK;
    int64_t blocks = apart ? args->size : 1;
    int64_t piece = piece_units(args, blocks, reduces ? args->recv_size : 1);
    return piece && bytes / blocks / (reduces && args->recv_size ? args->recv_size : 1) / piece *
                            steps_of_turn <= MOST_STEPS;
}

bool tern_plan_fits_board(const struct tern_plan_args *args)
{
    return fits(args, 2 * (int64_t)args->size + 2);
}

bool tern_plan_fits_slices(const struct tern_plan_args *args)
{
    return fits(args, 2 * (int64_t)args->size + 4);
}
