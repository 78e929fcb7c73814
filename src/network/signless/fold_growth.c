/* SPDX-License-Identifier: Apache-2.0 */
/* Students. A random start of k rows reaches the network in a third to a half of all cases, and is
 * else short of one or two rows that others stand for; two more rows remove nearly all of these
 * ends. So a student starts with few rows, goes down, and where it stalls gets a third more of
 * them, born where the residual is largest, until it meets the labels: mostly with k to 1.5 k rows.
 * It is fitted to some rows of the data, 5 labels for each of its numbers, and never has more than
 * .7 numbers a label: beyond that it would meet any labels. Rows are kept back in any case. */
#include "base/error.h"
#include "base/random.h"
#include "dense/linear.h"
#include "network/data/watch.h"
#include "network/problem/tolerance.h"
#include "network/signless/signless.h"
#include "pass/parallel.h"

#include <math.h>
#include <string.h>

/* Pace: rows of the first student, for problems of many inputs, and of one whose k is given */
enum { FIRST = 4, FIRST_LARGE = 16, LARGE = 40, SURPLUS = 2, SURPLUS_SHARE = 8 };
/* Pace: births are one for so many rows, and at least so many */
enum { BIRTH_SHARE = 3, BIRTHS = 2 };
/* Pace: 2.5 labels for each number are enough, more take fewer steps */
enum { LABELS_A_NUMBER = 5, ROWS_A_FEATURE = 4 };
enum { STEPS = 60, STALL = 6 };
static const double DAMPING = 1e-2; /* Pace: of the first step */
/* numbers a label, beyond which students of no network meet the labels too: at 1 / 1.3 all do */
static const double MOST_NUMBERS = 0.7;
/* Labels with noise: after how many rounds in which the share on rows that were kept back did not
 * fall to this part of the least before it ends. Without noise every round halves it, mostly. */
enum { PATIENCE = 2, MORE_PATIENCE = 4 };
static const double FALLS = .9;
/* share below which the labels are nearly met, and rows that few samples show are missing */
static const double NEARLY = 1e-5;
/* Pace: share from which on rows are left out as of rare sides; neurons that these may show */
static const double TRIMMED = 1e-4;
enum { RARE = 8 };
/* kp beyond which the Gauss-Newton matrix takes more memory and time than there is */
static const double MOST_KP = 8000;

typedef struct {
    const ur_problem *given;
    ur_terms terms;
    size_t attempt;
    double *raw; /* rows in the data's coordinates: (room, q) */
    size_t k, room;
    double least;    /* share on rows kept back */
    int idle;        /* rounds since it fell */
    double residual; /* of the last student; NaN before it */
} growth;

/* all rows but those that are kept back from a student of k rows */
static size_t most_rows(const ur_problem *given, size_t k)
{
    const ur_data *data = &given->data;
    size_t neurons = given->options.k > 0 ? given->options.k : k, kept = data->d + neurons + 2;
    kept = kept > UR_LEAST_HELD + 2 ? kept : UR_LEAST_HELD + 2;
    return data->n > kept ? data->n - kept : 0;
}

/* rows for a student of k rows */
static size_t rows_for(const ur_problem *given, ur_terms terms, size_t k)
{
    const ur_data *data = &given->data;
    ur_folds folds = {.p = data->d + (terms.hidden ? 1 : 0),
                      .m = data->m,
                      .constant = terms.constant && !terms.hidden};
    size_t by_labels =
        (size_t)(LABELS_A_NUMBER * ur_fold_unknowns(&folds, k) / (double)data->m) + 1;
    size_t by_features = ROWS_A_FEATURE * (k + folds.p), most = most_rows(given, k);
    size_t rows = by_labels > by_features ? by_labels : by_features;
    return rows < most ? rows : most;
}

/* whether a student of k rows has too many numbers for the labels, or for this machine */
static int is_too_large(const ur_problem *given, ur_terms terms, size_t k)
{
    const ur_data *data = &given->data;
    ur_folds folds = {.p = data->d + (terms.hidden ? 1 : 0),
                      .m = data->m,
                      .constant = terms.constant && !terms.hidden};
    size_t rows = rows_for(given, terms, k);
    return ur_fold_unknowns(&folds, k) > MOST_NUMBERS * (double)rows * (double)data->m ||
           rows < 2 * (k + folds.p) || (double)(k * folds.p) > MOST_KP;
}

ur_folds ur_folds_of(const ur_frame *frame, const unrelu_exec *exec)
{
    return (ur_folds){.n = frame->n,
                      .p = frame->p,
                      .m = frame->m,
                      .z = frame->x,
                      .a = frame->a,
                      .constant = frame->terms.constant && !frame->terms.hidden,
                      .exec = exec};
}

/* the student of g's rows, on as many rows of the data as it needs */
static unrelu_status seat(const growth *g, size_t births, ur_arena *arena, ur_student *student,
                          unrelu_error *err)
{
    const ur_problem *given = g->given;
    const ur_data *data = &given->data;
    size_t rows = rows_for(given, g->terms, g->k + births);
    ur_frame *frame = &student->frame;
    UR_TRY(ur_frame_make(data, rows, g->terms, 1, arena, frame, err));
    student->folds = ur_folds_of(frame, given->exec);
    UR_TRY(ur_folds_open(&student->folds, data->floor, err));
    UR_TRY(ur_fold_state_open(&student->folds, g->k + births, arena, &student->s, err));
    student->s.k = g->k;
    ur_frame_forth(frame, g->k, g->raw, student->s.T);
    return ur_fold_evaluate(&student->folds, &student->s, err);
}

static void leave(growth *g, const ur_student *student)
{
    g->k = student->s.k;
    ur_frame_back(&student->frame, g->k, student->s.T, g->raw);
}

