/* SPDX-License-Identifier: Apache-2.0 */
/* Options of fits, checks, imputations and planted models, by name. */
#include "base/text.h"
#include "gaussian/model/gaussian_model.h"
#include "gaussian/summary/undone.h"
#include "model/options.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define WHOLE "a whole number of at least 1"
#define COUNT "a whole number of at least 0"
#define SEED  "a whole number from 0 to 2^63 - 1"

/* ---- fit ---- */

#define AT(field) offsetof(unrelu_gaussian_options, field)

static int read_method(void *options, const char *text)
{
    unrelu_gaussian_options *o = options;
    int paper = ur_text_index("efficient|paper", text);
    if (paper < 0)
        return 0;
    o->literal = paper;
    o->norms = paper ? UNRELU_NORMS_SGD : UNRELU_NORMS_CENSORED;
    o->angles = paper ? UNRELU_ANGLES_SIGNS : UNRELU_ANGLES_H6;
    return 1;
}

static int read_rank(void *options, const char *text)
{
    unrelu_gaussian_options *o = options;
    double k;
    int automatic = strcmp(text, "auto") == 0;
    if (!automatic && !(ur_text_number(text, &k) && k == floor(k) && k >= 1 && k <= INT_MAX))
        return 0;
    o->rank = automatic ? UNRELU_RANK_AUTO : (int)k;
    return 1;
}

static int read_additive_noise(void *options, const char *text)
{
    unrelu_gaussian_options *o = options;
    double sd = UNRELU_NOISE_AUTO;
    if (strcmp(text, "auto") != 0 && !(ur_text_number(text, &sd) && sd >= DBL_MIN))
        return 0;
    o->additive_noise = sd;
    return 1;
}

static const double MOST_LAMBDA = 10; /* of either sign: no one takes such a power */

static int read_transform(void *options, const char *text)
{
    unrelu_gaussian_options *o = options;
    static const char with[] = "boxcox:";
    double lambda = NAN;
    int transform = ur_text_index("none|sqrt|log|boxcox", text);
    if (strncmp(text, with, sizeof with - 1) == 0) {
        transform = UNRELU_TRANSFORM_BOXCOX;
        if (!ur_text_number(text + sizeof with - 1, &lambda) || fabs(lambda) > MOST_LAMBDA)
            return 0;
    }
    if (transform < 0)
        return 0;
    o->transform = (unrelu_transform)transform;
    o->boxcox = lambda;
    return 1;
}

static int read_activation(void *options, const char *text)
{
    unrelu_gaussian_options *o = options;
    return ur_activation_read(text, &o->transform, &o->boxcox);
}

/* auto, model, robust, bootstrap, bootstrap:N, cluster:COLUMN */
static int read_errors(void *options, const char *text)
{
    unrelu_gaussian_options *o = options;
    static const char draws[] = "bootstrap:", cluster[] = "cluster:";
    enum { DRAWS = sizeof draws - 1, CLUSTER = sizeof cluster - 1 };
    int kind = ur_text_index("auto|model|robust|bootstrap", text);
    uint64_t runs = 0;
    const char *column = NULL;
    if (strncmp(text, draws, DRAWS) == 0) {
        if (!ur_text_whole(text + DRAWS, &runs) || runs < 2 || runs > INT_MAX)
            return 0;
        kind = UNRELU_ERRORS_BOOTSTRAP;
    } else if (strncmp(text, cluster, CLUSTER) == 0 && text[CLUSTER]) {
        kind = UNRELU_ERRORS_CLUSTER;
        column = text + CLUSTER;
    }
    if (kind < 0)
        return 0;
    o->errors = (unrelu_errors)kind;
    o->bootstrap = (size_t)runs;
    o->cluster = column;
    return 1;
}

static const ur_option fit_table[] = {
    {"method", UR_OPTION_OWN, AT(angles), "efficient|paper", 0, 0, "one of efficient, paper",
     read_method},
    {"norms", UR_OPTION_CHOICE, AT(norms), "censored|truncated|median|sgd", 0, 0, NULL, NULL},
    {"angles", UR_OPTION_CHOICE, AT(angles), "h6|signs|likelihood", 0, 0, NULL, NULL},
    {"rank", UR_OPTION_OWN, AT(rank), "K|auto", 0, 0, "a whole number of at least 1, or auto",
     read_rank},
    {"precision", UR_OPTION_CHOICE, AT(precision), "auto|double|single", 0, 0, NULL, NULL},
    {"transform", UR_OPTION_OWN, AT(boxcox), "none|sqrt|log|boxcox|boxcox:L", 0, 0,
     "one of none, sqrt, log, boxcox, boxcox:L with L from -10 to 10", read_transform},
    {"activation", UR_OPTION_OWN, AT(boxcox), "leaky:S|sigmoid", 0, 0,
     "leaky:S with a slope S above 0, or sigmoid", read_activation},
    {"additive-noise", UR_OPTION_OWN, AT(additive_noise), "SD|auto", 0, 0,
     "a number above 0, or auto", read_additive_noise},
    {"robust", UR_OPTION_YES, AT(robust), NULL, 0, 0, "yes or no", NULL},
    {"drop", UR_OPTION_YES, AT(drop), NULL, 0, 0, "yes or no", NULL},
    {"batches", UR_OPTION_INT, AT(batches), "B", 1, INT_MAX, WHOLE, NULL},
    {"radius", UR_OPTION_REAL, AT(radius), "R", DBL_MIN, DBL_MAX, "a number above 0", NULL},
    {"lambda", UR_OPTION_REAL, AT(lambda), "L", DBL_MIN, DBL_MAX, "a number above 0", NULL},
    {"minibatch", UR_OPTION_INT, AT(minibatch), "M", 1, INT_MAX, WHOLE, NULL},
    {"seed", UR_OPTION_SEED, AT(seed), "S", 0, 0, SEED, NULL},
    {"errors", UR_OPTION_OWN, AT(cluster), "auto|model|robust|bootstrap[:N]|cluster:NAME", 0, 0,
     "one of auto, model, robust, bootstrap, bootstrap:N with N of at least 2, cluster:COLUMN",
     read_errors},
    {0},
};
#undef AT

