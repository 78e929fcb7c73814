/* SPDX-License-Identifier: Apache-2.0 */
/* A study is what 'unrelu reproduce' runs: panels of points, at each of which several methods (or
 * settings) are run and measured. A kind of study says which points there are and does one run of
 * one of them; all else is shared: the order and the seeds of the runs, means and deviations, the
 * table by which an interrupted study goes on, text, JSON and the page.
 *
 * Run r of point p (both from 1) has the seed J = 1000000 S + 1000 p + r mod 2^63, S being --seed:
 * any of them can be done again alone. */
#ifndef CLI_STUDY_H
#define CLI_STUDY_H

#include "unrelu/unrelu.h"

#include "cli.h"
#include "json.h"
#include "report/page.h"

enum { STUDY_PANELS = 12, STUDY_POINTS = 96, STUDY_MOST_RUNS = 999 };
enum { STUDY_SERIES = 4, STUDY_METRICS = 8, STUDY_KEYS = 8 };
enum { STUDY_LIMIT = STUDY_SERIES, STUDY_ROWS }; /* the row of a point after those of its series */

typedef struct {
    const char *key;   /* of the table and of JSON: "err_sigma" */
    const char *limit; /* of the table, where a limit is known: "limit_sigma"; NULL: never */
    const char *name;  /* in text: "err_Sigma" */
    const char *title; /* on the page */
    int is_share;      /* of the runs: from 0 to 1, and without a deviation */
} study_metric;

/* one line of a chart: a method, or a setting of the data */
typedef struct {
    const char *key;   /* of the table: "efficient" */
    const char *name;  /* in text: "ours" */
    const char *title; /* on the page */
    const void *own;   /* for the kind */
} study_series;

typedef struct {
    const char *key;     /* of the table */
    const char *varies;  /* in text: "kappa" */
    const char *symbol;  /* on the page, short, as that */
    const char *axis;    /* "condition number kappa" */
    const char *heading; /* of the section */
    const char *says;    /* a paragraph of HTML below it, before what is fixed; NULL: none */
    const char *limit;   /* what the dashed line is; NULL: there is none */
    int is_log;          /* the axis */
    size_t count;        /* of series */
    const study_series *series;
    int shows[STUDY_METRICS + 1]; /* metrics that have a chart, ended by -1 */
    const void *own;
} study_panel;

typedef struct {
    size_t panel;
    double x;
    double key[STUDY_SERIES][STUDY_KEYS]; /* of each series; what does not apply is NaN */
    double work;                          /* of one run, in units of the kind */
} study_point;

/* over the runs of one point; what does not exist is NaN */
typedef struct {
    int done;
    double mean[STUDY_METRICS], sd[STUDY_METRICS]; /* of what is finite */
    size_t lost;                                   /* runs that are counted apart */
    double seconds;                                /* of one run, mean */
} study_row;

/* of one run: NaN where there is none */
typedef struct {
    double value[STUDY_SERIES][STUDY_METRICS];
    double limit_square[STUDY_METRICS]; /* limits are averaged as squares */
    double seconds[STUDY_SERIES];
    int lost[STUDY_SERIES];
} study_result;

typedef struct study study;

typedef struct {
    const char *name;                 /* "figure1": of the command and of the files */
    const char *brief[2];             /* what 'unrelu reproduce' says of it, in two lines */
    const char *title, *model;        /* of the page: "Figure 1, reproduced", "x = ReLU(W z + b)" */
    const char *figure;               /* "figure" in "the full figure" */
    size_t runs, quick_runs;          /* by default */
    const char *keys[STUDY_KEYS + 1]; /* what names a point: "n", "d", ..., NULL */
    size_t metric_count;
    const study_metric *metrics;
    const char *lost, *lost_name, *lost_title; /* of the runs counted apart: table, text, page */
    size_t panel_count;
    const study_panel *panels;
    void (*plan)(study *s); /* points, in the order of their panels, and what is fixed */
    unrelu_status (*run)(const study *s, const study_point *point, uint64_t seed,
                         const unrelu_exec *exec, study_result *out, unrelu_error *err);
    void (*print_head)(const study *s);
    void (*print_end)(const study *s);
    void (*json)(const study *s, cli_json *json); /* what it has to add; NULL: nothing */
    void (*intro)(const study *s, cli_page *page);
} study_kind;

extern const study_kind cli_study_figure1, cli_study_two_layer;

struct study {
    const study_kind *kind;
    size_t runs, count;
    uint64_t seed;
    int quick;
    char fixed[STUDY_PANELS][96]; /* "n = 500000, d = 5": what does not vary */
    study_point points[STUDY_POINTS];
    study_row rows[STUDY_POINTS][STUDY_ROWS];
};

/* --- study_run.c --- */
/* runs: 0: as many as the kind has by default */
void cli_study_plan(study *s, const study_kind *kind, size_t runs, uint64_t seed, int quick);
/* for plan: a point whose series have all the same keys, NaN so far */
study_point *cli_study_add(study *s, size_t panel, double x, double work);
const study_panel *cli_study_panel(const study *s, size_t point);
int cli_study_is_done(const study *s, size_t point);
size_t cli_study_done(const study *s);
typedef void study_step(void *context, size_t point);
/* All runs of one point; step is called after each. */
unrelu_status cli_study_run(study *s, size_t point, const unrelu_exec *exec, study_step *step,
                            void *context, unrelu_error *err);

/* --- study_csv.c: exit statuses --- */
/* Takes the finished points of the file; one of other settings is refused. */
int cli_study_load(study *s, const char *path);
int cli_study_save(const study *s, const char *path);

/* --- study_text.c --- */
int cli_study_print(const study *s); /* exit status */
/* the object of --json and of the file, without seconds */
cli_json cli_study_json(const study *s);

/* --- study_page.c --- */
int cli_study_page(const study *s, const char *path);

#endif
