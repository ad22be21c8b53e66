/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ERROR_H
#define TERN_ERROR_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Internal error codes. A function returns 0 or a negative code. A positive result is an MPI error
 * code that passes through unchanged (from user callbacks). Columns: name, MPI error class, general
 * meaning. The first table has the classes of MPI: MPI_ERR_BUFFER and so on.
 * lib/mpi/object/error_codes.c compares their numbers with api/constants.txt, which this room knows
 * nothing of.
 */
#define TERN_ERRORS_OF_MPI(X)                                                                      \
    X(BUFFER, 1, "invalid buffer")                                                                 \
    X(COUNT, 2, "invalid count")                                                                   \
    X(TYPE, 3, "invalid datatype")                                                                 \
    X(TAG, 4, "invalid tag")                                                                       \
    X(COMM, 5, "invalid communicator")                                                             \
    X(RANK, 6, "invalid rank")                                                                     \
    X(REQUEST, 7, "invalid request")                                                               \
    X(ROOT, 8, "invalid root")                                                                     \
    X(GROUP, 9, "invalid group")                                                                   \
    X(OP, 10, "invalid reduction operation")                                                       \
    X(TOPOLOGY, 11, "invalid topology")                                                            \
    X(DIMS, 12, "invalid dimensions")                                                              \
    X(ARG, 13, "invalid argument")                                                                 \
    X(UNKNOWN, 14, "unknown error")                                                                \
    X(TRUNCATE, 15, "message truncated")                                                           \
    X(OTHER, 16, "error")                                                                          \
    X(INTERN, 17, "internal error")                                                                \
    X(IN_STATUS, 18, "error code is in the status")                                                \
    X(PENDING, 19, "request not finished because of another's failure")                            \
    X(ACCESS, 20, "permission denied")                                                             \
    X(AMODE, 21, "invalid access mode")                                                            \
    X(ASSERT, 22, "invalid assertion")                                                             \
    X(BAD_FILE, 23, "invalid file name")                                                           \
    X(BASE, 24, "invalid base")                                                                    \
    X(CONVERSION, 25, "data conversion failed")                                                    \
    X(DISP, 26, "invalid displacement")                                                            \
    X(DUP_DATAREP, 27, "data representation defined already")                                      \
    X(FILE_EXISTS, 28, "file exists")                                                              \
    X(FILE_IN_USE, 29, "file in use")                                                              \
    X(FILE, 30, "invalid file")                                                                    \
    X(INFO_KEY, 31, "invalid info key")                                                            \
    X(INFO_NOKEY, 32, "no such info key")                                                          \
    X(INFO_VALUE, 33, "invalid info value")                                                        \
    X(INFO, 34, "invalid info")                                                                    \
    X(IO, 35, "input or output failed")                                                            \
    X(KEYVAL, 36, "invalid keyval")                                                                \
    X(LOCKTYPE, 37, "invalid lock type")                                                           \
    X(NAME, 38, "no such name published")                                                          \
    X(NO_MEM, 39, "out of memory")                                                                 \
    X(NOT_SAME, 40, "argument differs between processes")                                          \
    X(NO_SPACE, 41, "no space left")                                                               \
    X(NO_SUCH_FILE, 42, "no such file")                                                            \
    X(PORT, 43, "invalid port")                                                                    \
    X(QUOTA, 44, "quota exceeded")                                                                 \
    X(READ_ONLY, 45, "read-only file")                                                             \
    X(RMA_CONFLICT, 46, "conflicting accesses")                                                    \
    X(RMA_SYNC, 47, "wrong synchronisation")                                                       \
    X(SERVICE, 48, "no such service name")                                                         \
    X(SIZE, 49, "invalid size")                                                                    \
    X(SPAWN, 50, "processes could not be started")                                                 \
    X(UNSUPPORTED_DATAREP, 51, "unsupported data representation")                                  \
    X(UNSUPPORTED_OPERATION, 52, "unsupported operation")                                          \
    X(WIN, 53, "invalid window")                                                                   \
    X(RMA_RANGE, 68, "target memory is not part of the window")                                    \
    X(RMA_ATTACH, 69, "memory cannot be attached")                                                 \
    X(RMA_FLAVOR, 70, "wrong flavor of window")                                                    \
    X(RMA_SHARED, 71, "memory cannot be shared")                                                   \
    X(SESSION, 78, "invalid session")                                                              \
    X(ERRHANDLER, 80, "invalid error handler")

#define TERN_ERRORS(X)                                                                             \
    TERN_ERRORS_OF_MPI(X)                                                                          \
    X(UNREACHABLE, 16, "peer cannot be reached")                                                   \
    X(AGAIN, 17, "no room at the moment, try again")                                               \
    X(UNSUPPORTED, 17, "not supported here")

/* TERN_ERR_BUFFER and so on, all negative. */
enum tern_error_code {
    TERN_SUCCESS = 0,
    TERN_ERROR_BASE = -1000,
#define TERN_ERROR_ENUM(name, class, text) TERN_ERR_##name,
    TERN_ERRORS(TERN_ERROR_ENUM)
#undef TERN_ERROR_ENUM
    TERN_ERROR_END
};
_Static_assert(TERN_ERROR_END < 0, "codes are negative");

/* Records the text of a fault for this thread, replacing the last one. Returns `code`, so that a
 * function can `return tern_error(TERN_ERR_DIMS, "ndims is %d; expected 0 or more", ndims);`. */
int tern_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for the number of a thing that does not exist, as in "rank is 7". `count` is how many
 * there are. Adds what is expected: "; expected 0 to 3", "; expected 0" or "; there is none". */
int tern_error_index(int code, int64_t count, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the text that this thread recorded last if it was for `code`, else the general meaning of
 * `code`. The text is valid until this thread's next tern_error. */
const char *tern_error_text(int code);

/* Returns true if the text that this thread recorded last was for `code`. */
bool tern_error_recorded(int code);

/* Forgets the recorded text of this thread. */
void tern_error_clear(void);

/* Returns the MPI error class of an internal code. Returns 0 for 0, and positive codes
 * unchanged. */
int tern_error_class(int code);

#endif
