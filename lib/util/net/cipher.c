/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/net/cipher.h"

#include "lib/util/base/error.h"

#include <nettle/gcm.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct tern_cipher {
    struct gcm_aes128_ctx gcm; /* encrypts the data */
    struct aes128_ctx heads;   /* makes the proofs of the heads */
    uint64_t number;           /* of the next record */
};

static struct {
    __typeof__(nettle_gcm_aes128_set_key) *set_key;
    __typeof__(nettle_gcm_aes128_set_iv) *set_iv;
    __typeof__(nettle_gcm_aes128_encrypt) *encrypt;
    __typeof__(nettle_gcm_aes128_decrypt) *decrypt;
    __typeof__(nettle_gcm_aes128_digest) *digest;
    __typeof__(nettle_aes128_set_encrypt_key) *set_block_key;
    __typeof__(nettle_aes128_encrypt) *encrypt_block;
} nettle;

/* A failure is not kept: the process may only have had no free descriptor. */
static bool load(void)
{
    nettle.set_key = (__typeof__(nettle.set_key))tern_nettle_function("nettle_gcm_aes128_set_key");
    nettle.set_iv = (__typeof__(nettle.set_iv))tern_nettle_function("nettle_gcm_aes128_set_iv");
    nettle.encrypt = (__typeof__(nettle.encrypt))tern_nettle_function("nettle_gcm_aes128_encrypt");
    nettle.decrypt = (__typeof__(nettle.decrypt))tern_nettle_function("nettle_gcm_aes128_decrypt");
    nettle.digest = (__typeof__(nettle.digest))tern_nettle_function("nettle_gcm_aes128_digest");
    nettle.set_block_key =
        (__typeof__(nettle.set_block_key))tern_nettle_function("nettle_aes128_set_encrypt_key");
    nettle.encrypt_block =
        (__typeof__(nettle.encrypt_block))tern_nettle_function("nettle_aes128_encrypt");
    return nettle.set_key && nettle.set_iv && nettle.encrypt && nettle.decrypt && nettle.digest &&
           nettle.set_block_key && nettle.encrypt_block;
}

int tern_cipher_check(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool loaded;
    if (__atomic_load_n(&loaded, __ATOMIC_ACQUIRE))
        return 0;
    int rc = tern_hmac_load(); /* its text says why there is no Nettle at all */
    if (rc)
        return rc;
    pthread_mutex_lock(&lock);
    __atomic_store_n(&loaded, loaded || load(), __ATOMIC_RELEASE);
    rc = loaded ? 0
                : tern_error(TERN_ERR_OTHER, "btl_tcp_encrypt needs AES-GCM of Nettle 3.4 or "
                                             "later, which this host does not have "
                                             "(Debian: libnettle8)");
    pthread_mutex_unlock(&lock);
    return rc;
}

struct tern_cipher *tern_cipher_new(enum tern_direction direction, const struct tern_hello *hello,
                                    const struct tern_answer *answer,
                                    const unsigned char secret[TERN_SECRET_BYTES])
{
    static const char *const words[] = {[TERN_FROM_CALLER] = "keys of the caller",
                                        [TERN_FROM_CALLED] = "keys of the called end"};
    _Static_assert(TERN_PROOF_BYTES == 2 * AES128_KEY_SIZE, "two keys from one digest");
    unsigned char keys[TERN_PROOF_BYTES];
    if (tern_cipher_check() || tern_handshake_key(words[direction], hello, answer, secret, keys))
        return NULL;
    struct tern_cipher *cipher = calloc(1, sizeof *cipher);
    if (cipher) {
        nettle.set_key(&cipher->gcm, keys);
        nettle.set_block_key(&cipher->heads, keys + AES128_KEY_SIZE);
    } else {
        tern_error(TERN_ERR_NO_MEM, "no memory for the keys of a connection");
    }
    explicit_bzero(keys, sizeof keys);
    return cipher;
}

void tern_cipher_free(struct tern_cipher *cipher)
{
    if (cipher)
        explicit_bzero(cipher, sizeof *cipher);
    free(cipher);
}

enum { LENGTH_BYTES = 4, HEAD_PROOF = TERN_RECORD_HEAD - LENGTH_BYTES };

/* Computes the proof of a head: the first bytes of an encrypted block that contains the record's
 * number and length. They are a pseudorandom function of both. */
static void prove_head(const struct tern_cipher *cipher, uint32_t length,
                       unsigned char ret_proof[HEAD_PROOF])
{
    unsigned char block[AES_BLOCK_SIZE] = {0};
    memcpy(block, &cipher->number, sizeof cipher->number);
    memcpy(block + sizeof cipher->number, &length, sizeof length);
    nettle.encrypt_block(&cipher->heads, sizeof block, block, block);
    memcpy(ret_proof, block, HEAD_PROOF);
}

static void begin(struct tern_cipher *cipher)
{
    unsigned char nonce[GCM_IV_SIZE] = {0};
    memcpy(nonce, &cipher->number, sizeof cipher->number);
    nettle.set_iv(&cipher->gcm, sizeof nonce, nonce);
    cipher->number++;
}

static bool equal(const unsigned char *a, const unsigned char *b, size_t length)
{
    unsigned char differs = 0;
    for (size_t i = 0; i < length; i++)
        differs |= a[i] ^ b[i];
    return differs == 0;
}

void tern_cipher_seal(struct tern_cipher *cipher, unsigned char *record, uint32_t length)
{
    unsigned char *said = record + TERN_RECORD_HEAD;
    memcpy(record, &length, LENGTH_BYTES);
    prove_head(cipher, length, record + LENGTH_BYTES);
    begin(cipher);
    nettle.encrypt(&cipher->gcm, length, said, said);
    nettle.digest(&cipher->gcm, TERN_RECORD_TAG, said + length);
}

uint32_t tern_cipher_read_head(struct tern_cipher *cipher,
                               const unsigned char head[TERN_RECORD_HEAD])
{
    unsigned char proof[HEAD_PROOF];
    uint32_t length;
    memcpy(&length, head, LENGTH_BYTES);
    prove_head(cipher, length, proof);
    return equal(proof, head + LENGTH_BYTES, HEAD_PROOF) && length <= TERN_RECORD_MOST ? length : 0;
}

bool tern_cipher_open(struct tern_cipher *cipher, unsigned char *record, uint32_t length)
{
    unsigned char *said = record + TERN_RECORD_HEAD, tag[TERN_RECORD_TAG];
    begin(cipher);
    nettle.decrypt(&cipher->gcm, length, said, said);
    nettle.digest(&cipher->gcm, sizeof tag, tag);
    return equal(tag, said + length, sizeof tag);
}
