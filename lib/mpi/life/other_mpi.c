/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Finds libraries of another MPI in this process. A program finds Tern's libmpi.so.40 by its name.
 * But the program's Fortran library may still come from the MPI it was built with. That library
 * looks inside objects of its own libmpi, so it would crash somewhere, later. The dynamic linker
 * knows what is loaded, so such a library is found at the start.
 *
 * To be found, the library has to be loaded first. Open MPI's Fortran and C++ libraries refer to
 * objects and functions inside their libmpi. Without these symbols the dynamic linker would end the
 * program, with a message about a symbol that explains nothing. For functions this happens if all
 * symbols are resolved at the start (LD_BIND_NOW, modules of Python). The symbols below exist only
 * for that. They are empty and never called, because MPI_Init refuses to start before.
 */

#include "lib/mpi/life/library.h"

#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FOR_THE_LINKER __attribute__((visibility("default")))
FOR_THE_LINKER char ompi_errcodes_intern[120], ompi_registered_datareps[64], ompi_status_empty[24];
FOR_THE_LINKER int ompi_errcode_intern_lastused, ompi_mpi_state;
FOR_THE_LINKER char ompi_mpi_param_check;

static _Noreturn void refuse(const char *function)
{
    char text[200];
    snprintf(text, sizeof text,
             "%s was called, an internal function of another MPI library: a library of that MPI is "
             "loaded",
             function);
    tern_rte_abort(1, text);
}

#define INSIDE(function)                       \
    FOR_THE_LINKER void function(void);        \
    void function(void)                        \
    {                                          \
        refuse(#function);                     \
    }
INSIDE(ompi_attr_create_keyval)
INSIDE(ompi_attr_create_keyval_aint)
INSIDE(ompi_attr_create_keyval_fint)
INSIDE(ompi_attr_get_aint)
INSIDE(ompi_attr_get_fint)
INSIDE(ompi_attr_set_aint)
INSIDE(ompi_attr_set_fint)
INSIDE(ompi_datatype_match_size)
INSIDE(ompi_errhandler_create)
INSIDE(ompi_errhandler_invoke)
INSIDE(ompi_fortran_argv_blank_f2c)
INSIDE(ompi_fortran_argv_count_f2c)
INSIDE(ompi_fortran_multiple_argvs_f2c)
INSIDE(ompi_fortran_string_c2f)
INSIDE(ompi_fortran_string_f2c)
INSIDE(ompi_mpi_errors_are_fatal_comm_handler)

/* Identifies a directory, whatever path leads to it. */
struct place {
    dev_t device;
    ino_t number;
};

struct search {
    uintptr_t inside;       /* an address of Tern's own code */
    char ours[PATH_MAX];    /* path of Tern's libmpi */
    struct place place;     /* the directory of `ours` */
    char other[PATH_MAX];   /* path of another libmpi */
    char fortran[PATH_MAX]; /* path of the Fortran library of another MPI */
    char asker[PATH_MAX];   /* the first object that needs `fortran` */
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool contains_address(const struct dl_phdr_info *object, uintptr_t address)
{
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && address >= start && address - start < segment->p_memsz)
            return true;
    }
    return false;
}

/* Finds the directory of a file. Returns false if it cannot be examined. */
static bool find_place(const char *path, struct place *ret_place)
{
    char directory[PATH_MAX];
    struct stat status;

    snprintf(directory, sizeof directory, "%.*s", (int)(base_name(path) - path), path);
    if (stat(directory[0] ? directory : ".", &status) != 0)
        return false;
    *ret_place = (struct place){status.st_dev, status.st_ino};
    return true;
}

/* Returns true if the library lies in the directory of Tern's libmpi: Tern's libraries are
 * installed together. */
static bool is_ours(const struct search *search, const char *path)
{
    struct place place;
    return find_place(path, &place) && place.device == search->place.device &&
           place.number == search->place.number;
}

static int find_ours(struct dl_phdr_info *object, size_t size, void *context)
{
    struct search *search = context;

    (void)size;
    if (!contains_address(object, search->inside))
        return 0;
    snprintf(search->ours, sizeof search->ours, "%s", object->dlpi_name);
    find_place(search->ours, &search->place);
    return 1;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *context)
{
    struct search *search = context;
    const char *name = base_name(object->dlpi_name);

    (void)size;
    if (starts_with(name, "libmpi.so") && !contains_address(object, search->inside))
        snprintf(search->other, sizeof search->other, "%s", object->dlpi_name);
    if ((starts_with(name, "libmpi_mpifh.so") || starts_with(name, "libmpi_usempi")) &&
        !is_ours(search, object->dlpi_name))
        snprintf(search->fortran, sizeof search->fortran, "%s", object->dlpi_name);
    return 0;
}

static bool needs(const struct dl_phdr_info *object, const ElfW(Dyn) *entries, const char *name)
{
    const char *names = NULL;
    for (const ElfW(Dyn) *entry = entries; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag ==
            DT_STRTAB) /* glibc stores an address here, but not in every object */
            names = (const char *)(entry->d_un.d_ptr < object->dlpi_addr
                                       ? object->dlpi_addr + entry->d_un.d_ptr
                                       : entry->d_un.d_ptr);
    for (const ElfW(Dyn) *entry = entries; names && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_NEEDED && strcmp(names + entry->d_un.d_val, name) == 0)
            return true;
    return false;
}

/* Finds the first object that needs `fortran`. The program itself comes first, and has no name
 * here. */
static int find_asker(struct dl_phdr_info *object, size_t size, void *context)
{
    struct search *search = context;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_DYNAMIC ||
            !needs(object, (const ElfW(Dyn) *)(object->dlpi_addr + segment->p_vaddr),
                   base_name(search->fortran)))
            continue;
        snprintf(search->asker, sizeof search->asker, "%s",
                 object->dlpi_name[0] ? object->dlpi_name : "the program itself");
        return 1;
    }
    return 0;
}

int tern_foreign_check(void)
{
    static struct search search; /* too large for the stack of a thread */

    search.inside = (uintptr_t)&tern_foreign_check;
    dl_iterate_phdr(find_ours, &search);
    dl_iterate_phdr(look_at, &search);
    if (search.other[0])
        return tern_error(TERN_ERR_OTHER,
                          "two MPI libraries are loaded, %s and %s. Set LD_LIBRARY_PATH, and the "
                          "run paths of the program and its libraries, so that all of them find "
                          "the same one",
                          search.ours, search.other);
    if (!search.fortran[0])
        return 0;
    dl_iterate_phdr(find_asker, &search);
    return tern_error(
        TERN_ERR_OTHER,
        "%s, which %s needs, belongs to another MPI than %s. Set LD_LIBRARY_PATH, and the run "
        "paths of the program and its libraries, so that all libraries come from the second one's "
        "directory",
        search.fortran, search.asker[0] ? search.asker : "the program", search.ours);
}
