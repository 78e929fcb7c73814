/* SPDX-License-Identifier: Apache-2.0 */
/* Reading samples on one thread, side by side: CSV against memcpy and a strtod loop over the same
 * bytes, .npy against pread alone. Best of five; ratios, for no machine is the other's. */
#include "bench.h"
#include "read/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ROWS = 200000, COLUMNS = 10, REPEATS = 5 };

static volatile double keep;

static double next_normal(uint64_t *state) /* sum of 12 uniforms: any digits will do */
{
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 11) * 0x1p-53;
    }
    return sum;
}

static void write_text(const char *path, const char *format)
{
    uint64_t state = 1;
    FILE *file = fopen(path, "w");
    for (size_t i = 0; file && i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            fprintf(file, format, next_normal(&state));
            fputc(j + 1 < COLUMNS ? ',' : '\n', file);
        }
    if (!file || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void write_array(const char *path)
{
    uint64_t state = 1;
    double *x = malloc(sizeof(double) * ROWS * COLUMNS);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        x[i] = next_normal(&state);
    unrelu_sink *sink;
    unrelu_error err;
    if (unrelu_sink_open(path, ROWS, COLUMNS, NULL, &sink, &err) ||
        unrelu_sink_write(sink, x, ROWS, &err) || unrelu_sink_commit(sink, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    free(x);
}

static double read_source(const char *path)
{
    unrelu_source *source;
    unrelu_error err;
    ur_piece piece = {0};
    ur_block block = {0};
    int more = 1;
    double start = now();
    unrelu_status status = unrelu_source_open(path, NULL, &source, &err);
    while (!status && !(status = ur_source_take(source, &piece, &more, &err)) && more) {
        status = ur_source_decode(source, &piece, &block, &err);
        keep = block.x[0];
    }
    double seconds = now() - start;
    if (status) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    ur_piece_free(&piece);
    ur_block_free(&block);
    unrelu_source_close(source);
    return seconds;
}

/* the file in memory, for the loops it is held against */
static char *slurp(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*size + 1);
    *size = fread(text, 1, *size, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

static double strtod_loop(const char *text, double *x)
{
    double start = now();
    char *s = (char *)text;
    for (size_t i = 0; *s; i++, s++)
        x[i] = strtod(s, &s);
    keep = x[0];
    return now() - start;
}

static double memcpy_loop(const char *text, size_t size, char *copy)
{
    double start = now();
    memcpy(copy, text, size);
    keep = copy[size / 2];
    return now() - start;
}

static double pread_loop(const char *path, size_t size)
{
    static char buffer[1 << 20];
    int fd = open(path, O_RDONLY);
    double start = now();
    for (size_t at = 0; at < size; at += sizeof buffer)
        keep = (double)pread(fd, buffer, sizeof buffer, (off_t)at);
    double seconds = now() - start;
    close(fd);
    return seconds;
}

static void least(double *best, double seconds)
{
    if (*best == 0 || seconds < *best)
        *best = seconds;
}

static void bench_text(const char *path, const char *what, const char *format)
{
    size_t size;
    write_text(path, format);
    char *text = slurp(path, &size), *copy = malloc(size);
    double *x = malloc(sizeof(double) * ROWS * COLUMNS), ours = 0, theirs = 0, copied = 0;
    memset(copy, 0, size);
    for (int i = 0; i < REPEATS; i++) {
        least(&ours, read_source(path));
        least(&theirs, strtod_loop(text, x));
        least(&copied, memcpy_loop(text, size, copy));
    }
    double mb = (double)size * 1e-6;
    printf("csv, %-22s %6.0f MB/s   %5.2f x strtod loop   %6.3f x memcpy\n", what, mb / ours,
           theirs / ours, copied / ours);
    free(text);
    free(copy);
    free(x);
    unlink(path);
}

static void bench_array(const char *path)
{
    write_array(path);
    struct stat info;
    stat(path, &info);
    double ours = 0, raw = 0;
    for (int i = 0; i < REPEATS; i++) {
        least(&ours, read_source(path));
        least(&raw, pread_loop(path, (size_t)info.st_size));
    }
    printf("npy, %-22s %6.0f MB/s   %5.2f x pread alone\n", "f8, from page cache",
           (double)info.st_size * 1e-6 / ours, raw / ours);
    unlink(path);
}

int main(void)
{
    char directory[] = "/tmp/unrelu-bench-XXXXXX", path[64];
    if (!mkdtemp(directory))
        return 1;
    printf("%d x %d, one thread; speed relative to the loop beside it\n", ROWS, COLUMNS);
    snprintf(path, sizeof path, "%s/x.csv", directory);
    bench_text(path, "6 digits (%.6g)", "%.6g");
    bench_text(path, "all digits (%.17g)", "%.17g");
    bench_text(path, "integers", "%.0f");
    snprintf(path, sizeof path, "%s/x.npy", directory);
    bench_array(path);
    return rmdir(directory) != 0;
}
