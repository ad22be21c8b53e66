/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe.h"
#include "probe_gpu.h"

/* A job whose mpicheck was killed ends by itself. EXTENSIONS: of the limit of a stage whose rank
 * lacks a processor. */
enum { MOST_WAIT_S = 120, EXTENSIONS = 4 };
static const double lacking = 0.2; /* part of the time without a processor that is much */

static struct probe_job job = {.samples = 5, .sample_ms = 20, .limit_s = 6, .minutes = 1,
                               .gpu = -1};
static char error_text[1024];

double probe_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

const char *probe_error_text(void)
{
    return error_text;
}

static void write_line(const char *line, size_t length)
{
    while (length > 0) {
        ssize_t written = write(STDOUT_FILENO, line, length);
        if (written < 0 && errno != EINTR && errno != EAGAIN)
            return;
        line += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
}

void probe_say(const char *format, ...)
{
    char line[2048] = "@ ";
    va_list args;
    va_start(args, format);
    int length = 2 + vsnprintf(line + 2, sizeof line - 3, format, args);
    va_end(args);
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    for (int i = 0; i < length; i++)
        if (line[i] == '\n')
            line[i] = ' ';
    line[length] = '\n';
    write_line(line, (size_t)length + 1);
}

/* ---- stages that take too long ---- */

static char hang_line[128], slow_line[64];
static volatile sig_atomic_t hang_length, slow_length, extensions;
static volatile double watch_waited; /* probe_waited() when the limit began to run */
static volatile int watch_limit_s;

double probe_waited(void)
{
    char text[128], *rest;
    int file = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = 0;
    strtoull(text, &rest, 10); /* the time it ran */
    return (double)strtoull(rest, NULL, 10) * 1e-9;
}

/* Returns true if the limit runs anew, because this process lacked a processor while it ran. */
static bool extend_watch(void)
{
    double waited = probe_waited();
    if (hang_length == 0 || extensions >= EXTENSIONS ||
        waited - watch_waited < lacking * watch_limit_s)
        return false;
    extensions++;
    watch_waited = waited;
    write_line(slow_line, (size_t)slow_length);
    alarm((unsigned)watch_limit_s);
    return true;
}

/* The stage takes too long: this rank may be stuck in MPI, so its handler reports it. */
static void report_hang(int signal)
{
    (void)signal;
    if (extend_watch())
        return;
    if (hang_length > 0)
        write_line(hang_line, (size_t)hang_length);
    hang_length = 0;
    alarm(0);
    for (;;)
        pause();
}

void probe_watch(const struct probe_job *at, int peer, const char *stage)
{
    alarm(0);
    hang_length = snprintf(hang_line, sizeof hang_line, "@ hang %d %d %s\n", at->ids[at->rank],
                           at->ids[peer], stage);
    slow_length = snprintf(slow_line, sizeof slow_line, "@ slow %d %d\n", at->ids[at->rank],
                           at->ids[peer]);
    extensions = 0;
    watch_waited = probe_waited();
    watch_limit_s = at->limit_s;
    alarm((unsigned)at->limit_s);
}

void probe_watch_end(void)
{
    alarm(0);
    hang_length = 0;
}

/* Reports an error in a stage between two ranks and stops this rank: figures of what follows would
 * be wrong. Where no stage is under way, errors are results. */
static void stop_if_in_stage(void)
{
    if (hang_length == 0)
        return;
    hang_line[hang_length - 1] = 0;
    hang_length = 0;
    alarm(0);
    probe_say("broken %s %s", hang_line + strlen("@ hang "), error_text);
    for (;;)
        pause();
}

/* Keeps the text of an error. Open MPI and Tern pass one to a handler; others pass nothing. */
static void keep_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
#ifdef OPEN_MPI
    va_list args;
    va_start(args, code);
    const char *text = va_arg(args, const char *);
    snprintf(error_text, sizeof error_text, "%s", text ? text : "");
    va_end(args);
#else
    int length;
    char text[MPI_MAX_ERROR_STRING] = "";
    MPI_Error_string(*code, text, &length);
    snprintf(error_text, sizeof error_text, "%s", text);
#endif
    stop_if_in_stage();
}

/* ---- the command line ---- */

static int count_commas(const char *text)
{
    int count = 1;
    for (; *text; text++)
        count += *text == ',';
    return count;
}

static _Noreturn void fail(const char *why)
{
    fprintf(stderr, "mpicheck-probe: %s\n", why);
    exit(1);
}

static void *must_alloc(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory)
        fail("no memory");
    return memory;
}

static void read_ids(const char *text)
{
    int count = count_commas(text);
    if (count != job.size)
        fail("ids= has another number of hosts than the job has ranks; expected one rank per host");
    job.ids = must_alloc((size_t)count, sizeof *job.ids);
    for (int i = 0; i < count; i++) {
        job.ids[i] = atoi(text);
        text += strcspn(text, ",");
        text += *text == ',';
    }
}

static int rank_of(int id)
{
    for (int rank = 0; rank < job.size; rank++)
        if (job.ids[rank] == id)
            return rank;
    return -1;
}

