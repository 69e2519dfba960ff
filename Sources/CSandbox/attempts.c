#define _GNU_SOURCE
#include "CSandbox.h"

#ifdef DEBUG
#include <fcntl.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void try_read(int file) {
    char byte;
    (void)!read(file, &byte, 1);
}

static void try_execve(void) {
    char *const none[] = {NULL};
    execve("/bin/true", none, none);
}

static void try_connect(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(80)};
    connect(SANDBOX_INPUT, (struct sockaddr *)&address, sizeof address);
}

static void try_executable_memory(void) {
    (void)!mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void try_making_memory_executable(void) {
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static void try_limit(void) {
    struct rlimit limit = {.rlim_cur = 0, .rlim_max = 0};
    setrlimit(RLIMIT_CORE, &limit);
}

bool sandbox_try_forbidden(int number) {
    switch (number) {
    case 0: syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY); break;
    case 1: socket(AF_INET, SOCK_STREAM, 0); break;
    case 2: try_connect(); break;
    case 3: try_execve(); break;
    case 4: try_executable_memory(); break;
    case 5: try_making_memory_executable(); break;
    case 6: try_limit(); break;
    case 7: kill(1, 0); break;
    case 8: syscall(SYS_tgkill, 1, 1, 0); break;
    case 9: ptrace(PTRACE_TRACEME, 0, NULL, NULL); break;
    case 10: syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL); break;
    case 11: prctl(PR_SET_PDEATHSIG, 0); break;
    case 12: syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0L); break;
    case 13: try_read(SANDBOX_REASON); break;
    case 14: (void)!write(SANDBOX_INPUT, "x", 1); break;
    case 15: dup(SANDBOX_INPUT); break;
    case 16: unlink("/nonexistent"); break;
    case 17: {
        struct stat status;
        stat("/etc/passwd", &status);
        break;
    }
    case 18: getppid(); break;
    case 19: syscall(SYS_process_vm_readv, 1, NULL, 0L, NULL, 0L, 0L); break;
    case 20: syscall(SYS_memfd_create, "x", 0); break;
    case 21: (void)!write(SANDBOX_OUTPUT + 1, "x", 1); break;
    case 22: (void)!mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, SANDBOX_INPUT, 0); break;
    default: return false;
    }
    return true;
}
#else
bool sandbox_try_forbidden(int number) {
    (void)number;
    return false;
}
#endif