void unrelu_gaussian_options_init(unrelu_gaussian_options *options, size_t size)
{
    const unrelu_gaussian_options defaults = {
        .batches = 1, .radius = 3, .lambda = 0.1, .minibatch = 10, .boxcox = NAN, .seed = 1};
    ur_sized_init(options, size, &defaults, sizeof defaults);
}

unrelu_status unrelu_gaussian_options_set(unrelu_gaussian_options *options, const char *name,
                                          const char *value, unrelu_error *err)
{
    return ur_option_set(fit_table, options, name, value, err);
}

int unrelu_gaussian_option(size_t i, unrelu_option *out)
{
    return ur_option_show(fit_table, i, out);
}

/* ---- a planted model ---- */

#define AT(field) offsetof(unrelu_gaussian_plant_options, field)

static int read_bias(void *options, const char *text)
{
    unrelu_gaussian_plant_options *o = options;
    return ur_option_bias(text, &o->bias, &o->bias_value);
}

static const ur_option plant_table[] = {
    {"d", UR_OPTION_SIZE, AT(d), "D", 1, INT_MAX, WHOLE, NULL},
    {"k", UR_OPTION_SIZE, AT(k), "K", 1, INT_MAX, WHOLE, NULL},
    {"kappa", UR_OPTION_REAL, AT(kappa), "X", 1, DBL_MAX, "a number of at least 1", NULL},
    {"bias", UR_OPTION_OWN, AT(bias_value), "rectified|normal|VALUE", 0, 0,
     "rectified, normal or a number", read_bias},
    {"seed", UR_OPTION_SEED, AT(seed), "S", 0, 0, SEED, NULL},
    {0},
};
#undef AT

void unrelu_gaussian_plant_options_init(unrelu_gaussian_plant_options *options, size_t size)
{
    const unrelu_gaussian_plant_options defaults = {.d = 5, .kappa = 1, .seed = 1};
    ur_sized_init(options, size, &defaults, sizeof defaults);
}

unrelu_status unrelu_gaussian_plant_options_set(unrelu_gaussian_plant_options *options,
                                                const char *name, const char *value,
                                                unrelu_error *err)
{
    return ur_option_set(plant_table, options, name, value, err);
}

int unrelu_gaussian_plant_option(size_t i, unrelu_option *out)
{
    return ur_option_show(plant_table, i, out);
}

/* ---- goodness of fit ---- */

#define AT(field) offsetof(unrelu_goodness_options, field)

static const ur_option goodness_table[] = {
    {"bins", UR_OPTION_SIZE, AT(bins), "N", 0, 1e6, COUNT, NULL},
    {"points", UR_OPTION_SIZE, AT(points), "N", 0, 1e6, COUNT, NULL},
    {"runs", UR_OPTION_SIZE, AT(runs), "N", 0, 1e9, COUNT, NULL},
    {"seed", UR_OPTION_SEED, AT(seed), "S", 0, 0, SEED, NULL},
    {0},
};
#undef AT

void unrelu_goodness_options_init(unrelu_goodness_options *options, size_t size)
{
    const unrelu_goodness_options defaults = {.seed = 1};
    ur_sized_init(options, size, &defaults, sizeof defaults);
}

unrelu_status unrelu_goodness_options_set(unrelu_goodness_options *options, const char *name,
                                          const char *value, unrelu_error *err)
{
    return ur_option_set(goodness_table, options, name, value, err);
}

int unrelu_goodness_option(size_t i, unrelu_option *out)
{
    return ur_option_show(goodness_table, i, out);
}

/* ---- imputation ---- */

#define AT(field) offsetof(unrelu_impute_options, field)

static const ur_option impute_table[] = {
    {"draws", UR_OPTION_SIZE, AT(draws), "M", 0, INT_MAX, COUNT, NULL},
    {"sweeps", UR_OPTION_SIZE, AT(sweeps), "N", 0, INT_MAX, COUNT, NULL},
    {"seed", UR_OPTION_SEED, AT(seed), "S", 0, 0, SEED, NULL},
    {"fixed-parameters", UR_OPTION_YES, AT(fixed_parameters), NULL, 0, 0, "yes or no", NULL},
    {"spreadsheet-safe", UR_OPTION_YES, AT(spreadsheet_safe), NULL, 0, 0, "yes or no", NULL},
    {"median", UR_OPTION_YES, AT(median), NULL, 0, 0, "yes or no", NULL},
    {0},
};

void unrelu_impute_options_init(unrelu_impute_options *options, size_t size)
{
    const unrelu_impute_options defaults = {.seed = 1};
    ur_sized_init(options, size, &defaults, sizeof defaults);
}

unrelu_status unrelu_impute_options_set(unrelu_impute_options *options, const char *name,
                                        const char *value, unrelu_error *err)
{
    return ur_option_set(impute_table, options, name, value, err);
}

int unrelu_impute_option(size_t i, unrelu_option *out)
{
    return ur_option_show(impute_table, i, out);
}
