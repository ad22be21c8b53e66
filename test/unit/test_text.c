/* SPDX-License-Identifier: BSD-3-Clause */
/* Text files, of which some never end, and words of others that a terminal must not obey. */

#include "lib/util/base/text.h"
#include "suite.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/test_text.XXXXXX", path[64];

static void make_directory(void)
{
    /* tests that share a process find the name of the last one here */
    memcpy(strrchr(directory, '.'), ".XXXXXX", sizeof ".XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/file", directory);
}

static void remove_directory(void)
{
    unlink(path);
    rmdir(directory);
}

static void write_file(const char *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, bytes, size), (int)size);
    close(fd);
}

/* A FIFO that this process keeps open and has written `text` to. */
static int open_fifo(const char *text)
{
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
    return fd;
}

static void is_read(const char *name, const char *wanted)
{
    const char *why = "";
    char *text = tern_read_text_within(name, 20, &why);
    ck_assert_msg(text != NULL, "%s", why);
    ck_assert_str_eq(text, wanted);
    free(text);
}

static void is_refused(const char *name, const char *wanted)
{
    const char *why;
    ck_assert_ptr_null(tern_read_text_within(name, 20, &why));
    ck_assert_str_eq(why, wanted);
}

START_TEST(files)
{
    write_file("", 0);
    is_read(path, "");
    write_file("one\ntwo", 7);
    is_read(path, "one\ntwo");
    enum { MANY = 300000 };
    char *many = malloc(MANY + 1);
    memset(many, 'x', MANY);
    many[MANY] = '\0';
    write_file(many, MANY);
    is_read(path, many);
    free(many);
    write_file("\xef\xbb\xbfmarked", 9);
    is_read(path, "marked");
    is_read("/dev/null", "");
    is_refused("/nowhere", "No such file or directory");
    is_refused("/", "Is a directory");
    write_file("a\0b", 3);
    is_refused(path, "it is not a text file: it contains a zero byte");
    is_refused("/dev/zero", "it is not a text file: it contains a zero byte");
}
END_TEST

START_TEST(endless)
{
    static char piece[1 << 16];
    char name[64];
    int ends[2];
    memset(piece, 'x', sizeof piece);
    ck_assert_int_eq(pipe(ends), 0);
    pid_t writer = fork();
    if (writer == 0) {
        close(ends[0]);
        while (write(ends[1], piece, sizeof piece) > 0)
            ;
        _exit(0);
    }
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]); /* as a shell's <(yes) */
    const char *why;
    ck_assert_ptr_null(tern_read_text(name, &why));
    ck_assert_str_eq(why, "it is longer than 64 MiB");
    close(ends[0]);
    waitpid(writer, NULL, 0);
}
END_TEST

START_TEST(pipes)
{
    int fd = open_fifo("some\n");
    is_refused(path, "it is open for writing, but no data arrive"); /* it has read what was there */
    ck_assert_int_eq(write(fd, "more\n", 5), 5);
    char name[64];
    int reader = open(path, O_RDONLY);
    close(fd);
    snprintf(name, sizeof name, "/dev/fd/%d", reader); /* as a shell's <(...) */
    is_read(name, "more\n");
    close(reader);
    is_refused(path, "it is a FIFO, and nobody writes to it");
}
END_TEST

static const struct {
    const char *text, *lines, *line;
} shown[] = {
    {"", "", ""},
    {"plain \\ text", "plain \\ text", "plain \\ text"},
    {"one\ntwo", "one\\ntwo", "one\\ntwo"},
    {"one\n    two\n", "one\n    two\\n", "one\\n    two\\n"},
    {"\x1b[31mred\x1b]0;title\a", "\\x1b[31mred\\x1b]0;title\\x07",
     "\\x1b[31mred\\x1b]0;title\\x07"},
    {"a\tb\rc\x7f", "a\\tb\\x0dc\\x7f", "a\\tb\\x0dc\\x7f"},
    {"Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x8c\x8a", "Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x8c\x8a",
     "Z\xc3\xbcrich \xe2\x82\xac \xf0\x9f\x8c\x8a"},
    {"\xc2\x9b"
     "31m",
     "\\xc2\\x9b31m", "\\xc2\\x9b31m"}, /* the same command in one character */
    {"\x9b"
     "31m",
     "\\x9b31m", "\\x9b31m"}, /* and in one byte */
    {"\xe2\x80\xae"
     "abc",
     "\\xe2\\x80\\xaeabc", "\\xe2\\x80\\xaeabc"}, /* from right to left */
    {"\xc0\x8a\xe0\x80\x8a", "\\xc0\\x8a\\xe0\\x80\\x8a",
     "\\xc0\\x8a\\xe0\\x80\\x8a"}, /* a line break, written too long */
    {"\xed\xa0\x80 \xf5\x80\x80\x80 \xe2\x82", "\\xed\\xa0\\x80 \\xf5\\x80\\x80\\x80 \\xe2\\x82",
     "\\xed\\xa0\\x80 \\xf5\\x80\\x80\\x80 \\xe2\\x82"},
};

START_TEST(printable)
{
    char text[100];
    size_t length = tern_text_make_printable(shown[_i].text, true, text, sizeof text);
    ck_assert_str_eq(text, shown[_i].lines);
    ck_assert_uint_eq(length, strlen(text));
    tern_text_make_printable(shown[_i].text, false, text, sizeof text);
    ck_assert_str_eq(text, shown[_i].line);
}
END_TEST

START_TEST(cut_off)
{
    char text[8];
    ck_assert_uint_eq(tern_text_make_printable("abcdef\x1b", false, text, sizeof text), 6);
    ck_assert_str_eq(text, "abcdef");
    ck_assert_uint_eq(tern_text_make_printable("abcdefgh", false, text, sizeof text), 7);
    ck_assert_str_eq(text, "abcdefg");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *tcase = suite_case(suite, "files");
    tcase_add_checked_fixture(tcase, make_directory, remove_directory);
    tcase_add_test(tcase, files);
    tcase_add_test(tcase, endless);
    tcase_add_test(tcase, pipes);
    tcase = suite_case(suite, "printable");
    tcase_add_loop_test(tcase, printable, 0, sizeof shown / sizeof *shown);
    tcase_add_test(tcase, cut_off);
    return suite_run(suite);
}
