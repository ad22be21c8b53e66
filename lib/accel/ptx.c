/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/accel/ptx.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Columns: name; bytes of an element; of its value: bytes, type of a load and store, type of
 * arithmetic, type of a register. */
static const struct number {
    const char *name;
    int size, bytes;
    const char *memory, *math, *bits;
    /* of the second part of a complex number or a pair; NULL: it has one part only */
    const char *index_memory;
    bool complex;
} numbers[TERN_PTX_NUMBERS] = {
    [TERN_PTX_S8] = {"s8", 1, 1, "s8", "s32", "b32", NULL, false},
    [TERN_PTX_U8] = {"u8", 1, 1, "u8", "u32", "b32", NULL, false},
    [TERN_PTX_S16] = {"s16", 2, 2, "s16", "s32", "b32", NULL, false},
    [TERN_PTX_U16] = {"u16", 2, 2, "u16", "u32", "b32", NULL, false},
    [TERN_PTX_S32] = {"s32", 4, 4, "s32", "s32", "b32", NULL, false},
    [TERN_PTX_U32] = {"u32", 4, 4, "u32", "u32", "b32", NULL, false},
    [TERN_PTX_S64] = {"s64", 8, 8, "s64", "s64", "b64", NULL, false},
    [TERN_PTX_U64] = {"u64", 8, 8, "u64", "u64", "b64", NULL, false},
    [TERN_PTX_F32] = {"f32", 4, 4, "f32", "f32", "f32", NULL, false},
    [TERN_PTX_F64] = {"f64", 8, 8, "f64", "f64", "f64", NULL, false},
    [TERN_PTX_COMPLEX_F32] = {"complex_f32", 8, 4, "f32", "f32", "f32", "f32", true},
    [TERN_PTX_COMPLEX_F64] = {"complex_f64", 16, 8, "f64", "f64", "f64", "f64", true},
    [TERN_PTX_PAIR_F32_S32] = {"pair_f32_s32", 8, 4, "f32", "f32", "f32", "s32", false},
    [TERN_PTX_PAIR_F64_S32] = {"pair_f64_s32", 16, 8, "f64", "f64", "f64", "s32", false},
    [TERN_PTX_PAIR_S64_S32] = {"pair_s64_s32", 16, 8, "s64", "s64", "b64", "s32", false},
    [TERN_PTX_PAIR_S32_S32] = {"pair_s32_s32", 8, 4, "s32", "s32", "b32", "s32", false},
    [TERN_PTX_PAIR_S16_S32] = {"pair_s16_s32", 8, 4, "s16", "s32", "b32", "s32", false},
    [TERN_PTX_PAIR_F32_F32] = {"pair_f32_f32", 8, 4, "f32", "f32", "f32", "f32", false},
    [TERN_PTX_PAIR_F64_F64] = {"pair_f64_f64", 16, 8, "f64", "f64", "f64", "f64", false},
};

static const char *const op_names[TERN_PTX_OPS] = {
    "max", "min", "sum", "prod", "land", "band", "lor", "bor", "lxor", "bxor", "maxloc", "minloc",
};

struct text {
    char *at;
    size_t left;
};

static __attribute__((format(printf, 2, 3))) void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t length = (size_t)vsnprintf(text->at, text->left, format, arguments);
    va_end(arguments);
    length = length < text->left ? length : text->left - 1;
    text->at += length;
    text->left -= length;
}

/* Writes: %i = number of this thread, %step = number of threads, both 64 bits. */
static void number_threads(struct text *text)
{
    add(text, "mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.x;\n"
              "mul.wide.u32 %%i, %%r1, %%r2; cvt.u64.u32 %%d, %%r3; add.u64 %%i, %%i, %%d;\n"
              "mov.u32 %%r1, %%nctaid.x; mul.wide.u32 %%step, %%r1, %%r2;\n");
}

size_t tern_ptx_size(enum tern_ptx_number number)
{
    return (size_t)numbers[number].size;
}

bool tern_ptx_defined(enum tern_ptx_op op, enum tern_ptx_number number)
{
    bool loc = op == TERN_PTX_MAXLOC || op == TERN_PTX_MINLOC;
    if (number >= TERN_PTX_PAIR_F32_S32)
        return loc;
    if (number >= TERN_PTX_COMPLEX_F32)
        return op == TERN_PTX_SUM || op == TERN_PTX_PROD;
    return !loc && (op <= TERN_PTX_PROD || number < TERN_PTX_F32);
}

/* ---- reductions: %aK and %bK are the values of element K, %cK and %eK the second parts ---- */

