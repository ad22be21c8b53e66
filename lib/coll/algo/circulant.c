/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/algo/circulant.h"

/*
 * Rank r counts blocks from its own: its place i is block r + i. Rank r is responsible for a sum
 * over some ranks of the blocks in places 0 .. reach - 1; at first reach = n. A round halves the
 * reach: with skip = ceil(reach / 2), the places skip .. reach - 1 are sent to rank r + skip, where
 * they are the first places. The allgather does these rounds in reverse.
 */

/* Writes the blocks first .. first + count - 1, modulo n, of a vector to `out`, as one range or
 * two. Returns the number of ranges. */
static int ranges(const struct tern_plan *plan, struct tern_ref vector, const int64_t *offsets,
                  int64_t first, int64_t count, struct tern_ref out[2])
{
    int n = plan->args.size, begin = wrap(first, n), pieces = 0;
    const int64_t ends[2][2] = {{begin, begin + count < n ? begin + count : n},
                                {0, begin + count - n}};
    for (int i = 0; i < 2; i++) {
        if (ends[i][1] <= ends[i][0])
            continue;
        int64_t from = offsets ? offsets[ends[i][0]] : cut(vector.count, n, ends[i][0]);
        int64_t to = offsets ? offsets[ends[i][1]] : cut(vector.count, n, ends[i][1]);
        if (to > from)
            out[pieces++] = part(vector, from, to - from);
    }
    return pieces;
}

static void exchange(struct tern_plan *plan, int to, const struct tern_ref *out, int outs, int from,
                     const struct tern_ref *in, int ins)
{
    for (int i = 0; i < ins; i++)
        add_recv(plan, from, in[i], 0);
    for (int i = 0; i < outs; i++)
        add_send(plan, to, out[i], 0);
}

void tern_plan_add_circulant_reduce(struct tern_plan *plan, struct tern_ref input,
                                    struct tern_ref a, const int64_t *offsets)
{
    int n = plan->args.size, p = plan->args.rank;
    struct tern_ref b = in_temp(0, 0, input.count), now = input, out[2], in[2], mine[2];
    bool fresh = !same_place(input, a); /* `a` holds no data of ours yet */
    set_temporaries(plan, 1, input.count, true);
    if (n == 1 && fresh)
        add_copy(plan, input, a, 0);
    for (int64_t reach = n, skip; reach > 1; reach = skip) {
        skip = (reach + 1) / 2;
        struct tern_ref arriving = fresh ? a : b;
        int outs = ranges(plan, now, offsets, p + skip, reach - skip, out);
        int ins = ranges(plan, arriving, offsets, p, reach - skip, in);
        add_fence(plan);
        exchange(plan, wrap(p + skip, n), out, outs, wrap(p - skip, n), in, ins);
        if (fresh) { /* places to which nothing is added in this round */
            int rest = ranges(plan, input, offsets, p + reach - skip, 2 * skip - reach, mine);
            ranges(plan, a, offsets, p + reach - skip, 2 * skip - reach, out);
            for (int i = 0; i < rest; i++)
                add_copy(plan, mine[i], out[i], 0);
        }
        ranges(plan, now, offsets, p, reach - skip, mine);
        add_fence(plan);
        for (int i = 0; i < ins; i++)
            add_reduce(plan, fresh ? mine[i] : in[i], fresh ? in[i] : mine[i], 0);
        now = a;
        fresh = false;
    }
}

void tern_plan_add_circulant_gather(struct tern_plan *plan, struct tern_ref a, int own)
{
    int n = plan->args.size, p = plan->args.rank, rounds = 0;
    int64_t reaches[32];
    struct tern_ref out[2], in[2];
    for (int64_t reach = n; reach > 1; reach = (reach + 1) / 2)
        reaches[rounds++] = reach;
    while (rounds--) {
        int64_t reach = reaches[rounds], skip = (reach + 1) / 2;
        int outs = ranges(plan, a, NULL, own, reach - skip, out);
        int ins = ranges(plan, a, NULL, own + skip, reach - skip, in);
        add_fence(plan);
        exchange(plan, wrap(p - skip, n), out, outs, wrap(p + skip, n), in, ins);
    }
}

void tern_stages_add_circulant(struct tern_stages *stages, int64_t size, int64_t bytes,
                               int64_t unit, bool reduced)
{
    for (int64_t reach = size, skip; reach > 1; reach = skip) {
        skip = (reach + 1) / 2;
        int64_t sent = (int64_t)((double)bytes * (double)(reach - skip) / (double)size);
        struct tern_stage round = {.repeat = 1,
                                   .messages = 1,
                                   .bytes = sent,
                                   .distance = skip,
                                   .senders = size,
                                   .reduced = reduced ? sent : 0};
        tern_stages_add(stages, tern_stage_of_parts(round, bytes, unit, size / (reach - skip)));
    }
}
