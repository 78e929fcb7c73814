/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <limits.h>
#include <stdio.h>

#include "files.h"
#include "json.h"
#include "scope.h"
#include "show/models.h"
#include "words.h"

typedef struct {
    cli_shared shared;
    size_t d, k, m, p, n;           /* 0: not said */
    double kappa, kappa_v, kappa_u; /* 0: not said */
    double noise;                   /* negative: not said */
    double lemma16;                 /* 0: not said */
    int inputs;                     /* -1: not said */
    const char *bias, *activation;
} generate_arguments;

#define FIELD(name)     offsetof(generate_arguments, name)
#define TO(kind, field) CLI_TO(kind, generate_arguments, field)
#define UP_TO_1E6       "a whole number from 1 to 1000000"
#define AT_LEAST_1      "a number of at least 1"

static const cli_option options[] = {
    {"output", 'o', "DIR",
     "folder to write to, made if missing; for inputs the file, .npy, .csv or .tsv (needed)",
     TO(CLI_TEXT, shared.output)},
    {.doc = "Model:", .kind = CLI_HEADING},
    {"dimension", 'd', "D", "columns of a sample or input (needed)", CLI_WHOLE, FIELD(d), 1, 1e6,
     UP_TO_1E6},
    {"latent", 'k', "K",
     "columns of W (default D, of a mixture P), or neurons of the network (needed)", CLI_WHOLE,
     FIELD(k), 1, 1e6, UP_TO_1E6},
    {"units", 'p', "P", "hidden units of the mixture, at most D (needed)", CLI_WHOLE, FIELD(p), 1,
     1e6, UP_TO_1E6},
    {"labels", 'm', "M", "columns of a label of the network (needed)", CLI_WHOLE, FIELD(m), 1, 1e6,
     UP_TO_1E6},
    {"count", 'n', "N", "samples to draw (needed)", CLI_WHOLE, FIELD(n), 1, 0x1p53,
     "a whole number of at least 1"},
    {"kappa", 0, "X",
     "condition number of W W' where K = D (default 1), of a mixture where K = P (default 9), or "
     "of the covariance of the inputs of a network (default 1)",
     CLI_REAL, FIELD(kappa), 1, DBL_MAX, AT_LEAST_1},
    {"bias", 0, "rectified|normal|VALUE",
     "gaussian: b is max(0, N(0, 1)) (default), N(0, 1), or VALUE times each column's scale; "
     "mixture: the same of the hidden units (default 0); network: c and e are N(0, VALUE^2) "
     "(default 0: none)",
     TO(CLI_TEXT, bias)},
    {"noise", 0, "SD",
     "standard deviation of the noise of the labels of a network, or of the samples of a mixture, "
     "whose own root mean square is 1 (default 0)",
     CLI_REAL, FIELD(noise), 0, DBL_MAX, "a number of at least 0"},
    {.doc = "For networks and their inputs:", .kind = CLI_HEADING},
    {"inputs", 0, "normal|uniform|binary|t3|laplace|mixture", /* in the order of unrelu_inputs */
     "law of the inputs (default normal; t3: Student's with 3 degrees of freedom; mixture: three "
     "normal clusters)",
     TO(CLI_CHOICE, inputs)},
    {"activation", 0, "relu|power:C|expm1|expm1sq|leaky:S|tanh",
     "as in 'unrelu recover' (default relu)", TO(CLI_TEXT, activation)},
    {"kappa-v", 0, "X", "condition number of V (default: as a random matrix has it)", CLI_REAL,
     FIELD(kappa_v), 1, DBL_MAX, AT_LEAST_1},
    {"kappa-u", 0, "X", "condition number of U (default: as a random matrix has it)", CLI_REAL,
     FIELD(kappa_u), 1, DBL_MAX, AT_LEAST_1},
    {"lemma16", 0, "A",
     "the network of Lemma 16 of the two-layer paper: d = k = 2, m = 1, labels (f(x1 + A x2) + "
     "f(x1 - A x2)) / 2, V of condition number 1 / A",
     CLI_REAL, FIELD(lemma16), 1e-15, 1, "a number above 1e-15 and at most 1"},
    {0},
};

