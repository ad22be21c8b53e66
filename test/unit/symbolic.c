/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbolic.h"

#include "lib/node/board.h"

#include <stdlib.h>
#include <string.h>

static struct content *content_of(struct symbolic_rank *rank, struct tern_ref ref)
{
    return &rank->buffers[ref.buffer];
}

static const char *copy(struct symbolic_rank *from_rank, struct tern_ref from,
                        struct symbolic_rank *to_rank, struct tern_ref to)
{
    if (from.count != to.count)
        return "a message or copy has another length than its receiver expects";
    if (to.buffer == TERN_SEND_BUFFER && to.count)
        return "an input is written to";
    if (to.count)
        content_move(content_of(from_rank, from), from, content_of(to_rank, to), to.offset);
    return NULL;
}

/* `to` = `from` joined with `to`; `from` is the left operand. */
static const char *join(struct symbolic_rank *rank, struct tern_ref from, struct tern_ref to,
                        bool ordered)
{
    if (to.buffer == TERN_SEND_BUFFER && to.count)
        return "an input is written to";
    return content_join(content_of(rank, from), from, content_of(rank, to), to, ordered);
}

/* --- execution --- */

struct unmatched {
    struct unmatched *next;
    int rank, peer; /* who posted, and to or from whom */
    bool waits;     /* somebody waits for it */
    int64_t step;
    struct tern_ref ref;
};

struct state {
    int64_t next;
    uint64_t in_flight; /* bit k: step next - 1 - k */
    uint64_t awaited;   /* likewise: without these it can go on */
    bool at_board;      /* it waits for the board */
    bool done, queued;
};

/* Unmatched posts of some pairs of ranks, in order. */
struct posts {
    struct unmatched *first, *last;
};

/* All this is kept from run to run, for most are short and there are many of them. */
static struct state *states;
static bool buffered; /* sends complete at once */
static struct posts *posts[2]; /* receives, sends; by the hash of both ranks; all empty between runs */
static uint32_t posts_mask;
static int unmatched_count;
static struct unmatched *spare; /* kept for further ones */
static int *queue, queue_length, state_room;

static struct posts *posts_between(bool send, int sender, int receiver)
{
    uint32_t hash = (uint32_t)sender * 0x9e3779b1u + (uint32_t)receiver * 0x85ebca77u;
    return &posts[send][(hash ^ hash >> 15) & posts_mask];
}

static void wake(int rank)
{
    if (!states[rank].queued)
        queue[queue_length++] = rank;
    states[rank].queued = true;
}

static void complete(int rank, int64_t step)
{
    struct state *state = &states[rank];
    state->in_flight &= ~(1ull << (state->next - 1 - step));
    if (!(state->in_flight & state->awaited))
        wake(rank);
}

static void append(struct posts *posts, struct unmatched post)
{
    struct unmatched *at = spare;
    if (at)
        spare = at->next;
    else
        at = malloc(sizeof *at);
    *at = post;
    at->next = NULL;
    unmatched_count++;
    if (posts->last)
        posts->last->next = at;
    else
        posts->first = at;
    posts->last = at;
}

/* Takes the post after `before`, the first one if that is NULL, out. */
static void take_out(struct posts *posts, struct unmatched *before)
{
    struct unmatched *post = before ? before->next : posts->first;
    if (before)
        before->next = post->next;
    else
        posts->first = post->next;
    if (posts->last == post)
        posts->last = before;
    post->next = spare;
    spare = post;
    unmatched_count--;
}

/* Matches a post with the first of the other kind between the same two. */
static bool match(struct symbolic_rank *ranks, struct posts *waiting, const struct unmatched *mine, bool send,
                  const char **fault)
{
    for (struct unmatched *before = NULL, *theirs = waiting->first; theirs; before = theirs, theirs = theirs->next) {
        if (theirs->rank != mine->peer || theirs->peer != mine->rank)
            continue;
        *fault = send ? copy(&ranks[mine->rank], mine->ref, &ranks[theirs->rank], theirs->ref)
                      : copy(&ranks[theirs->rank], theirs->ref, &ranks[mine->rank], mine->ref);
        if (theirs->waits)
            complete(theirs->rank, theirs->step);
        take_out(waiting, before);
        return true;
    }
    return false;
}

/* --- the board: with as little room as there may be, for posts of TERN_BOARD_LONG_SHEETS turns --- */

struct symbolic_turn {
    struct content post;
    int64_t bytes; /* there so far */
    bool posted, took, done;
};

static int mates_of(const struct symbolic_rank *ranks, int rank, int count)
{
    return ranks[rank].mates ? ranks[rank].mate_count : count;
}

static int mate(const struct symbolic_rank *ranks, int rank, int i)
{
    return ranks[rank].mates ? ranks[rank].mates[i] : i;
}

/* Those who wait for the board: perhaps for this. */
static void wake_mates(const struct symbolic_rank *ranks, int rank, int count)
{
    for (int i = 0; i < mates_of(ranks, rank, count); i++)
        if (states[mate(ranks, rank, i)].at_board)
            wake(mate(ranks, rank, i));
}

