/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The handler runs in a process whose memory may be damaged and whose locks may be held. So it
 * calls system calls, the unwinder, and functions here and in lib/util/debug/symbol.h, all of which
 * are async-signal-safe. The unwinder finds the tables of a function without a lock
 * (_dl_find_object); it is part of this library, because loading one is not safe in a handler.
 *
 * The text grows step by step: signal and address, then the bare addresses of the calls, then their
 * names. If a step crashes itself, what stands there is sent.
 */
#include "lib/rte/crash.h"

#include "lib/rte/report.h"
#include "lib/rte/rte.h"
#include "lib/util/base/handle.h"
#include "lib/settings/param.h"
#include "lib/util/debug/symbol.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum { FRAMES_MOST = 64, SHOWN_MOST = 24, STACK_BYTES = 128 << 10, NEAR_STACK = 64 << 10 };

static const struct {
    int number;
    const char *name, *meaning;
} signals[] = {
    {SIGSEGV, "SIGSEGV", "Segmentation fault"},
    {SIGBUS, "SIGBUS", "Bus error"},
    {SIGFPE, "SIGFPE", "Floating point exception"},
    {SIGILL, "SIGILL", "Illegal instruction"},
    {SIGABRT, "SIGABRT", "Aborted"},
};
enum { SIGNALS = sizeof signals / sizeof *signals };

/* the process that called tern_crash_watch; a child made by fork is another */
static pid_t watched;
/* what libgfortran had installed for SIGSEGV; sa_handler is SIG_DFL if there was nothing */
static struct sigaction of_fortran;

/* The report of the thread that crashed first. */
static struct {
    _Atomic int thread; /* its id; 0: nothing has crashed */
    _Atomic bool given_up;
    siginfo_t info;
    char text[TERN_CARD_MOST];
    size_t used;
    size_t end_of_name; /* length of what names this process */
    size_t end_of_head; /* length of the text without the calls */
    uint64_t start;     /* address where the walk over the calls begins; 0: unknown */
    bool is_return;     /* `start` is a return address */
    bool started;       /* the unwinder has come to `start` */
    struct tern_symbol frames[FRAMES_MOST];
    int frame_count;
} crash;

/* ---- text ---- */

static void put(const char *text)
{
    size_t length = strlen(text), left = sizeof crash.text - 1 - crash.used;
    if (length > left)
        length = left;
    memcpy(crash.text + crash.used, text, length);
    crash.used += length;
}

static void put_digits(uint64_t number, unsigned base)
{
    char digits[24], *at = digits + sizeof digits - 1;
    *at = '\0';
    do
        *--at = "0123456789abcdef"[number % base];
    while (number /= base);
    put(at);
}

static void put_number(uint64_t number)
{
    put_digits(number, 10);
}

static void put_address(uint64_t address)
{
    put("0x");
    put_digits(address, 16);
}

/* ---- what happened ---- */

/* What the processor's registers tell. Members are 0 if this machine's are not known here. */
struct registers {
    uint64_t instruction, stack;
    const char *access; /* "reading", "writing", "executing"; NULL: unknown */
};

static const char executing[] = "executing";

static struct registers read_registers(const ucontext_t *context)
{
    struct registers registers = {0};
#if defined(__x86_64__)
    enum { ERROR_WRITES = 2, ERROR_FETCHES = 16 };
    const greg_t *values = context->uc_mcontext.gregs;
    registers.instruction = (uint64_t)values[REG_RIP];
    registers.stack = (uint64_t)values[REG_RSP];
    registers.access = values[REG_ERR] & ERROR_FETCHES  ? executing
                       : values[REG_ERR] & ERROR_WRITES ? "writing"
                                                        : "reading";
#elif defined(__aarch64__)
    registers.instruction = context->uc_mcontext.pc;
    registers.stack = context->uc_mcontext.sp;
#else
    (void)context;
#endif
    return registers;
}

bool (*tern_crash_may_be_device)(void);

/* Returns true if the byte at `address` can be read; false also if the system does not tell. */
static bool is_readable(uint64_t address)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)address, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

/* Returns true if the stack is probably full: the address is near the stack pointer, and below it,
 * or the stack pointer is outside the stack, too. (Other memory may lie just above a thread's
 * stack.) */
