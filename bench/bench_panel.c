/* SPDX-License-Identifier: Apache-2.0 */
/* What a panel costs: everything (pack, add) against one cblas_dsyrk of
 * the same matrix, then each part, then the plain loops. Minima over interleaved runs, one
 * thread. GMAC/s counts n d (d + 1) / 2 for t't and G'G, 2 n d^2 for G'[t | t t]. */
#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"
#include "bench.h"
#include "summary/panel.h"

enum { RUNS = 9 };

typedef struct {
    size_t n, d;
    double *x, *vectors, *matrices, *c;
    uint64_t *bits;
    size_t words;
} problem;

typedef struct {
    double pack, add, dsyrk, above, gram;
} times;

static void keep_least(double *least, double seconds)
{
    if (*least == 0 || seconds < *least)
        *least = seconds;
}

static void run_panels(const problem *p, ur_panel *panel, times *least)
{
    size_t d = p->d, n = p->n, most = ur_panel_rows(panel);
    double *v = p->vectors, *out = v + 3 * d, *m = p->matrices;
    ur_columns columns = {out, out + d, out + 2 * d, out + 3 * d, out + 4 * d, out + 5 * d};
    ur_panel_sums sums = {m, m + d * d, m + 2 * d * d, m + 3 * d * d, NULL, NULL, NULL, NULL};
    times t = {0};
    for (size_t r = 0; r < n; r += most) {
        double start = now();
        ur_panel_pack(panel, p->x + r * d, n - r < most ? n - r : most, d, v, v + d, v + 2 * d,
                      &columns);
        double packed = now();
        ur_panel_add(panel, &sums);
        t.pack += packed - start;
        t.add += now() - packed;
    }
    if (least->pack == 0 || t.pack + t.add < least->pack + least->add) {
        least->pack = t.pack;
        least->add = t.add;
    }
}

static void run_dsyrk(const problem *p, times *least)
{
    double start = now();
    cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)p->d, (int)p->n, 1, p->x, (int)p->d, 0,
                p->c, (int)p->d);
    keep_least(&least->dsyrk, now() - start);
}

static void run_bits(const problem *p, times *least)
{
    double start = now();
    ur_bits_above(p->x, p->n, p->d, p->d, p->vectors, p->bits, p->words);
    double middle = now();
    ur_bits_gram(p->bits, p->d, p->words, p->matrices);
    keep_least(&least->above, middle - start);
    keep_least(&least->gram, now() - middle);
}

static int bench(size_t n, size_t d, int with_plain)
{
    problem p = {.n = n, .d = d, .words = (n + 63) / 64};
    p.x = ur_alloc_aligned(n * d, sizeof(double));
    p.vectors = ur_doubles(9 * d);
    p.matrices = ur_doubles(4 * d * d);
    p.c = ur_doubles(d * d);
    p.bits = ur_alloc(d * p.words, sizeof(uint64_t));
    int fine = p.x && p.vectors && p.matrices && p.c && p.bits;
    times single = {0}, real = {0}, plain = {0};
    if (fine) {
        uint64_t state = 1;
        for (size_t i = 0; i < n * d; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            p.x[i] = fmax(0, (double)(int64_t)state * 0x1p-63);
        }
        for (size_t j = 0; j < d; j++)
            p.vectors[2 * d + j] = 1;
        for (int run = 0; run < RUNS; run++) {
            UR_ARENA(arena);
            run_panels(&p, ur_panel_new(&arena, d, 1), &single);
            run_panels(&p, ur_panel_new(&arena, d, 0), &real);
            run_dsyrk(&p, &real);
            run_bits(&p, &real);
        }
        UR_ARENA(arena);
        if (with_plain)
            run_panels(&p, ur_panel_new_plain(&arena, d, 0), &plain);
        double s = single.pack + single.add, r = real.pack + real.add;
        double mac = 1e-9 * (double)n * (double)d * (double)d;
        printf("%8zu %5zu | %7.4f %5.2f | %7.4f %5.2f | %7.4f | %6.4f %6.4f | %6.4f %6.4f | "
               "%5.0f %5.0f %5.0f |",
               n, d, s, s / real.dsyrk, r, r / real.dsyrk, real.dsyrk, single.pack, real.pack,
               real.above, real.gram, 3 * mac / single.add, 3 * mac / real.add,
               mac / 2 / real.gram);
        if (with_plain)
            printf(" %5.1f\n", (plain.pack + plain.add) / r);
        else
            printf("     -\n");
    }
    free(p.x);
    free(p.vectors);
    free(p.matrices);
    free(p.c);
    free(p.bits);
    return fine ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const size_t sizes[][2] = {
        {500000, 5}, {10000000, 10}, {500000, 25}, {100000, 200}, {20000, 1000}};
    int failed = 0;
    openblas_set_num_threads(1);
    printf("%8s %5s | %-13s | %-13s | %7s | %6s %6s | %6s %6s | %5s %5s %5s | %s\n", "n", "d",
           "single   ratio", "double   ratio", "dsyrk", "pack s", "pack d", "above", "gram",
           "add s", "add d", "gram", "plain / fast");
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        if (argc < 2 || (size_t)atoi(argv[1]) == sizes[k][1])
            failed |= bench(sizes[k][0], sizes[k][1], argc < 2);
    return failed;
}
