// Starts a process that gets nothing of this one but two descriptors. The calls are extensions of glibc, which Swift does not
// see.
#ifndef SELFIE_SPAWN_H
#define SELFIE_SPAWN_H

#include <sys/types.h>

/// Starts a program with an empty environment, in a session of its own, with no signal blocked or ignored.
///
/// - Parameters:
///   - words: Its name and its arguments, with NULL behind them.
///   - input: What becomes its descriptor 0.
///   - output: What becomes its descriptor 1, not 0 here. Its descriptor 2 is /dev/null, and it has no others.
///   - process: The new process.
/// Returns 0, or the number of an error, also of `execve`.
int spawn_process(const char *program, char *const words[], int input, int output, pid_t *process);

/// Makes a pipe that no new program inherits, with both ends from 3 on, and an end for reading that never blocks.
///
/// Returns 0, or the number of an error.
int spawn_pipe(int *read_end, int *write_end);

#endif
