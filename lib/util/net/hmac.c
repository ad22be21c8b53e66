/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/net/hmac.h"

#include "config.h"

#include "lib/util/base/error.h"

#include <dlfcn.h>
#include <errno.h>
#include <nettle/hmac.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

_Static_assert(TERN_PROOF_BYTES == SHA256_DIGEST_SIZE, "a proof is a whole digest");

static struct {
    __typeof__(nettle_hmac_sha256_set_key) *set_key;
    __typeof__(nettle_hmac_sha256_update) *update;
    __typeof__(nettle_hmac_sha256_digest) *digest;
    bool loaded; /* the three are there; never taken back */
} nettle;

void *tern_nettle_function(const char *name)
{
    /* opened again: the same handle */
    void *library = dlopen(TERN_NETTLE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}

/* A failure is not kept: the process may only have had no free descriptor. */
int tern_hmac_load(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (__atomic_load_n(&nettle.loaded, __ATOMIC_ACQUIRE))
        return 0;
    pthread_mutex_lock(&lock);
    nettle.set_key = (__typeof__(nettle.set_key))tern_nettle_function("nettle_hmac_sha256_set_key");
    nettle.update = (__typeof__(nettle.update))tern_nettle_function("nettle_hmac_sha256_update");
    nettle.digest = (__typeof__(nettle.digest))tern_nettle_function("nettle_hmac_sha256_digest");
    bool loaded = nettle.set_key && nettle.update && nettle.digest;
    const char *why = loaded ? NULL : dlerror();
    int rc = loaded ? 0
                    : tern_error(TERN_ERR_OTHER,
                                 "connections between hosts need the library Nettle, which cannot "
                                 "be loaded: %s; install it on this host (Debian: libnettle8)",
                                 why ? why : "unknown reason");
    __atomic_store_n(&nettle.loaded, loaded, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return rc;
}

int tern_hmac(const unsigned char secret[TERN_SECRET_BYTES], const struct iovec *parts, int count,
              unsigned char ret_proof[TERN_PROOF_BYTES])
{
    int rc = tern_hmac_load();
    if (rc)
        return rc;
    struct hmac_sha256_ctx state;
    nettle.set_key(&state, TERN_SECRET_BYTES, secret);
    for (int i = 0; i < count; i++)
        nettle.update(&state, parts[i].iov_len, parts[i].iov_base);
    nettle.digest(&state, TERN_PROOF_BYTES, ret_proof);
    return 0;
}

bool tern_proof_equal(const unsigned char a[TERN_PROOF_BYTES],
                      const unsigned char b[TERN_PROOF_BYTES])
{
    unsigned char differs = 0;
    for (int i = 0; i < TERN_PROOF_BYTES; i++)
        differs |= a[i] ^ b[i];
    return differs == 0;
}

int tern_random(void *ret_bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = getrandom((char *)ret_bytes + done, size - done, 0);
        if (n < 0 && errno != EINTR)
            return tern_error(TERN_ERR_OTHER, "no random numbers from the system: %s",
                              strerror(errno));
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool tern_secret_read(const char *text, unsigned char ret_secret[TERN_SECRET_BYTES])
{
    unsigned char secret[TERN_SECRET_BYTES];
    if (strlen(text) != 2 * TERN_SECRET_BYTES)
        return false;
    for (int i = 0; i < TERN_SECRET_BYTES; i++) {
        int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        secret[i] = (unsigned char)(high << 4 | low);
    }
    memcpy(ret_secret, secret, sizeof secret);
    return true;
}

void tern_secret_write(const unsigned char secret[TERN_SECRET_BYTES],
                       char ret_text[2 * TERN_SECRET_BYTES + 1])
{
    for (int i = 0; i < TERN_SECRET_BYTES; i++)
        snprintf(ret_text + 2 * i, 3, "%02x", secret[i]);
}