static const cli_example examples[] = {
    {"unrelu generate gaussian -d 5 -n 200000 -o plant", "the setting of the paper"},
    {"unrelu generate gaussian -d 20 -k 3 -n 1e5 --bias -0.5 -o plant",
     "three latent dimensions, most values hidden"},
    {"unrelu generate network -d 20 -k 10 -m 12 -n 200 -o net", "ten neurons, exact labels"},
    {"unrelu generate network -d 10 -k 5 -m 8 -n 1e4 --noise 0.1 --bias 0.5 -o net",
     "with noise and biases"},
    {"unrelu generate network --lemma16 0.05 -n 100 -o net",
     "two neurons that 3 % of the inputs tell apart"},
    {"unrelu generate mixture -d 12 -p 8 -n 400 -o mix", "eight hidden units in twelve columns"},
    {"unrelu generate mixture -d 12 -p 8 -n 5000 --noise 0.01 --bias 0.5 -o mix",
     "noise of 1 %, units that are off less often"},
    {"unrelu generate inputs -d 20 -n 1000 -o x.npy", "inputs to ask somebody's network about"},
    {0},
};

static const generate_arguments defaults = {.noise = -1, .inputs = -1};

/* ---- which options are for which kind ------------------------------------------------ */

static const char kinds[] = "gaussian|network|mixture|inputs";
enum { INPUTS = CLI_MIXTURE + 1 }; /* in the order of kinds, as cli_kind_of_model is */
enum { OF_GAUSSIAN = 1 << CLI_GAUSSIAN, OF_NETWORK = 1 << CLI_NETWORK };
enum { OF_MIXTURE = 1 << CLI_MIXTURE, OF_INPUTS = 1 << INPUTS };

static int check(const generate_arguments *a, int kind)
{
    const struct {
        int said, kinds;
        const char *option;
    } table[] = {
        {a->k > 0, OF_GAUSSIAN | OF_NETWORK | OF_MIXTURE, "-k"},
        {a->p > 0, OF_MIXTURE, "-p"},
        {a->m > 0, OF_NETWORK, "-m"},
        {a->bias != NULL, OF_GAUSSIAN | OF_NETWORK | OF_MIXTURE, "--bias"},
        {a->inputs >= 0, OF_NETWORK | OF_INPUTS, "--inputs"},
        {a->noise >= 0, OF_NETWORK | OF_MIXTURE, "--noise"},
        {a->activation != NULL, OF_NETWORK, "--activation"},
        {a->kappa_v > 0, OF_NETWORK, "--kappa-v"},
        {a->kappa_u > 0, OF_NETWORK, "--kappa-u"},
        {a->lemma16 > 0, OF_NETWORK, "--lemma16"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].said && !(table[i].kinds >> kind & 1))
            return cli_usage("generate: %s does not apply to '%s'", table[i].option,
                             a->shared.files[0]);
    if (a->d == 0 || a->n == 0)
        return cli_usage("generate: say how large: -d D columns and -n N samples");
    CLI_TRY(cli_require_output("generate", &a->shared, "the files go"));
    if (kind == CLI_NETWORK && (a->k == 0 || a->m == 0))
        return cli_usage("generate network: say how large: -k K neurons and -m M labels");
    if (kind == CLI_MIXTURE && a->p == 0)
        return cli_usage("generate mixture: say how many hidden units: -p P");
    if (kind == INPUTS && a->shared.json && strcmp(a->shared.output, "-") == 0)
        return cli_usage("generate inputs: the rows and --json cannot both go to standard output");
    return 0;
}

/* ---- models -------------------------------------------------------------------------- */

/* text: rectified, normal or a number */
static int parse_bias(const char *text, unrelu_bias_law *law, double *value)
{
    int word = cli_word_index("rectified|normal", text);
    *law = word == 0 ? UNRELU_BIAS_RECTIFIED : word == 1 ? UNRELU_BIAS_NORMAL : UNRELU_BIAS_FIXED;
    return word >= 0 ? 0
                     : cli_parse_real("--bias", text, -DBL_MAX, DBL_MAX,
                                      "rectified, normal or a number", value);
}