/* Reads pairs of hosts, "3-7,3-8", as ranks. Pairs with a host that is not in the job are left
 * out. Returns their number. */
static int read_pairs(const char *text, int (**ret_pairs)[2])
{
    int count = 0, a, b, used;
    *ret_pairs = must_alloc((size_t)count_commas(text), sizeof **ret_pairs);
    while (sscanf(text, "%d-%d%n", &a, &b, &used) == 2) {
        int first = rank_of(a), second = rank_of(b);
        if (first >= 0 && second >= 0 && first != second) {
            (*ret_pairs)[count][0] = first;
            (*ret_pairs)[count++][1] = second;
        }
        text += used;
        text += *text == ',';
    }
    return count;
}

static void read_dead(const char *text)
{
    int (*pairs)[2];
    int count = read_pairs(text, &pairs);
    job.dead = must_alloc((size_t)job.size * (size_t)job.size, sizeof *job.dead);
    for (int i = 0; i < count; i++) {
        job.dead[pairs[i][0] * job.size + pairs[i][1]] = true;
        job.dead[pairs[i][1] * job.size + pairs[i][0]] = true;
    }
    free(pairs);
}

static void read_word(const char *word)
{
    const struct {
        const char *name;
        int *value;
    } numbers[] = {
        {"rounds=", &job.rounds},   {"samples=", &job.samples}, {"ms=", &job.sample_ms},
        {"limit=", &job.limit_s},   {"minutes=", &job.minutes}, {"gpu=", &job.gpu},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strncmp(word, numbers[i].name, strlen(numbers[i].name)) == 0)
            *numbers[i].value = atoi(word + strlen(numbers[i].name));
    if (strncmp(word, "dead=", 5) == 0)
        read_dead(word + 5);
    else if (strncmp(word, "items=", 6) == 0)
        job.item_count = read_pairs(word + 6, &job.items);
    else if (strncmp(word, "nics=", 5) == 0)
        job.nics = word + 5;
    else if (strcmp(word, "verify") == 0)
        job.verify = true;
}

/* The words about ranks need the size and the numbers of all hosts first. */
static void read_words(int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (strncmp(words[i], "ids=", 4) == 0)
            read_ids(words[i] + 4);
    if (!job.ids) {
        job.ids = must_alloc((size_t)job.size, sizeof *job.ids);
        for (int rank = 0; rank < job.size; rank++)
            job.ids[rank] = rank;
    }
    for (int i = 0; i < count; i++)
        read_word(words[i]);
}

/* Reads the rank from what launchers set, for phases without MPI. */
static void find_rank(void)
{
    static const char *const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"SLURM_PROCID", "SLURM_NTASKS"}};
    job.size = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *rank = getenv(names[i][0]), *size = getenv(names[i][1]);
        if (rank && size) {
            job.rank = atoi(rank);
            job.size = atoi(size);
            return;
        }
    }
}

/* ---- phases ---- */

static const struct phase {
    const char *name;
    void (*run)(const struct probe_job *);
    bool without_mpi;
} phases[] = {
    {"facts", probe_facts, true},       {"node", probe_node, true},
    {"gpus", probe_gpus, true},
    {"reach", probe_reach, false},      {"clock", probe_clock, false},
    {"pairs", probe_pairs, false},      {"alone", probe_alone, false},
    {"together", probe_together, false}, {"soak", probe_soak, false},
};

/* Loads the driver before MPI begins, if messages are in the memory of a GPU: MPI libraries look
 * for it then. */
static void begin_gpu(int count, char **words)
{
    for (int i = 0; i < count; i++)
        if (strncmp(words[i], "gpu=", 4) == 0 && !probe_gpu_use(atoi(words[i] + 4)))
            fail("this host has no such GPU, or its driver refuses it");
}

static void begin_mpi(int *argc, char ***argv)
{
    MPI_Errhandler handler;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.size);
    MPI_Comm_create_errhandler(keep_error, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
    struct sigaction action = {.sa_handler = report_hang};
    sigaction(SIGALRM, &action, NULL);
}

static const struct phase *find_phase(const char *name)
{
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (strcmp(phases[i].name, name) == 0)
            return &phases[i];
    return NULL;
}

int main(int argc, char **argv)
{
    const struct phase *phase = argc > 1 ? find_phase(argv[1]) : NULL;
    if (!phase)
        fail("started by mpicheck(1) only; expected the name of a phase, such as facts");
    if (phase->without_mpi) {
        find_rank();
    } else {
        begin_gpu(argc - 2, argv + 2);
        begin_mpi(&argc, &argv);
    }
    read_words(argc - 2, argv + 2);
    probe_say("here %d", job.ids[job.rank]);
    phase->run(&job);
    probe_watch_end();
    probe_say("done %d", job.ids[job.rank]);
    if (phase->without_mpi)
        return 0;
    signal(SIGALRM, SIG_DFL);
    alarm(MOST_WAIT_S);
    for (;;)
        pause();
}