static void load(struct text *text, const struct number *number, const char *pointer, char value,
                 char index, int k)
{
    add(text, "ld.global.%s %%%c%d, [%%%s%d];\n", number->memory, value, k, pointer, k);
    if (number->index_memory)
        add(text, "ld.global.%s %%%c%d, [%%%s%d+%d];\n", number->index_memory, index, k, pointer, k,
            number->bytes);
}

static void logical(struct text *text, const char *op, const struct number *number, int k)
{
    add(text,
        "setp.ne.%s %%p, %%a%d, 0; setp.ne.%s %%q, %%b%d, 0; %s.pred %%p, %%p, %%q;\n"
        "selp.%s %%b%d, 1, 0, %%p;\n",
        number->math, k, number->math, k, op, number->bits, k);
}

/* The left operand stays on ties and unordered values. */
static void choose(struct text *text, const char *relation, const struct number *number, int k)
{
    add(text, "setp.%s.%s %%p, %%b%d, %%a%d; selp.%s %%b%d, %%b%d, %%a%d, %%p;\n", relation,
        number->math, k, k, number->bits, k, k, k);
}

static void complex_product(struct text *text, const char *math, int k)
{
    add(text,
        "mul.rn.%s %%x, %%a%d, %%b%d; mul.rn.%s %%y, %%c%d, %%e%d; mul.rn.%s %%z, %%a%d, %%e%d;\n",
        math, k, k, math, k, k, math, k, k);
    add(text, "mul.rn.%s %%w, %%c%d, %%b%d; sub.rn.%s %%b%d, %%x, %%y;\n", math, k, k, math, k);
    add(text, "add.rn.%s %%e%d, %%z, %%w;\n", math, k);
}

static void combine(struct text *text, enum tern_ptx_op op, const struct number *number, int k)
{
    const char *math = number->math, *bits = number->bits, *round = math[0] == 'f' ? ".rn" : "";
    switch (op) {
    case TERN_PTX_MAX: choose(text, "gt", number, k); break;
    case TERN_PTX_MIN: choose(text, "lt", number, k); break;
    case TERN_PTX_SUM:
        add(text, "add%s.%s %%b%d, %%a%d, %%b%d;\n", round, math, k, k, k);
        if (number->complex)
            add(text, "add.rn.%s %%e%d, %%c%d, %%e%d;\n", math, k, k, k);
        break;
    case TERN_PTX_PROD:
        if (number->complex)
            complex_product(text, math, k);
        else
            add(text, "mul%s.%s %%b%d, %%a%d, %%b%d;\n", *round ? round : ".lo", math, k, k, k);
        break;
    case TERN_PTX_LAND: logical(text, "and", number, k); break;
    case TERN_PTX_LOR: logical(text, "or", number, k); break;
    case TERN_PTX_LXOR: logical(text, "xor", number, k); break;
    case TERN_PTX_BAND: add(text, "and.%s %%b%d, %%a%d, %%b%d;\n", bits, k, k, k); break;
    case TERN_PTX_BOR: add(text, "or.%s %%b%d, %%a%d, %%b%d;\n", bits, k, k, k); break;
    case TERN_PTX_BXOR: add(text, "xor.%s %%b%d, %%a%d, %%b%d;\n", bits, k, k, k); break;
    default: /* MAXLOC and MINLOC: for equal values the smaller index wins */
        add(text,
            "setp.%s.%s %%p, %%a%d, %%b%d; setp.eq.%s %%q, %%a%d, %%b%d; "
            "setp.lt.%s %%o, %%c%d, %%e%d;\n"
            "and.pred %%q, %%q, %%o; or.pred %%p, %%p, %%q;\n",
            op == TERN_PTX_MAXLOC ? "gt" : "lt", math, k, k, math, k, k, number->index_memory, k,
            k);
        add(text, "selp.%s %%b%d, %%a%d, %%b%d, %%p;\n", bits, k, k, k);
        add(text, "selp.%s %%e%d, %%c%d, %%e%d, %%p;\n",
            number->index_memory[0] == 'f' ? bits : "b32", k, k, k);
    }
}

static void store(struct text *text, const struct number *number, int k)
{
    add(text, "st.global.%s [%%to%d], %%b%d;\n", number->memory, k, k);
    if (number->index_memory)
        add(text, "st.global.%s [%%to%d+%d], %%e%d;\n", number->index_memory, k, number->bytes, k);
}

/* Writes the addresses of `count` pieces of `bytes` bytes, `%step` apart, from number %i on. */
static void locate(struct text *text, int bytes, int count)
{
    add(text, "mul.lo.u64 %%d, %%i, %d; add.u64 %%from0, %%in, %%d; add.u64 %%to0, %%inout, %%d;\n",
        bytes);
    for (int k = 1; k < count; k++)
        add(text, "add.u64 %%from%d, %%from%d, %%width; add.u64 %%to%d, %%to%d, %%width;\n", k,
            k - 1, k, k - 1);
}

