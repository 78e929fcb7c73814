/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence for the user travels with the status. */
#ifndef UR_ERROR_H
#define UR_ERROR_H

#include "base/memory.h"
#include "unrelu/unrelu.h"

/* Writes the sentence (err may be NULL) and returns status:
 *   return ur_fail(err, UNRELU_EFORMAT, "%s: row %zu has %zu columns, expected %zu", ...);
 * A sentence names an option in backquotes, never as a flag of the command line. */
unrelu_status ur_fail(unrelu_error *err, unrelu_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* the same about one cell of the data; row and column count from 1 on, 0: not one */
unrelu_status ur_fail_at(unrelu_error *err, unrelu_status status, size_t row, size_t column,
                         const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Leaves the function with the status of a call that failed. For functions whose memory ends with
 * their scope (base/arena.h), so that nothing is left to be done. */
#define UR_TRY(call)                                                                               \
    do {                                                                                           \
        unrelu_status ur_try_status = (call);                                                      \
        if (ur_try_status != UNRELU_OK)                                                            \
            return ur_try_status;                                                                  \
    } while (0)

/* "not enough memory: <wanted> bytes were wanted", and where the limit is in the way, which it is
 */
unrelu_status ur_fail_shortage(unrelu_error *err, ur_shortage why);
/* "not enough memory for <count> <what>", and the same, right after an allocation that failed */
unrelu_status ur_fail_memory(unrelu_error *err, size_t count, const char *what);

#endif
