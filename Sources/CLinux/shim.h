#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

/* System calls for which the C library has no function, or none that Swift can call. */

/* Opens a file for reading if that needs no disk: openat2(2). */
static inline int linux_open_cached(const char *path) {
    struct open_how how = { .flags = O_RDONLY | O_CLOEXEC, .resolve = RESOLVE_CACHED };
    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/* Reads a byte of a file if that needs no disk: preadv2(2), with RWF_NOWAIT. */
static inline int linux_read_cached(int file, unsigned long offset) {
    char byte;
    struct iovec part = { .iov_base = &byte, .iov_len = 1 };
    return (int)syscall(SYS_preadv2, file, &part, 1, offset, 0UL, 0x00000008);
}

/* Writes out what was printed: 0, or the number of an error, also of an earlier write. Swift can't read `stdout` safely. */
static inline int linux_flush_output(void) {
    if (fflush(stdout) != 0) return errno;
    return ferror(stdout) ? EIO : 0;
}

/* Names the calling thread, by 15 bytes at most (prctl(2), PR_SET_NAME). */
static inline void linux_name_thread(const char *name) {
    (void)prctl(PR_SET_NAME, name);
}
