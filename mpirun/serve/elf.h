/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_ELF_H
#define TERN_MPIRUN_SERVE_ELF_H

/* What the dynamic linker reads in a program or library before it loads others. */

#include <stdbool.h>

#include "mpirun/base/strings.h"

struct tern_elf {
    struct tern_strings needed; /* DT_NEEDED: the libraries it wants, by their sonames */
    char *soname;               /* or NULL, as the next two */
    char *rpath, *runpath;      /* where they are looked for: before and after LD_LIBRARY_PATH */
};

/* Reads the file. Returns false, and an empty `ret`, if it is no dynamic ELF file of 64 bits in
 * this machine's byte order. */
bool tern_elf_read(const char *path, struct tern_elf *ret);
void tern_elf_free(struct tern_elf *elf);

#endif
