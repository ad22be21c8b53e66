/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reads line tables (DWARF 2 to 5, section 6.2 of the DWARF 5 standard). Each unit of the section
 * has a header with names of files, and a program. The program's operations make rows: (address,
 * file, line). A row holds for the addresses from its own to that of the next row of its sequence.
 *
 * All wanted places are looked for in one pass, because large programs have large tables.
 */
#include "lib/util/debug/symbol.h"

#include <stdbool.h>
#include <string.h>

/* What is left of a section or unit. Reading past the end sets `bad` and gives zeros. */
struct reader {
    const uint8_t *at, *end;
    bool bad;
};

/* Content types and forms of entries, operations of line programs: the standard's numbers. */
enum { CONTENT_PATH = 1 };
enum {
    FORM_BLOCK2 = 0x03,
    FORM_BLOCK4 = 0x04,
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_STRING = 0x08,
    FORM_BLOCK = 0x09,
    FORM_BLOCK1 = 0x0a,
    FORM_DATA1 = 0x0b,
    FORM_STRP = 0x0e,
    FORM_UDATA = 0x0f,
    FORM_DATA16 = 0x1e,
    FORM_LINE_STRP = 0x1f,
};
enum {
    OP_EXTENDED,
    OP_COPY,
    OP_ADVANCE_PC,
    OP_ADVANCE_LINE,
    OP_SET_FILE,
    OP_SET_COLUMN,
    OP_NEGATE,
    OP_BASIC_BLOCK,
    OP_CONST_ADD_PC,
    OP_FIXED_ADVANCE_PC,
};
enum { EXTENDED_END = 1, EXTENDED_SET_ADDRESS = 2 };
enum { FORMATS_MOST = 8 };

/* The header of a unit, as far as it is needed. */
struct unit {
    const struct tern_line_sections *sections;
    struct reader program;
    struct reader names;     /* behind the standard operations' lengths */
    const uint8_t *operands; /* number of operands of each standard operation */
    int version;
    bool wide; /* offsets have 8 bytes */
    uint8_t step, first_special, line_range;
    int8_t line_base;
};

struct row {
    uint64_t address;
    uint64_t file;
    uint32_t line;
};

static uint64_t read_number(struct reader *reader, size_t size)
{
    uint64_t value = 0;
    if ((size_t)(reader->end - reader->at) < size) {
        reader->bad = true;
        reader->at = reader->end;
        return 0;
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&value, reader->at, size);
#else
    memcpy((char *)&value + sizeof value - size, reader->at, size);
#endif
    reader->at += size;
    return value;
}

/* Reads a number of variable length (LEB128), as unsigned. *ret_bits: the bits that were read. */
static uint64_t read_leb(struct reader *reader, unsigned *ret_bits)
{
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = read_number(reader, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && !reader->bad);
    *ret_bits = shift;
    return value;
}

static uint64_t read_unsigned(struct reader *reader)
{
    unsigned bits;
    return read_leb(reader, &bits);
}

static int64_t read_signed(struct reader *reader)
{
    unsigned bits;
    uint64_t value = read_leb(reader, &bits);
    if (bits < 64 && value >> (bits - 1) & 1)
        value |= ~UINT64_C(0) << bits;
    return (int64_t)value;
}

static void skip(struct reader *reader, uint64_t size)
{
    if ((uint64_t)(reader->end - reader->at) < size) {
        reader->bad = true;
        reader->at = reader->end;
    } else {
        reader->at += size;
    }
}

/* Returns a string that ends inside the reader, or NULL. */
static const char *read_string(struct reader *reader)
{
    const char *text = (const char *)reader->at;
    const uint8_t *end = memchr(reader->at, 0, (size_t)(reader->end - reader->at));
    if (!end) {
        reader->bad = true;
        reader->at = reader->end;
        return NULL;
    }
    reader->at = end + 1;
    return text;
}

static const char *string_at(const struct tern_bytes *section, uint64_t offset)
{
    if (offset >= section->size || !memchr(section->bytes + offset, 0, section->size - offset))
        return NULL;
    return (const char *)section->bytes + offset;
}

