#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

// What pthread_create of glibc asks for: a thread, never a process.
#define THREAD_FLAGS                                                                                                      \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_PARENT_SETTID | \
     CLONE_CHILD_CLEARTID)

// Calls that only use what the process has.
static const int harmless[] = {
    SCMP_SYS(brk),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(futex),
    SCMP_SYS(getpid),
    SCMP_SYS(getrandom),
    SCMP_SYS(gettid),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(madvise),
    SCMP_SYS(mremap),
    SCMP_SYS(munmap),
    SCMP_SYS(nanosleep),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rseq),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_yield),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(sigaltstack),
};

static bool allow(scmp_filter_ctx filter, int call) {
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0) == 0;
}

/// Allows a call if one argument has a value.
static bool allow_if(scmp_filter_ctx filter, int call, unsigned argument, scmp_datum_t value) {
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_CMP(argument, SCMP_CMP_EQ, value)) == 0;
}

/// Allows a call if a bit of one argument is not set.
static bool allow_without(scmp_filter_ctx filter, int call, unsigned argument, scmp_datum_t bit) {
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, bit, 0)) == 0;
}

static bool allow_files(scmp_filter_ctx filter) {
    // Not to the picture: its descriptor may be open for writing.
    for (int file = SANDBOX_INPUT + 1; file <= SANDBOX_OUTPUT; file++) {
        if (!allow_if(filter, SCMP_SYS(write), 0, (scmp_datum_t)file)) return false;
    }
    return allow_if(filter, SCMP_SYS(read), 0, SANDBOX_INPUT) && allow_if(filter, SCMP_SYS(pread64), 0, SANDBOX_INPUT);
}

static bool allow_memory(scmp_filter_ctx filter) {
    // Without MAP_SHARED, nothing can be written to the picture's file.
    return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, SCMP_CMP(2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                            SCMP_CMP(3, SCMP_CMP_MASKED_EQ, MAP_SHARED, 0)) == 0 &&
           allow_without(filter, SCMP_SYS(mprotect), 2, PROT_EXEC);
}

static bool allow_threads(scmp_filter_ctx filter) {
    return allow_if(filter, SCMP_SYS(clone), 0, THREAD_FLAGS) &&
           // Its flags lie in memory, which a filter can't read. glibc then calls clone.
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 &&
           allow_if(filter, SCMP_SYS(prctl), 0, PR_SET_NAME);
}

/// Allows abort, and asking for limits.
static bool allow_self(scmp_filter_ctx filter) {
    return allow_if(filter, SCMP_SYS(tgkill), 0, (scmp_datum_t)getpid()) && allow_if(filter, SCMP_SYS(prlimit64), 2, 0);
}

static bool load(scmp_filter_ctx filter) {
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        if (!allow(filter, harmless[i])) return false;
    }
    return seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) == 0 &&
           // libvips has threads by now.
           seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 && allow_files(filter) && allow_memory(filter) &&
           allow_threads(filter) && allow_self(filter) && seccomp_load(filter) == 0;
}

bool sandbox_close(void) {
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    if (filter == NULL) return false;
    bool is_loaded = load(filter);
    seccomp_release(filter);
    return is_loaded;
}
