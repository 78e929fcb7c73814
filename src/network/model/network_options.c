/* SPDX-License-Identifier: Apache-2.0 */
/* Options of recoveries and planted networks, by name. */
#include "model/options.h"

#include "base/text.h"

#include <float.h>
#include <limits.h>

#define WHOLE "a whole number of at least 1"
#define COUNT "a whole number of at least 0"
#define SEED  "a whole number from 0 to 2^63 - 1"

#define AT(field) offsetof(unrelu_recover_options, field)

static int parse_activation(const char *text, unrelu_activation *out)
{
    unrelu_activation f;
    if (unrelu_activation_parse(text, &f, NULL) != UNRELU_OK)
        return 0;
    *out = f;
    return 1;
}

static int read_activation(void *options, const char *text)
{
    return parse_activation(text, &((unrelu_recover_options *)options)->activation);
}

static const char activations[] = "relu|power:C|expm1|expm1sq|leaky:S|tanh";
static const char is_activation[] =
    "one of relu, power:C with C above 0, expm1, expm1sq, leaky:S with S below 1, tanh";

static const ur_option recover_table[] = {
    {"k", UR_OPTION_SIZE, AT(k), "K", 0, INT_MAX, "a whole number of at least 1, or 0: found out",
     NULL},
    {"method", UR_OPTION_CHOICE, AT(method),
     "auto|exact|moments|ica|tensor|symmetric|lifted|facets|enumerate|one-sparse|any-noise|"
     "sparse-noise|signless|start",
     0, 0, NULL, NULL},
    {"order", UR_OPTION_INT, AT(order), "2|3|4", 2, 4, "one of 2, 3, 4", NULL},
    {"signs", UR_OPTION_CHOICE, AT(signs), "regression|projection|moment", 0, 0, NULL, NULL},
    {"exactify", UR_OPTION_CHOICE, AT(exactify), "cca|systems|none", 0, 0, NULL, NULL},
    {"noise", UR_OPTION_CHOICE, AT(labels), "auto|none|gaussian", 0, 0, NULL, NULL},
    {"bias", UR_OPTION_CHOICE, AT(biases), "auto|none|hidden|both|output", 0, 0, NULL, NULL},
    {"activation", UR_OPTION_OWN, AT(activation), activations, 0, 0, is_activation,
     read_activation},
    {"literal", UR_OPTION_YES, AT(literal), NULL, 0, 0, "yes or no", NULL},
    {"pcp", UR_OPTION_YES, AT(pcp), NULL, 0, 0, "yes or no", NULL},
    {"robust", UR_OPTION_YES, AT(robust), NULL, 0, 0, "yes or no", NULL},
    {"certify", UR_OPTION_YES, AT(certify), NULL, 0, 0, "yes or no", NULL},
    {"log-probabilities", UR_OPTION_YES, AT(log_probabilities), NULL, 0, 0, "yes or no", NULL},
    {"time-limit", UR_OPTION_REAL, AT(time_limit), "SECONDS", 0, DBL_MAX,
     "a number of seconds, or 0: none", NULL},
    {"budget", UR_OPTION_SEED, AT(budget), "N", 0, 0, COUNT, NULL},
    {"seed", UR_OPTION_SEED, AT(seed), "S", 0, 0, SEED, NULL},
    {0},
};
#undef AT

void unrelu_recover_options_init(unrelu_recover_options *options, size_t size)
{
    const unrelu_recover_options defaults = {.order = 2, .seed = 1};
    ur_sized_init(options, size, &defaults, sizeof defaults);
}

unrelu_status unrelu_recover_options_set(unrelu_recover_options *options, const char *name,
                                         const char *value, unrelu_error *err)
{
    return ur_option_set(recover_table, options, name, value, err);
}

int unrelu_recover_option(size_t i, unrelu_option *out)
{
    return ur_option_show(recover_table, i, out);
}

/* ---- a planted network ---- */

#define AT(field) offsetof(unrelu_network_plant_options, field)

static int read_plant_activation(void *options, const char *text)
{
    return parse_activation(text, &((unrelu_network_plant_options *)options)->activation);
}

/* its network has one size */
static int read_lemma16(void *options, const char *text)
{
    unrelu_network_plant_options *o = options;
    double a;
    if (!ur_text_number(text, &a) || !(a > 0 && a <= 1))
        return 0;
    o->lemma16 = a;
    o->d = o->k = 2;
    o->m = 1;
    return 1;
}

static const ur_option plant_table[] = {
    {"d", UR_OPTION_SIZE, AT(d), "D", 1, INT_MAX, WHOLE, NULL},
    {"k", UR_OPTION_SIZE, AT(k), "K", 1, INT_MAX, WHOLE, NULL},
    {"m", UR_OPTION_SIZE, AT(m), "M", 1, INT_MAX, WHOLE, NULL},
    {"kappa-v", UR_OPTION_REAL, AT(kappa_v), "X", 1, DBL_MAX, "a number of at least 1", NULL},
    {"kappa-u", UR_OPTION_REAL, AT(kappa_u), "X", 1, DBL_MAX, "a number of at least 1", NULL},
    {"kappa", UR_OPTION_REAL, AT(kappa_x), "X", 1, DBL_MAX, "a number of at least 1", NULL},
    {"bias", UR_OPTION_REAL, AT(bias), "SD", 0, DBL_MAX,
     "a number of at least 0: the standard deviation of the biases", NULL},
    {"noise", UR_OPTION_REAL, AT(noise), "SD", 0, DBL_MAX, "a number of at least 0", NULL},
    {"inputs", UR_OPTION_CHOICE, AT(inputs), "normal|uniform|binary|t3|laplace|mixture", 0, 0, NULL,
     NULL},
    {"activation", UR_OPTION_OWN, AT(activation), activations, 0, 0, is_activation,
     read_plant_activation},
    {"lemma16", UR_OPTION_OWN, AT(lemma16), "A", 0, 0, "a number above 0 and at most 1",
     read_lemma16},
    {"seed", UR_OPTION_SEED, AT(seed), "S", 0, 0, SEED, NULL},
    {0},
};

void unrelu_network_plant_options_init(unrelu_network_plant_options *options, size_t size)
{
    const unrelu_network_plant_options defaults = {
        .d = 10, .k = 5, .m = 8, .kappa_x = 1, .seed = 1};
    ur_sized_init(options, size, &defaults, sizeof defaults);
}

unrelu_status unrelu_network_plant_options_set(unrelu_network_plant_options *options,
                                               const char *name, const char *value,
                                               unrelu_error *err)
{
    return ur_option_set(plant_table, options, name, value, err);
}

int unrelu_network_plant_option(size_t i, unrelu_option *out)
{
    return ur_option_show(plant_table, i, out);
}