static unrelu_status first_rows(growth *g, ur_arena *arena, unrelu_error *err)
{
    const ur_problem *given = g->given;
    size_t k = given->options.k, p = given->data.d + (g->terms.hidden ? 1 : 0);
    size_t more = k / SURPLUS_SHARE > SURPLUS ? k / SURPLUS_SHARE : SURPLUS;
    size_t first = k > 0 ? k + more : p >= LARGE ? FIRST_LARGE : FIRST;
    while (first > 1 && is_too_large(given, g->terms, first))
        first--;
    g->k = is_too_large(given, g->terms, first) ? 0 : first;
    for (g->room = g->k; !is_too_large(given, g->terms, g->room + 1);)
        g->room++;
    g->raw = ur_take(arena, g->room, p * sizeof *g->raw);
    UR_TRY(ur_arena_status(arena, err));
    /* random in the frame of the first student, where all directions are alike */
    UR_ARENA(own);
    ur_frame frame;
    if (g->k == 0)
        return UNRELU_OK;
    UR_TRY(ur_frame_make(&given->data, rows_for(given, g->terms, g->k), g->terms, 1, &own, &frame,
                         err));
    double *T = ur_take(&own, g->k, frame.p * sizeof *T);
    UR_TRY(ur_arena_status(&own, err));
    ur_random_normals(given->options.seed, UR_STREAM_FOLDS, (uint64_t)g->attempt << 32,
                      g->k * frame.p, T);
    ur_frame_back(&frame, g->k, T, g->raw);
    return UNRELU_OK;
}

static size_t births_of(const growth *g)
{
    size_t k = g->given->options.k;
    size_t births = k > 0 ? k / SURPLUS_SHARE : g->k / BIRTH_SHARE;
    births = births > BIRTHS ? births : BIRTHS;
    return g->k + births <= g->room ? births : g->room - g->k;
}

/* the student on most of its rows, where that meets them */
static unrelu_status trim(ur_student *student, ur_arena *arena, unrelu_error *err)
{
    ur_folds some;
    ur_fold_state on_some;
    UR_TRY(ur_fold_trim(&student->folds, &student->s, arena, &some, &on_some, &student->met, err));
    if (student->met) {
        student->folds = some;
        student->s = on_some;
        student->trimmed = 1;
    }
    return UNRELU_OK;
}

/* whether more rows help no more */
static unrelu_status is_noisy(growth *g, const ur_student *student, int *noisy, unrelu_error *err)
{
    double share;
    UR_TRY(ur_fold_held_share(g->given, student, &share, err));
    g->idle = share <= FALLS * g->least ? 0 : g->idle + 1;
    g->least = fmin(g->least, share);
    *noisy = g->idle >= (student->s.share > NEARLY ? PATIENCE : MORE_PATIENCE);
    return UNRELU_OK;
}

static unrelu_status show(growth *g, const ur_student *student, unrelu_error *err)
{
    const ur_folds *folds = &student->folds;
    const ur_find find = {.kind = UR_KEPT_STUDENT,
                          .known = student->s.k,
                          .V = student->s.T,
                          .wanted = g->given->options.k,
                          .starts = g->attempt + 1,
                          .measure = student->s.share};
    g->residual = sqrt(student->s.share * folds->base / folds->size);
    return ur_watch_show(g->given->watch, &student->frame, find, err);
}

unrelu_status ur_fold_grow(const ur_problem *given, ur_terms terms, size_t attempt, ur_arena *arena,
                           ur_student *student, unrelu_error *err)
{
    const ur_fold_descent how = {.steps = STEPS, .damping = DAMPING, .stall = STALL};
    growth g = {
        .given = given, .terms = terms, .attempt = attempt, .least = INFINITY, .residual = NAN};
    UR_ARENA(own);
    *student = (ur_student){.tried = 0};
    UR_TRY(first_rows(&g, &own, err));
    for (uint64_t round = 0, births = 0; g.k > 0; round++) {
        UR_ARENA(here);
        ur_count(given->exec, (unrelu_counts){.stage = "growing a student",
                                              .fraction = (double)g.k / (double)g.room,
                                              .found = g.k,
                                              .starts = attempt + 1,
                                              .residual = g.residual});
        UR_TRY(seat(&g, births, &here, student, err));
        if (births > 0)
            UR_TRY(ur_fold_births(&student->folds, births, given->options.seed,
                                  (uint64_t)attempt << 56 | round << 40, &student->s, err));
        UR_TRY(ur_fold_descend(&student->folds, how, &student->s, err));
        student->tried = student->s.k > student->tried ? student->s.k : student->tried;
        UR_TRY(show(&g, student, err));
        student->met = student->s.share <= student->folds.met;
        if (student->met)
            UR_TRY(ur_fold_prune(&student->folds, &student->s, err));
        else if (student->s.share <= TRIMMED)
            UR_TRY(trim(student, &here, err));
        if (student->met) {
            ur_arena_give(&here, arena);
            return UNRELU_OK;
        }
        UR_TRY(is_noisy(&g, student, &student->noisy, err));
        leave(&g, student);
        births = births_of(&g);
        if (births == 0 || student->noisy)
            break;
    }
    return UNRELU_OK;
}

unrelu_status ur_fold_use_all(const ur_problem *given, ur_arena *arena, ur_student *student,
                              unrelu_error *err)
{
    enum { MOST_ROWS = 20000 };
    ur_terms terms = student->frame.terms;
    size_t most = student->s.k, rows = most_rows(given, most + RARE);
    while (most < student->s.k + RARE && !is_too_large(given, terms, most + 1))
        most++;
    return ur_fold_widen(given, rows < MOST_ROWS ? rows : MOST_ROWS, most, arena, student, err);
}
