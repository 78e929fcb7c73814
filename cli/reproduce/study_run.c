/* SPDX-License-Identifier: Apache-2.0 */
#include "study.h"

#include <math.h>
#include <stdio.h>

#include "scope.h"

/* ---- points ---- */

void cli_study_plan(study *s, const study_kind *kind, size_t runs, uint64_t seed, int quick)
{
    memset(s, 0, sizeof *s);
    s->kind = kind;
    s->runs = runs ? runs : quick ? kind->quick_runs : kind->runs;
    s->seed = seed;
    s->quick = quick;
    kind->plan(s);
    for (size_t i = 0; i < STUDY_POINTS * STUDY_ROWS; i++)
        for (int k = 0; k < STUDY_METRICS; k++) {
            study_row *row = &s->rows[i / STUDY_ROWS][i % STUDY_ROWS];
            row->mean[k] = row->sd[k] = NAN;
        }
}

study_point *cli_study_add(study *s, size_t panel, double x, double work)
{
    study_point *p = &s->points[s->count++];
    *p = (study_point){.panel = panel, .x = x, .work = work};
    for (size_t i = 0; i < STUDY_SERIES * STUDY_KEYS; i++)
        p->key[i / STUDY_KEYS][i % STUDY_KEYS] = NAN;
    return p;
}

const study_panel *cli_study_panel(const study *s, size_t point)
{
    return &s->kind->panels[s->points[point].panel];
}

int cli_study_is_done(const study *s, size_t point)
{
    for (size_t i = 0; i < cli_study_panel(s, point)->count; i++)
        if (!s->rows[point][i].done)
            return 0;
    return 1;
}

size_t cli_study_done(const study *s)
{
    size_t done = 0;
    for (size_t p = 0; p < s->count; p++)
        done += (size_t)cli_study_is_done(s, p);
    return done;
}

/* ---- the runs of one ---- */

/* mean and spread of what is finite */
typedef struct {
    size_t count;
    double mean, square; /* square: sum of squares about the mean */
} tally;

static void tally_add(tally *t, double x)
{
    if (!isfinite(x))
        return;
    double away = x - t->mean;
    t->count++;
    t->mean += away / (double)t->count;
    t->square += away * (x - t->mean);
}

typedef struct {
    tally metric[STUDY_SERIES][STUDY_METRICS];
    tally limit[STUDY_METRICS]; /* squares */
    tally seconds[STUDY_SERIES];
    size_t lost[STUDY_SERIES];
} tallies;

static double mean_of(const tally *t)
{
    return t->count > 0 ? t->mean : NAN;
}

/* what the table keeps */
static double six_digits(double x)
{
    char text[32];
    snprintf(text, sizeof text, "%.6g", x);
    return isfinite(x) ? strtod(text, NULL) : NAN;
}

static void summarise(const tallies *t, size_t series, study_row rows[STUDY_ROWS])
{
    study_row *row = &rows[series];
    row->done = 1;
    row->lost = t->lost[series];
    row->seconds = six_digits(mean_of(&t->seconds[series]));
    for (int k = 0; k < STUDY_METRICS; k++) {
        const tally *x = &t->metric[series][k];
        row->mean[k] = six_digits(mean_of(x));
        row->sd[k] = x->count > 1 ? six_digits(sqrt(x->square / (double)(x->count - 1))) : NAN;
        rows[STUDY_LIMIT].mean[k] = six_digits(sqrt(mean_of(&t->limit[k])));
    }
}

static void forget(study_result *r)
{
    *r = (study_result){0};
    for (int i = 0; i < STUDY_SERIES * STUDY_METRICS; i++)
        r->value[i / STUDY_METRICS][i % STUDY_METRICS] = NAN;
    for (int k = 0; k < STUDY_METRICS; k++)
        r->limit_square[k] = NAN;
}

unrelu_status cli_study_run(study *s, size_t point, const unrelu_exec *exec, study_step *step,
                            void *context, unrelu_error *err)
{
    tallies t = {0};
    size_t series = cli_study_panel(s, point)->count;
    for (size_t r = 0; r < s->runs; r++) {
        uint64_t seed = 1000000 * s->seed + 1000 * (uint64_t)(point + 1) + (uint64_t)(r + 1);
        study_result one;
        forget(&one);
        CLI_TRY(s->kind->run(s, &s->points[point], seed & INT64_MAX, exec, &one, err));
        if (exec->cancelled && exec->cancelled(exec->context))
            return UNRELU_ECANCELLED;
        for (size_t i = 0; i < series; i++) {
            for (int k = 0; k < STUDY_METRICS; k++)
                tally_add(&t.metric[i][k], one.value[i][k]);
            tally_add(&t.seconds[i], one.seconds[i]);
            t.lost[i] += one.lost[i] ? 1 : 0;
        }
        for (int k = 0; k < STUDY_METRICS; k++)
            tally_add(&t.limit[k], one.limit_square[k]);
        step(context, point);
    }
    for (size_t i = 0; i < series; i++)
        summarise(&t, i, s->rows[point]);
    return UNRELU_OK;
}
