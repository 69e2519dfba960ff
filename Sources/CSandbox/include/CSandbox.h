// What keeps a subverted renderer from doing harm. System calls and flags that Swift can't name are made here.
#ifndef SELFIE_SANDBOX_H
#define SELFIE_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

/// The descriptor of the picture.
#define SANDBOX_INPUT 0
/// A copy of descriptor 2. Itself, as 1, leads to /dev/null: libraries print to them.
#define SANDBOX_REASON 3
/// A copy of descriptor 1, for the result.
#define SANDBOX_OUTPUT 4

/// Prepares this process, before any library is opened.
///
/// It closes all descriptors from 3 on, empties the environment, dies with the thread that started it, dumps no core, has
/// a low priority and is the first to go when memory is short.
///
/// - Parameter parent: The process that started this one; 0 for any.
/// Returns whether all that matters worked.
bool sandbox_prepare(pid_t parent);

/// Allows only the system calls that decoding and encoding need, for all threads, until the process ends.
///
/// It may read from `SANDBOX_INPUT`, write to the other descriptors that it has, use memory that is not executable, and make
/// threads. Any other call kills the process with SIGSYS. libseccomp also forbids new privileges.
bool sandbox_close(void);

/// Makes a call that the sandbox forbids, by its number from 0 on, so that a test sees this process die.
///
/// Returns false when there is no such number. Only a debug build has any.
bool sandbox_try_forbidden(int number);

#endif
