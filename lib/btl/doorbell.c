/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/doorbell.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WITHOUT_MEMBARRIER_US = 200 };

static uint32_t private_word; /* nobody rings it but our own threads */
static uint32_t *doorbell = &private_word;
static bool have_membarrier;

/* Several threads may sleep on the word. It stays nonzero from the first that arms it until
 * somebody rings or the last one is awake. Each time it is armed anew it has another value: a
 * thread on its way to sleep that missed a ring, after which another one armed the word again, then
 * does not sleep. Both have a lock of their own, which nobody takes but to sleep. */
static pthread_mutex_t arming = PTHREAD_MUTEX_INITIALIZER;
static int sleepers;
static uint32_t armings;

unsigned tern_doorbell_contended;
static uint64_t private_time;
uint64_t *tern_doorbell_waiting_at = &private_time;

void tern_doorbell_init(void)
{
    have_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void tern_doorbell_use(uint32_t *word, uint64_t *waiting_at)
{
    doorbell = word ? word : &private_word;
    tern_doorbell_waiting_at = waiting_at ? waiting_at : &private_time;
}

static uint32_t arm(void)
{
    sleepers++;
    uint32_t armed = __atomic_load_n(doorbell, __ATOMIC_RELAXED);
    if (armed) /* by another thread, which has also run the barrier */
        return armed;
    armings += armings == UINT32_MAX ? 2 : 1; /* never 0 */
    __atomic_store_n(doorbell, armings, __ATOMIC_SEQ_CST);
    if (have_membarrier)
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    return armings;
}

uint32_t tern_doorbell_arm(void)
{
    pthread_mutex_lock(&arming);
    uint32_t armed = arm();
    pthread_mutex_unlock(&arming);
    return armed;
}

void tern_doorbell_disarm(void)
{
    pthread_mutex_lock(&arming);
    if (--sleepers == 0)
        __atomic_store_n(doorbell, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&arming);
}

void tern_doorbell_sleep(uint32_t armed, uint64_t timeout_us)
{
    if (!have_membarrier && timeout_us > WITHOUT_MEMBARRIER_US)
        timeout_us = WITHOUT_MEMBARRIER_US;
    struct timespec timeout = {timeout_us / 1000000, timeout_us % 1000000 * 1000};
    syscall(SYS_futex, doorbell, FUTEX_WAIT, armed, &timeout, NULL, 0);
}

void tern_doorbell_wake(uint32_t *word)
{
    /* one of several senders wakes; the word tells the sleeper that it need not sleep any more */
    if (__atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void tern_doorbell_ring_self(void)
{
    tern_doorbell_ring(doorbell);
}