/* ---- names of files ---- */

/* Reads a value of an entry. Returns it if it is a string, else NULL. */
static const char *read_form(const struct unit *unit, struct reader *reader, uint64_t form)
{
    size_t offset_size = unit->wide ? 8 : 4;
    switch (form) {
    case FORM_STRING:
        return read_string(reader);
    case FORM_LINE_STRP:
        return string_at(&unit->sections->line_str, read_number(reader, offset_size));
    case FORM_STRP:
        return string_at(&unit->sections->str, read_number(reader, offset_size));
    case FORM_UDATA:
        read_unsigned(reader);
        break;
    case FORM_DATA1:
        skip(reader, 1);
        break;
    case FORM_DATA2:
        skip(reader, 2);
        break;
    case FORM_DATA4:
        skip(reader, 4);
        break;
    case FORM_DATA8:
        skip(reader, 8);
        break;
    case FORM_DATA16:
        skip(reader, 16);
        break;
    case FORM_BLOCK:
        skip(reader, read_unsigned(reader));
        break;
    case FORM_BLOCK1:
        skip(reader, read_number(reader, 1));
        break;
    case FORM_BLOCK2:
        skip(reader, read_number(reader, 2));
        break;
    case FORM_BLOCK4:
        skip(reader, read_number(reader, 4));
        break;
    default: /* its length is not known */
        reader->bad = true;
    }
    return NULL;
}

/* Reads a table of DWARF 5. Returns the path of entry `wanted`, or NULL. */
static const char *read_table(const struct unit *unit, struct reader *reader, uint64_t wanted)
{
    uint64_t content[FORMATS_MOST], form[FORMATS_MOST];
    unsigned formats = (unsigned)read_number(reader, 1);
    const char *found = NULL;
    if (formats > FORMATS_MOST) {
        reader->bad = true;
        return NULL;
    }
    for (unsigned i = 0; i < formats; i++) {
        content[i] = read_unsigned(reader);
        form[i] = read_unsigned(reader);
    }
    uint64_t count = read_unsigned(reader);
    for (uint64_t entry = 0; entry < count && !reader->bad && formats; entry++)
        for (unsigned i = 0; i < formats; i++) {
            const char *text = read_form(unit, reader, form[i]);
            if (entry == wanted && content[i] == CONTENT_PATH)
                found = text;
        }
    return found;
}

/* Returns the name of a file by its number in the rows. */
static const char *file_name(const struct unit *unit, uint64_t number)
{
    struct reader reader = unit->names;
    if (unit->version >= 5) {
        read_table(unit, &reader, UINT64_MAX); /* directories */
        return reader.bad ? NULL : read_table(unit, &reader, number);
    }
    const char *text;
    while ((text = read_string(&reader)) && *text) /* directories */
        ;
    for (uint64_t i = 1; (text = read_string(&reader)) && *text; i++) {
        if (i == number)
            return text;
        for (int k = 0; k < 3; k++)
            read_unsigned(&reader);
    }
    return NULL;
}

/* ---- the program ---- */

struct search {
    const struct unit *unit;
    struct tern_line_place *places;
    int count;
    struct row row, before;
    bool has_before;
    bool dropped; /* the sequence is of code that the linker has left out */
};

/* Takes a finished row: the row before it holds up to here. */
static void take_row(struct search *search, bool ends_sequence)
{
    const struct row *from = &search->before, *to = &search->row;
    for (int i = 0; search->has_before && !search->dropped && i < search->count; i++) {
        struct tern_line_place *place = &search->places[i];
        if (place->line || place->address < from->address || place->address >= to->address)
            continue;
        place->line = from->line;
        place->file = file_name(search->unit, from->file);
    }
    search->before = search->row;
    search->has_before = !ends_sequence;
    if (ends_sequence)
        search->row = (struct row){.file = 1, .line = 1};
}

