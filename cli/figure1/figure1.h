/* SPDX-License-Identifier: Apache-2.0 */
/* The experiments of Figure 1 of the one-layer paper: the published algorithm and ours on the same
 * data, point by point. Run r of point p (both from 1) is the data of
 *   unrelu generate gaussian -d D -n N --kappa K --seed J,   J = 1000000 S + 1000 p + r mod 2^63,
 * S being --seed, fitted with --seed J: any of them can be done again alone. */
#ifndef CLI_FIGURE1_H
#define CLI_FIGURE1_H

#include "unrelu/unrelu.h"

#include "cli.h"
#include "json.h"

enum { FIGURE1_PANELS = 3, FIGURE1_MOST_POINTS = 24, FIGURE1_MOST_RUNS = 999 };
enum { FIGURE1_ERR_B, FIGURE1_ERR_SIGMA, FIGURE1_SQRT_KL, FIGURE1_METRICS };
/* of the limit: the root mean square at the Cramer-Rao bound, in place of a mean */
enum { FIGURE1_PAPER, FIGURE1_EFFICIENT, FIGURE1_LIMIT, FIGURE1_ROWS, FIGURE1_METHODS = 2 };

typedef struct {
    int panel;
    size_t x, n, d, kappa; /* x: that of the others which varies */
} figure1_point;

/* over the runs of one point; what does not exist is NaN */
typedef struct {
    int done;
    double mean[FIGURE1_METRICS], sd[FIGURE1_METRICS]; /* of sqrt(KL / 2): where it is finite */
    size_t not_psd;                                    /* runs without a KL divergence */
    double seconds;                                    /* of one fit, mean */
} figure1_row;

typedef struct {
    size_t runs, count;
    uint64_t seed;
    int quick;
    char fixed[FIGURE1_PANELS][64]; /* "n = 500000, d = 5": what does not vary */
    figure1_point points[FIGURE1_MOST_POINTS];
    figure1_row rows[FIGURE1_MOST_POINTS][FIGURE1_ROWS];
} figure1;

/* --- figure1_run.c --- */
void cli_figure1_plan(figure1 *f, size_t runs, uint64_t seed, int quick);
extern const char *const cli_figure1_panels[FIGURE1_PANELS]; /* "n", "d", "kappa" */
extern const char *const cli_figure1_methods[FIGURE1_METHODS];
int cli_figure1_is_done(const figure1 *f, size_t point);
size_t cli_figure1_done(const figure1 *f);
typedef void figure1_step(void *context, size_t point, size_t run);
/* All runs of one point; step is called after each. */
unrelu_status cli_figure1_run(figure1 *f, size_t point, const unrelu_exec *exec, figure1_step *step,
                              void *context, unrelu_error *err);

/* --- figure1_csv.c: exit statuses --- */
/* Takes the finished points of the file; one of other settings is refused. */
int cli_figure1_load(figure1 *f, const char *path);
int cli_figure1_save(const figure1 *f, const char *path);

/* --- figure1_text.c --- */
void cli_figure1_print(const figure1 *f);
/* the object of --json and figure1.json, without seconds */
cli_json cli_figure1_json(const figure1 *f);

/* --- figure1_page.c --- */
int cli_figure1_page(const figure1 *f, const char *path);

#endif
