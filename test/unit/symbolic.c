/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbolic.h"

#include "lib/btl/shm/board.h"

#include <stdlib.h>
#include <string.h>

/* --- sets of ranks: spans in order, interned --- */

struct span {
    int32_t lo, hi; /* lo .. hi - 1 */
};

struct set {
    int32_t first, count; /* in `spans` */
    int32_t next;         /* with the same hash */
};

enum { JOIN_SIZE = 1 << 12 };

static struct span *spans;
static struct set *sets;
static int32_t span_count, span_room, set_count, set_room;
static int32_t *heads; /* of lists of sets with the same hash; set_room of them */
enum { SINGLES = 1024 };
static int32_t singles[SINGLES]; /* 1 + the set of this rank alone; 0: not known yet */
static struct {
    int32_t a, b, joined; /* joined < 0: cannot be */
    bool ordered, known;
} joins[JOIN_SIZE];

void sets_forget(void)
{
    if (set_count) {
        memset(heads, 0xff, (size_t)set_room * sizeof *heads);
        memset(joins, 0, sizeof joins);
        memset(singles, 0, sizeof singles);
    }
    span_count = set_count = 0;
}

/* Where the list for these spans begins. */
static int32_t *head_of(const struct span *these, int count)
{
    uint64_t hash = (uint64_t)count;
    for (int i = 0; i < count; i++) {
        hash = (hash ^ ((uint64_t)these[i].lo << 32 | (uint32_t)these[i].hi)) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return &heads[hash & (uint64_t)(set_room - 1)];
}

/* Some plans make as many sets as the square of the number of ranks. */
static void make_room_for_sets(void)
{
    set_room = set_room ? 2 * set_room : 1024;
    sets = realloc(sets, (size_t)set_room * sizeof *sets);
    heads = realloc(heads, (size_t)set_room * sizeof *heads);
    memset(heads, 0xff, (size_t)set_room * sizeof *heads);
    for (int32_t s = 0; s < set_count; s++) {
        int32_t *head = head_of(spans + sets[s].first, sets[s].count);
        sets[s].next = *head;
        *head = s;
    }
}

static int32_t intern(const struct span *these, int count)
{
    if (set_count == set_room)
        make_room_for_sets();
    int32_t *head = head_of(these, count);
    for (int32_t s = *head; s >= 0; s = sets[s].next)
        if (sets[s].count == count &&
            !memcmp(spans + sets[s].first, these, (size_t)count * sizeof *these))
            return s;
    if (span_count + count > span_room)
        spans = realloc(spans, (size_t)(span_room = 2 * span_room + count + 256) * sizeof *spans);
    sets[set_count] = (struct set){span_count, count, *head};
    memcpy(spans + span_count, these, (size_t)count * sizeof *these);
    span_count += count;
    return *head = set_count++;
}

int32_t set_of(int lo, int hi)
{
    if (hi != lo + 1 || lo >= SINGLES)
        return intern(&(struct span){lo, hi}, 1);
    if (!singles[lo])
        singles[lo] = 1 + intern(&(struct span){lo, hi}, 1);
    return singles[lo] - 1;
}

/* The union of disjoint sets, or -1. */
static int32_t unite(int32_t a, int32_t b, bool ordered)
{
    struct span all[sets[a].count + sets[b].count];
    const struct span *x = spans + sets[a].first, *x_end = x + sets[a].count;
    const struct span *y = spans + sets[b].first, *y_end = y + sets[b].count;
    int count = 0;
    if (ordered)
        return x + 1 == x_end && y + 1 == y_end && x->hi == y->lo ? set_of(x->lo, y->hi) : -1;
    while (x < x_end || y < y_end) {
        struct span next = y == y_end || (x < x_end && x->lo < y->lo) ? *x++ : *y++;
        if (count && next.lo < all[count - 1].hi)
            return -1;
        if (count && next.lo == all[count - 1].hi)
            all[count - 1].hi = next.hi;
        else
            all[count++] = next;
    }
    return intern(all, count);
}

static int32_t join_sets(int32_t a, int32_t b, bool ordered)
{
    uint64_t slot = ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) * 0x9e3779b97f4a7c15u >> 52;
    if (!joins[slot].known || joins[slot].a != a || joins[slot].b != b ||
        joins[slot].ordered != ordered) {
        joins[slot].joined = unite(a, b, ordered);
        joins[slot].a = a;
        joins[slot].b = b;
        joins[slot].ordered = ordered;
        joins[slot].known = true;
    }
    return joins[slot].joined;
}

/* --- contents --- */

/* Index of the first piece that ends after x. Most often it is the one that was found last, or next to it. */
static int find(struct content *content, int64_t x)
{
    int low = 0, high = content->count;
    for (int i = content->found > 0 ? content->found - 1 : 0; i < content->count && i < content->found + 2; i++) {
        if (content->pieces[i].end <= x)
            low = i + 1;
        else if (i == low)
            return content->found = i;
        else {
            high = i;
            break;
        }
    }
    while (low < high) {
        int middle = (low + high) / 2;
        if (content->pieces[middle].end > x)
            high = middle;
        else
            low = middle + 1;
    }
    return content->found = low;
}

