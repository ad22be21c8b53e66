/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SYMBOL_H
#define TERN_SYMBOL_H

/*
 * Names the places in a program's code, for people: function, source file, line. Reads the
 * program's files by itself, so it works in a signal handler and for another process. It allocates
 * no memory but pages of its own (mmap), and takes no lock. The files may be anything: nothing in
 * them is trusted.
 */

#include <stddef.h>
#include <stdint.h>

/* A place in the code of a process. */
struct tern_symbol {
    uint64_t address; /* in the memory of the process; the caller sets it */
    /* file name of the program or library, without directories; "" if unknown */
    char module[128];
    char function[128]; /* "" if unknown */
    char file[96];      /* source file, without directories; "" if there is no debug information */
    uint32_t line;      /* line in `file` */
    uint64_t offset;    /* of the address in the module's file; 0 if `module` is unknown */
};

/* Fills in all members but `address` of `count` symbols of the process `pid`; 0 means this process.
 * A member that cannot be found is empty. Reads files; does not block otherwise. Async-signal-safe:
 * keeps errno. */
void tern_symbols_find(int pid, struct tern_symbol *symbols, int count);

/* Bytes of a file, or a part of them. */
struct tern_bytes {
    const uint8_t *bytes;
    size_t size;
};

/* The sections of a file that tell lines (DWARF 2 to 5). Absent sections have size 0. */
struct tern_line_sections {
    struct tern_bytes line;     /* .debug_line */
    struct tern_bytes line_str; /* .debug_line_str */
    struct tern_bytes str;      /* .debug_str */
};
/* A place to find in a file's line tables. The caller sets `address` and clears the rest. */
struct tern_line_place {
    uint64_t address; /* as in the file */
    uint32_t line;    /* 0: not found */
    const char *file; /* inside a section, ends with 0; NULL if unknown */
};
/* Finds the lines of `count` places. Async-signal-safe. */
void tern_lines_find(const struct tern_line_sections *sections, struct tern_line_place *places,
                     int count);

#endif
