/* SPDX-License-Identifier: Apache-2.0 */
/* Options by name, from text: every line is STRUCT NAME VALUE, a line without VALUE is a switch;
 * STRUCT is a letter of the table below, 'a' an activation and 'c' a choice of columns. */
#include "fuzz.h"

#include <string.h>

static struct {
    unrelu_gaussian_options gaussian;
    unrelu_gaussian_plant_options gaussian_plant;
    unrelu_recover_options recover;
    unrelu_network_plant_options network_plant;
    unrelu_unmix_options unmix;
    unrelu_mixture_plant_options mixture_plant;
    unrelu_plan_options plan;
    unrelu_goodness_options goodness;
    unrelu_impute_options impute;
} o;

#define OPTIONS(letter, name)                                                                      \
    case letter:                                                                                   \
        return fuzz_failed(unrelu_##name##_options_set(&o.name, option, value, &err), &err)

static int set(char letter, const char *option, const char *value)
{
    unrelu_error err = {0};
    switch (letter) {
        OPTIONS('g', gaussian);
        OPTIONS('G', gaussian_plant);
        OPTIONS('n', recover);
        OPTIONS('N', network_plant);
        OPTIONS('m', unmix);
        OPTIONS('M', mixture_plant);
        OPTIONS('p', plan);
        OPTIONS('f', goodness);
        OPTIONS('i', impute);
    }
    return 1;
}

#define START(name) unrelu_##name##_options_init(&o.name, sizeof o.name)

static void start(void)
{
    START(gaussian);
    START(gaussian_plant);
    START(recover);
    START(network_plant);
    START(unmix);
    START(mixture_plant);
    START(plan);
    START(goodness);
    START(impute);
}

static void parse_activation(const char *text)
{
    unrelu_error err;
    unrelu_activation f;
    char name[64];
    if (FUZZ_FAILED(unrelu_activation_parse(text, &f, &err)))
        return;
    unrelu_activation_name(f, name, sizeof name);
    if (FUZZ_FAILED(unrelu_activation_parse(name, &f, &err)))
        abort(); /* its own name must do */
}

/* no column is chosen twice, and some are */
static void check_choice(unrelu_source *source, size_t width)
{
    size_t count = unrelu_source_columns(source);
    if (count < 1 || count > width)
        abort();
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (!strcmp(unrelu_source_name(source, i), unrelu_source_name(source, j)))
                abort();
    unrelu_source_close(source);
}

/* of columns without names, and of some whose names look like choices */
static void choose_columns(const char *text)
{
    enum { UNNAMED = 4, NAMED = 9 };
    static const double x[2 * UNNAMED] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const char table[] = "rain1,rain2,rain_total,\"lead, dissolved\",\"a\"\"b\",^tin,"
                                "x:y,5-9,r*\n1,2,3,4,5,6,7,8,9\n";
    static const char *path;
    unrelu_error err;
    unrelu_source *source = NULL;
    unrelu_source_options options;
    if (!path)
        path = fuzz_file("names.csv", table, sizeof table - 1);
    unrelu_source_options_init(&options, sizeof options);
    options.columns = text;
    if (!FUZZ_FAILED(unrelu_source_memory(x, 2, UNNAMED, &options, &source, &err)))
        check_choice(source, UNNAMED);
    if (!FUZZ_FAILED(unrelu_source_open(path, &options, &source, &err)))
        check_choice(source, NAMED);
}

static void plan(void)
{
    unrelu_error err;
    unrelu_plan *made = NULL;
    if (o.plan.d <= 1000 && o.plan.k <= 1000 && o.plan.p <= 1000) /* larger ones take long */
        (void)FUZZ_FAILED(unrelu_plan_make(&o.plan, &made, &err));
    unrelu_plan_free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char text[4096], *rest = text, *line;
    int planned = 0;
    snprintf(text, sizeof text, "%.*s", (int)size, (const char *)bytes);
    start();
    while ((line = strsep(&rest, "\n"))) {
        char letter = *line, *tail = letter ? line + 1 : line;
        tail += *tail == ' ';
        if (letter == 'a')
            parse_activation(tail);
        else if (letter == 'c')
            choose_columns(tail);
        else {
            char *name = strsep(&tail, " ");
            planned |= set(letter, name, tail) == 0 && letter == 'p';
        }
    }
    if (planned)
        plan();
    return 0;
}
