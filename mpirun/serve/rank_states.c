/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/serve/rank_states.h"

#include <stdio.h>
#include <string.h>

/* Writes "0-3,7": the ranks in this state. */
static void list_ranks(const enum tern_rank_state *states, int ranks, enum tern_rank_state state,
                       char *text, size_t room)
{
    enum { LONGEST = 40 }; /* characters that one run of ranks can take */
    size_t used = 0;
    text[0] = '\0';
    for (int first = 0; first < ranks && used + LONGEST < room; first++) {
        int last = first;
        if (states[first] != state)
            continue;
        while (last + 1 < ranks && states[last + 1] == state)
            last++;
        used += snprintf(text + used, room - used, last > first ? "%s%d-%d" : "%s%d",
                         used ? "," : "", first, last);
        first = last;
        if (used + LONGEST >= room)
            snprintf(text + used, room - used, ",...");
    }
}

void tern_rank_states_describe(const enum tern_rank_state *states, int ranks, char *text,
                               size_t room)
{
    static const char *const words[TERN_RANK_STATES] = {
        [TERN_RANK_NOT_STARTED] = "not started",
        [TERN_RANK_WITHOUT_MPI] = "running, and not in MPI",
        [TERN_RANK_IN_MPI] = "between MPI_Init and MPI_Finalize",
        [TERN_RANK_FINALIZED] = "after MPI_Finalize",
        [TERN_RANK_ENDED] = "ended",
    };
    size_t used = 0;
    text[0] = '\0';
    for (int state = 0; state < TERN_RANK_STATES && used < room; state++) {
        char list[200];
        list_ranks(states, ranks, state, list, sizeof list);
        if (*list)
            used += snprintf(text + used, room - used, "\n    rank%s %s: %s",
                             strpbrk(list, "-,") ? "s" : "", list, words[state]);
    }
}