static bool continues(const struct piece *a, const struct piece *b)
{
    return a->end == b->begin && a->shift == b->shift && a->set == b->set;
}

/* Memory of contents that nobody needs any more; the next ones take it, the last one given back first. */
static struct content *spare_contents;
static int spare_count, spare_room;

void content_release(struct content *content)
{
    if (!content->room)
        return;
    content->pieces -= content->before;
    if (spare_count == spare_room)
        spare_contents = realloc(spare_contents, (size_t)(spare_room = 2 * spare_room + 64) * sizeof *spare_contents);
    spare_contents[spare_count++] = *content;
    *content = (struct content){0};
}

/* Moves the pieces to the middle of room for `total` and more. */
static void make_room(struct content *content, int total)
{
    struct content old = *content, spare_one = {0};
    if (!old.room && spare_count)
        spare_one = spare_contents[--spare_count];
    if (spare_one.room < 2 * total) {
        free(spare_one.pieces);
        spare_one.room = 3 * total + 8;
        spare_one.pieces = malloc((size_t)spare_one.room * sizeof *spare_one.pieces);
    }
    content->room = spare_one.room;
    content->before = (content->room - total) / 2;
    content->pieces = spare_one.pieces + content->before;
    if (old.count)
        memcpy(content->pieces, old.pieces, (size_t)old.count * sizeof *old.pieces);
    if (old.room)
        free(old.pieces - old.before);
}

/* Replaces pieces from .. to - 1 by `count` others. The shorter side makes way, for many plans fill their buffers
 * from the end. */
static void splice(struct content *content, int from, int to, const struct piece *others, int count)
{
    int more = count - (to - from), after = content->count - to;
    bool before = from < after;
    if (before ? content->before < more : content->before + content->count + more > content->room)
        make_room(content, content->count + more);
    if (!content->pieces)
        return; /* nothing instead of nothing */
    if (before) {
        memmove(content->pieces - more, content->pieces, (size_t)from * sizeof *content->pieces);
        content->pieces -= more;
        content->before -= more;
    } else {
        memmove(content->pieces + from + count, content->pieces + to, (size_t)after * sizeof *content->pieces);
    }
    if (count)
        memcpy(content->pieces + from, others, (size_t)count * sizeof *others);
    content->count += more;
}

/* Most often one piece takes the place of one that was there, or comes after the last one. */
static bool put_instead(struct content *content, int from, int64_t begin, int64_t end,
                        const struct piece *others, int count)
{
    if (count != 1)
        return false;
    bool last = from == content->count;
    struct piece *place = content->pieces + from;
    if (last ? content->before + from == content->room : place->begin != begin || place->end != end)
        return false;
    if (from && continues(place - 1, others)) {
        if (!last)
            return false; /* three may become one */
        place[-1].end = others->end;
        return true;
    }
    if (!last && from + 1 < content->count && continues(others, place + 1))
        return false;
    *place = *others;
    content->count += last;
    return true;
}

/* Forgets what stands in begin .. end - 1 and puts `count` pieces there. */
static void replace(struct content *content, int64_t begin, int64_t end, const struct piece *others,
                    int count)
{
    struct piece now[count + 2];
    int used = 0, from = find(content, begin), to = from;
    if (begin >= end)
        return;
    if (begin < 0 || end > INT32_MAX)
        abort(); /* a piece cannot tell */
    if (put_instead(content, from, begin, end, others, count))
        return;
    if (from < content->count && content->pieces[from].begin < begin) {
        now[used] = content->pieces[from];
        now[used++].end = (int32_t)begin;
    }
    for (int i = 0; i < count; i++) {
        if (used && continues(&now[used - 1], &others[i]))
            now[used - 1].end = others[i].end;
        else
            now[used++] = others[i];
    }
    for (; to < content->count && content->pieces[to].begin < end; to++)
        if (content->pieces[to].end > end) {
            struct piece rest = content->pieces[to];
            rest.begin = (int32_t)end;
            if (used && continues(&now[used - 1], &rest))
                now[used - 1].end = rest.end;
            else
                now[used++] = rest;
        }
    if (from && used && continues(&content->pieces[from - 1], &now[0]))
        now[0].begin = content->pieces[--from].begin;
    if (to < content->count && used && continues(&now[used - 1], &content->pieces[to]))
        now[used - 1].end = content->pieces[to++].end;
    splice(content, from, to, now, used);
}

void content_put(struct content *content, struct piece piece)
{
    replace(content, piece.begin, piece.end, &piece, piece.begin < piece.end);
}

void content_copy(struct content *content, const struct content *from)
{
    content->count = 0;
    if (from->count)
        splice(content, 0, 0, from->pieces, from->count);
}

