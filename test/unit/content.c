/* SPDX-License-Identifier: BSD-3-Clause */
#include "content.h"

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

void content_move(struct content *from, struct tern_ref ref, struct content *content, int64_t to)
{
    int count;
    const struct piece *pieces = read_pieces(from, ref, to, &left_read, &count);
    replace(content, to, to + ref.count, pieces, count);
}

const char *content_join(struct content *from, struct tern_ref ref, struct content *content, struct tern_ref to, bool ordered)
{
    int lefts, rights, count = 0;
    const char *fault = NULL;
    const struct piece *left = read_pieces(from, ref, to.offset, &left_read, &lefts);
    const struct piece *right = read_pieces(content, to, to.offset, &right_read, &rights);
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
        replace(content, to.offset, end, joined, count);
    return fault;
}
