/* SPDX-License-Identifier: Apache-2.0 */
/* Under the sanitizers it counts which code runs, not how often or how well: what is measured over
 * many samples (rates, means, p-values) is measured in the plain build alone, and what is repeated
 * is repeated less. */
#ifndef SANITIZED_H
#define SANITIZED_H

#ifdef UNRELU_SANITIZED
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

/* the first line of a test of numbers alone, whose code other tests of its file run too */
#define skip_sanitized()                                                                           \
    do {                                                                                           \
        if (SANITIZED)                                                                             \
            skip();                                                                                \
    } while (0)

#endif
