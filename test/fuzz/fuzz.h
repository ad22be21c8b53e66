/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FUZZ_H
#define TERN_FUZZ_H

/* What the targets share. A target is one function that libFuzzer, or replay.c, calls with an input; it takes the input apart,
 * gives it to what is tested, and looks at what must hold. Memory is the sanitizers' to judge: texts and bytes are handed over
 * in blocks of their exact size. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 0: the input was used; -1: it is not worth keeping. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* Called once, before all inputs. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

/* 0 beyond the end. */
static inline unsigned fuzz_byte(struct fuzz_input *input)
{
    if (!input->left)
        return 0;
    input->left--;
    return *input->at++;
}

static inline uint32_t fuzz_number(struct fuzz_input *input)
{
    uint32_t number = 0;
    for (int i = 0; i < 4; i++)
        number |= (uint32_t)fuzz_byte(input) << 8 * i;
    return number;
}

/* All that is left, in a block of its own. */
static inline void *fuzz_rest(struct fuzz_input *input, size_t *ret_size)
{
    size_t size = input->left;
    void *bytes = malloc(size ? size : 1);
    if (!bytes)
        abort();
    if (size)
        memcpy(bytes, input->at, size);
    input->left = 0;
    *ret_size = size;
    return bytes;
}

/* All that is left up to a zero, as a text. */
static inline char *fuzz_text(struct fuzz_input *input)
{
    const void *end = input->left ? memchr(input->at, '\0', input->left) : NULL;
    size_t length = end ? (size_t)((const uint8_t *)end - input->at) : input->left;
    char *text = malloc(length + 1);
    if (!text)
        abort();
    if (length)
        memcpy(text, input->at, length);
    text[length] = '\0';
    input->at += length;
    input->left -= length;
    fuzz_byte(input);
    return text;
}

#endif
