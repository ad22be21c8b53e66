/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/secret.h"

#include "lib/node/doorbell.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <pthread.h>
#include <string.h>

static const char secret_key[] = "tern.tcp.secret";

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    bool known, asked;
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

static void ask(void)
{
    char text[2 * TERN_SECRET_BYTES + 1];
    secret.asked = true;
    secret.known = tern_rte_secret(text, sizeof text) && tern_secret_read(text, secret.bytes);
    secret.fetch.notify = tern_doorbell_ring_self;
    if (!secret.known && tern_rte_fetch(0, secret_key, false, &secret.fetch))
        tern_log("cannot authenticate connections, because the job has no secret: %s",
                 tern_error_text(TERN_ERR_OTHER));
}

const unsigned char *tern_secret(void)
{
    if (!tern_rte_program())
        return NULL;
    pthread_mutex_lock(&lock);
    if (!secret.known && !secret.asked) {
        ask();
    } else if (!secret.known && __atomic_load_n(&secret.fetch.done, __ATOMIC_ACQUIRE) &&
               !secret.fetch.error && secret.fetch.length == sizeof secret.bytes) {
        memcpy(secret.bytes, secret.fetch.value, sizeof secret.bytes);
        secret.known = true;
    }
    const unsigned char *known = secret.known ? secret.bytes : NULL;
    pthread_mutex_unlock(&lock);
    return known;
}
