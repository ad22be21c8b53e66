/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/serve/look.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/util/net/launcher.h"
#include "mpirun/base/activity.h"
#include "mpirun/base/loop.h"
#include "mpirun/serve/innermost.h"
#include "mpirun/serve/rank_channel.h"
#include "mpirun/serve/rank_where.h"

enum {
    BETWEEN_MS = 200, /* between two looks at a process */
    TRIES = 4,        /* to read a record while the rank is about to sleep again */
    TRY_US = 200,
    ASKERS_MOST = 4,
    /* processor time above which a rank has moved, in thousandths: outside MPI, and in a wait,
     * which wakes up now and then */
    MOVED_PERMILLE = 5,
    WAIT_PERMILLE = 200,
};

/* What was seen of a rank at one time. */
struct glimpse {
    pid_t pid;
    char state;     /* 'X': no process */
    int64_t cpu_ms; /* processor time of the process; at a glance with that of its descendants */
    int64_t at_ms;
    uint64_t moved_bytes; /* at a glance: what the process itself has read and written so far */
    /* at a glance: how often the process's first thread has gone to sleep or given way so far */
    uint64_t switches;
    uint64_t family; /* at a glance: tells if a descendant has begun or ended */
    /* at a glance: a thread of the process or of a descendant runs, or waits for a disk or a
     * driver; not the thread that waits in MPI */
    bool works;
    bool is_ours, waits;
    struct tern_wait_record record;
};

static struct {
    const struct tern_job *job;
    pid_t (*process_of)(int rank);
    int count;               /* of ranks on this host */
    int *ranks;              /* their numbers, by local rank */
    struct glimpse *glances; /* by local rank: at the last glance; NULL before the first */
    struct glimpse *first;   /* at the beginning of the look that is under way; NULL: none is */
    struct tern_where *seen; /* result of the look */
    int running[TERN_INNERMOST_MOST]; /* local ranks whose function is wanted */
    int running_count;
    struct tern_timer timer;
    void (*askers[ASKERS_MOST])(const struct tern_parcel *seen);
    int asker_count;
} look;

void tern_look_open(const struct tern_job *job, pid_t (*process_of)(int rank))
{
    look.job = job;
    look.process_of = process_of;
    look.ranks = tern_must_alloc(job->map->size * sizeof *look.ranks);
    for (int rank = 0; rank < job->map->size; rank++)
        if (job->map->places[rank].host == job->here)
            look.ranks[look.count++] = rank;
}

/* ---- one glimpse ---- */

static size_t read_file(pid_t pid, const char *name, char *text, size_t room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0)
        close(fd);
    text[n < 0 ? 0 : n] = '\0';
    return n < 0 ? 0 : (size_t)n;
}

static void see_process(struct glimpse *glimpse)
{
    char text[1024];
    unsigned long long user, system;
    glimpse->state = 'X';
    if (glimpse->pid <= 0 || !read_file(glimpse->pid, "stat", text, sizeof text))
        return;
    /* behind the name, which may contain anything */
    const char *after = strrchr(text, ')');
    if (!after || sscanf(after + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
                         &glimpse->state, &user, &system) != 3)
        return;
    glimpse->cpu_ms = (int64_t)(user + system) * 1000 / sysconf(_SC_CLK_TCK);
}

/* Reads the rank's wait record as it is now. Returns false if the rank is writing it. */
static bool read_record(int local_rank, struct tern_wait_record *record)
{
    struct tern_wait_record again;
    off_t at = (off_t)tern_wait_record_offset((uint32_t)look.count, (uint32_t)local_rank);
    int fd = look.job->node_memory_fd;
    return pread(fd, record, sizeof *record, at) == sizeof *record &&
           pread(fd, &again, sizeof again, at) == sizeof again && record->changes % 2 == 0 &&
           memcmp(record, &again, sizeof again) == 0;
}

/* Returns the process id that the rank's MPI program has in its own namespace; 0: it is not in
 * MPI. */
