/* SPDX-License-Identifier: Apache-2.0 */
/* The promises that test_numbers*.c measure, as rows of docs/numbers.md. */
#ifndef NUMBERS_H
#define NUMBERS_H

#include "planted.h"

static int failures;
static double share; /* of the runs */

static inline int runs_of(int full)
{
    int runs = (int)ceil(share * full);
    return runs < 2 ? 2 : runs;
}

static inline void row(const char *what, const char *metric, double value, double low, double high,
                       const char *note)
{
    int good = value >= low && value <= high;
    failures += !good;
    printf("| %s | %s | %.5g | %.5g .. %.5g | %s%s |\n", what, metric, value, low, high,
           good ? "yes" : "**no**", note);
    fflush(stdout);
}

/* --full: all runs; else the share */
static inline int numbers_begin(int argc, char **argv, double part, const char *title)
{
    int full = argc > 1 && strcmp(argv[1], "--full") == 0;
    share = full ? 1 : part;
    printf("## %s\n\n| setting | number | measured | wanted | kept |\n|---|---|---|---|---|\n",
           title);
    return full;
}

static inline int numbers_end(void)
{
    printf("\n%d of the numbers above %s not kept.\n\n", failures, failures == 1 ? "is" : "are");
    return failures > 0;
}

#endif
