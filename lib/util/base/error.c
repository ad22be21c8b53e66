/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int class;
    const char *text;
} table[] = {
#define TERN_ERROR_ROW(name, class, text) {class, text},
    TERN_ERRORS(TERN_ERROR_ROW)
#undef TERN_ERROR_ROW
};

static __thread struct {
    int code;
    char text[1024];
} recorded;

static int row_of(int code)
{
    int row = code - TERN_ERROR_BASE - 1;
    return row >= 0 && row < (int)(sizeof table / sizeof *table) ? row : -1;
}

static void record(int code, const char *format, va_list args, const char *more)
{
    /* not into `recorded`: an argument may be the text recorded before */
    char text[sizeof recorded.text];
    int length = vsnprintf(text, sizeof text, format, args);
    if (length >= 0 && (size_t)length < sizeof text)
        snprintf(text + length, sizeof text - (size_t)length, "%s", more);
    memcpy(recorded.text, text, sizeof text);
    recorded.code = code;
}

int tern_error(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(code, format, args, "");
    va_end(args);
    return code;
}

int tern_error_index(int code, int64_t count, const char *format, ...)
{
    char expected[40] = "; there is none";
    if (count == 1)
        snprintf(expected, sizeof expected, "; expected 0");
    else if (count > 1)
        snprintf(expected, sizeof expected, "; expected 0 to %lld", (long long)count - 1);
    va_list args;
    va_start(args, format);
    record(code, format, args, expected);
    va_end(args);
    return code;
}

bool tern_error_recorded(int code)
{
    return code && recorded.code == code;
}

const char *tern_error_text(int code)
{
    if (tern_error_recorded(code))
        return recorded.text;
    int row = row_of(code);
    return row < 0 ? "unknown error" : table[row].text;
}

void tern_error_clear(void)
{
    recorded.code = 0;
}

int tern_error_class(int code)
{
    if (code >= 0)
        return code;
    int row = row_of(code);
    return table[row < 0 ? row_of(TERN_ERR_UNKNOWN) : row].class;
}
