/* SPDX-License-Identifier: Apache-2.0 */
/* How likely samples are by a model: the logarithm of the density of what a row shows, and of the
 * probability of where its other cells lie. Values are in the unit of the data, so that models of
 * different transforms can be compared. The integral over what a row hides is exact for two cells,
 * of more it comes with its standard error (row_likelihood.c). */
#include "base/error.h"
#include "base/sized.h"
#include "gaussian/impute/impute.h"
#include "gaussian/joint/row_likelihood.h"
#include "gaussian/problem/fit.h"
#include "pass/parallel.h"

#include <math.h>

/* column j of the samples in deviations of column `at` of the model; all of it in the arena */
static unrelu_status standardise(const unrelu_gaussian *m, const ur_model_cells *read, size_t j,
                                 size_t at, ur_arena *arena, ur_cell_column *out, unrelu_error *err)
{
    size_t n = read->cells.n;
    unsigned char *state = ur_take(arena, n, 1);
    *out = (ur_cell_column){.n = n,
                            .a = ur_take(arena, n, sizeof(double)),
                            .width = ur_take(arena, n, sizeof(double)),
                            .state = state};
    UR_TRY(ur_arena_status(arena, err));
    out->margin.margin.s = m->scale[at];
    for (size_t i = 0; i < n; i++) {
        ur_cell cell = ur_cell_at(read->x + j * n, read->upper ? read->upper + j * n : NULL,
                                  read->cells.state + j * n, i);
        state[i] = cell.state;
        out->a[i] = cell.state == UR_MISSING ? 0 : (cell.at - m->b[at]) / m->scale[at];
        out->width[i] = cell.width / m->scale[at];
    }
    return UNRELU_OK;
}

static unrelu_status check(const unrelu_gaussian *m, unrelu_error *err)
{
    UR_TRY(ur_impute_check(m, err));
    for (size_t i = 0; i < m->d; i++)
        if (!(m->scale[i] > 0))
            return ur_fail(err, UNRELU_EDATA,
                           "column %zu (%.60s) of the model is constant: samples have no density",
                           i + 1, m->names[i]);
    return UNRELU_OK;
}

/* what the unit of the data adds to each row: the slopes of the transform at the values seen */
static void add_slopes(const unrelu_gaussian *m, const ur_model_cells *read, const size_t *place,
                       double *loglik)
{
    size_t n = read->cells.n;
    for (size_t j = 0; j < m->d; j++)
        for (size_t i = 0; i < n; i++)
            if (read->cells.state[j * n + i] == UR_SEEN)
                loglik[i] += ur_fit_log_slope(m->transform, m->lambda ? m->lambda[place[j]] : 0,
                                              read->x[j * n + i]);
}

unrelu_status unrelu_gaussian_score(const unrelu_gaussian *model, unrelu_source *samples,
                                    const unrelu_impute_options *options, const unrelu_exec *exec,
                                    double *loglik, double *error, unrelu_error *err)
{
    UR_ARENA(arena);
    unrelu_impute_options given;
    unrelu_exec here;
    ur_model_cells read = {0};
    unrelu_impute_options_init(&given, sizeof given);
    UR_TRY(ur_sized_copy(&given, sizeof given, options, "the options", err));
    UR_TRY(ur_exec_read(&exec, &here, err));
    UR_TRY(check(model, err));
    size_t d = model->d, *place = ur_take(&arena, d, sizeof *place);
    ur_cell_column *columns = ur_take(&arena, d, sizeof *columns);
    const ur_cell_column **column = ur_take(&arena, d, sizeof *column);
    UR_TRY(ur_arena_status(&arena, err));
    UR_TRY(ur_impute_match(model, samples, place, err));
    UR_TRY(ur_model_cells_load(model, samples, place, given.limit, given.limits, exec, &arena,
                               &read, err));
    for (size_t j = 0; j < d; j++) {
        column[place[j]] = &columns[place[j]];
        UR_TRY(standardise(model, &read, j, place[j], &arena, &columns[place[j]], err));
    }
    size_t n = read.cells.n;
    double *variance = error ? error : ur_take(&arena, n, sizeof *variance);
    UR_TRY(ur_arena_status(&arena, err));
    const ur_joint_columns joint = {n, d, column, model->correlation};
    UR_TRY(ur_row_likelihoods_each(&joint, exec, loglik, variance, err));
    add_slopes(model, &read, place, loglik);
    for (size_t i = 0; error && i < n; i++)
        error[i] = sqrt(error[i]);
    return UNRELU_OK;
}
