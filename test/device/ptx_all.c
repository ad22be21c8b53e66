/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the text of every kernel as one module, for ptx.sh. */
#include "lib/accel/ptx.h"

#include <stdio.h>
#include <string.h>

static void write_one(const struct tern_ptx_kernel *kernel)
{
    static int written;
    char text[TERN_PTX_TEXT];
    tern_ptx_write(text, kernel);
    if (strlen(text) == TERN_PTX_TEXT - 1)
        printf("a kernel is too long\n");
    fputs(written++ ? strstr(text, ".visible") : text, stdout);
}

int main(void)
{
    for (int op = 0; op < TERN_PTX_OPS; op++)
        for (int number = 0; number < TERN_PTX_NUMBERS; number++)
            if (tern_ptx_defined(op, number))
                write_one(&(struct tern_ptx_kernel){.kind = TERN_PTX_REDUCE, .op = op, .number = number});
    for (int unit = 1; unit <= 16; unit *= 2) {
        write_one(&(struct tern_ptx_kernel){.kind = TERN_PTX_GATHER, .unit = unit});
        write_one(&(struct tern_ptx_kernel){.kind = TERN_PTX_SCATTER, .unit = unit});
        for (int loops = 1; loops <= TERN_PTX_LOOPS; loops++) {
            write_one(&(struct tern_ptx_kernel){.kind = TERN_PTX_PACK, .unit = unit, .loops = loops});
            write_one(&(struct tern_ptx_kernel){.kind = TERN_PTX_UNPACK, .unit = unit, .loops = loops});
        }
    }
    return 0;
}
