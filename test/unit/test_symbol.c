/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions and lines of addresses in this program, and of line tables that are damaged. */

#include "lib/util/debug/symbol.h"
#include "suite.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns an address in the line of its call. */
static __attribute__((noinline)) uint64_t address_here(void)
{
    __asm__ volatile(""); /* keeps the compiler from making one call of two */
    return (uint64_t)(uintptr_t)__builtin_return_address(0) - 1;
}

static uint64_t places[2];
static uint32_t line;

static __attribute__((noinline)) void mark_places(void)
{
    line = __LINE__ + 1;
    places[0] = address_here();
    places[1] = address_here();
}

static void check_places(const struct tern_symbol *symbols)
{
    for (int i = 0; i < 2; i++) {
        ck_assert_str_eq(symbols[i].function, "mark_places");
        ck_assert_str_eq(symbols[i].file, "test_symbol.c");
        ck_assert_uint_eq(symbols[i].line, line + (uint32_t)i);
        ck_assert(strstr(symbols[i].module, "test_symbol") != NULL);
    }
}

START_TEST(own_places)
{
    mark_places();
    struct tern_symbol symbols[] = {{.address = places[0]},
                                    {.address = places[1]},
                                    {.address = 16},
                                    {.address = (uintptr_t)&symbols}};
    tern_symbols_find(0, symbols, 4);
    check_places(symbols);
    for (int i = 2; i < 4; i++) {
        ck_assert_str_eq(symbols[i].module, "");
        ck_assert_str_eq(symbols[i].function, "");
        ck_assert_uint_eq(symbols[i].line, 0);
    }
}
END_TEST

START_TEST(places_of_another)
{
    int ends[2];
    char byte;
    mark_places();
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) != 0);
    }
    struct tern_symbol symbols[] = {{.address = places[0]}, {.address = places[1]}};
    tern_symbols_find((int)child, symbols, 2);
    close(ends[0]);
    close(ends[1]);
    waitpid(child, NULL, 0);
    check_places(symbols);
    tern_symbols_find((int)child, symbols, 2);
    ck_assert_str_eq(symbols[0].module, "");
}
END_TEST

/* ---- line tables ---- */

static uint8_t *file;
static size_t file_size;

static struct tern_bytes section(const char *name)
{
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)file;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + head->e_shoff);
    const char *names = (const char *)file + sections[head->e_shstrndx].sh_offset;
    for (int i = 0; i < head->e_shnum; i++)
        if (strcmp(names + sections[i].sh_name, name) == 0)
            return (struct tern_bytes){file + sections[i].sh_offset, sections[i].sh_size};
    return (struct tern_bytes){0};
}

static void map_own_file(void)
{
    struct stat st;
    int fd = open("/proc/self/exe", O_RDONLY);
    ck_assert_int_eq(fstat(fd, &st), 0);
    file_size = (size_t)st.st_size;
    file = mmap(NULL, file_size, PROT_READ, MAP_PRIVATE, fd, 0);
    ck_assert_ptr_ne(file, MAP_FAILED);
    close(fd);
}

static void unmap_own_file(void)
{
    munmap(file, file_size);
}

/* Whatever a table holds, the search ends, and a name lies in a section. Each damaged copy ends where
 * the memory ends, so that a sanitizer sees every step too far. */
START_TEST(damaged_tables)
{
    enum { TIMES = 300, PLACES = 4, DAMAGES = 20 };
    struct tern_line_sections whole = {section(".debug_line"), section(".debug_line_str"),
                                       section(".debug_str")};
    ck_assert_uint_gt(whole.line.size, 0);
    srand(7);
    for (int i = 0; i < TIMES; i++) {
        size_t size = i % 3 ? whole.line.size : (size_t)rand() % (whole.line.size + 1);
        uint8_t *copy = malloc(size + !size);
        memcpy(copy, whole.line.bytes, size);
        for (int k = 0; k < DAMAGES && size; k++)
            copy[(size_t)rand() % (k % 2 || size < 64 ? size : 64)] = (uint8_t)rand();
        struct tern_line_sections damaged = whole;
        damaged.line = (struct tern_bytes){copy, size};
        struct tern_line_place wanted[PLACES];
        for (int k = 0; k < PLACES; k++)
            wanted[k] = (struct tern_line_place){.address = (uint64_t)(0x1000 + k * 0x3000)};
        tern_lines_find(&damaged, wanted, PLACES);
        for (int k = 0; k < PLACES; k++)
            ck_assert(!wanted[k].file || strlen(wanted[k].file) < size + whole.line_str.size +
                                                                       whole.str.size);
        free(copy);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("symbol");
    TCase *tcase = suite_case(suite, "places");
    tcase_add_test(tcase, own_places);
    tcase_add_test(tcase, places_of_another);
    tcase = suite_case(suite, "damaged");
    tcase_add_checked_fixture(tcase, map_own_file, unmap_own_file);
    tcase_add_test(tcase, damaged_tables);
    return suite_run(suite);
}