/* Writes the work on `count` elements, `%step` apart, from number %i on. All loads come first. */
static void work(struct text *text, enum tern_ptx_op op, const struct number *number, int count)
{
    locate(text, number->size, count);
    for (int k = 0; k < count; k++) {
        load(text, number, "from", 'a', 'c', k);
        load(text, number, "to", 'b', 'e', k);
    }
    for (int k = 0; k < count; k++) {
        combine(text, op, number, k);
        store(text, number, k);
    }
}

/* Elements, or words of short elements, that a thread loads together, so that the memory has enough
 * to do. */
enum { TOGETHER = 4, WORD = 4 };

/* Writes the work on `count` words of elements shorter than a word, `%step` words apart, from word
 * %i on. */
static void work_on_words(struct text *text, enum tern_ptx_op op, const struct number *number,
                          int count)
{
    bool whole = op == TERN_PTX_BAND || op == TERN_PTX_BOR || op == TERN_PTX_BXOR;
    int bits = number->size * 8;
    locate(text, WORD, count);
    for (int k = 0; k < count; k++)
        add(text, "ld.global.b32 %%u%d, [%%from%d]; ld.global.b32 %%v%d, [%%to%d];\n", k, k, k, k);
    for (int k = 0; k < count; k++) {
        if (whole)
            add(text, "mov.b32 %%a0, %%u%d; mov.b32 %%b0, %%v%d;\n", k, k);
        for (int at = 0; at < 32; at += whole ? 32 : bits) {
            if (!whole)
                add(text, "bfe.%s %%a0, %%u%d, %d, %d; bfe.%s %%b0, %%v%d, %d, %d;\n",
                    number->math, k, at, bits, number->math, k, at, bits);
            combine(text, op, number, 0);
            if (!whole)
                add(text, "bfi.b32 %%v%d, %%b0, %%v%d, %d, %d;\n", k, k, at, bits);
        }
        add(text, "st.global.b32 [%%to%d], %%%s%d;\n", k, whole ? "b" : "v", whole ? 0 : k);
    }
}

/* Writes the loops over whole words. Afterwards %i is the first element of this thread that is in
 * none. Buffers that begin within a word are left to the loops over elements. */
static void write_words(struct text *text, enum tern_ptx_op op, const struct number *number)
{
    int each = WORD / number->size;
    add(text, ".reg .b32 %%u<%d>, %%v<%d>; .reg .b64 %%words, %%thread;\n", TOGETHER, TOGETHER);
    add(text,
        "or.b64 %%d, %%in, %%inout; and.b64 %%d, %%d, %d; setp.ne.u64 %%p, %%d, 0; @%%p bra SOME;\n"
        "mov.u64 %%thread, %%i; div.u64 %%words, %%n, %d; mul.lo.u64 %%width, %%step, %d;\n",
        WORD - 1, each, WORD);
    add(text, "WORDS: mul.lo.u64 %%d, %%step, %d; add.u64 %%d, %%d, %%i;\n"
              "setp.ge.u64 %%p, %%d, %%words; @%%p bra WORD;\n",
        TOGETHER - 1);
    work_on_words(text, op, number, TOGETHER);
    add(text, "mul.lo.u64 %%d, %%step, %d; add.u64 %%i, %%i, %%d; bra WORDS;\n", TOGETHER);
    add(text, "WORD: setp.ge.u64 %%p, %%i, %%words; @%%p bra REST;\n");
    work_on_words(text, op, number, 1);
    add(text, "add.u64 %%i, %%i, %%step; bra WORD;\n"
              "REST: mul.lo.u64 %%i, %%words, %d; add.u64 %%i, %%i, %%thread;\n"
              "mul.lo.u64 %%width, %%step, %d;\n",
        each, number->size);
}