bool content_has(struct content *content, struct piece piece)
{
    int i = find(content, piece.begin);
    return piece.begin >= piece.end ||
           (i < content->count && content->pieces[i].begin <= piece.begin &&
            content->pieces[i].end >= piece.end && content->pieces[i].shift == piece.shift &&
            content->pieces[i].set == piece.set);
}

/* Memory for what is read, used again and again: of the left and right operand, and their sum. */
static struct content left_read, right_read, sum_of_both;

static struct piece *room_for(struct content *scratch, int count)
{
    if (count > scratch->room) {
        free(scratch->pieces);
        scratch->room = 2 * count;
        scratch->pieces = malloc((size_t)scratch->room * sizeof *scratch->pieces);
    }
    return scratch->pieces;
}

/* Pieces of `ref`, cut to it, as they would stand at `to`. They are `scratch`'s, until it is used again. */
static const struct piece *read_pieces(struct content *content, struct tern_ref ref, int64_t to,
                                       struct content *scratch, int *ret_count)
{
    int64_t begin = ref.offset, end = ref.offset + ref.count, moved = to - begin;
    int from = find(content, begin), last = from, count = 0;
    while (last < content->count && content->pieces[last].begin < end)
        last++;
    struct piece *pieces = room_for(scratch, last - from + 1);
    for (int i = from; i < last; i++) {
        const struct piece *piece = &content->pieces[i];
        pieces[count++] = (struct piece){(int32_t)((piece->begin > begin ? piece->begin : begin) + moved),
                                         (int32_t)((piece->end < end ? piece->end : end) + moved),
                                         (int32_t)(piece->shift - moved), piece->set};
    }
    *ret_count = count;
    return pieces;
}

static const char *copy(struct symbolic_rank *from_rank, struct tern_ref from,
                        struct symbolic_rank *to_rank, struct tern_ref to)
{
    if (from.count != to.count)
        return "a message or copy has another length than its receiver expects";
    if (to.buffer == TERN_SEND_BUFFER && to.count)
        return "an input is written to";
    if (!to.count)
        return NULL;
    int count;
    const struct piece *pieces =
        read_pieces(&from_rank->buffers[from.buffer], from, to.offset, &left_read, &count);
    replace(&to_rank->buffers[to.buffer], to.offset, to.offset + to.count, pieces, count);
    return NULL;
}

/* `to` = `from` joined with `to`, unit by unit; `from` is the left operand. */
static const char *join(struct symbolic_rank *rank, struct tern_ref from, struct tern_ref to,
                        bool ordered)
{
    int lefts, rights, count = 0;
    const char *fault = NULL;
    if (to.buffer == TERN_SEND_BUFFER && to.count)
        return "an input is written to";
    const struct piece *left = read_pieces(&rank->buffers[from.buffer], from, to.offset, &left_read, &lefts);
    const struct piece *right = read_pieces(&rank->buffers[to.buffer], to, to.offset, &right_read, &rights);
    struct piece *joined = room_for(&sum_of_both, lefts + rights + 1);
    int64_t at = to.offset, end = to.offset + to.count;
    for (int l = 0, r = 0; at < end && !fault;) {
        if (l == lefts || r == rights || left[l].begin > at || right[r].begin > at) {
            fault = "something undefined is joined";
            break;
        }
        int64_t until = left[l].end < right[r].end ? left[l].end : right[r].end;
        int32_t set = join_sets(left[l].set, right[r].set, ordered);
        if (left[l].shift != right[r].shift)
            fault = "units of different index are joined";
        else if (set < 0)
            fault = ordered ? "contributions are joined out of order"
                            : "a contribution is joined twice";
        joined[count++] = (struct piece){(int32_t)at, (int32_t)until, left[l].shift, set};
        at = until;
        l += left[l].end == until;
        r += right[r].end == until;
    }
    if (!fault)
        replace(&rank->buffers[to.buffer], to.offset, end, joined, count);
    return fault;
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
    int pieces;
    if (turn->posted)
        return "a rank posts twice";
    if (step->at != turn->bytes)
        return "a post has holes";
    const struct piece *read =
        read_pieces(&ranks[rank].buffers[step->from.buffer], step->from, step->at, &left_read, &pieces);
    replace(&turn->post, step->at, step->at + step->from.count, read, pieces);
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
    int pieces;
    struct symbolic_turn *turn = &peer->turns[step->turn];
    if (to.buffer == TERN_SEND_BUFFER && to.count)
        return "an input is written to";
    if (step->at + to.count > turn->bytes)
        return "more is taken than was posted";
    rank->turns[step->turn].took = true;
    if (!to.count)
        return NULL;
    struct tern_ref from = {step->at, to.count, -1, 0};
    const struct piece *read = read_pieces(&turn->post, from, to.offset, &left_read, &pieces);
    replace(&rank->buffers[to.buffer], to.offset, to.offset + to.count, read, pieces);
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