static bool is_near_stack(uint64_t address, const struct registers *registers)
{
    return registers->stack && address - (registers->stack - NEAR_STACK) < 2 * NEAR_STACK &&
           (address < registers->stack || !is_readable(registers->stack));
}

static void describe_memory_fault(const siginfo_t *info, const struct registers *registers)
{
    uint64_t address = (uintptr_t)info->si_addr;
    if (info->si_code == SI_KERNEL) {
        put(": an address that no program can have");
        return;
    }
    put(": ");
    put(registers->access ? registers->access : "using");
    put(" address ");
    put_address(address);
    if (info->si_signo == SIGBUS)
        put(info->si_code == BUS_ADRALN   ? ", which is not aligned"
            : info->si_code == BUS_ADRERR ? ", which has no memory behind it (a file that was cut, "
                                            "or a full file system?)"
                                          : ", whose memory is damaged");
    else if (is_near_stack(address, registers))
        put(": the stack is full (endless recursion? else raise ulimit -s)");
    else if (tern_crash_may_be_device && tern_crash_may_be_device())
        put(", which the processor cannot touch: is it device memory, or was it, and was freed?");
    else
        put(info->si_code == SEGV_ACCERR ? ", which is protected" : ", where there is no memory");
}

static void describe_arithmetic(const siginfo_t *info)
{
    static const struct {
        int code;
        const char *words;
    } faults[] = {
        {FPE_INTDIV, ": an integer was divided by zero"},
        {FPE_INTOVF, ": an integer overflowed"},
        {FPE_FLTDIV, ": a floating point number was divided by zero"},
        {FPE_FLTOVF, ": a floating point number overflowed"},
        {FPE_FLTUND, ": a floating point number underflowed"},
        {FPE_FLTRES, ": a floating point result is not exact"},
        {FPE_FLTINV, ": an invalid floating point operation"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (faults[i].code == info->si_code)
            put(faults[i].words);
    put(", at address ");
    put_address((uintptr_t)info->si_addr);
}

/* Describes a signal that a process has sent, and no instruction has caused. */
static void describe_sender(const siginfo_t *info)
{
    if (info->si_pid == getpid()) {
        put(info->si_signo == SIGABRT ? ": the program called abort"
                                      : ": the program raised it itself");
        return;
    }
    put(": process ");
    put_number((uint64_t)info->si_pid);
    put(" sent it");
}

static void describe(const siginfo_t *info, const struct registers *registers)
{
    for (int i = 0; i < SIGNALS; i++) {
        if (signals[i].number != info->si_signo)
            continue;
        put("signal ");
        put_number((uint64_t)info->si_signo);
        put(" (");
        put(signals[i].name);
        put(", ");
        put(signals[i].meaning);
        put(")");
    }
    if (info->si_code <= 0)
        describe_sender(info);
    else if (info->si_signo == SIGSEGV || info->si_signo == SIGBUS)
        describe_memory_fault(info, registers);
    else if (info->si_signo == SIGFPE)
        describe_arithmetic(info);
    else {
        put(" at address ");
        put_address((uintptr_t)info->si_addr);
    }
}

/* ---- the calls ---- */

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *unused)
{
    (void)unused;
    int before = 0;
    uint64_t address = _Unwind_GetIPInfo(context, &before);
    if (!address || crash.frame_count == FRAMES_MOST)
        return _URC_END_OF_STACK;
    bool first = !crash.started && (!crash.start || address == crash.start);
    crash.started |= first;
    /* a return address is behind the call, maybe in the next function */
    bool behind = !before || (first && crash.is_return);
    if (crash.started)
        crash.frames[crash.frame_count++].address = address - behind;
    return _URC_NO_REASON;
}

/* Collects the calls after a jump to an address where there is no code. The unwinder would read
 * that address, so the walk begins at the caller. The registers get their values back, because the
 * instruction is to crash again. */
static void collect_frames_of_jump(ucontext_t *context)
{
#if defined(__x86_64__)
    greg_t *registers = context->uc_mcontext.gregs, jumped = registers[REG_RIP];
    crash.frames[crash.frame_count++].address = crash.start;
    crash.start = *(const uint64_t *)registers[REG_RSP];
    crash.is_return = true;
    registers[REG_RIP] = (greg_t)crash.start;
    registers[REG_RSP] += sizeof(uint64_t);
    _Unwind_Backtrace(take_frame, NULL);
    registers[REG_RIP] = jumped;
    registers[REG_RSP] -= sizeof(uint64_t);
#else
    (void)context;
#endif
}

static bool same_place(const struct tern_symbol *a, const struct tern_symbol *b)
{
    return *a->function && strcmp(a->function, b->function) == 0 && a->line == b->line &&
           strcmp(a->file, b->file) == 0;
}

static void put_number_of_frame(int number)
{
    put("\n    ");
    put(number < 10 ? " " : "");
    put_number((uint64_t)number);
    put("  ");
}

static void put_frame(const struct tern_symbol *frame)
{
    if (*frame->function)
        put(frame->function);
    else
        put_address(frame->address);
    if (frame->line) {
        put(" at ");
        put(frame->file);
        put(":");
        put_number(frame->line);
    }
    if (*frame->module) {
        put(" (");
        put(frame->module);
        if (!frame->line) {
            put("+");
            put_address(frame->offset);
        }
        put(")");
    }
}

/* Writes the calls behind the head of the text, in place of what stands there. */
static void put_frames(void)
{
    crash.used = crash.end_of_head;
    int i = 0, last, lines = 0;
    for (; i < crash.frame_count && lines < SHOWN_MOST; i = last + 1, lines++) {
        for (last = i; last + 1 < crash.frame_count; last++)
            if (!same_place(&crash.frames[i], &crash.frames[last + 1]))
                break;
        put_number_of_frame(i);
        put_frame(&crash.frames[i]);
        if (last > i) {
            put(", and ");
            put_number((uint64_t)(last - i));
            put(" more calls of the same");
        }
    }
    if (i < crash.frame_count || i == FRAMES_MOST)
        put("\n     ... and more");
}

/* ---- the handler ---- */

/* Sends what the text has so far to the launcher, or writes it on standard error. */
static void send_report(void)
{
    size_t own = crash.end_of_name;
    if (tern_report_crash(crash.info.si_signo, crash.text + own, crash.used - own))
        return;
    put("\n");
    for (size_t done = 0; done < crash.used;) {
        ssize_t n = write(STDERR_FILENO, crash.text + done, crash.used - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return;
        done += (size_t)n;
    }
}

/* Writes how this process calls itself where no launcher names it. */
static void put_name(void)
{
    put("tern: rank ");
    put_number(tern_rte.rank);
    put(" (pid ");
    put_number((uint64_t)getpid());
    put(" on host ");
    put(tern_rte.host);
    put("): ");
    crash.end_of_name = crash.used;
}

static void report(ucontext_t *context)
{
    struct registers registers = read_registers(context);
    put_name();
    describe(&crash.info, &registers);
    crash.end_of_head = crash.used;
    crash.start = registers.instruction;
    if (crash.info.si_signo == SIGSEGV && registers.access == executing)
        collect_frames_of_jump(context);
    else
        _Unwind_Backtrace(take_frame, NULL);
    put_frames();
    tern_symbols_find(0, crash.frames, crash.frame_count);
    put_frames();
    send_report();
}

/* Lets the signal do what it would have done without us. A fault of an instruction comes again when
 * the instruction is executed again, so that the core file tells of it. Another signal is sent
 * again, and arrives when the handler returns. */
static void end_as_before(const siginfo_t *info)
{
    sigset_t set;
    bool comes_again = info->si_code > 0 && info->si_signo != SIGABRT &&
                       !(info->si_signo == SIGBUS && info->si_code == BUS_MCEERR_AO);
    signal(info->si_signo, SIG_DFL);
    if (comes_again)
        return;
    sigemptyset(&set);
    sigaddset(&set, info->si_signo);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), info->si_signo);
}

