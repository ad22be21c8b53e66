/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PMIX_CLIENT_H
#define TERN_PMIX_CLIENT_H

/* The part of lib/rte that uses libpmix; private to the room. All calls may block, except where the
 * comment says otherwise. Those that return int return 0, or TERN_ERR_OTHER with text. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Loads libpmix, connects to the server of this node and fills tern_rte. */
int tern_pmix_start(void);
/* Connects again after tern_pmix_stop. */
int tern_pmix_connect(void);
/* Leaves the server. tern_pmix_connect may follow. */
int tern_pmix_stop(void);

/* Finds the node of a rank. Returns false if the server does not know. */
bool tern_pmix_node(uint32_t rank, uint32_t *ret_node);
/* Finds what the server told about the place of a rank of this job: its node, and PMIx's locality
 * string ("" if the server gave none). Returns false if the server does not even know the node.
 * Asks no other server. */
bool tern_pmix_place(uint32_t rank, uint32_t *ret_node, char *ret_locality, size_t room);

/* Publishes a value under `key`. Others see it after tern_pmix_commit. */
int tern_pmix_put(const char *key, const void *value, size_t length);
/* Waits until all ranks of the job call this; with `collect` also exchanges the values
 * published. */
int tern_pmix_fence(bool collect);
/* Starts a fence without data, and returns at once. When the fence is complete, PMIx's thread calls
 * `notify`, and tern_pmix_fence_test returns true with the fence's error. One fence at a time. */
int tern_pmix_fence_start(void (*notify)(void));
bool tern_pmix_fence_test(int *ret_error);
/* Makes the values of tern_pmix_put visible. */
int tern_pmix_commit(void);
struct tern_rte_fetch;
/* Starts to fetch a value of a rank, as tern_rte_fetch does. Does not block. */
int tern_pmix_fetch(uint32_t rank, const char *key, bool anew, struct tern_rte_fetch *fetch);
/* Writes the name of a rank's host, as the server gave it when we connected. Returns false if it
 * gave none or the name is longer than `room`. */
bool tern_pmix_host(uint32_t rank, char *name, size_t room);
/* Fetches a value of a rank; waits for it. The caller frees *ret_value. */
int tern_pmix_get(uint32_t rank, const char *key, void **ret_value, size_t *ret_length);
/* Finds a value that an earlier MPI program in this rank's place published: a rank may be a script
 * that runs several. Asks the server of this node only. Returns false if there is none. The caller
 * frees *ret_value. */
bool tern_pmix_recall(const char *key, void **ret_value, size_t *ret_length);

/* Sends the launcher an event. Does not block; there is no reply. */
void tern_pmix_tell(int event);

/* Asks the server to end the whole job. Returns when the server has been told or cannot be told. */
void tern_pmix_abort(int status);

#endif
