#define _GNU_SOURCE
#include "CSpawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

static int set_descriptors(posix_spawn_file_actions_t *actions, int input, int output) {
    int code = posix_spawn_file_actions_adddup2(actions, input, 0);
    if (code == 0) code = posix_spawn_file_actions_adddup2(actions, output, 1);
    if (code == 0) code = posix_spawn_file_actions_addopen(actions, 2, "/dev/null", O_WRONLY, 0);
    if (code == 0) code = posix_spawn_file_actions_addclosefrom_np(actions, 3);
    return code;
}

static int set_signals(posix_spawnattr_t *attributes) {
    sigset_t none, every;
    sigemptyset(&none);
    sigfillset(&every);
    int code = posix_spawnattr_setsigmask(attributes, &none);
    if (code == 0) code = posix_spawnattr_setsigdefault(attributes, &every);
    // A terminal's Ctrl-C goes to this process alone.
    short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
    if (code == 0) code = posix_spawnattr_setflags(attributes, flags);
    return code;
}

int spawn_process(const char *program, char *const words[], int input, int output, pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char *const environment[] = {NULL};
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    code = posix_spawnattr_init(&attributes);
    if (code == 0) {
        code = set_descriptors(&actions, input, output);
        if (code == 0) code = set_signals(&attributes);
        if (code == 0) code = posix_spawn(process, program, &actions, &attributes, words, environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/// Moves a descriptor out of the way of the three standard ones.
static int above_standard(int file) {
    if (file > 2) return file;
    int moved = fcntl(file, F_DUPFD_CLOEXEC, 3);
    int code = errno;
    close(file);
    errno = code;
    return moved;
}

int spawn_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    int code = 0;
    for (int i = 0; i < 2; i++) {
        ends[i] = above_standard(ends[i]);
        if (ends[i] < 0) code = errno;
    }
    if (code == 0 && fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) code = errno;
    if (code != 0) {
        for (int i = 0; i < 2; i++) {
            if (ends[i] >= 0) close(ends[i]);
        }
        return code;
    }
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}