static int32_t program_of(int local_rank)
{
    int32_t process = 0;
    off_t at = (off_t)offsetof(struct tern_node_head, ranks[local_rank].process);
    if (pread(look.job->node_memory_fd, &process, sizeof process, at) != sizeof process)
        return 0;
    return process > 0 ? process : 0;
}

/* Returns true if the rank's program of now has written the record. The record has the program's
 * process id in its own namespace. */
static bool is_of_now(const struct tern_wait_record *record, pid_t pid, int32_t program)
{
    return record->began_ms && (record->process == pid || record->process == program);
}

/* Returns true if the rank has made such tests a moment ago. */
static bool is_fresh(const struct tern_wait_record *record)
{
    return tern_loop_now_ms() - (int64_t)record->tested_ms < TERN_TESTS_OVER_MS;
}

/* Sets waits and record. A rank that waits wakes up now and then, and sleeps again at once. */
static void see_wait(int local_rank, struct glimpse *glimpse)
{
    if (!look.job->node_memory)
        return;
    int32_t program = program_of(local_rank);
    glimpse->is_ours = glimpse->is_ours || program;
    for (int i = 0; glimpse->is_ours && i < TRIES && !glimpse->waits; i++) {
        if (i)
            usleep(TRY_US);
        bool whole = read_record(local_rank, &glimpse->record);
        if (whole && !is_of_now(&glimpse->record, glimpse->pid, program))
            break;
        glimpse->waits = whole && glimpse->record.waits &&
                         (!glimpse->record.tests || is_fresh(&glimpse->record));
    }
}

static struct glimpse see(int local_rank)
{
    int rank = look.ranks[local_rank];
    struct glimpse glimpse = {.pid = tern_reports_process(rank), .at_ms = tern_loop_now_ms()};
    glimpse.is_ours = glimpse.pid > 0;
    if (!glimpse.is_ours)
        glimpse.pid = look.process_of(rank);
    see_process(&glimpse);
    if (glimpse.state != 'X' && glimpse.state != 'Z')
        see_wait(local_rank, &glimpse);
    return glimpse;
}

static int permille(const struct glimpse *before, const struct glimpse *now)
{
    int64_t passed_ms = now->at_ms - before->at_ms;
    if (before->pid != now->pid || passed_ms <= 0)
        return 0;
    return (int)((now->cpu_ms - before->cpu_ms) * 1000 / passed_ms);
}

/* ---- a glance ---- */

/* Returns true if the process waits in read of its standard input: for a person, as far as we
 * know. */
static bool reads_input(pid_t pid)
{
    char text[200];
    long number;
    unsigned long descriptor;
    read_file(pid, "syscall", text, sizeof text);
    return sscanf(text, "%ld 0x%lx", &number, &descriptor) == 2 && number == SYS_read &&
           descriptor == 0;
}

/* Returns what the process has read and written so far, through system calls and on disks. */
static uint64_t bytes_of(pid_t pid)
{
    char text[400];
    unsigned long long sum = 0, number;
    int length;
    read_file(pid, "io", text, sizeof text);
    for (const char *at = text; sscanf(at, "%*[a-z_]: %llu %n", &number, &length) == 1;
         at += length)
        sum += number;
    return sum;
}

/* Returns how often the process's first thread has gone to sleep, or given the processor to
 * others, so far. */
static uint64_t switches_of(pid_t pid)
{
    char text[4096];
    unsigned long long own_will, others_will;
    read_file(pid, "status", text, sizeof text);
    const char *at = strstr(text, "\nvoluntary_ctxt_switches:");
    return at && sscanf(at, " voluntary_ctxt_switches: %llu nonvoluntary_ctxt_switches: %llu",
                        &own_will, &others_will) == 2
               ? own_will + others_will
               : 0;
}

/* Returns the thread of the process that waits or tests in MPI, as the record says; 0: not known,
 * because the program has process ids of its own. */
