/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading files ---- */

enum { SILENCE_MS = 60 * 1000, TEXT_MOST = 64 << 20, PIECE = 64 << 10 };

/* Waits for more bytes from a pipe or a terminal. Returns NULL, or why there will be none. */
static const char *await_more(int fd, int silence_ms)
{
    struct pollfd more = {.fd = fd, .events = POLLIN};
    int ready;
    do
        ready = poll(&more, 1, silence_ms);
    while (ready < 0 && errno == EINTR);
    return ready > 0   ? NULL
           : ready < 0 ? strerror(errno)
                       : "it is open for writing, but no data arrive";
}

/* Appends one piece of at most `room` bytes. Returns NULL, or why the file cannot be read. Sets
 * *ret_end if the text is complete. */
static const char *read_piece(int fd, int silence_ms, char *text, size_t room, size_t *size,
                              bool *ret_end)
{
    ssize_t n = read(fd, text + *size, room);
    if (n < 0 && errno == EINTR)
        return NULL;
    if (n < 0 && errno == EAGAIN)
        return await_more(fd, silence_ms);
    if (n < 0)
        return strerror(errno);
    if (memchr(text + *size, '\0', (size_t)n))
        return "it is not a text file: it contains a zero byte";
    *size += (size_t)n;
    *ret_end = n == 0;
    return NULL;
}

static char *read_all(int fd, int silence_ms, const char **ret_why)
{
    char *text = NULL;
    size_t size = 0, room = 0;
    bool end = false;
    const char *why = NULL;
    while (!why && !end) {
        if (size + PIECE >= room) {
            room = 2 * (size + PIECE);
            char *grown = size <= TEXT_MOST ? realloc(text, room + 1) : NULL;
            if (!grown) {
                why = size <= TEXT_MOST ? "no memory" : "it is longer than 64 MiB";
                break;
            }
            text = grown;
        }
        why = read_piece(fd, silence_ms, text, PIECE, &size, &end);
    }
    struct stat st;
    if (!why && !size && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
        why = "it is a FIFO, and nobody writes to it";
    if (why) {
        free(text);
        *ret_why = why;
        return NULL;
    }
    text[size] = '\0';
    return text;
}

/* Removes the byte order mark that some editors write in front of a text in UTF-8. */
static void drop_mark(char *text)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t length = strlen(mark);
    if (strncmp(text, mark, length) == 0)
        memmove(text, text + length, strlen(text + length) + 1);
}

char *tern_read_text_within(const char *path, int silence_ms, const char **ret_why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        *ret_why = strerror(errno);
        return NULL;
    }
    char *text = read_all(fd, silence_ms, ret_why);
    close(fd);
    if (text)
        drop_mark(text);
    return text;
}

char *tern_read_text(const char *path, const char **ret_why)
{
    return tern_read_text_within(path, SILENCE_MS, ret_why);
}

/* ---- printable text ---- */

/* Reads the UTF-8 character at `text`, which must have the shortest form. Returns its length, or 0
 * if there is no valid character. */
static int read_character(const unsigned char *text, uint32_t *ret_character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    int length = *text < 0x80   ? 1
                 : *text < 0xc0 ? 0
                 : *text < 0xe0 ? 2
                 : *text < 0xf0 ? 3
                 : *text < 0xf8 ? 4
                                : 0;
    uint32_t character = length > 1 ? *text & (0x7fu >> length) : *text;
    for (int i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | (text[i] & 0x3f);
    }
    *ret_character = character;
    return length && character >= least[length] && character <= 0x10ffff ? length : 0;
}

static bool is_printable(uint32_t character)
{
    bool control = character < 0x20 || (character >= 0x7f && character < 0xa0);
    bool surrogate = character >= 0xd800 && character < 0xe000;
    bool directs = (character >= 0x2028 && character <= 0x202e) ||
                   (character >= 0x2066 && character <= 0x2069);
    bool none = character == 0xfffe || character == 0xffff; /* XML takes neither */
    return !control && !surrogate && !directs && !none;
}

int tern_text_character(const char *text)
{
    uint32_t character = 0; /* stays if there is no character */
    int length = read_character((const unsigned char *)text, &character);
    return is_printable(character) ? length : 0;
}

/* Writes into `shown` how the character at `text` is shown. Returns how many bytes of `text` that
 * covers. */
static int show_character(const char *text, bool keeps_lines, char shown[8])
{
    int length = tern_text_character(text);
    if (!length && keeps_lines && strncmp(text, "\n    ", 5) == 0)
        length = 1;
    if (length)
        snprintf(shown, 8, "%.*s", length, text);
    else if (*text == '\n' || *text == '\t')
        snprintf(shown, 8, "\\%c", *text == '\n' ? 'n' : 't');
    else
        snprintf(shown, 8, "\\x%02x", (unsigned char)*text);
    return length ? length : 1;
}

size_t tern_text_make_printable(const char *text, bool keeps_lines, char *ret_text, size_t room)
{
    size_t used = 0;
    while (*text) {
        char shown[8];
        text += show_character(text, keeps_lines, shown);
        size_t length = strlen(shown);
        if (used + length >= room)
            break;
        memcpy(ret_text + used, shown, length);
        used += length;
    }
    ret_text[used] = '\0';
    return used;
}

const char *tern_text_find_word(const char *list, const char *between, const char *word,
                                size_t length)
{
    for (size_t size; list && *list; list += size + strspn(list + size, between)) {
        size = strcspn(list, between);
        if (size == length && strncmp(list, word, length) == 0)
            return list;
    }
    return NULL;
}

static int least_of(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

/* Computes the optimal string alignment distance: insertions, deletions, substitutions, and swaps
 * of neighbours. */
int tern_text_distance(const char *a, const char *b)
{
    enum { MOST = 255 }; /* no name is longer: the rest of a longer word is ignored */
    int rows[3][MOST + 1];
    int a_length = (int)strnlen(a, MOST), b_length = (int)strnlen(b, MOST);
    int *before = rows[0], *previous = rows[1], *current = rows[2];

    for (int j = 0; j <= b_length; j++)
        previous[j] = j;
    for (int i = 1; i <= a_length; i++) {
        int x = tolower((unsigned char)a[i - 1]);
        current[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int y = tolower((unsigned char)b[j - 1]);
            current[j] = least_of(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < current[j])
                current[j] = before[j - 2] + 1;
        }
        int *spare = before;
        before = previous;
        previous = current;
        current = spare;
    }
    return previous[b_length];
}
