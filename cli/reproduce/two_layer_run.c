/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a series with the seed J: the network and the inputs of
 *   unrelu generate network -d D -k K -m M -n N --kappa-v KAPPA --seed J   (or --lemma16 1/KAPPA)
 * and its labels, made wrong or noisy where the panel says so, go to 'unrelu recover --seed J' with
 * the options of the series. Series with the same keys see the same data. */
#include "two_layer_study.h"

#include <math.h>

#include "files.h"
#include "scope.h"
#include "show/models.h"

static const double RIGHT_BELOW = 1e-6; /* max |V - V*| of a network that is the right one */
static const double TOLD_ABOVE = 1e-12; /* labels of two networks that differ by more */
static const double WRONG_LEAST = 5, WRONG_MOST = 10; /* root mean squares of the labels */

static uint64_t other_seed(uint64_t seed, uint64_t which)
{
    return (seed ^ (which << 56)) & INT64_MAX;
}

/* ---- data ---- */

typedef struct {
    unrelu_network_plant_options plant;
    unrelu_network *truth;
    double *x, *a, *E; /* E: NULL where the labels are exact */
    size_t n;
} drawn;

static void drawn_free(drawn *w)
{
    unrelu_network_free(w->truth);
    unrelu_free(w->x);
    unrelu_free(w->a);
    unrelu_free(w->E);
}

/* numbers of some law, one for every cell of the labels */
static unrelu_status draw_cells(const drawn *w, unrelu_inputs law, uint64_t which,
                                const unrelu_exec *exec, double *out, unrelu_error *err)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    o.d = w->truth->m;
    o.inputs = law;
    o.seed = other_seed(w->plant.seed, which);
    return unrelu_network_draw(&o, NULL, 0, w->n, exec, out, NULL, err);
}

double cli_two_layer_norm(size_t count, const double *A)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += A[i] * A[i];
    return sqrt(sum);
}

/* w->E, and adds it to the labels */
static unrelu_status spoil(drawn *w, two_layer_labels labels, double noise, const unrelu_exec *exec,
                           unrelu_error *err)
{
    size_t cells = w->n * w->truth->m;
    double size = cli_two_layer_norm(cells, w->a);
    w->E = unrelu_alloc(cells, sizeof *w->E);
    CLI_ARRAY double *chance = unrelu_alloc(cells, sizeof *chance);
    if (!w->E || !chance)
        return UNRELU_ENOMEM;
    if (labels == LABELS_NOISY) {
        CLI_TRY(draw_cells(w, UNRELU_INPUTS_T3, 1, exec, w->E, err));
        double factor = noise * size / cli_two_layer_norm(cells, w->E);
        for (size_t i = 0; i < cells; i++)
            w->E[i] *= factor;
    } else { /* uniform numbers on [-sqrt 3, sqrt 3] as u = 0 to 1 */
        const double root = sqrt(3), rms = size / sqrt((double)cells);
        CLI_TRY(draw_cells(w, UNRELU_INPUTS_UNIFORM, 1, exec, chance, err));
        CLI_TRY(draw_cells(w, UNRELU_INPUTS_UNIFORM, 2, exec, w->E, err));
        for (size_t i = 0; i < cells; i++) {
            double u = fabs(w->E[i]) / root, sign = w->E[i] < 0 ? -1 : 1;
            int is_wrong = (chance[i] / root + 1) / 2 < noise;
            w->E[i] = is_wrong ? sign * rms * (WRONG_LEAST + u * (WRONG_MOST - WRONG_LEAST)) : 0;
        }
    }
    for (size_t i = 0; i < cells; i++)
        w->a[i] += w->E[i];
    return UNRELU_OK;
}

static unrelu_status draw(drawn *w, const two_layer_setting *setting, const double *key,
                          uint64_t seed, const unrelu_exec *exec, unrelu_error *err)
{
    unrelu_network_plant_options *o = &w->plant;
    unrelu_network_plant_options_init(o, sizeof *o);
    w->n = (size_t)key[KEY_N];
    o->d = (size_t)key[KEY_D];
    o->k = (size_t)key[KEY_K];
    o->m = (size_t)key[KEY_M];
    o->activation = setting->activation;
    o->kappa_u = setting->kappa_u;
    o->seed = seed;
    if (setting->labels == LABELS_LEMMA16)
        o->lemma16 = 1 / key[KEY_KAPPA];
    else if (isfinite(key[KEY_KAPPA]))
        o->kappa_v = key[KEY_KAPPA];
    w->x = unrelu_alloc(w->n * o->d, sizeof *w->x);
    w->a = unrelu_alloc(w->n * o->m, sizeof *w->a);
    if (!w->x || !w->a)
        return UNRELU_ENOMEM;
    CLI_TRY(unrelu_network_plant(o, &w->truth, err));
    CLI_TRY(unrelu_network_draw(o, w->truth, 0, w->n, exec, w->x, w->a, err));
    if (setting->labels == LABELS_WRONG || setting->labels == LABELS_NOISY)
        return spoil(w, setting->labels, key[KEY_NOISE], exec, err);
    return UNRELU_OK;
}

