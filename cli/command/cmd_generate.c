/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <stdio.h>

#include "files.h"
#include "show/generate.h"
#include "talk.h"
#include "words.h"

#define FIELD(name) offsetof(generate_arguments, name)
#define UP_TO_1E6   "a whole number from 1 to 1000000"
#define AT_LEAST_1  "a number of at least 1"

static const cli_option options[] = {
    {"output", 'o', "DIR",
     "folder to write to, made if missing; for inputs the file, .npy, .csv or .tsv (needed)",
     CLI_TEXT, FIELD(shared.output), 0, 0, NULL},
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
     CLI_TEXT, FIELD(bias), 0, 0, NULL},
    {"noise", 0, "SD",
     "standard deviation of the noise of the labels of a network, or of the samples of a mixture, "
     "whose own root mean square is 1 (default 0)",
     CLI_REAL, FIELD(noise), 0, DBL_MAX, "a number of at least 0"},
    {.doc = "For networks and their inputs:", .kind = CLI_HEADING},
    {"inputs", 0, "normal|uniform|binary|t3|laplace|mixture", /* in the order of unrelu_inputs */
     "law of the inputs (default normal; t3: Student's with 3 degrees of freedom; mixture: three "
     "normal clusters)",
     CLI_CHOICE, FIELD(inputs), 0, 0, NULL},
    {"activation", 0, "relu|power:C|expm1|expm1sq|leaky:S|tanh",
     "as in 'unrelu recover' (default relu)", CLI_TEXT, FIELD(activation), 0, 0, NULL},
    {"kappa-v", 0, "X", "condition number of V (default: as a random matrix has it)", CLI_REAL,
     FIELD(kappa_v), 1, DBL_MAX, AT_LEAST_1},
    {"kappa-u", 0, "X", "condition number of U (default: as a random matrix has it)", CLI_REAL,
     FIELD(kappa_u), 1, DBL_MAX, AT_LEAST_1},
    {0},
};

static const cli_example examples[] = {
    {"unrelu generate gaussian -d 5 -n 200000 -o plant", "the setting of the paper"},
    {"unrelu generate gaussian -d 20 -k 3 -n 1e5 --bias -0.5 -o plant",
     "three latent dimensions, most values hidden"},
    {"unrelu generate network -d 20 -k 10 -m 12 -n 200 -o net", "ten neurons, exact labels"},
    {"unrelu generate network -d 10 -k 5 -m 8 -n 1e4 --noise 0.1 --bias 0.5 -o net",
     "with noise and biases"},
    {"unrelu generate mixture -d 12 -p 8 -n 400 -o mix", "eight hidden units in twelve columns"},
    {"unrelu generate mixture -d 12 -p 8 -n 5000 --noise 0.01 --bias 0.5 -o mix",
     "noise of 1 %, units that are off less often"},
    {"unrelu generate inputs -d 20 -n 1000 -o x.npy", "inputs to ask somebody's network about"},
    {0},
};

static const generate_arguments defaults = {CLI_SHARED_DEFAULTS, .noise = -1, .inputs = -1};

/* ---- which options are for which kind ------------------------------------------------ */

static const char kinds[] = "gaussian|network|mixture|inputs";
enum { /* in the order of kinds */
       GAUSSIAN = 1 << 0,
       NETWORK = 1 << 1,
       MIXTURE = 1 << 2,
       INPUTS = 1 << 3,
};

static int check_kind(const generate_arguments *a, unsigned kind)
{
    const struct {
        int said;
        unsigned kinds;
        const char *option;
    } table[] = {
        {a->k > 0, GAUSSIAN | NETWORK | MIXTURE, "-k"},
        {a->p > 0, MIXTURE, "-p"},
        {a->m > 0, NETWORK, "-m"},
        {a->bias != NULL, GAUSSIAN | NETWORK | MIXTURE, "--bias"},
        {a->inputs >= 0, NETWORK | INPUTS, "--inputs"},
        {a->noise >= 0, NETWORK | MIXTURE, "--noise"},
        {a->activation != NULL, NETWORK, "--activation"},
        {a->kappa_v > 0, NETWORK, "--kappa-v"},
        {a->kappa_u > 0, NETWORK, "--kappa-u"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].said && !(table[i].kinds & kind))
            return cli_usage("generate: %s does not apply to '%s'", table[i].option,
                             a->shared.files[0]);
    return 0;
}

static int check(const generate_arguments *a, unsigned kind)
{
    int status = check_kind(a, kind);
    if (status != 0)
        return status;
    if (a->d == 0 || a->n == 0)
        return cli_usage("generate: say how large: -d D columns and -n N samples");
    return cli_require_output("generate", &a->shared, "the files go");
}

int cli_generate_path(const generate_arguments *a, const char *name, char *path)
{
    int length = snprintf(path, PATH_MAX, "%s/%s", a->shared.output, name);
    return length < PATH_MAX ? 0 : cli_usage("-o: the name of the folder is too long");
}

static int run(void *arguments)
{
    static int (*const makers[])(const generate_arguments *) = {
        cli_generate_gaussian, cli_generate_network, cli_generate_mixture, cli_generate_inputs};
    const generate_arguments *a = arguments;
    int kind = cli_word_index(kinds, a->shared.files[0]);
    if (kind < 0)
        return cli_usage("generate: this version has no kind of model '%s'; it has: gaussian, "
                         "network, mixture, and inputs alone",
                         a->shared.files[0]);
    int status = check(a, 1U << kind);
    return status ? status : makers[kind](a);
}

const cli_command cli_generate = {
    .name = "generate",
    .files = "gaussian|network|mixture|inputs",
    .brief = "Plant a random model and draw samples from it",
    .doc = "gaussian: writes DIR/x.npy, the samples, and DIR/truth.npz, the model, which 'unrelu "
           "compare' holds a fit against. With K = D, W is a random rotation times a diagonal that "
           "gives W W' the condition number --kappa; with another K, W has normal entries and rows "
           "of unit length.\n\nnetwork: writes DIR/x.npy, the inputs, DIR/a.npy, their labels, and "
           "DIR/truth.npz, a random two-layer network a = U f(V x + c) + e. Rows of V have unit "
           "length; U is scaled such that the labels have a root mean square of 1 about their "
           "mean.\n\nmixture: writes DIR/x.npy, samples of x = A ReLU(W z + b) with noise, and "
           "DIR/truth.npz. A (D x P) has normal entries and columns of unit length, W is that of "
           "gaussian for P columns, times a factor such that the samples have a root mean square "
           "of 1.\n\ninputs: writes inputs alone to the file that -o names.",
    .words = kinds,
    .options = options,
    .has = CLI_HAS_SEED | CLI_HAS_THREADS | CLI_HAS_JSON,
    .examples = examples,
    .least_files = 1,
    .most_files = 1,
    .size = sizeof(generate_arguments),
    .defaults = &defaults,
    .run = run,
};
