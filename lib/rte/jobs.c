/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/rte/jobs.h"

#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A job. Its introductions are in the order of ranks. */
struct job {
    struct tern_job_id id;
    uint32_t count, room;
    struct tern_introduction **known;
};

static struct {
    pthread_mutex_t lock;
    struct job *jobs; /* by number; [0] is our own, whose processes the launcher knows */
    uint32_t count, room;
    unsigned char key[TERN_SECRET_BYTES]; /* of this process */
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- our own job ---- */

/* Returns 64 bits of a text (FNV-1a) that begin with `seed`. */
static uint64_t digest(uint64_t seed, const char *text)
{
    uint64_t value = 0xcbf29ce484222325u ^ seed;
    for (; *text; text++)
        value = (value ^ (unsigned char)*text) * 0x100000001b3u;
    value ^= value >> 29;
    return value * 0x9e3779b97f4a7c15u;
}

/* Makes the id of our own job. A launcher's name for the job is unique, and all ranks know it. A
 * process without a launcher is a job of its own, so its id may be random. */
static int make_own_id(struct tern_job_id *ret_id)
{
    if (!tern_rte.managed)
        return tern_random(ret_id->bytes, sizeof ret_id->bytes);
    uint64_t words[2] = {digest(1, tern_rte.job), digest(2, tern_rte.job)};
    memcpy(ret_id->bytes, words, sizeof words);
    return 0;
}

static struct job *add_job(const struct tern_job_id *id)
{
    if (table.count == table.room) {
        uint32_t room = table.room ? 2 * table.room : 4;
        struct job *jobs = realloc(table.jobs, room * sizeof *jobs);
        if (!jobs)
            return NULL;
        table.jobs = jobs;
        table.room = room;
    }
    table.jobs[table.count] = (struct job){.id = *id};
    return &table.jobs[table.count++];
}

/* Begins the table with our own job. Locks: the table's lock. */
static int begin(void)
{
    struct tern_job_id id;
    if (table.count)
        return 0;
    int rc = make_own_id(&id);
    if (!rc)
        rc = tern_random(table.key, sizeof table.key);
    if (!rc && !add_job(&id))
        rc = tern_error(TERN_ERR_NO_MEM, "no memory for the table of jobs");
    return rc;
}

/* ---- jobs ---- */

static uint32_t number_of(const struct tern_job_id *id)
{
    uint32_t number = 0;
    while (number < table.count && memcmp(&table.jobs[number].id, id, sizeof *id) != 0)
        number++;
    return number;
}

struct tern_job_id tern_job_id_of(uint32_t job)
{
    struct tern_job_id id = {0};
    pthread_mutex_lock(&table.lock);
    if (begin() == 0 && job < table.count)
        id = table.jobs[job].id;
    pthread_mutex_unlock(&table.lock);
    return id;
}

/* Returns a job's number, and adds the job if it is new. Locks: the table's lock. */
static uint32_t find_or_add(const struct tern_job_id *id)
{
    if (begin())
        return UINT32_MAX;
    uint32_t number = number_of(id);
    if (number == table.count && !add_job(id)) {
        tern_error(TERN_ERR_NO_MEM, "no memory for the table of jobs");
        return UINT32_MAX;
    }
    return number;
}

uint32_t tern_job_number(const struct tern_job_id *id)
{
    pthread_mutex_lock(&table.lock);
    uint32_t number = find_or_add(id);
    pthread_mutex_unlock(&table.lock);
    return number;
}

bool tern_job_find(const struct tern_job_id *id, uint32_t *ret_job)
{
    pthread_mutex_lock(&table.lock);
    uint32_t number = number_of(id);
    bool found = number < table.count;
    pthread_mutex_unlock(&table.lock);
    if (found)
        *ret_job = number;
    return found;
}

/* ---- introductions ---- */

/* Returns the number that mpirun has given this job, or 0. */
static uint32_t own_number(void)
{
    const char *number = getenv("TERN_JOB");
    return number ? (uint32_t)strtoul(number, NULL, 10) : 0;
}

struct tern_introduction *tern_introduction_make(const struct tern_card *card, size_t length)
{
    size_t size = (sizeof(struct tern_introduction) + length + 7) / 8 * 8;
    struct tern_introduction *made = calloc(1, size);
    pthread_mutex_lock(&table.lock);
    int rc = begin();
    if (!rc && !made)
        rc = tern_error(TERN_ERR_NO_MEM, "no memory to introduce this process");
    if (!rc) {
        made->size = (uint32_t)size;
        made->rank = tern_rte.rank;
        made->job = table.jobs[0].id;
        memcpy(made->key, table.key, sizeof made->key);
    }
    pthread_mutex_unlock(&table.lock);
    if (rc) {
        free(made);
        return NULL;
    }
    snprintf(made->job_name, sizeof made->job_name, "%.63s", tern_rte.job);
    snprintf(made->host, sizeof made->host, "%.63s", tern_rte.host);
    made->job_number = own_number();
    memcpy(made->card, card, length);
    return made;
}

/* Returns the first place in the job's list whose rank is not below `rank`. */
static uint32_t place_of(const struct job *job, uint32_t rank)
{
    uint32_t low = 0, high = job->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (job->known[middle]->rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool make_room(struct job *job)
{
    uint32_t room = job->room ? 2 * job->room : 4;
    if (job->count < job->room)
        return true;
    struct tern_introduction **known = realloc(job->known, room * sizeof *known);
    if (!known)
        return false;
    job->known = known;
    job->room = room;
    return true;
}

/* Keeps a copy of an introduction. A second one of the same process replaces the first if it is
 * another program in the rank's place; the first one may still be in use and is not freed. Locks:
 * the table's lock. */
static int keep(struct job *job, const struct tern_introduction *introduction)
{
    uint32_t place = place_of(job, introduction->rank);
    bool again = place < job->count && job->known[place]->rank == introduction->rank;
    if (again && job->known[place]->size == introduction->size &&
        memcmp(job->known[place], introduction, introduction->size) == 0)
        return 0;
    struct tern_introduction *copy = malloc(introduction->size);
    if (!copy || (!again && !make_room(job))) {
        free(copy);
        return tern_error(TERN_ERR_NO_MEM, "no memory for a process of another job");
    }
    memcpy(copy, introduction, introduction->size);
    if (!again) {
        memmove(&job->known[place + 1], &job->known[place],
                (job->count - place) * sizeof *job->known);
        job->count++;
    }
    job->known[place] = copy;
    return 0;
}

static bool is_sane(const struct tern_introduction *introduction, size_t left)
{
    return left >= sizeof *introduction &&
           introduction->size >= sizeof *introduction + sizeof(uint64_t) &&
           introduction->size <= left && introduction->size % 8 == 0 &&
           memchr(introduction->job_name, 0, sizeof introduction->job_name) &&
           memchr(introduction->host, 0, sizeof introduction->host);
}

int tern_introductions_take(const void *bytes, size_t length)
{
    int rc = 0;
    pthread_mutex_lock(&table.lock);
    for (size_t at = 0; at < length && !rc;) {
        const struct tern_introduction *introduction = (const void *)((const char *)bytes + at);
        uint32_t number;
        if (!is_sane(introduction, length - at)) {
            rc = tern_error(TERN_ERR_OTHER, "the other job has sent no valid description of its "
                                            "processes; use one version of Tern MPI in both jobs");
            break;
        }
        number = find_or_add(&introduction->job);
        if (number == UINT32_MAX)
            rc = TERN_ERR_NO_MEM;
        else if (number > 0)
            rc = keep(&table.jobs[number], introduction);
        at += introduction->size;
    }
    pthread_mutex_unlock(&table.lock);
    return rc;
}

const struct tern_introduction *tern_introduction_of(uint32_t job, uint32_t rank)
{
    const struct tern_introduction *found = NULL;
    pthread_mutex_lock(&table.lock);
    if (job > 0 && job < table.count) {
        const struct job *entry = &table.jobs[job];
        uint32_t place = place_of(entry, rank);
        if (place < entry->count && entry->known[place]->rank == rank)
            found = entry->known[place];
    }
    pthread_mutex_unlock(&table.lock);
    return found;
}

const struct tern_card *tern_introduction_card(const struct tern_introduction *introduction,
                                               size_t *ret_length)
{
    *ret_length = introduction->size - sizeof *introduction;
    return (const struct tern_card *)introduction->card;
}

bool tern_job_pair_secret(uint32_t job, uint32_t rank, bool we_call,
                          unsigned char ret_secret[TERN_SECRET_BYTES])
{
    const struct tern_introduction *other = tern_introduction_of(job, rank);
    if (!other)
        return false;
    const unsigned char *caller = we_call ? table.key : other->key;
    const unsigned char *called = we_call ? other->key : table.key;
    struct iovec part = {(void *)called, TERN_SECRET_BYTES};
    return tern_hmac(caller, &part, 1, ret_secret) == 0;
}

/* ---- processes ---- */

bool tern_process_comes_first(uint32_t job, uint32_t rank)
{
    if (job == 0)
        return tern_rte.rank < rank;
    struct tern_job_id own = tern_job_id_of(0), other = tern_job_id_of(job);
    return memcmp(&own, &other, sizeof own) < 0;
}

bool tern_process_is_here(uint32_t job, uint32_t rank)
{
    if (job == 0)
        return tern_rte_local_rank(rank) >= 0;
    const struct tern_introduction *other = tern_introduction_of(job, rank);
    return other && strncmp(other->host, tern_rte.host, sizeof other->host - 1) == 0;
}

void tern_process_host(uint32_t job, uint32_t rank, char *name, size_t room)
{
    const struct tern_introduction *other = job ? tern_introduction_of(job, rank) : NULL;
    if (job == 0)
        tern_rte_host_of(rank, name, room);
    else
        snprintf(name, room, "%s", other ? other->host : "?");
}

uint32_t tern_process_job_number(uint32_t job, uint32_t rank)
{
    if (!job)
        return own_number();
    const struct tern_introduction *other = tern_introduction_of(job, rank);
    return other ? other->job_number : 0;
}

const char *tern_process_text(uint32_t job, uint32_t rank, char text[TERN_PROCESS_TEXT])
{
    const struct tern_introduction *other = job ? tern_introduction_of(job, rank) : NULL;
    if (job == 0)
        snprintf(text, TERN_PROCESS_TEXT, "rank %u", rank);
    else
        snprintf(text, TERN_PROCESS_TEXT, "rank %u of job %s", rank,
                 other ? other->job_name : "?");
    return text;
}
