/* SPDX-License-Identifier: BSD-3-Clause */

/* The file behind an address stands in /proc/PID/maps. Its sections are read into pages of our own
 * and not mapped, because a file may be truncated meanwhile. */
#include "lib/util/debug/symbol.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATH_ROOM = 1100, SECTIONS_MOST = 4096, PLACES_MOST = 64 };
static const uint64_t BYTES_MOST = UINT64_C(1) << 29;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
enum { OWN_ORDER = ELFDATA2LSB };
#else
enum { OWN_ORDER = ELFDATA2MSB };
#endif

/* ---- texts ---- */

static void append(char *text, size_t room, const char *more)
{
    size_t used = strlen(text), length = strlen(more);
    if (length > room - 1 - used)
        length = room - 1 - used;
    memcpy(text + used, more, length);
    text[used + length] = '\0';
}

static void append_number(char *text, size_t room, unsigned number)
{
    char digits[12], *at = digits + sizeof digits - 1;
    *at = '\0';
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    append(text, room, at);
}

static const char *without_directories(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void copy(char *to, size_t room, const char *text)
{
    *to = '\0';
    append(to, room, text);
}

/* ---- files ---- */

/* Reads a part of a file. The size is 0 if the file does not have the part. */
static struct tern_bytes read_piece(int fd, uint64_t offset, uint64_t size)
{
    struct tern_bytes none = {0};
    if (!size || size > BYTES_MOST || offset > INT64_MAX - size)
        return none;
    uint8_t *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return none;
    for (uint64_t got = 0; got < size;) {
        ssize_t n = pread(fd, bytes + got, size - got, (off_t)(offset + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            munmap(bytes, size);
            return none;
        }
        got += (uint64_t)n;
    }
    return (struct tern_bytes){bytes, size};
}

static void drop(struct tern_bytes *piece)
{
    if (piece->size)
        munmap((void *)piece->bytes, piece->size);
    *piece = (struct tern_bytes){0};
}

/* An open ELF file. */
struct image {
    int fd;
    struct tern_bytes segments, sections, names; /* the tables, and the sections' names */
};

static const Elf64_Shdr *section_at(const struct image *image, size_t index)
{
    return index < image->sections.size / sizeof(Elf64_Shdr)
               ? (const Elf64_Shdr *)image->sections.bytes + index
               : NULL;
}

static struct tern_bytes read_section(const struct image *image, const Elf64_Shdr *section)
{
    if (!section || section->sh_type == SHT_NOBITS || section->sh_flags & SHF_COMPRESSED)
        return (struct tern_bytes){0};
    return read_piece(image->fd, section->sh_offset, section->sh_size);
}

static struct tern_bytes read_named_section(const struct image *image, const char *name)
{
    const Elf64_Shdr *section;
    size_t length = strlen(name) + 1;
    for (size_t i = 0; (section = section_at(image, i)); i++)
        if (section->sh_name < image->names.size &&
            image->names.size - section->sh_name >= length &&
            memcmp(image->names.bytes + section->sh_name, name, length) == 0)
            return read_section(image, section);
    return (struct tern_bytes){0};
}

static void close_image(struct image *image)
{
    drop(&image->segments);
    drop(&image->sections);
    drop(&image->names);
    close(image->fd);
}

static bool open_image(const char *path, struct image *image)
{
    Elf64_Ehdr head;
    *image = (struct image){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (image->fd < 0)
        return false;
    if (pread(image->fd, &head, sizeof head, 0) != sizeof head ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_ident[EI_DATA] != OWN_ORDER || head.e_phentsize != sizeof(Elf64_Phdr) ||
        head.e_shnum > SECTIONS_MOST) {
        close(image->fd);
        return false;
    }
    image->segments =
        read_piece(image->fd, head.e_phoff, (uint64_t)head.e_phnum * sizeof(Elf64_Phdr));
    if (head.e_shentsize == sizeof(Elf64_Shdr))
        image->sections =
            read_piece(image->fd, head.e_shoff, (uint64_t)head.e_shnum * sizeof(Elf64_Shdr));
    image->names = read_section(image, section_at(image, head.e_shstrndx));
    return true;
}

/* Turns an offset in the file into an address as the file's tables name it. Returns 0 if no segment
 * has the offset. */
static uint64_t address_in_file(const struct image *image, uint64_t offset)
{
    const Elf64_Phdr *segments = (const Elf64_Phdr *)image->segments.bytes;
    for (size_t i = 0; i < image->segments.size / sizeof *segments; i++)
        if (segments[i].p_type == PT_LOAD && offset >= segments[i].p_offset &&
            offset - segments[i].p_offset < segments[i].p_filesz)
            return offset - segments[i].p_offset + segments[i].p_vaddr;
    return 0;
}

/* ---- functions and lines ---- */

/* A symbol that is being looked for. */
struct wanted {
    struct tern_symbol *symbol;
    uint64_t address; /* as in the file */
    uint64_t start;   /* of the function found so far; 0: none */
};

/* Of several names of one function a public one counts. */
static void find_functions_in(const struct image *image, unsigned type, struct wanted *wanted,
                              int count)
{
    const Elf64_Shdr *section;
    size_t index = 0;
    while ((section = section_at(image, index)) && section->sh_type != type)
        index++;
    struct tern_bytes table = read_section(image, section);
    struct tern_bytes names =
        table.size ? read_section(image, section_at(image, section->sh_link)) : table;
    const Elf64_Sym *entries = (const Elf64_Sym *)table.bytes;
    for (size_t i = 0; names.size && i < table.size / sizeof *entries; i++) {
        const Elf64_Sym *entry = &entries[i];
        if (ELF64_ST_TYPE(entry->st_info) != STT_FUNC || entry->st_shndx == SHN_UNDEF ||
            entry->st_name >= names.size ||
            !memchr(names.bytes + entry->st_name, 0, names.size - entry->st_name))
            continue;
        for (int k = 0; k < count; k++) {
            uint64_t size = entry->st_size ? entry->st_size : 1;
            if (wanted[k].address < entry->st_value ||
                wanted[k].address - entry->st_value >= size || entry->st_value < wanted[k].start ||
                (entry->st_value == wanted[k].start &&
                 ELF64_ST_BIND(entry->st_info) == STB_LOCAL))
                continue;
            wanted[k].start = entry->st_value;
            copy(wanted[k].symbol->function, sizeof wanted[k].symbol->function,
                 (const char *)names.bytes + entry->st_name);
        }
    }
    drop(&names);
    drop(&table);
}

static void find_lines(const struct image *image, const struct wanted *wanted, int count)
{
    struct tern_line_place places[PLACES_MOST] = {0};
    struct tern_line_sections sections = {.line = read_named_section(image, ".debug_line")};
    if (!sections.line.size)
        return;
    sections.line_str = read_named_section(image, ".debug_line_str");
    sections.str = read_named_section(image, ".debug_str");
    for (int i = 0; i < count; i++)
        places[i].address = wanted[i].address;
    tern_lines_find(&sections, places, count);
    for (int i = 0; i < count; i++) {
        if (!places[i].file)
            continue;
        wanted[i].symbol->line = places[i].line;
        copy(wanted[i].symbol->file, sizeof wanted[i].symbol->file,
             without_directories(places[i].file));
    }
    drop(&sections.line);
    drop(&sections.line_str);
    drop(&sections.str);
}

static void find_in_file(const char *path, struct wanted *wanted, int count)
{
    struct image image;
    if (!open_image(path, &image))
        return;
    for (int i = 0; i < count; i++)
        wanted[i].address = address_in_file(&image, wanted[i].symbol->offset);
    find_functions_in(&image, SHT_SYMTAB, wanted, count);
    find_functions_in(&image, SHT_DYNSYM, wanted, count);
    find_lines(&image, wanted, count);
    close_image(&image);
}

/* ---- the memory of the process ---- */

/* A line of /proc/PID/maps. */
struct mapping {
    uint64_t start, end, offset;
    char *path; /* "" if it is no file */
};

static uint64_t read_hex(char **text)
{
    uint64_t value = 0;
    for (;; (*text)++) {
        char c = **text;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return value;
    }
}

/* Parses "START-END PERMISSIONS OFFSET DEVICE INODE   PATH". */
static bool parse_mapping(char *line, struct mapping *mapping)
{
    mapping->start = read_hex(&line);
    if (*line++ != '-')
        return false;
    mapping->end = read_hex(&line);
    for (int field = 0; field < 5; field++) {
        while (*line && *line != ' ')
            line++;
        while (*line == ' ')
            line++;
        if (field == 1)
            mapping->offset = read_hex(&line);
    }
    mapping->path = line;
    return true;
}

/* Finds everything in one mapping. */
static void find_in_mapping(int pid, const struct mapping *mapping, struct tern_symbol *symbols,
                            int count)
{
    struct wanted wanted[PLACES_MOST];
    int found = 0;
    if (*mapping->path != '/' && strcmp(mapping->path, "[vdso]") != 0)
        return;
    for (int i = 0; i < count && found < PLACES_MOST; i++) {
        struct tern_symbol *symbol = &symbols[i];
        if (symbol->address < mapping->start || symbol->address >= mapping->end)
            continue;
        symbol->offset = symbol->address - mapping->start + mapping->offset;
        copy(symbol->module, sizeof symbol->module, without_directories(mapping->path));
        wanted[found++] = (struct wanted){.symbol = symbol};
    }
    if (!found || *mapping->path != '/')
        return;
    char path[PATH_ROOM] = "";
    if (pid) {
        append(path, sizeof path, "/proc/");
        append_number(path, sizeof path, (unsigned)pid);
        append(path, sizeof path, "/root");
    }
    append(path, sizeof path, mapping->path);
    find_in_file(path, wanted, found);
}

/* Calls find_in_mapping for each line of the file. A line that is too long has no path. */
static void walk_mappings(int fd, int pid, struct tern_symbol *symbols, int count)
{
    char text[2048];
    size_t used = 0;
    ssize_t n;
    while ((n = read(fd, text + used, sizeof text - 1 - used)) > 0 || (n < 0 && errno == EINTR)) {
        if (n < 0)
            continue;
        used += (size_t)n;
        char *line = text, *end;
        while ((end = memchr(line, '\n', used - (size_t)(line - text)))) {
            struct mapping mapping = {0};
            *end = '\0';
            if (parse_mapping(line, &mapping))
                find_in_mapping(pid, &mapping, symbols, count);
            line = end + 1;
        }
        used -= (size_t)(line - text);
        memmove(text, line, used);
        if (used == sizeof text - 1)
            used = 0;
    }
}

void tern_symbols_find(int pid, struct tern_symbol *symbols, int count)
{
    int saved_errno = errno;
    char path[40] = "/proc/";
    if (pid)
        append_number(path, sizeof path, (unsigned)pid);
    else
        append(path, sizeof path, "self");
    append(path, sizeof path, "/maps");
    for (int i = 0; i < count; i++)
        symbols[i] = (struct tern_symbol){.address = symbols[i].address};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        walk_mappings(fd, pid, symbols, count);
        close(fd);
    }
    errno = saved_errno;
}