static void write_reduce(struct text *text, enum tern_ptx_op op, const struct number *number)
{
    const char *index = !number->index_memory        ? "b32"
                        : number->index_memory[0] == 'f' ? number->bits
                                                         : "b32";
    add(text, ".param .u64 in, .param .u64 inout, .param .u64 count) {\n"
              ".reg .b32 %%r<4>; .reg .b64 %%i, %%d, %%step, %%width, %%in, %%inout, %%n, "
              "%%from<%d>, %%to<%d>; .reg .pred %%p, %%q, %%o;\n",
        TOGETHER, TOGETHER);
    add(text, ".reg .%s %%a<%d>, %%b<%d>, %%x, %%y, %%z, %%w; .reg .%s %%c<%d>, %%e<%d>;\n",
        number->bits, TOGETHER, TOGETHER, index, TOGETHER, TOGETHER);
    add(text, "ld.param.u64 %%in, [in]; ld.param.u64 %%inout, [inout]; ld.param.u64 %%n, [count];\n"
              "cvta.to.global.u64 %%in, %%in; cvta.to.global.u64 %%inout, %%inout;\n");
    number_threads(text);
    add(text, "mul.lo.u64 %%width, %%step, %d;\n", number->size);
    if (number->size < WORD)
        write_words(text, op, number);
    add(text, "SOME: mul.lo.u64 %%d, %%step, %d; add.u64 %%d, %%d, %%i;\n"
              "setp.ge.u64 %%p, %%d, %%n; @%%p bra ONE;\n",
        TOGETHER - 1);
    work(text, op, number, TOGETHER);
    add(text, "mul.lo.u64 %%d, %%step, %d; add.u64 %%i, %%i, %%d; bra SOME;\n", TOGETHER);
    add(text, "ONE: setp.ge.u64 %%p, %%i, %%n; @%%p bra END;\n");
    work(text, op, number, 1);
    add(text, "add.u64 %%i, %%i, %%step; bra ONE;\nEND: ret;\n}\n");
}

/* ---- packing ---- */

static void move_unit(struct text *text, const char *to, const char *from, int unit)
{
    if (unit == 16)
        add(text, "ld.global.v2.u64 {%%v, %%w}, [%%%s]; st.global.v2.u64 [%%%s], {%%v, %%w};\n",
            from, to);
    else
        add(text, "ld.global.u%d %%v, [%%%s]; st.global.u%d [%%%s], %%v;\n", unit * 8, from,
            unit * 8, to);
}

static void write_move(struct text *text, bool pack, int unit, int loops)
{
    add(text, ".param .u64 base, .param .u64 packed, .param .u32 first, .param .u32 count, "
               ".param .u32 per");
    for (int k = 0; k < TERN_PTX_LOOPS - 1; k++)
        add(text, ", .param .u32 count%d", k);
    for (int k = 0; k < TERN_PTX_LOOPS; k++)
        add(text, ", .param .u64 stride%d", k);
    add(text, ") {\n.reg .b32 %%r<4>, %%first, %%n, %%per, %%q, %%t, %%u, %%j, %%step32, "
               "%%count<%d>;\n"
               ".reg .b64 %%i, %%d, %%step, %%base, %%packed, %%at, %%out, %%v, %%w, %%stride<%d>; "
               ".reg .pred %%p;\n"
               "ld.param.u64 %%base, [base]; ld.param.u64 %%packed, [packed];\n"
               "cvta.to.global.u64 %%base, %%base; cvta.to.global.u64 %%packed, %%packed;\n"
               "ld.param.u32 %%first, [first]; ld.param.u32 %%n, [count]; ld.param.u32 %%per, "
               "[per];\n",
        TERN_PTX_LOOPS, TERN_PTX_LOOPS);
    for (int k = 0; k < loops - 1; k++)
        add(text, "ld.param.u32 %%count%d, [count%d];\n", k, k);
    for (int k = 0; k < loops; k++)
        add(text, "ld.param.u64 %%stride%d, [stride%d];\n", k, k);
    number_threads(text);
    add(text, "cvt.u32.u64 %%j, %%i; cvt.u32.u64 %%step32, %%step;\n"
               "NEXT: setp.ge.u32 %%p, %%j, %%n; @%%p bra END;\n"
               "add.u32 %%t, %%j, %%first; div.u32 %%q, %%t, %%per; mul.lo.u32 %%u, %%q, %%per;\n"
               "sub.u32 %%u, %%t, %%u; mul.wide.u32 %%at, %%u, %d; add.u64 %%at, %%at, %%base;\n",
        unit);
    for (int k = 0; k < loops - 1; k++)
        add(text,
            "div.u32 %%t, %%q, %%count%d; mul.lo.u32 %%u, %%t, %%count%d; sub.u32 %%u, %%q, %%u;\n"
            "cvt.u64.u32 %%d, %%u; mad.lo.u64 %%at, %%d, %%stride%d, %%at; mov.u32 %%q, %%t;\n",
            k, k, k);
    add(text,
        "cvt.u64.u32 %%d, %%q; mad.lo.u64 %%at, %%d, %%stride%d, %%at;\n"
        "mul.wide.u32 %%out, %%j, %d; add.u64 %%out, %%out, %%packed;\n",
        loops - 1, unit);
    move_unit(text, pack ? "out" : "at", pack ? "at" : "out", unit);
    add(text, "add.u32 %%j, %%j, %%step32; bra NEXT;\nEND: ret;\n}\n");
}

