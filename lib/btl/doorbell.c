/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/doorbell.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WITHOUT_MEMBARRIER_US = 200 };

static uint32_t private_word; /* nobody rings it but our own threads */
static uint32_t *doorbell = &private_word;
static bool have_membarrier;
static int sleepers; /* threads of this process that sleep on the word */

bool tern_doorbell_crowded;
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

void tern_doorbell_arm(void)
{
    __atomic_store_n(doorbell, 1, __ATOMIC_SEQ_CST);
    if (have_membarrier)
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

void tern_doorbell_disarm(void)
{
    /* another thread of ours may sleep on the word: it must stay rung-able */
    if (__atomic_load_n(&sleepers, __ATOMIC_RELAXED) == 0)
        __atomic_store_n(doorbell, 0, __ATOMIC_RELAXED);
}

void tern_doorbell_sleep(uint64_t timeout_us)
{
    if (!have_membarrier && timeout_us > WITHOUT_MEMBARRIER_US)
        timeout_us = WITHOUT_MEMBARRIER_US;
    struct timespec timeout = {timeout_us / 1000000, timeout_us % 1000000 * 1000};
    __atomic_fetch_add(&sleepers, 1, __ATOMIC_RELAXED);
    syscall(SYS_futex, doorbell, FUTEX_WAIT, 1, &timeout, NULL, 0);
    __atomic_fetch_sub(&sleepers, 1, __ATOMIC_RELAXED);
    tern_doorbell_disarm();
}

void tern_doorbell_wake(uint32_t *word)
{
    /* one of several senders wakes; the word tells the sleeper that it need not sleep any more */
    if (__atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void tern_doorbell_ring_self(void)
{
    tern_doorbell_wake(doorbell);
}
