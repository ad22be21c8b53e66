/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/unheard.h"

#include "lib/btl/btl.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    struct tern_unheard of_lane[TERN_LANES_MAX];
    uint32_t changes; /* atomic */
} noted = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The beginning of a silence is computed anew at each look, so it may differ by some
 * milliseconds. */
static bool is_new(const struct tern_unheard *before, const struct tern_unheard *now)
{
    return before->bytes != now->bytes ||
           (now->bytes &&
            (before->process.job != now->process.job || before->process.rank != now->process.rank));
}

void tern_btl_note_unheard(uint32_t lane, const struct tern_unheard *unheard)
{
    pthread_mutex_lock(&noted.lock);
    if (is_new(&noted.of_lane[lane], unheard)) {
        noted.of_lane[lane] = *unheard;
        __atomic_store_n(&noted.changes, noted.changes + 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&noted.lock);
}

struct tern_unheard tern_btl_unheard(void)
{
    struct tern_unheard worst = {0};
    pthread_mutex_lock(&noted.lock);
    for (uint32_t i = 0; i < TERN_LANES_MAX; i++) {
        const struct tern_unheard *unheard = &noted.of_lane[i];
        if (unheard->bytes && (!worst.bytes || unheard->since_ms < worst.since_ms))
            worst = *unheard;
    }
    pthread_mutex_unlock(&noted.lock);
    return worst;
}

uint32_t tern_btl_unheard_changes(void)
{
    return __atomic_load_n(&noted.changes, __ATOMIC_RELAXED);
}
