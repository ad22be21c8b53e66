/* SPDX-License-Identifier: BSD-3-Clause */
/* What every test program here shares: start and end, checks that name file, line, rank, got and
 * expected, byte patterns, and a random generator that gives the same numbers on every rank.
 *
 * A failed check prints one line and leaves with _exit(1): nothing of the library under test is
 * needed for that, and the launcher must end the other ranks. TEST_RANKS in the environment, set by
 * test/mpi/run, is compared with the size of MPI_COMM_WORLD, so that a launcher which starts n jobs
 * of one rank is not taken for a passed test. */
#ifndef TEST_MPI_CHECK_H
#define TEST_MPI_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* IEEE binary128, the type of MPI_REAL16: __float128 on x86, long double on AArch64. */
#ifdef __SIZEOF_FLOAT128__
typedef __float128 binary128;
#else
typedef long double binary128;
#endif

static int rank = -1;
static int size = 0;
static long check_seed = 0; /* of the random case under test: a failure names it; 0: none */

__attribute__((format(printf, 3, 4), noreturn))
static inline void check_fail(const char *file, int line, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fflush(stdout);
    const char *slash = strrchr(file, '/');
    char seed[40] = "";
    if (check_seed)
        snprintf(seed, sizeof seed, " (seed %ld)", check_seed);
    fprintf(stderr, "FAILED %s:%d: rank %d: %s%s\n", slash ? slash + 1 : file, line, rank, text,
            seed);
    fflush(stderr);
    _exit(1);
}

static inline void check_int(const char *file, int line, const char *what, long long got,
                             long long expected)
{
    if (got != expected)
        check_fail(file, line, "%s: got %lld, expected %lld", what, got, expected);
}

static inline void check_string(const char *file, int line, const char *what, const char *got,
                                const char *expected)
{
    if (strcmp(got, expected) != 0)
        check_fail(file, line, "%s: got \"%s\", expected \"%s\"", what, got, expected);
}

static inline void check_ok(const char *file, int line, const char *what, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, text, &length);
    check_fail(file, line, "%s: got error %d (%s), expected success", what, code, text);
}

static inline void check_class(const char *file, int line, const char *what, int code, int expected)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS)
        MPI_Error_class(code, &class);
    if (class != expected)
        check_fail(file, line, "%s: got error class %d, expected %d", what, class, expected);
}

static inline void check_bytes(const char *file, int line, const char *what, const void *got,
                               const void *expected, size_t bytes)
{
    const unsigned char *a = got, *b = expected;
    if (bytes == 0 || memcmp(a, b, bytes) == 0)
        return;
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i])
            check_fail(file, line, "%s: byte %zu of %zu: got 0x%02x, expected 0x%02x", what, i,
                       bytes, a[i], b[i]);
}

