/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/secret.h"

#include "lib/node/doorbell.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char secret_key[] = "tern.tcp.secret";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    bool known, asked;
    bool failed; /* it will never be known; `failure` says why */
    char failure[300];
    unsigned char bytes[TERN_SECRET_BYTES];
    struct tern_rte_fetch fetch;
} secret;

int tern_secret_offer(void)
{
    char text[2 * TERN_SECRET_BYTES + 1];
    int rc = 0;
    pthread_mutex_lock(&lock);
    if (tern_rte.rank == 0 && !secret.known && !tern_rte_secret(text, sizeof text)) {
        rc = tern_random(secret.bytes, sizeof secret.bytes);
        if (!rc)
            rc = tern_rte_put(secret_key, secret.bytes, sizeof secret.bytes);
        secret.known = !rc;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

/* Notes that the secret will never be known. */
static void fail(const char *why)
{
    snprintf(secret.failure, sizeof secret.failure,
             "the job's secret, by which connections are proven, does not arrive from rank 0 (%s: "
             "%.80s). Use one value of the parameter btl on all ranks, or start the job by Tern's "
             "mpirun",
             secret_key, why);
    secret.failed = true;
}

static void ask(void)
{
    char text[2 * TERN_SECRET_BYTES + 1];
    secret.asked = true;
    if (tern_rte_secret(text, sizeof text)) {
        secret.known = tern_secret_read(text, secret.bytes);
        if (!secret.known)
            fail("what mpirun gives is no secret");
        return;
    }
    secret.fetch.notify = tern_doorbell_ring_self;
    if (tern_rte_fetch(0, secret_key, false, &secret.fetch))
        fail(tern_error_text(TERN_ERR_OTHER));
}

/* Takes what the fetch has brought. */
static void take(void)
{
    if (secret.fetch.error) {
        fail(secret.fetch.text);
        return;
    }
    if (secret.fetch.length == sizeof secret.bytes)
        memcpy(secret.bytes, secret.fetch.value, sizeof secret.bytes);
    else
        fail("the value has another length");
    secret.known = !secret.failed;
    free(secret.fetch.value);
    secret.fetch.value = NULL;
}

const unsigned char *tern_secret(void)
{
    if (!tern_rte_program())
        return NULL;
    pthread_mutex_lock(&lock);
    if (!secret.known && !secret.asked)
        ask();
    if (!secret.known && !secret.failed &&
        __atomic_load_n(&secret.fetch.done, __ATOMIC_ACQUIRE))
        take();
    const unsigned char *known = secret.known ? secret.bytes : NULL;
    pthread_mutex_unlock(&lock);
    return known;
}

const char *tern_secret_failure(void)
{
    pthread_mutex_lock(&lock);
    const char *failure = secret.failed ? secret.failure : NULL;
    pthread_mutex_unlock(&lock);
    return failure;
}

bool tern_secret_drops_visitors(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const char *failure = tern_secret_failure();
    if (failure && !atomic_flag_test_and_set(&said))
        tern_log("cannot accept connections from other ranks: %s", failure);
    return failure;
}
