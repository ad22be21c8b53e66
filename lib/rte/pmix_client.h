/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PMIX_CLIENT_H
#define TERN_PMIX_CLIENT_H

/* The part of lib/rte that speaks with libpmix; private to the room. All calls may block but those
 * that say so. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loads libpmix, connects to the server of this node and fills tern_rte. 0 or TERN_ERR_OTHER with
 * text. */
int tern_pmix_start(void);
/* Connects again after tern_pmix_stop. */
int tern_pmix_connect(void);
/* Says goodbye to the server. */
int tern_pmix_stop(void);

/* What the server said about where a rank of this job is: its node, and PMIx's locality string (""
 * if it said none). False: not even the node. Asks nobody else. */
/* On which node a rank is. False: the server does not say. */
bool tern_pmix_node(uint32_t rank, uint32_t *ret_node);
bool tern_pmix_place(uint32_t rank, uint32_t *ret_node, char *ret_locality, size_t room);

int tern_pmix_put(const char *key, const void *value, size_t length);
int tern_pmix_fence(bool collect);
/* A fence without data that does not block: start, then test until it is true; `notify` is called
 * then, by PMIx's thread. One at a time. */
int tern_pmix_fence_start(void (*notify)(void));
bool tern_pmix_fence_test(int *ret_error);
int tern_pmix_commit(void);
struct tern_rte_fetch;
/* Does not block. */
int tern_pmix_fetch(uint32_t rank, const char *key, bool anew, struct tern_rte_fetch *fetch);
/* A fact about the job that the server gave when we connected. False: it gave none, or it is
 * longer. */
bool tern_pmix_host(uint32_t rank, char *name, size_t room);
int tern_pmix_get(uint32_t rank, const char *key, void **ret_value, size_t *ret_length);
/* What was put for this rank before, by an MPI program that ran in its place: a rank may be a
 * script. Asks the server of this node only. False: nothing. *ret_value is malloc'ed. */
bool tern_pmix_recall(const char *key, void **ret_value, size_t *ret_length);

/* Sends the launcher an event. Does not block, and nothing comes back. */
void tern_pmix_tell(int event);

/* Asks the server to end the whole job; returns when it was told, or could not be. */
void tern_pmix_abort(int status);

#endif
