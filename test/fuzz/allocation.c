/* SPDX-License-Identifier: BSD-3-Clause */
/* What batch systems say: lists of hosts and of numbers as Slurm writes them, the files of PBS, LSF (a host per line) and Grid
 * Engine (with its slots). */
#include "fuzz.h"

#include "mpirun/plan/hosts/allocation.h"

#include <ctype.h>

/* Lists may be short and mean millions of hosts: those are only slow. */
static int is_long(const char *text)
{
    int digits = 0, brackets = 0;
    for (; *text; text++) {
        digits = isdigit((unsigned char)*text) ? digits + 1 : 0;
        brackets += *text == '[';
        if (digits > 3 || brackets > 2)
            return 1;
    }
    return 0;
}

static void expand(const char *text)
{
    struct tern_strings names = { 0 };
    if (tern_slurm_expand(text, &names) == 0) {
        MUST(names.count > 0);
        for (int i = 0; i < names.count; i++)
            MUST(!strpbrk(names.items[i], ","));
    }
    tern_strings_free(&names);
}

static void read_numbers(const char *text, int count)
{
    int *numbers = malloc((count ? count : 1) * sizeof *numbers);
    if (numbers && tern_slurm_numbers(text, count, numbers) == 0) {
        for (int i = 0; i < count; i++)
            MUST(numbers[i] >= 1);
    }
    free(numbers);
}

static void read_lines(const char *text, int with_slots)
{
    struct tern_host_list list = { 0 };
    tern_allocation_parse("f", text, with_slots, &list);
    for (int i = 0; i < list.count; i++)
        MUST(*list.items[i].name && list.items[i].slots >= 1 && list.items[i].slots <= 1 << 20);
    tern_host_list_free(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { data, size };
    unsigned how = fuzz_byte(&input);
    char *text = fuzz_text(&input);
    switch (how % 4) {
    case 0:
        if (!is_long(text))
            expand(text);
        break;
    case 1:
        read_numbers(text, (int)(how / 4));
        break;
    default:
        read_lines(text, how % 4 == 3);
    }
    free(text);
    return 0;
}