/* of a network, or of inputs alone */
static int fill_options(const generate_arguments *a, unrelu_network_plant_options *o)
{
    unrelu_network_plant_options_init(o, sizeof *o);
    o->d = a->d;
    o->k = a->k;
    o->m = a->m;
    o->kappa_x = a->kappa > 0 ? a->kappa : o->kappa_x;
    o->kappa_v = a->kappa_v > 0 ? a->kappa_v : o->kappa_v;
    o->kappa_u = a->kappa_u > 0 ? a->kappa_u : o->kappa_u;
    o->noise = a->noise >= 0 ? a->noise : o->noise;
    o->lemma16 = a->lemma16;
    o->inputs = a->inputs >= 0 ? (unrelu_inputs)a->inputs : o->inputs;
    o->seed = a->shared.seed;
    if (a->bias)
        CLI_TRY(cli_parse_real("--bias", a->bias, 0, DBL_MAX,
                               "a number of at least 0: the standard deviation of the biases",
                               &o->bias));
    if (a->activation)
        CLI_CALL(unrelu_activation_parse(a->activation, &o->activation, &err));
    return 0;
}

/* ---- files --------------------------------------------------------------------------- */

typedef struct {
    const unrelu_network_plant_options *options;
    const unrelu_network *truth; /* NULL: inputs only */
} drawing;

static unrelu_status draw(const void *from, size_t row, size_t rows, const unrelu_exec *exec,
                          double *const *x, unrelu_error *err)
{
    const drawing *of = from;
    return unrelu_network_draw(of->options, of->truth, row, rows, exec, x[0], x[1], err);
}

/* labels NULL: there are none; truth NULL: nor a model */
static int report(const generate_arguments *a, const char *kind, const char *x, const char *labels,
                  const char *truth)
{
    unsigned long long seed = a->shared.seed;
    if (strcmp(x, "-") == 0)
        cli_note("seed %llu", seed);
    else
        cli_note("%s: %zu rows of %zu columns, seed %llu", x, a->n, a->d, seed);
    if (labels)
        cli_note("%s: their labels, %zu column%s", labels, a->m, a->m == 1 ? "" : "s");
    if (truth)
        cli_note("%s: the planted %s", truth, labels ? "network" : "model");
    if (!a->shared.json)
        return 0;
    cli_json json = cli_json_start("generate");
    cli_json_text(&json, "kind", kind);
    cli_json_whole(&json, "n", a->n);
    cli_json_whole(&json, "d", a->d);
    if (a->p)
        cli_json_whole(&json, "p", a->p);
    if (truth)
        cli_json_whole(&json, "k", a->k ? a->k : a->p ? a->p : a->d);
    if (labels)
        cli_json_whole(&json, "m", a->m);
    cli_json_whole(&json, "seed", a->shared.seed);
    cli_json_text(&json, labels || !truth ? "inputs" : "samples", x);
    if (labels)
        cli_json_text(&json, "labels", labels);
    if (truth)
        cli_json_text(&json, "truth", truth);
    cli_json_put(&json, "warnings", json_array());
    return cli_json_finish(&json);
}

static int generate_inputs(const generate_arguments *a)
{
    unrelu_network_plant_options o;
    CLI_TRY(fill_options(a, &o));
    o.k = o.m = 1; /* of no network */
    const cli_rows_file x = {a->shared.output, a->d, NULL};
    CLI_TRY(cli_check_output(&a->shared, NULL));
    CLI_TRY(cli_write_rows(&a->shared, draw, &(drawing){.options = &o}, a->n, &x, 1));
    return report(a, "inputs", x.path, NULL, NULL);
}

/* DIR/name, in path of PATH_MAX characters */
static int name_file(const generate_arguments *a, const char *name, char *path)
{
    int length = snprintf(path, PATH_MAX, "%s/%s", a->shared.output, name);
    return length < PATH_MAX ? 0 : cli_usage("-o: the name of the folder is too long");
}