/* The report itself has crashed: sends what there is of it. */
static _Noreturn void give_up(int number)
{
    if (!atomic_exchange(&crash.given_up, true)) {
        crash.used = crash.used > crash.end_of_head ? crash.used : crash.end_of_head;
        send_report();
    }
    signal(number, SIG_DFL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
    _exit(128 + number);
}

/* Another thread reports its crash, and ends the process then. */
static void wait_for_other(void)
{
    enum { STEP_NS = 100 * 1000 * 1000, STEPS = 100 };
    for (int i = 0; i < STEPS; i++)
        nanosleep(&(struct timespec){.tv_nsec = STEP_NS}, NULL);
}

/* Gives SIGSEGV back to libgfortran, whose handler then prints its backtrace: the instruction is
 * executed again, or the signal is sent again. */
static void leave_to_fortran(const siginfo_t *info)
{
    sigaction(SIGSEGV, &of_fortran, NULL);
    if (info->si_code <= 0)
        syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSEGV);
}

/* Goes on where lib/util/base/handle.h says, if the instruction has read a handle that points to no
 * memory. Returns false if it has not. */
static bool go_on(const siginfo_t *info, ucontext_t *context)
{
#if defined(__x86_64__)
    greg_t *instruction = &context->uc_mcontext.gregs[REG_RIP];
    bool memory = info->si_code > 0 && (info->si_signo == SIGSEGV || info->si_signo == SIGBUS);
    uintptr_t landing = memory ? tern_handle_landing((uintptr_t)*instruction) : 0;
    if (landing)
        *instruction = (greg_t)landing;
    return landing;
#else
    (void)info, (void)context;
    return false;
#endif
}