static pid_t thread_in_mpi(const struct glimpse *glimpse)
{
    const struct tern_wait_record *record = &glimpse->record;
    if (!glimpse->waits)
        return 0;
    if (!tern_wait_is_beside(record))
        return glimpse->pid;
    return record->process == glimpse->pid ? record->thread : 0;
}

static bool has_moved(const struct glimpse *before, const struct glimpse *now)
{
    bool beside = !now->waits || tern_wait_is_beside(&now->record);
    if (before->pid != now->pid || before->waits != now->waits)
        return true;
    if (now->state == 'X' || now->state == 'Z' || now->state == 'T')
        return before->state != now->state;
    int used = permille(before, now);
    /* a thread that waits in MPI wakes up now and then, one that sleeps elsewhere does not */
    if (now->works || before->moved_bytes != now->moved_bytes || before->family != now->family ||
        (beside && before->switches != now->switches))
        return true;
    if (now->waits)
        return before->record.began_ms != now->record.began_ms ||
               before->record.messages != now->record.messages || used > WAIT_PERMILLE;
    return used > MOVED_PERMILLE || used < 0 || reads_input(now->pid);
}

/* Sees also what the descendants of the rank do: a rank may be a script, or wait for a program that
 * it has started. */
static struct glimpse glance_at(int local_rank)
{
    struct glimpse now = see(local_rank);
    if (now.pid > 0) {
        pid_t waits = thread_in_mpi(&now);
        struct tern_activity activity = tern_activity_without(now.pid, waits);
        now.cpu_ms = (int64_t)(activity.cpu_ns / 1000000);
        now.works = (activity.runnable && (waits || !now.waits)) || activity.blocked;
        now.family = activity.family;
        now.moved_bytes = bytes_of(now.pid);
        now.switches = switches_of(now.pid);
    }
    return now;
}

bool tern_look_glance(void)
{
    bool moved = !look.glances;
    if (moved)
        look.glances = tern_must_alloc((look.count + 1) * sizeof *look.glances);
    for (int i = 0; i < look.count; i++) {
        struct glimpse now = glance_at(i);
        moved = moved || has_moved(&look.glances[i], &now);
        look.glances[i] = now;
    }
    return moved;
}

/* ---- a look ---- */

static void name_system_call(pid_t pid, char *place, size_t room)
{
    static const struct {
        long number;
        const char *name;
        bool of_descriptor; /* the first argument is a descriptor */
    } calls[] = {
        {SYS_openat, "open", false},
        {SYS_read, "read", true},
        {SYS_pread64, "read", true},
        {SYS_readv, "read", true},
        {SYS_pwrite64, "write", true},
        {SYS_writev, "write", true},
        {SYS_fdatasync, "fsync", true},
        {SYS_semop, "semop", false},
        {SYS_semtimedop, "semop", false},
        {SYS_msgrcv, "msgrcv", false},
        {SYS_msgsnd, "msgsnd", false},
        {SYS_rt_sigtimedwait, "sigwait", false},
        {SYS_write, "write", true},
        {SYS_futex, "futex, for a lock or another thread", false},
        {SYS_ppoll, "poll", false},
        {SYS_pselect6, "select", false},
        {SYS_epoll_pwait, "epoll_wait", true},
        {SYS_nanosleep, "sleep", false},
        {SYS_clock_nanosleep, "sleep", false},
        {SYS_wait4, "wait", false},
        {SYS_waitid, "wait", false},
        {SYS_recvfrom, "recv", true},
        {SYS_recvmsg, "recv", true},
        {SYS_sendto, "send", true},
        {SYS_sendmsg, "send", true},
        {SYS_accept, "accept", true},
        {SYS_accept4, "accept", true},
        {SYS_connect, "connect", true},
        {SYS_flock, "flock", true},
        {SYS_fcntl, "fcntl", true},
        {SYS_fsync, "fsync", true},
        {SYS_rt_sigsuspend, "sigsuspend", false},
#ifdef SYS_poll
        {SYS_poll, "poll", false},
        {SYS_select, "select", false},
        {SYS_epoll_wait, "epoll_wait", true},
        {SYS_pause, "pause", false},
#endif
    };
    char text[200];
    long number;
    unsigned long first;
    read_file(pid, "syscall", text, sizeof text);
    if (sscanf(text, "%ld 0x%lx", &number, &first) != 2)
        return;
    snprintf(place, room, "in system call %ld", number);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number && calls[i].of_descriptor)
            snprintf(place, room, "in %s of descriptor %lu%s", calls[i].name, first,
                     first == 0 ? " (standard input)" : "");
        else if (calls[i].number == number)
            snprintf(place, room, "in %s", calls[i].name);
}