/* ---- methods ---- */

/* "method=tensor order=3" */
static unrelu_status set_options(unrelu_recover_options *o, const char *options, unrelu_error *err)
{
    char name[32], value[32];
    int length;
    for (; sscanf(options, " %31[^=]=%31s%n", name, value, &length) == 2; options += length)
        CLI_TRY(unrelu_recover_options_set(o, name, value, err));
    return UNRELU_OK;
}

/* model NULL: the method has found none */
static unrelu_status recover(const drawn *w, const two_layer_method *method,
                             const unrelu_exec *exec, unrelu_network **model, unrelu_error *err)
{
    CLI_SCOPE(cli_close) unrelu_source *x = NULL, *a = NULL;
    unrelu_recover_options o;
    unrelu_recover_options_init(&o, sizeof o);
    o.activation = w->plant.activation;
    o.seed = w->plant.seed;
    o.k = method->knows_k ? w->plant.k : 0;
    CLI_TRY(set_options(&o, method->options, err));
    CLI_TRY(unrelu_source_memory(w->x, w->n, w->plant.d, NULL, &x, err));
    CLI_TRY(unrelu_source_memory(w->a, w->n, w->plant.m, NULL, &a, err));
    unrelu_status status = unrelu_recover(x, a, &o, exec, model, err);
    if (status == UNRELU_EDATA || (status == UNRELU_OK && !(*model)->V)) {
        unrelu_network_free(*model);
        *model = NULL;
        status = UNRELU_OK;
    }
    return status;
}

static two_layer_data data_of(const drawn *w)
{
    return (two_layer_data){.n = w->n,
                            .d = w->plant.d,
                            .k = w->plant.k,
                            .m = w->plant.m,
                            .kappa_u = w->plant.kappa_u,
                            .seed = w->plant.seed,
                            .truth = w->truth,
                            .x = w->x,
                            .a = w->a,
                            .E = w->E};
}

static unrelu_status find(const drawn *w, const two_layer_method *method, const unrelu_exec *exec,
                          unrelu_network **model, unrelu_error *err)
{
    if (method->options)
        return recover(w, method, exec, model, err);
    two_layer_data data = data_of(w);
    CLI_TRY(unrelu_network_plant(&w->plant, model, err)); /* of the right size, to be filled in */
    return cli_two_layer_oracle(&data, method->dither, exec, *model, err);
}

/* ---- measures ---- */

/* Rows whose sign the method does not say get that of the nearest row of the truth. */
static void align_signs(const unrelu_network *truth, unrelu_network *model)
{
    size_t d = truth->d;
    for (size_t j = 0; j < model->k; j++) {
        double nearest = 0;
        for (size_t i = 0; i < truth->k; i++) {
            double dot = 0;
            for (size_t l = 0; l < d; l++)
                dot += truth->V[i * d + l] * model->V[j * d + l];
            nearest = fabs(dot) > fabs(nearest) ? dot : nearest;
        }
        for (size_t l = 0; l < d && nearest < 0; l++)
            model->V[j * d + l] *= -1;
    }
}

/* root mean square of |v_j - v*_j|; NaN where neurons are missing */
static unrelu_status row_error(const unrelu_network *truth, unrelu_network *model, int signs_free,
                               unrelu_network_distance *far, double *error, unrelu_error *err)
{
    if (signs_free)
        align_signs(truth, model);
    model->activation = truth->activation; /* rows are compared: the method may know another f */
    CLI_TRY(unrelu_network_compare(truth, model, far, err));
    *error = far->missing > 0 ? NAN : far->V_frobenius / sqrt((double)truth->k);
    return UNRELU_OK;
}