/* A group of 2^shift threads moves a run. */
static void write_runs(struct text *text, bool pack, int unit)
{
    add(text, ".param .u64 runs, .param .u64 packed, .param .u32 count, .param .u32 shift) {\n"
              ".reg .b32 %%r<4>, %%n, %%shift, %%run, %%groups, %%lane, %%u, %%width, %%bytes, "
              "%%offset;\n"
              ".reg .b64 %%i, %%d, %%step, %%runs, %%packed, %%base, %%at, %%to, %%out, %%v, %%w; "
              ".reg .pred %%p;\n"
              "ld.param.u64 %%runs, [runs]; ld.param.u64 %%packed, [packed];\n"
              "cvta.to.global.u64 %%runs, %%runs; cvta.to.global.u64 %%packed, %%packed;\n"
              "ld.param.u32 %%n, [count]; ld.param.u32 %%shift, [shift];\n");
    number_threads(text);
    add(text,
        "shr.u64 %%d, %%i, %%shift; cvt.u32.u64 %%run, %%d;\n"
        "shr.u64 %%d, %%step, %%shift; cvt.u32.u64 %%groups, %%d;\n"
        "cvt.u32.u64 %%lane, %%i; shl.b32 %%width, 1, %%shift; sub.u32 %%u, %%width, 1;\n"
        "and.b32 %%lane, %%lane, %%u; mul.lo.u32 %%lane, %%lane, %d; mul.lo.u32 %%width, %%width, "
        "%d;\n",
        unit, unit);
    add(text, "NEXT: setp.ge.u32 %%p, %%run, %%n; @%%p bra END;\n"
              "mul.wide.u32 %%d, %%run, %d; add.u64 %%d, %%d, %%runs;\n"
              "ld.global.u64 %%base, [%%d]; ld.global.v2.u32 {%%bytes, %%offset}, [%%d+8];\n"
              "cvta.to.global.u64 %%base, %%base; cvt.u64.u32 %%d, %%offset;\n"
              "add.u64 %%to, %%packed, %%d; mov.u32 %%u, %%lane;\n"
              "UNIT: setp.ge.u32 %%p, %%u, %%bytes; @%%p bra DONE;\n"
              "cvt.u64.u32 %%d, %%u; add.u64 %%at, %%base, %%d; add.u64 %%out, %%to, %%d;\n",
        (int)sizeof(struct tern_ptx_run));
    move_unit(text, pack ? "out" : "at", pack ? "at" : "out", unit);
    add(text, "add.u32 %%u, %%u, %%width; bra UNIT;\n"
              "DONE: add.u32 %%run, %%run, %%groups; bra NEXT;\nEND: ret;\n}\n");
}

void tern_ptx_name(char name[TERN_PTX_NAME], const struct tern_ptx_kernel *kernel)
{
    static const char *const moves[] = {[TERN_PTX_PACK] = "pack",
                                        [TERN_PTX_UNPACK] = "unpack",
                                        [TERN_PTX_GATHER] = "gather",
                                        [TERN_PTX_SCATTER] = "scatter"};
    if (kernel->kind == TERN_PTX_REDUCE)
        snprintf(name, TERN_PTX_NAME, "tern_%s_%s", op_names[kernel->op],
                 numbers[kernel->number].name);
    else if (kernel->kind == TERN_PTX_GATHER || kernel->kind == TERN_PTX_SCATTER)
        snprintf(name, TERN_PTX_NAME, "tern_%s_%d", moves[kernel->kind], kernel->unit);
    else
        snprintf(name, TERN_PTX_NAME, "tern_%s_%d_%d", moves[kernel->kind], kernel->unit,
                 kernel->loops);
}

void tern_ptx_write(char out[TERN_PTX_TEXT], const struct tern_ptx_kernel *kernel)
{
    struct text text = {out, TERN_PTX_TEXT};
    char name[TERN_PTX_NAME];
    tern_ptx_name(name, kernel);
    add(&text, ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry %s(", name);
    if (kernel->kind == TERN_PTX_REDUCE)
        write_reduce(&text, kernel->op, &numbers[kernel->number]);
    else if (kernel->kind == TERN_PTX_GATHER || kernel->kind == TERN_PTX_SCATTER)
        write_runs(&text, kernel->kind == TERN_PTX_GATHER, kernel->unit);
    else
        write_move(&text, kernel->kind == TERN_PTX_PACK, kernel->unit, kernel->loops);
}
