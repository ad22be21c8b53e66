/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RAISE_NEXT_H
#define TERN_RAISE_NEXT_H

/* What an implementing function tells the next tern_raise_on of its thread (lib/mpi/life/raise.h),
 * beyond the arguments that its entry point has. */

#include <stdbool.h>

struct tern_comm;
struct tern_errhandler;
struct tern_file_head;
struct tern_handle;

struct tern_raise_next {
    struct tern_comm *comm; /* NULL if no communicator was named */
    bool held;              /* true if `comm` has a reference to drop */
    bool succeed;           /* true if calling the handler is the success */
    /* a file's handler, with a reference, and the file's handle; NULL if no file was named */
    struct tern_errhandler *of_file;
    struct tern_handle *file;
};

/* Names the communicator for the next tern_raise_on(NULL) of this thread. For wait and test, where
 * only the implementation knows which request failed. The name stays until that call. */
void tern_raise_next_on(struct tern_comm *comm);
/* Does what tern_raise_next_on does and takes over the caller's reference to `comm`. If that
 * reference is the last one, ignores the communicator. */
void tern_raise_next_on_held(struct tern_comm *comm);
/* Names a file for the next tern_raise_on(NULL) of this thread: its handler is called instead of a
 * communicator's. For wait and test of a file's request. Takes a reference to the handler. */
void tern_raise_next_on_file(struct tern_file_head *file);
/* For MPI_Comm_call_errhandler and its kin, which succeed by calling the handler. Returns the code
 * that the entry point raises on the object, and lets the next tern_raise_on of this thread return
 * MPI_SUCCESS. Returns an error if `errorcode` is no error code. */
int tern_raise_as_asked(int errorcode);

/* Returns what was told since the last call, and forgets it. The caller gets the references. */
struct tern_raise_next tern_raise_next_take(void);

#endif