static void crashed(int number, siginfo_t *info, void *context)
{
    if (go_on(info, context))
        return;
    int saved_errno = errno, nobody = 0, self = (int)syscall(SYS_gettid);
    if (number == SIGSEGV && of_fortran.sa_handler != SIG_DFL && !atomic_load(&crash.thread)) {
        struct registers registers = read_registers(context);
        if (info->si_code <= 0 || !is_near_stack((uintptr_t)info->si_addr, &registers)) {
            leave_to_fortran(info);
            errno = saved_errno;
            return;
        }
    }
    if (getpid() == watched) {
        if (atomic_compare_exchange_strong(&crash.thread, &nobody, self)) {
            crash.info = *info;
            report(context);
        } else if (nobody == self) {
            give_up(number);
        } else {
            wait_for_other();
        }
    }
    end_as_before(info);
    errno = saved_errno;
}

/* ---- installing ---- */

/* Gives this thread a stack for handlers, for the case that its own is full. If it has one, or
 * there is no memory, nothing changes. */
static void make_stack(void)
{
    stack_t present;
    if (sigaltstack(NULL, &present) != 0 || !(present.ss_flags & SS_DISABLE))
        return;
    void *bytes = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (bytes != MAP_FAILED)
        sigaltstack(&(stack_t){.ss_sp = bytes, .ss_size = STACK_BYTES}, NULL);
}

/* Returns true if the parameter opal_signal, a list such as "6,11", has the signal. */
static bool is_listed(int number)
{
    const char *at = tern_param_string("opal_signal");
    while (at && *at) {
        char *end;
        if (strtol(at, &end, 10) == number && end > at)
            return true;
        at += strcspn(at, ",");
        at += *at == ',';
    }
    return false;
}

/* Returns true if libgfortran has installed this handler for SIGSEGV. It cannot run when the stack
 * is full, because libgfortran gives it no stack of its own: then nobody would say why. */
static bool is_helpless(int number, const struct sigaction *present)
{
    Dl_info where;
    return number == SIGSEGV && !(present->sa_flags & (SA_ONSTACK | SA_SIGINFO)) &&
           present->sa_handler != SIG_IGN && dladdr((void *)present->sa_handler, &where) &&
           where.dli_fname && strstr(where.dli_fname, "libgfortran");
}

void tern_crash_watch(void)
{
    struct sigaction ours = {.sa_sigaction = crashed,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    if (!tern_param_bool("crash_report"))
        return;
    watched = getpid();
    make_stack();
    for (int i = 0; i < SIGNALS; i++) {
        struct sigaction present;
        int number = signals[i].number;
        if (!is_listed(number) || sigaction(number, NULL, &present) != 0)
            continue;
        if (is_helpless(number, &present))
            of_fortran = present;
        else if ((present.sa_flags & SA_SIGINFO) || present.sa_handler != SIG_DFL)
            continue;
        sigaction(number, &ours, NULL);
    }
}
