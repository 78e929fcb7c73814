/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_H
#define BENCH_H

#include "unrelu/unrelu.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void must(unrelu_status status, const unrelu_error *err)
{
    if (status != UNRELU_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

static inline double *room_for(size_t rows, size_t columns)
{
    double *room = malloc(rows * columns * sizeof *room);
    if (!room) {
        fprintf(stderr, "no memory for %zu x %zu numbers\n", rows, columns);
        exit(1);
    }
    return room;
}

#endif