static bool may_start(const struct symbolic_rank *ranks, int rank, int count, const struct tern_step *step)
{
    if (step->kind == TERN_STEP_POST)
        return step->turn < TERN_BOARD_LONG_SHEETS ||
               ranks[rank].done_by[step->turn - TERN_BOARD_LONG_SHEETS] == mates_of(ranks, rank, count);
    return step->kind < TERN_STEP_POST || ranks[mate(ranks, rank, step->peer)].turns[step->turn].posted;
}

static const char *post(struct symbolic_rank *ranks, int rank, int count,
                        const struct tern_step *step)
{
    struct symbolic_turn *turn = &ranks[rank].turns[step->turn];
    if (turn->posted)
        return "a rank posts twice";
    if (step->at != turn->bytes)
        return "a post has holes";
    content_move(content_of(&ranks[rank], step->from), step->from, &turn->post, step->at);
    turn->bytes += step->from.count;
    if (step->flags & TERN_STEP_MORE)
        return NULL;
    if (turn->bytes != step->to.count)
        return "a post has another length than it says";
    turn->posted = true;
    wake_mates(ranks, rank, count); /* any of them may wait for it */
    return NULL;
}

static const char *take(struct symbolic_rank *rank, struct symbolic_rank *peer,
                        const struct tern_step *step, struct tern_ref to)
{
    struct symbolic_turn *turn = &peer->turns[step->turn];
    if (to.buffer == TERN_SEND_BUFFER && to.count)
        return "an input is written to";
    if (step->at + to.count > turn->bytes)
        return "more is taken than was posted";
    rank->turns[step->turn].took = true;
    if (to.count)
        content_move(&turn->post, (struct tern_ref){step->at, to.count, -1, 0}, content_of(rank, to), to.offset);
    return NULL;
}

static const char *use_board(struct symbolic_rank *ranks, int rank, int count,
                             const struct tern_step *step, bool ordered)
{
    struct symbolic_rank *mine = &ranks[rank];
    if (step->turn >= mine->plan->turns)
        return "a plan uses a turn that it does not take";
    if (mine->turns[step->turn].done)
        return "a turn goes on after its end";
    if (step->kind == TERN_STEP_POST)
        return post(ranks, rank, count, step);
    if (step->kind == TERN_STEP_TAKE)
        return take(mine, &ranks[mate(ranks, rank, step->peer)], step, step->to);
    const char *fault = take(mine, &ranks[mate(ranks, rank, step->peer)], step, step->from);
    return fault ? fault : join(mine, step->from, step->to, ordered);
}

static const char *end_turn(struct symbolic_rank *ranks, int rank, int count, uint32_t turn)
{
    struct symbolic_turn *mine = &ranks[rank].turns[turn];
    if (mine->done)
        return "a turn ends twice";
    int mates = mates_of(ranks, rank, count);
    if (mates > 1 && !mine->posted && !mine->took)
        return "a rank neither posts nor takes in a turn";
    mine->done = true;
    if (++ranks[rank].done_by[turn] == mates)
        wake_mates(ranks, rank, count); /* there may be room now */
    return NULL;
}

/* The turns of all ranks, and by how many of a node each was ended; kept from run to run, with the memory of posts. */
static struct symbolic_turn *all_turns;
static int *all_done_by;
static size_t turn_room;

static void make_room_for_turns(size_t total)
{
    all_turns = realloc(all_turns, total * sizeof *all_turns);
    all_done_by = realloc(all_done_by, total * sizeof *all_done_by);
    memset(all_turns + turn_room, 0, (total - turn_room) * sizeof *all_turns);
    turn_room = total;
}

static const char *open_board(struct symbolic_rank *ranks, int count)
{
    const char *fault = NULL;
    size_t total = 0;
    for (int r = 0; r < count; r++)
        total += ranks[r].plan->turns + 1;
    if (total > turn_room)
        make_room_for_turns(total);
    total = 0;
    for (int r = 0; r < count; r++) {
        uint32_t turns = ranks[r].plan->turns + 1; /* a wrong plan may look at one more */
        int first = mate(ranks, r, 0);
        ranks[r].turns = all_turns + total;
        ranks[r].done_by = first == r ? all_done_by + total : ranks[first].done_by;
        for (size_t t = total; t < total + turns; t++) {
            all_turns[t].post.count = 0;
            all_turns[t].bytes = 0;
            all_turns[t].posted = all_turns[t].took = all_turns[t].done = false;
            all_done_by[t] = 0;
        }
        if (turns != ranks[first].plan->turns + 1)
            fault = "ranks take different numbers of turns";
        total += turns;
    }
    return fault;
}

/* Has every rank ended every turn? */
static bool all_turns_are_done(const struct symbolic_rank *ranks, int count)
{
    for (int r = 0; r < count; r++)
        for (uint32_t t = 0; t < ranks[r].plan->turns; t++)
            if (!ranks[r].turns[t].done)
                return false;
    return true;
}

