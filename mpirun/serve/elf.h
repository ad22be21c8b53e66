/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_ELF_H
#define TERN_MPIRUN_SERVE_ELF_H

/* Reads from a program or library what the dynamic linker reads before it loads further
 * libraries. */

#include <stdbool.h>

#include "mpirun/base/strings.h"

/* Entries of a file's dynamic section. Owns all strings. */
struct tern_elf {
    struct tern_strings needed; /* DT_NEEDED: the sonames of the libraries that the file needs */
    char *soname;               /* DT_SONAME; NULL if missing */
    /* where to look for needed libraries, before and after LD_LIBRARY_PATH; NULL if missing */
    char *rpath, *runpath;
};

/* Reads the file. Returns false, with an empty `ret`, if the file is not a dynamic 64-bit ELF file
 * in this machine's byte order. The caller frees the result with tern_elf_free. */
bool tern_elf_read(const char *path, struct tern_elf *ret);
/* Returns true if the file is an ELF program of another kind of processor, or of another word size,
 * than this mpirun. */
bool tern_elf_is_foreign(const char *path);
/* Frees the strings. */
void tern_elf_free(struct tern_elf *elf);

#endif
