/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 7 13 16; args: 1 250; long-args: 2 4000; needs: MPI_Bcast_init */
/* Random collectives (random_calls.h), several at a time: blocking, nonblocking and persistent, in place and not, on intra-
 * and intercommunicators. args: seed, rounds. */
#include "random_calls.h"

enum { AT_ONCE = 5 };

static void draw(struct operation *op, int number, uint64_t *random, uint64_t *own)
{
    const struct team *team = &teams[random_below(random, team_count)];
    enum kind kind = (enum kind)random_below(random, team->inter ? SCAN : KINDS);
    enum form form = (enum form)random_below(random, FORMS);
    draw_call(op, number, kind, form, team, random, own);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    uint64_t random = argument(argc, argv, 1), own = random * 1000 + rank;
    int rounds = argc > 2 ? atoi(argv[2]) : 250;
    static struct operation calls[AT_ONCE];
    make_layouts(&random);
    make_teams();
    for (int round = 0; round < rounds;) {
        int count = 1 + random_below(&random, AT_ONCE), order[AT_ONCE];
        for (int i = 0; i < count; i++) {
            draw(&calls[i], round++, &random, &own);
            call(&calls[i]);
            int j = random_below(&random, i + 1);
            order[i] = order[j];
            order[j] = i;
        }
        for (int i = 0; i < count; i++)
            finish(&calls[order[i]]);
    }
    free_teams_and_layouts();
    return end();
}
