/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/ranks/orphans.h"

#include <stdlib.h>
#include <string.h>

#include "mpirun/ranks/descendants.h"
#include "mpirun/ranks/leftover.h"

enum { KEPT = 1 << 14 };

static struct {
    struct {
        pid_t pid;
        int status;
    } ended[KEPT]; /* a ring */
    unsigned count;
} orphans;

void tern_orphan_ended(pid_t pid, int wait_status)
{
    unsigned at = orphans.count++ % KEPT;
    orphans.ended[at].pid = pid;
    orphans.ended[at].status = wait_status;
}

/* Finds the wait status of an orphan that has ended, of the latest one with this number. Returns
 * false if it is not among those kept. */
static bool find_ended(pid_t pid, int *ret_status)
{
    unsigned kept = orphans.count < KEPT ? orphans.count : KEPT;
    for (unsigned back = 1; back <= kept; back++) {
        unsigned at = (orphans.count - back) % KEPT;
        if (orphans.ended[at].pid == pid) {
            *ret_status = orphans.ended[at].status;
            return true;
        }
    }
    return false;
}

pid_t tern_orphan_of_program(const struct tern_ancestry *line, bool (*is_rank)(pid_t pid),
                             bool *ret_ended, int *ret_status)
{
    for (int i = 0; i < line->count && line->pids[i] > 0; i++) {
        pid_t alive = tern_descendants_child_above(line->pids[i]);
        *ret_ended = false;
        if (alive)
            return is_rank(alive) ? 0 : alive;
        *ret_ended = find_ended(line->pids[i], ret_status);
        if (*ret_ended)
            return line->pids[i];
    }
    return 0;
}

pid_t tern_orphan_of_rank(int rank, bool (*is_rank)(pid_t pid))
{
    int count;
    pid_t found = 0, *children = tern_descendants_children(&count);
    for (int i = 0; i < count && !found; i++)
        if (!is_rank(children[i]) && tern_leftover_rank_of(children[i]) == rank)
            found = children[i];
    free(children);
    return found;
}

void tern_orphans_mark(bool *left, int ranks, int running, bool (*is_rank)(pid_t pid))
{
    int count;
    pid_t *children = tern_descendants_children(&count);
    for (int i = 0; i < count && count > running; i++) {
        int rank = is_rank(children[i]) ? -1 : tern_leftover_rank_of(children[i]);
        if (rank == TERN_RANK_UNKNOWN)
            memset(left, true, (size_t)ranks * sizeof *left);
        else if (rank >= 0 && rank < ranks)
            left[rank] = true;
    }
    free(children);
}
