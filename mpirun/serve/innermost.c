/* SPDX-License-Identifier: BSD-3-Clause */
/* The child may call only what is async-signal-safe, because this process has threads. */
#include "mpirun/serve/innermost.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/util/debug/symbol.h"
#include "mpirun/base/descriptors.h"
#include "mpirun/base/loop.h"

enum { PATIENCE_MS = 1000 };

/* What the child writes for each process: the innermost function, and its caller if the function
 * only makes a system call. */
struct finding {
    int32_t index;
    struct tern_symbol symbols[2];
};

static struct {
    pid_t child;
    struct tern_watch pipe;
    struct tern_timer timer;
    void (*told)(char (*texts)[TERN_INNERMOST_TEXT]);
    char texts[TERN_INNERMOST_MOST][TERN_INNERMOST_TEXT];
} search;

/* ---- in the child ---- */

/* Reads the address of the instruction that a stopped process executes next. If the process is in a
 * system call, also the address behind the call of the function that makes it; that function has
 * nothing on the stack but its return address. Addresses that are not found stay 0. */
static void read_addresses(pid_t pid, uint64_t *ret_address, uint64_t *ret_caller)
{
    struct user_regs_struct registers;
    struct iovec part = {&registers, sizeof registers};
    if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &part) < 0)
        return;
#if defined(__x86_64__)
    enum { SYSCALL_INSTRUCTION = 0x050f };
    *ret_address = registers.rip;
    long before = ptrace(PTRACE_PEEKTEXT, pid, (void *)(registers.rip - 2), NULL);
    if ((before & 0xffff) == SYSCALL_INSTRUCTION)
        *ret_caller = (uint64_t)ptrace(PTRACE_PEEKDATA, pid, (void *)registers.rsp, NULL);
#elif defined(__aarch64__)
    (void)ret_caller;
    *ret_address = registers.pc;
#endif
}

/* Stops the process, reads the address, and lets it go on. A signal that has arrived meanwhile is
 * delivered. */
static void stop_and_read(pid_t pid, uint64_t *ret_address, uint64_t *ret_caller)
{
    int status;
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0 || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0)
        return;
    while (waitpid(pid, &status, __WALL) < 0)
        if (errno != EINTR)
            return;
    if (!WIFSTOPPED(status))
        return;
    read_addresses(pid, ret_address, ret_caller);
    int number = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
    ptrace(PTRACE_DETACH, pid, NULL, (void *)(intptr_t)number);
}

static _Noreturn void be_child(int out, const pid_t *pids, int count, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, 3);
    tern_descriptors_close(4);
    for (int i = 0; i < count && getppid() == parent; i++) {
        struct finding finding = {.index = i};
        stop_and_read(pids[i], &finding.symbols[0].address, &finding.symbols[1].address);
        if (!finding.symbols[0].address)
            continue;
        tern_symbols_find(pids[i], finding.symbols, 2);
        if (write(3, &finding, sizeof finding) < 0)
            break;
    }
    _exit(0);
}

/* ---- in mpirun or an agent ---- */

static void name_symbol(const struct tern_symbol *symbol, char *text, size_t room)
{
    if (!*symbol->function)
        snprintf(text, room, "%.40s+0x%llx", symbol->module, (unsigned long long)symbol->offset);
    else if (symbol->line)
        snprintf(text, room, "%.40s at %.30s:%u (%.30s)", symbol->function, symbol->file,
                 symbol->line, symbol->module);
    else
        snprintf(text, room, "%.40s (%.40s)", symbol->function, symbol->module);
}

static void take_finding(const struct finding *finding)
{
    const struct tern_symbol *own = &finding->symbols[0], *caller = &finding->symbols[1];
    char text[TERN_INNERMOST_TEXT], behind[TERN_INNERMOST_TEXT] = "";
    if (finding->index < 0 || finding->index >= TERN_INNERMOST_MOST || !*own->module)
        return;
    name_symbol(own, text, sizeof text);
    if (*caller->function) {
        name_symbol(caller, behind, sizeof behind);
        snprintf(text, sizeof text, "%.40s", own->function);
    }
    snprintf(search.texts[finding->index], TERN_INNERMOST_TEXT, "%.70s%s%.90s", text,
             *behind ? ", called by " : "", behind);
}

static void finish(void)
{
    tern_loop_stop_timer(&search.timer);
    tern_loop_watch(&search.pipe, 0);
    close(search.pipe.fd);
    kill(search.child, SIGKILL);
    waitpid(search.child, NULL, 0);
    search.child = 0;
    search.told(search.texts);
}

static void pipe_ready(struct tern_watch *watch, uint32_t events)
{
    struct finding finding;
    ssize_t n;
    (void)events;
    while ((n = read(watch->fd, &finding, sizeof finding)) == sizeof finding)
        take_finding(&finding);
    if (n == 0)
        finish();
}

static void timer_expired(struct tern_timer *timer)
{
    (void)timer;
    finish();
}

void tern_innermost_find(const pid_t *pids, int count,
                         void (*told)(char (*texts)[TERN_INNERMOST_TEXT]))
{
    int ends[2];
    pid_t parent = getpid();
    memset(search.texts, 0, sizeof search.texts);
    if (count <= 0 || search.child || pipe2(ends, O_CLOEXEC) < 0) {
        told(search.texts);
        return;
    }
    search.told = told;
    search.timer.expired = timer_expired;
    search.child = fork();
    if (search.child == 0)
        be_child(ends[1], pids, count, parent);
    close(ends[1]);
    tern_loop_never_wait(ends[0]);
    search.pipe = (struct tern_watch){.fd = ends[0], .ready = pipe_ready};
    if (search.child < 0 || tern_loop_watch(&search.pipe, EPOLLIN) < 0) {
        close(ends[0]);
        if (search.child > 0) {
            kill(search.child, SIGKILL);
            waitpid(search.child, NULL, 0);
        }
        search.child = 0;
        told(search.texts);
        return;
    }
    tern_loop_set_timer(&search.timer, PATIENCE_MS);
}