static void finish(void)
{
    struct tern_parcel parcel = {0};
    void (*askers[ASKERS_MOST])(const struct tern_parcel *seen);
    int count = look.asker_count;
    for (int i = 0; i < look.count; i++)
        tern_where_pack(&look.seen[i], &parcel);
    free(look.first);
    free(look.seen);
    look.first = NULL;
    look.seen = NULL;
    memcpy(askers, look.askers, sizeof askers);
    look.asker_count = 0;
    for (int i = 0; i < count; i++)
        askers[i](&parcel);
    tern_parcel_free(&parcel);
}

static void functions_found(char (*texts)[TERN_INNERMOST_TEXT])
{
    for (int i = 0; i < look.running_count; i++) {
        struct tern_where *where = &look.seen[look.running[i]];
        if (*texts[i])
            snprintf(where->place, sizeof where->place, "in %.180s", texts[i]);
    }
    finish();
}

static void conclude(int local_rank, const struct glimpse *before, const struct glimpse *now)
{
    struct tern_where *where = &look.seen[local_rank];
    const struct glimpse *wait = now->waits ? now : before;
    *where = (struct tern_where){.rank = look.ranks[local_rank],
                                 .pid = now->pid,
                                 .state = now->state,
                                 .is_ours = now->is_ours,
                                 .waits = wait->waits && before->pid == now->pid,
                                 .cpu_permille = permille(before, now)};
    if (where->waits) {
        where->record = wait->record;
        where->waited_s = (uint32_t)((now->at_ms - (int64_t)wait->record.began_ms) / 1000);
        where->unheard_s = (uint32_t)((now->at_ms - (int64_t)wait->record.unheard_since_ms) / 1000);
        if (!tern_wait_is_beside(&wait->record))
            return;
    }
    if (now->state == 'R' && look.running_count < TERN_INNERMOST_MOST)
        look.running[look.running_count++] = local_rank;
    else if (now->state == 'S' || now->state == 'D')
        name_system_call(now->pid, where->place, sizeof where->place);
}

static void second_look(struct tern_timer *timer)
{
    pid_t pids[TERN_INNERMOST_MOST];
    (void)timer;
    look.seen = tern_must_alloc((look.count + 1) * sizeof *look.seen);
    look.running_count = 0;
    for (int i = 0; i < look.count; i++) {
        struct glimpse now = see(i);
        conclude(i, &look.first[i], &now);
    }
    for (int i = 0; i < look.running_count; i++)
        pids[i] = look.seen[look.running[i]].pid;
    tern_innermost_find(pids, look.running_count, functions_found);
}

void tern_look_take(void (*told)(const struct tern_parcel *seen))
{
    bool known = false;
    for (int i = 0; i < look.asker_count; i++)
        known |= look.askers[i] == told;
    if (!known && look.asker_count < ASKERS_MOST)
        look.askers[look.asker_count++] = told;
    if (look.first)
        return;
    look.first = tern_must_alloc((look.count + 1) * sizeof *look.first);
    for (int i = 0; i < look.count; i++)
        look.first[i] = see(i);
    look.timer.expired = second_look;
    tern_loop_set_timer(&look.timer, BETWEEN_MS);
}