static unrelu_status measure(const drawn *w, const two_layer_setting *setting,
                             const unrelu_exec *exec, unrelu_network *model, double *value,
                             unrelu_error *err)
{
    unrelu_network_distance far = {0};
    double objective;
    int is_right = 0, is_exact = model && model->verdict == UNRELU_VERDICT_EXACT;
    if (model) {
        if (w->E && setting->labels == LABELS_NOISY) {
            two_layer_data data = data_of(w);
            CLI_TRY(cli_two_layer_objective(&data, model, exec, &objective, err));
            value[RATIO] = objective / cli_two_layer_norm(w->n * w->plant.m, w->E);
        }
        CLI_TRY(row_error(w->truth, model, setting->signs_free, &far, &value[ERR_V], err));
        is_right = far.missing == 0 && far.extra == 0 && far.V_max <= RIGHT_BELOW;
    }
    value[RIGHT] = is_right;
    value[CERTIFIED] = is_exact;
    value[FALSE_EXACT] = is_exact && !is_right;
    return UNRELU_OK;
}

/* whether the labels tell Lemma 16's network of A from that of 2 A */
static unrelu_status tell_apart(const drawn *w, const unrelu_exec *exec, double *told,
                                unrelu_error *err)
{
    CLI_MADE unrelu_network *twice = NULL;
    CLI_ARRAY double *a = unrelu_alloc(w->n, sizeof *a);
    unrelu_network_plant_options o = w->plant;
    o.lemma16 *= 2;
    if (!a)
        return UNRELU_ENOMEM;
    CLI_TRY(unrelu_network_plant(&o, &twice, err));
    CLI_TRY(unrelu_network_predict(twice, w->x, w->n, exec, a, err));
    *told = 0;
    for (size_t i = 0; i < w->n; i++)
        if (fabs(a[i] - w->a[i]) > TOLD_ABOVE)
            *told = 1;
    return UNRELU_OK;
}

/* Without a sample between its kinks the labels of Lemma 16 are those of one neuron, max(0, x1),
 * and nobody can know better. */
static int is_one_neuron(const drawn *w, const unrelu_network *model)
{
    for (size_t i = 0; i < w->n; i++)
        if (fabs(w->a[i] - fmax(0, w->x[2 * i])) > TOLD_ABOVE)
            return 0;
    return model && model->k == 1;
}

/* ---- limits ---- */

/* Of many samples N on average where the chance of each is small: 1 - exp(-N) that there is one,
 * 1 - (1 + N) exp(-N) that there are two. A share 4 a / pi tells a from 2 a, and one of 2 a / pi
 * lies between the kinks, where two are needed (method-network.md). */
static void lemma16_limits(double n_over_kappa, double *square)
{
    double told = 4 / M_PI * n_over_kappa, between = 2 / M_PI * n_over_kappa;
    square[TOLD] = pow(-expm1(-told), 2);
    square[RIGHT] = pow(1 - (1 + between) * exp(-between), 2);
}

/* rows of no relation to the truth: those of another network */
static unrelu_status guess_limit(const drawn *w, double *square, unrelu_error *err)
{
    CLI_MADE unrelu_network *other = NULL;
    unrelu_network_distance far;
    unrelu_network_plant_options o = w->plant;
    double error;
    o.seed = other_seed(o.seed, 3);
    CLI_TRY(unrelu_network_plant(&o, &other, err));
    CLI_TRY(row_error(w->truth, other, 1, &far, &error, err));
    square[ERR_V] = error * error;
    return UNRELU_OK;
}

unrelu_status cli_two_layer_run(const study *s, const study_point *point, uint64_t seed,
                                const unrelu_exec *exec, study_result *out, unrelu_error *err)
{
    const study_panel *panel = &s->kind->panels[point->panel];
    const two_layer_setting *setting = panel->own;
    for (size_t i = 0; i < panel->count; i++) {
        CLI_SCOPE(drawn_free) drawn w = {0};
        CLI_MADE unrelu_network *model = NULL;
        CLI_TRY(draw(&w, setting, point->key[i], seed, exec, err));
        double start = cli_seconds();
        CLI_TRY(find(&w, panel->series[i].own, exec, &model, err));
        out->seconds[i] = cli_seconds() - start;
        out->lost[i] = !model;
        CLI_TRY(measure(&w, setting, exec, model, out->value[i], err));
        if (setting->labels == LABELS_LEMMA16)
            CLI_TRY(tell_apart(&w, exec, &out->value[i][TOLD], err));
        if (setting->labels == LABELS_LEMMA16 && is_one_neuron(&w, model))
            out->value[i][FALSE_EXACT] = 0;
        if (setting->labels == LABELS_LEMMA16 && i == 0)
            lemma16_limits(point->x, out->limit_square);
        if (setting->signs_free && i == 0)
            CLI_TRY(guess_limit(&w, out->limit_square, err));
    }
    return UNRELU_OK;
}
