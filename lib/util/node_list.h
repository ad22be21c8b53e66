/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_NODE_LIST_H
#define TERN_NODE_LIST_H

/*
 * Which ranks are on which node, as text: nodes separated by semicolons, on each its ranks in runs separated by commas, a run
 * being first, first-last or first-last/step: "0-7;8-15" or "0-14/2;1-15/2".
 */

#include <stdbool.h>
#include <stdint.h>

/* node_of[rank] is the node's number, from 0 on. malloc'ed; NULL: no memory. */
char *tern_node_list_write(const uint32_t *node_of, uint32_t ranks, uint32_t nodes);

/* ret_lowest[rank]: the lowest rank of its node. False, with what is there undefined: it is no such text, or does not name each of
 * `ranks` ranks once. */
bool tern_node_list_read(const char *text, uint32_t ranks, int32_t *ret_lowest);

#endif
