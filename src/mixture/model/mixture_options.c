/* SPDX-License-Identifier: Apache-2.0 */
/* Options of unmixing and of planted mixtures, by name. */
#include "model/options.h"

#include <float.h>
#include <limits.h>

#define WHOLE "a whole number of at least 1"
#define SEED  "a whole number from 0 to 2^63 - 1"

#define AT(field) offsetof(unrelu_unmix_options, field)

static const ur_option unmix_table[] = {
    {"p", UR_OPTION_SIZE, AT(p), "P", 0, INT_MAX, "a whole number of at least 1, or 0: found out",
     NULL},
    {"method", UR_OPTION_CHOICE, AT(method), "facets|separable", 0, 0, NULL, NULL},
    {"seed", UR_OPTION_SEED, AT(seed), "S", 0, 0, SEED, NULL},
    {0},
};
#undef AT

void unrelu_unmix_options_init(unrelu_unmix_options *options, size_t size)
{
    const unrelu_unmix_options defaults = {.seed = 1};
    ur_sized_init(options, size, &defaults, sizeof defaults);
}

unrelu_status unrelu_unmix_options_set(unrelu_unmix_options *options, const char *name,
                                       const char *value, unrelu_error *err)
{
    return ur_option_set(unmix_table, options, name, value, err);
}

int unrelu_unmix_option(size_t i, unrelu_option *out)
{
    return ur_option_show(unmix_table, i, out);
}

/* ---- a planted mixture ---- */

#define AT(field) offsetof(unrelu_mixture_plant_options, field)

static int read_bias(void *options, const char *text)
{
    unrelu_mixture_plant_options *o = options;
    return ur_option_bias(text, &o->bias, &o->bias_value);
}

static const ur_option plant_table[] = {
    {"d", UR_OPTION_SIZE, AT(d), "D", 1, INT_MAX, WHOLE, NULL},
    {"p", UR_OPTION_SIZE, AT(p), "P", 1, INT_MAX, WHOLE, NULL},
    {"k", UR_OPTION_SIZE, AT(k), "K", 1, INT_MAX, WHOLE, NULL},
    {"kappa", UR_OPTION_REAL, AT(kappa), "X", 1, DBL_MAX, "a number of at least 1", NULL},
    {"bias", UR_OPTION_OWN, AT(bias_value), "rectified|normal|VALUE", 0, 0,
     "rectified, normal or a number", read_bias},
    {"noise", UR_OPTION_REAL, AT(noise), "SD", 0, DBL_MAX, "a number of at least 0", NULL},
    {"seed", UR_OPTION_SEED, AT(seed), "S", 0, 0, SEED, NULL},
    {0},
};

void unrelu_mixture_plant_options_init(unrelu_mixture_plant_options *options, size_t size)
{
    const unrelu_mixture_plant_options defaults = {
        .d = 10, .p = 5, .kappa = 9, .bias = UNRELU_BIAS_FIXED, .seed = 1};
    ur_sized_init(options, size, &defaults, sizeof defaults);
}

unrelu_status unrelu_mixture_plant_options_set(unrelu_mixture_plant_options *options,
                                               const char *name, const char *value,
                                               unrelu_error *err)
{
    return ur_option_set(plant_table, options, name, value, err);
}

int unrelu_mixture_plant_option(size_t i, unrelu_option *out)
{
    return ur_option_show(plant_table, i, out);
}