static void do_extended(struct search *search, struct reader *program)
{
    uint64_t size = read_unsigned(program);
    if (!size || size > (uint64_t)(program->end - program->at)) {
        program->bad = true;
        return;
    }
    struct reader operation = {.at = program->at, .end = program->at + size};
    program->at += size;
    uint64_t code = read_number(&operation, 1);
    if (code == EXTENDED_END)
        take_row(search, true);
    else if (code == EXTENDED_SET_ADDRESS && size <= 9) {
        search->row.address = read_number(&operation, (size_t)size - 1);
        search->dropped = search->row.address == 0;
    }
}

static void do_special(struct search *search, unsigned code)
{
    const struct unit *unit = search->unit;
    unsigned adjusted = code - unit->first_special;
    search->row.address += (uint64_t)(adjusted / unit->line_range) * unit->step;
    search->row.line += (uint32_t)(unit->line_base + (int)(adjusted % unit->line_range));
    take_row(search, false);
}

static void do_standard(struct search *search, struct reader *program, unsigned code)
{
    const struct unit *unit = search->unit;
    switch (code) {
    case OP_COPY:
        take_row(search, false);
        break;
    case OP_ADVANCE_PC:
        search->row.address += read_unsigned(program) * unit->step;
        break;
    case OP_ADVANCE_LINE:
        search->row.line += (uint32_t)read_signed(program);
        break;
    case OP_SET_FILE:
        search->row.file = read_unsigned(program);
        break;
    case OP_CONST_ADD_PC:
        search->row.address +=
            (uint64_t)((255u - unit->first_special) / unit->line_range) * unit->step;
        break;
    case OP_FIXED_ADVANCE_PC:
        search->row.address += read_number(program, 2);
        break;
    default: /* no effect on a row's address, file or line */
        for (int i = 0; i < unit->operands[code - 1]; i++)
            read_unsigned(program);
    }
}

static void run_program(const struct unit *unit, struct tern_line_place *places, int count)
{
    struct search search = {.unit = unit, .places = places, .count = count};
    struct reader program = unit->program;
    search.row = (struct row){.file = 1, .line = 1};
    while (program.at < program.end && !program.bad) {
        unsigned code = (unsigned)read_number(&program, 1);
        if (code == OP_EXTENDED)
            do_extended(&search, &program);
        else if (code >= unit->first_special)
            do_special(&search, code);
        else
            do_standard(&search, &program, code);
    }
}

/* Reads the header of the unit in `reader`, which holds nothing else. Returns false if the unit
 * cannot be understood. */
static bool read_header(struct reader *reader, struct unit *unit)
{
    unit->version = (int)read_number(reader, 2);
    if (unit->version < 2 || unit->version > 5)
        return false;
    if (unit->version >= 5)
        skip(reader, 2); /* sizes of addresses and segments */
    uint64_t rest = read_number(reader, unit->wide ? 8 : 4);
    if (reader->bad || rest > (uint64_t)(reader->end - reader->at))
        return false;
    unit->program = (struct reader){.at = reader->at + rest, .end = reader->end};
    reader->end = reader->at + rest;
    unit->step = (uint8_t)read_number(reader, 1);
    skip(reader, unit->version >= 4 ? 2 : 1); /* operations per instruction, default_is_stmt */
    unit->line_base = (int8_t)read_number(reader, 1);
    unit->line_range = (uint8_t)read_number(reader, 1);
    unit->first_special = (uint8_t)read_number(reader, 1);
    unit->operands = reader->at;
    if (reader->bad || !unit->line_range || !unit->first_special)
        return false;
    skip(reader, unit->first_special - 1u);
    unit->names = *reader;
    return !reader->bad;
}

void tern_lines_find(const struct tern_line_sections *sections, struct tern_line_place *places,
                     int count)
{
    struct reader all = {.at = sections->line.bytes,
                         .end = sections->line.bytes + sections->line.size};
    while (sections->line.size && all.at < all.end && !all.bad) {
        struct unit unit = {.sections = sections};
        uint64_t size = read_number(&all, 4);
        unit.wide = size == 0xffffffff;
        if (unit.wide)
            size = read_number(&all, 8);
        if (all.bad || size > (uint64_t)(all.end - all.at))
            return;
        struct reader one = {.at = all.at, .end = all.at + size};
        all.at += size;
        if (read_header(&one, &unit))
            run_program(&unit, places, count);
    }
}