/* True if the step stays in flight. */
static bool start(struct symbolic_rank *ranks, int rank, const struct tern_step *step, bool ordered,
                  const char **fault)
{
    bool send = step->kind == TERN_STEP_SEND;
    switch (step->kind) {
    case TERN_STEP_COPY:
        *fault = copy(&ranks[rank], step->from, &ranks[rank], step->to);
        break;
    case TERN_STEP_REDUCE:
        *fault = join(&ranks[rank], step->from, step->to, ordered);
        break;
    case TERN_STEP_SEND:
    case TERN_STEP_RECV: {
        bool waits = !send || !buffered, local = step->flags & TERN_STEP_LOCAL;
        int peer = step->peer + (local ? ranks[rank].local_first : ranks[rank].remote_first);
        struct unmatched mine = {NULL, rank, peer, waits, states[rank].next, send ? step->from : step->to};
        int sender = send ? rank : peer, receiver = send ? peer : rank;
        if (match(ranks, posts_between(!send, sender, receiver), &mine, send, fault))
            return false;
        append(posts_between(send, sender, receiver), mine);
        return waits;
    }
    default:
        break;
    }
    return false;
}

static const char *advance(struct symbolic_rank *ranks, int rank, int count, bool ordered)
{
    struct state *state = &states[rank];
    const struct tern_plan *plan = ranks[rank].plan;
    const uint64_t too_old = ~0ull << (plan->window - 1);
    const char *fault = NULL;
    while (state->next < plan->step_count && !fault) {
        struct tern_step room;
        const struct tern_step *step = tern_plan_step(plan, state->next, &room);
        state->awaited = step->after | too_old;
        if (state->in_flight & state->awaited)
            return NULL;
        state->at_board = !may_start(ranks, rank, count, step);
        if (state->at_board)
            return NULL;
        bool stays = false;
        if (step->kind >= TERN_STEP_POST)
            fault = use_board(ranks, rank, count, step, ordered);
        else
            stays = start(ranks, rank, step, ordered, &fault);
        if (step->flags & TERN_STEP_DONE && !fault)
            fault = end_turn(ranks, rank, count, step->turn);
        state->in_flight = state->in_flight << 1 | stays;
        state->next++;
    }
    state->awaited = ~0ull;
    state->done = !state->in_flight;
    return fault;
}

static bool forget_posts(void)
{
    bool any = unmatched_count;
    for (uint32_t i = 0; unmatched_count; i++)
        for (int send = 0; send < 2; send++)
            while (posts[send][i].first)
                take_out(&posts[send][i], NULL);
    return any;
}

static void make_room_for_states(int count)
{
    uint32_t buckets = posts_mask + 1;
    free(states);
    free(queue);
    state_room = count;
    states = malloc((size_t)count * sizeof *states);
    queue = malloc((size_t)count * sizeof *queue);
    while (buckets < 8 * (uint32_t)count)
        buckets *= 2;
    posts_mask = buckets - 1;
    for (int send = 0; send < 2; send++) {
        free(posts[send]);
        posts[send] = calloc(buckets, sizeof *posts[send]);
    }
}

static const char *begin(struct symbolic_rank *ranks, int count, bool sends_are_buffered)
{
    if (count > state_room)
        make_room_for_states(count);
    memset(states, 0, (size_t)count * sizeof *states);
    queue_length = 0;
    buffered = sends_are_buffered;
    for (int r = count; r--;)
        wake(r);
    return open_board(ranks, count);
}

/* Goes on until none of them can; not with rank `absent`, if there is one. */
static const char *run_all(struct symbolic_rank *ranks, int count, bool ordered, int absent)
{
    const char *fault = NULL;
    while (queue_length && !fault) {
        int rank = queue[--queue_length];
        states[rank].queued = false;
        if (rank != absent)
            fault = advance(ranks, rank, count, ordered);
    }
    return fault;
}

/* What was left over, or NULL. */
static const char *finish(struct symbolic_rank *ranks, int count)
{
    bool left = forget_posts(), ended = all_turns_are_done(ranks, count);
    return left ? "messages are left over" : ended ? NULL : "a turn is not ended";
}

const char *symbolic_run(struct symbolic_rank *ranks, int count, bool ordered)
{
    const char *fault = begin(ranks, count, false);
    if (!fault)
        fault = run_all(ranks, count, ordered, -1);
    for (int r = 0; r < count && !fault; r++)
        if (!states[r].done)
            fault = "ranks wait for each other for ever";
    const char *left = finish(ranks, count);
    return fault ? fault : left;
}

const char *symbolic_run_without(struct symbolic_rank *ranks, int count, int absent)
{
    const char *fault = begin(ranks, count, true);
    if (!fault)
        fault = run_all(ranks, count, false, absent);
    for (int r = 0; r < count && !fault; r++)
        if (states[r].done)
            fault = "a rank does not wait for another one";
    finish(ranks, count);
    return fault;
}

void symbolic_release(struct symbolic_rank *rank)
{
    if (rank->plan)
        tern_plan_release(rank->plan);
    for (int b = 0; b < TERN_BUFFERS; b++)
        content_release(&rank->buffers[b]);
}