/* The samples take another stream than 'unrelu sample truth.npz' with the same seed would. */
static int generate(const generate_arguments *a, cli_kind_of_model kind)
{
    const cli_shared *shared = &a->shared;
    CLI_SCOPE(cli_free_model) cli_model truth = {.kind = kind};
    unrelu_network_plant_options o;
    char x[PATH_MAX], labels[PATH_MAX], path[PATH_MAX];
    CLI_TRY(name_file(a, "x.npy", x));
    CLI_TRY(name_file(a, "a.npy", labels));
    CLI_TRY(name_file(a, "truth.npz", path));
    if (kind == CLI_NETWORK) {
        CLI_TRY(fill_options(a, &o));
        CLI_CALL(unrelu_network_plant(&o, &truth.network, &err));
    } else if (kind == CLI_MIXTURE) {
        unrelu_mixture_plant_options with;
        unrelu_mixture_plant_options_init(&with, sizeof with);
        with.d = a->d;
        with.p = a->p;
        with.k = a->k;
        with.kappa = a->kappa > 0 ? a->kappa : with.kappa;
        with.noise = a->noise >= 0 ? a->noise : with.noise;
        with.seed = a->shared.seed;
        CLI_TRY(parse_bias(a->bias ? a->bias : "0", &with.bias, &with.bias_value));
        CLI_CALL(unrelu_mixture_plant(&with, &truth.mixture, &err));
    } else {
        unrelu_gaussian_plant_options with;
        unrelu_gaussian_plant_options_init(&with, sizeof with);
        with.d = a->d;
        with.k = a->k;
        with.kappa = a->kappa > 0 ? a->kappa : with.kappa;
        with.seed = a->shared.seed;
        if (a->bias)
            CLI_TRY(parse_bias(a->bias, &with.bias, &with.bias_value));
        CLI_CALL(unrelu_gaussian_plant(&with, &truth.gaussian, &err));
    }
    CLI_TRY(cli_make_folder(shared->output));
    if (kind == CLI_NETWORK) {
        const unrelu_network *network = truth.network;
        const cli_rows_file files[] = {{x, a->d, network->input_names},
                                       {labels, a->m, network->label_names}};
        CLI_TRY(cli_write_rows(shared, draw, &(drawing){&o, network}, a->n, files, 2));
    } else
        CLI_TRY(cli_sample_model(shared, &truth, ~shared->seed, a->n, x, cli_model_names(&truth)));
    CLI_TRY(cli_save_model(&truth, path));
    return report(a, cli_model_name(kind), x, kind == CLI_NETWORK ? labels : NULL, path);
}

/* its network has one size, which need not be said */
static void take_lemma16(generate_arguments *a)
{
    a->d = a->d ? a->d : 2;
    a->k = a->k ? a->k : 2;
    a->m = a->m ? a->m : 1;
}

static int run(void *arguments)
{
    generate_arguments *a = arguments;
    int kind = cli_word_index(kinds, a->shared.files[0]);
    if (kind < 0)
        return cli_usage("generate: this version has no kind of model '%s'; it has: gaussian, "
                         "network, mixture, and inputs alone",
                         a->shared.files[0]);
    if (kind == CLI_NETWORK && a->lemma16 > 0)
        take_lemma16(a);
    CLI_TRY(check(a, kind));
    return kind == INPUTS ? generate_inputs(a) : generate(a, (cli_kind_of_model)kind);
}

const cli_command cli_generate = {
    .name = "generate",
    .files = {"gaussian|network|mixture|inputs", 1, 1},
    .brief = "Plant a random model and draw samples from it",
    .doc =
        "gaussian: writes DIR/x.npy, the samples, and DIR/truth.npz, the model, which 'unrelu "
        "compare' holds a fit against. With K = D, W is a random rotation times a diagonal that "
        "gives W W' the condition number --kappa; with another K, W has normal entries and rows "
        "of unit length.\n\nnetwork: writes DIR/x.npy, the inputs, DIR/a.npy, their labels, and "
        "DIR/truth.npz, a random two-layer network a = U f(V x + c) + e. Rows of V have unit "
        "length; U is scaled such that the labels have a root mean square of 1 about their "
        "mean. With --lemma16 A the network is that of Lemma 16 of the two-layer paper, and its U "
        "is not scaled: rows with |x1| > A |x2| have the label max(0, x1), whatever A is, and "
        "only the others, a share of 2 atan(A) / pi, tell the two neurons apart.\n\nmixture: "
        "writes DIR/x.npy, samples of x = A ReLU(W z + b) with noise, and "
        "DIR/truth.npz. A (D x P) has normal entries and columns of unit length, W is that of "
        "gaussian for P columns, times a factor such that the samples have a root mean square "
        "of 1.\n\ninputs: writes inputs alone to the file that -o names.",
    .words = kinds,
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS | CLI_HAS_JSON | CLI_HAS_RANKS,
    .examples = examples,
    .size = sizeof(generate_arguments),
    .defaults = &defaults,
    .run = run,
};
