/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BTL_PATH_H
#define TERN_BTL_PATH_H

/* The path to a peer (peer->path), as text for people: "shm, one copy", "tcp eth2 10.2.0.31 ->
 * 10.2.0.8". Byte movers write it when a connection comes about; tools and reports read it at any
 * time. */

enum { TERN_PATH_MOST = 128 }; /* bytes, with the final 0 */

/* A text, and the older ones, which readers may still use. NULL: no path yet. */
struct tern_path;

/* Sets the path; a longer text is cut. Without memory the path stays as it was. Locks: the peer's
 * lane. */
void tern_path_set(struct tern_path **path, const char *text);

/* Adds `more`, such as "device memory: CUDA IPC", behind "; " to the path, unless it is there
 * already. Locks: the peer's lane. */
void tern_path_add(struct tern_path **path, const char *more);

/* Returns the text, or NULL if there is none yet. It lives until tern_path_free. Any thread may
 * call. */
const char *tern_path_text(struct tern_path *const *path);

/* Frees all texts. No thread may use them any more. */
void tern_path_free(struct tern_path **path);

#endif