#define FAIL(...) check_fail(__FILE__, __LINE__, __VA_ARGS__)
#define CHECK(condition) \
    ((condition) ? (void) 0 \
     : check_fail(__FILE__, __LINE__, "got false, expected true: %s", #condition))
#define CHECK_INT(got, expected) \
    check_int(__FILE__, __LINE__, #got, (long long) (got), (long long) (expected))
#define CHECK_STRING(got, expected) check_string(__FILE__, __LINE__, #got, got, expected)
#define CHECK_OK(call) check_ok(__FILE__, __LINE__, #call, call)
#define CHECK_CLASS(call, class) check_class(__FILE__, __LINE__, #call, call, class)
#define CHECK_BYTES(got, expected, bytes) \
    check_bytes(__FILE__, __LINE__, #got, got, expected, bytes)

/* Byte i of pattern `seed`: differs between neighbouring seeds, no repetition at powers of two. */
static inline unsigned char pattern(unsigned seed, size_t i)
{
    return (unsigned char) (seed * 37 + i + (i >> 8) * 13 + (i >> 16) * 101 + 1);
}

static inline void fill(void *buffer, size_t bytes, unsigned seed)
{
    unsigned char *b = buffer;
    for (size_t i = 0; i < bytes; i++)
        b[i] = pattern(seed, i);
}

static inline void check_filled(const char *file, int line, const char *what, const void *buffer,
                                size_t bytes, unsigned seed)
{
    const unsigned char *b = buffer;
    for (size_t i = 0; i < bytes; i++)
        if (b[i] != pattern(seed, i))
            check_fail(file, line, "%s: byte %zu of %zu: got 0x%02x, expected 0x%02x (pattern %u)",
                       what, i, bytes, b[i], pattern(seed, i), seed);
}
#define CHECK_FILLED(buffer, bytes, seed) \
    check_filled(__FILE__, __LINE__, #buffer, buffer, bytes, seed)

/* Memory that is never NULL, also for 0 bytes; a test has no use for going on without it. */
static inline void *allocate(size_t bytes)
{
    void *p = calloc(1, bytes ? bytes : 1);
    if (p == NULL)
        FAIL("no memory for %zu bytes", bytes);
    return p;
}

static inline uint32_t random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *state >> 32;
    x ^= x >> 16;
    x *= 0x45d9f3b;
    return (uint32_t) (x ^ (x >> 15));
}

/* Uniform enough in 0 .. limit - 1. */
static inline int random_below(uint64_t *state, int limit)
{
    return (int) (random_next(state) % (uint32_t) limit);
}

static inline void check_ranks(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *ranks = getenv("TEST_RANKS");
    if (ranks != NULL)
        check_int(__FILE__, __LINE__, "size of MPI_COMM_WORLD", size, atoi(ranks));
}

static inline void start(int *argc, char ***argv)
{
    CHECK_OK(MPI_Init(argc, argv));
    check_ranks();
}

/* Needs at least `required`; a library that gives less fails the test. */
static inline void start_threads(int *argc, char ***argv, int required)
{
    int provided = -1;
    CHECK_OK(MPI_Init_thread(argc, argv, required, &provided));
    check_ranks();
    if (provided < required)
        FAIL("thread level: got %d, expected at least %d", provided, required);
}

/* For programs of two ranks: many pairs run at the same time, each in a communicator `pair` with
 * `rank` 0 or 1 and `size` 2. A rank that is left over ends at once. */
static MPI_Comm pair;
static int paired = 0;

static inline int end(void)
{
    if (paired)
        CHECK_OK(MPI_Comm_free(&pair));
    CHECK_OK(MPI_Finalize());
    return 0;
}

static inline void start_pairs(int *argc, char ***argv)
{
    start(argc, argv);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &pair));
    CHECK_OK(MPI_Comm_rank(pair, &rank));
    CHECK_OK(MPI_Comm_size(pair, &size));
    paired = 1;
    if (size < 2)
        exit(end());
}

/* The last line of most programs' setup: errors come back instead of ending the job. Those of calls without a handle go to
 * MPI_COMM_SELF's handler, so MPI_COMM_WORLD brings it along. */
static inline void return_errors(MPI_Comm comm)
{
    CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    if (comm == MPI_COMM_WORLD)
        CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

/* ---- what errors say ---- */

/* What the last error said to the handlers of keep_messages and keep_win_messages. */
static char error_message[2048];

static inline void keep_message(va_list more)
{
    snprintf(error_message, sizeof error_message, "%s", va_arg(more, const char *));
}

static inline void keep_message_of_comm(MPI_Comm *comm, int *code, ...)
{
    va_list more;
    (void) comm;
    va_start(more, code);
    keep_message(more);
    va_end(more);
}

static inline void keep_message_of_win(MPI_Win *win, int *code, ...)
{
    va_list more;
    (void) win;
    va_start(more, code);
    keep_message(more);
    va_end(more);
}

/* Errors of the communicator come back, and `error_message` says what was said. */
static inline void keep_messages(MPI_Comm comm)
{
    MPI_Errhandler handler;
    CHECK_OK(MPI_Comm_create_errhandler(keep_message_of_comm, &handler));
    CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
}

static inline void keep_win_messages(MPI_Win win)
{
    MPI_Errhandler handler;
    CHECK_OK(MPI_Win_create_errhandler(keep_message_of_win, &handler));
    CHECK_OK(MPI_Win_set_errhandler(win, handler));
    CHECK_OK(MPI_Errhandler_free(&handler));
}

__attribute__((format(printf, 6, 7)))
static inline void check_refused(const char *file, int line, const char *what, int code, int class,
                                 const char *format, ...)
{
    char words[300];
    va_list more;
    va_start(more, format);
    vsnprintf(words, sizeof words, format, more);
    va_end(more);
    check_class(file, line, what, code, class);
    if (!strstr(error_message, words))
        check_fail(file, line, "%s: got the message \"%s\", expected one with \"%s\"", what,
                   error_message, words);
    error_message[0] = 0;
}

/* The call fails with this class, and its message has these words, a format and its arguments. */
#define REFUSED(call, class, ...) \
    check_refused(__FILE__, __LINE__, #call, call, class, __VA_ARGS__)

/* argv[1] as a number, else `otherwise`: how the long variants get their sizes. */
static inline int argument(int argc, char **argv, int otherwise)
{
    return argc > 1 ? atoi(argv[1]) : otherwise;
}

#endif
