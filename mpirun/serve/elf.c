/* SPDX-License-Identifier: BSD-3-Clause */
/* The file may be anything, and may change while it is read, so no length or offset in it is
 * trusted. It is read in pieces because it may be large, and not mapped because it may be truncated
 * meanwhile. */
#include "mpirun/serve/elf.h"

#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEADERS_MOST = 1000, BYTES_MOST = 1 << 26 };

/* Returns `size` bytes at `offset`, followed by a zero. The caller frees them. Returns NULL if the
 * file does not have them. */
static char *read_piece(int fd, uint64_t offset, uint64_t size)
{
    char *bytes = size <= BYTES_MOST && offset <= INT64_MAX ? calloc(1, size + 1) : NULL;
    if (bytes && pread(fd, bytes, size, (off_t)offset) == (ssize_t)size)
        return bytes;
    free(bytes);
    return NULL;
}

static Elf64_Phdr *read_headers(int fd, int *ret_count)
{
    Elf64_Ehdr head;
    unsigned char order = BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
    if (pread(fd, &head, sizeof head, 0) != sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_ident[EI_DATA] != order || head.e_phentsize != sizeof(Elf64_Phdr) ||
        head.e_phnum > HEADERS_MOST)
        return NULL;
    *ret_count = head.e_phnum;
    return (Elf64_Phdr *)read_piece(fd, head.e_phoff, head.e_phnum * sizeof(Elf64_Phdr));
}

/* Finds the offset in the file that is loaded at `address`. Returns false if the address is in no
 * segment. */
static bool offset_of(const Elf64_Phdr *headers, int count, uint64_t address, uint64_t *ret_offset)
{
    for (int i = 0; i < count; i++) {
        if (headers[i].p_type != PT_LOAD || address < headers[i].p_vaddr ||
            address - headers[i].p_vaddr >= headers[i].p_filesz)
            continue;
        *ret_offset = headers[i].p_offset + (address - headers[i].p_vaddr);
        return true;
    }
    return false;
}

/* Returns the string table, in which entries name strings by offset. The caller frees it. Returns
 * NULL if there is none. */
static char *read_names(int fd, const Elf64_Phdr *headers, int count, const Elf64_Dyn *entries,
                        size_t entry_count, uint64_t *ret_size)
{
    uint64_t address = 0, offset;
    *ret_size = 0;
    for (size_t i = 0; i < entry_count && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_STRTAB)
            address = entries[i].d_un.d_ptr;
        else if (entries[i].d_tag == DT_STRSZ)
            *ret_size = entries[i].d_un.d_val;
    }
    return offset_of(headers, count, address, &offset) ? read_piece(fd, offset, *ret_size) : NULL;
}

static void take_entry(struct tern_elf *elf, const Elf64_Dyn *entry, const char *names,
                       uint64_t size)
{
    if (entry->d_un.d_val >= size)
        return;
    const char *name = names + entry->d_un.d_val;
    char **slot = entry->d_tag == DT_SONAME    ? &elf->soname
                  : entry->d_tag == DT_RPATH   ? &elf->rpath
                  : entry->d_tag == DT_RUNPATH ? &elf->runpath
                                               : NULL;
    if (entry->d_tag == DT_NEEDED)
        tern_strings_add(&elf->needed, name);
    if (slot && !*slot)
        *slot = tern_must_copy(name);
}

static bool read_dynamic(int fd, const Elf64_Phdr *headers, int count, const Elf64_Phdr *dynamic,
                         struct tern_elf *elf)
{
    size_t entry_count = dynamic->p_filesz / sizeof(Elf64_Dyn);
    Elf64_Dyn *entries =
        (Elf64_Dyn *)read_piece(fd, dynamic->p_offset, entry_count * sizeof(Elf64_Dyn));
    uint64_t size;
    char *names = entries ? read_names(fd, headers, count, entries, entry_count, &size) : NULL;
    for (size_t i = 0; names && i < entry_count && entries[i].d_tag != DT_NULL; i++)
        take_entry(elf, &entries[i], names, size);
    bool good = names != NULL;
    free(names);
    free(entries);
    return good;
}

bool tern_elf_read(const char *path, struct tern_elf *ret)
{
    int count = 0, fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    Elf64_Phdr *headers = fd >= 0 ? read_headers(fd, &count) : NULL;
    bool good = false;
    *ret = (struct tern_elf){0};
    for (int i = 0; headers && i < count && !good; i++)
        good =
            headers[i].p_type == PT_DYNAMIC && read_dynamic(fd, headers, count, &headers[i], ret);
    free(headers);
    if (fd >= 0)
        close(fd);
    return good;
}

void tern_elf_free(struct tern_elf *elf)
{
    tern_strings_free(&elf->needed);
    free(elf->soname);
    free(elf->rpath);
    free(elf->runpath);
    *elf = (struct tern_elf){0};
}

bool tern_elf_is_foreign(const char *path)
{
    Elf64_Ehdr theirs = { 0 }, own = { 0 };
    const char *const paths[] = { path, "/proc/self/exe" };
    Elf64_Ehdr *const heads[] = { &theirs, &own };
    for (int i = 0; i < 2; i++) {
        int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
        ssize_t size = fd < 0 ? -1 : read(fd, heads[i], sizeof *heads[i]);
        if (fd >= 0)
            close(fd);
        /* these members stand at the same place in files of both word sizes */
        if (size < (ssize_t)offsetof(Elf64_Ehdr, e_version) ||
            memcmp(heads[i]->e_ident, ELFMAG, SELFMAG))
            return false;
    }
    return theirs.e_machine != own.e_machine ||
           theirs.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] ||
           theirs.e_ident[EI_DATA] != own.e_ident[EI_DATA];
}
