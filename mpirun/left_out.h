/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_LEFT_OUT_H
#define TERN_MPIRUN_LEFT_OUT_H

/* Hosts that are left out of a job because nothing can be started on them (launch_missing=go_on).
 * All plans are made from the list of hosts, so mpirun begins anew without them: it executes itself
 * with the same command line, and their names in its environment. At that time there are no
 * threads, no guardian and no ranks yet. */

#include "mpirun/plan/hosts/host_list.h"

#include <stdbool.h>

/* Reads which hosts earlier tries have left out, and removes them from the order of --map-by seq.
 * Returns their names with commas between, owned by this file, or NULL. Call it once, before
 * tern_left_out_has. */
const char *tern_left_out_read(struct tern_strings *sequence);
/* Returns true if an earlier try has left out the host. */
bool tern_left_out_has(const char *host);

/* Begins anew without the hosts that have failed (start_agents.h), if the user wants that. Call it
 * after the agents have been ended. Does not return on success. Returns if the user does not want
 * it, if no host has failed, or after an error message. */
void tern_left_out_begin_anew(const struct tern_host_list *list, char **argv);

#endif
