#define _GNU_SOURCE
#include "CSandbox.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// From linux/ioprio.h, which old kernels' headers lack: the lowest priority that still gets turns.
enum { ioprio_who_process = 1, ioprio_lowest = 2 << 13 | 7 };
// The parent kills after ten seconds. This is for a parent that is stopped.
enum { max_cpu_seconds = 60 };

/// Dies with the thread that started this process.
static bool die_with(pid_t parent) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
    // It may have ended before.
    return parent == 0 || getppid() == parent;
}

/// Has libraries print into nothing, and keeps the ways to the caller.
static bool silence_libraries(void) {
    if (dup3(2, SANDBOX_REASON, O_CLOEXEC) < 0 || dup3(1, SANDBOX_OUTPUT, O_CLOEXEC) < 0) return false;
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing < 0) return false;
    bool is_silent = dup2(nothing, 1) == 1 && dup2(nothing, 2) == 2;
    close(nothing);
    // With a buffer, the first print would ask what kind of file it is.
    return is_silent && setvbuf(stdout, NULL, _IONBF, 0) == 0;
}

/// Undoes the handlers of Swift's runtime: to print where a crash was, they start another program.
static void crash_plainly(void) {
    for (int signal_number = 1; signal_number < NSIG; signal_number++) {
        if (signal_number != SIGKILL && signal_number != SIGSTOP) (void)signal(signal_number, SIG_DFL);
    }
}

static bool set_limit(__rlimit_resource_t resource, rlim_t value) {
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    return setrlimit(resource, &limit) == 0;
}

/// What the system may refuse without harm.
static void step_back(void) {
    (void)setpriority(PRIO_PROCESS, 0, 10);
    (void)syscall(SYS_ioprio_set, ioprio_who_process, 0, ioprio_lowest);
    int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    (void)!write(file, "1000", 4);
    close(file);
}

bool sandbox_prepare(pid_t parent) {
    if (!die_with(parent)) return false;
    closefrom(3);
    if (clearenv() != 0) return false;
    umask(077);
    if (!silence_libraries()) return false;
    if (!set_limit(RLIMIT_CORE, 0) || !set_limit(RLIMIT_CPU, max_cpu_seconds)) return false;
    // Each thread would have a heap of its own.
    (void)mallopt(M_ARENA_MAX, 1);
    crash_plainly();
    step_back();
    return true;
}
