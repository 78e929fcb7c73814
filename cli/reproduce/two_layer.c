/* SPDX-License-Identifier: Apache-2.0 */
/* Which claims of the two-layer paper are run, at which sizes, and what is said of them. */
#include "two_layer_study.h"

#include <math.h>
#include <stdio.h>

#include "report/html.h"

#define KAPPA "\u03ba"

static const study_metric metrics[TWO_LAYER_METRICS] = {
    [TOLD] = {"told", "limit_told", "told apart", "A and 2 A are told apart", 1},
    [RIGHT] = {"right", "limit_right", "V right", "V is right to 1e-6", 1},
    [CERTIFIED] = {"exact", NULL, "exact", "called exact", 1},
    [FALSE_EXACT] = {"false_exact", NULL, "wrong exact", "called exact, and wrong", 1},
    [ERR_V] = {"err_v", "limit_v", "err_V", "error of a row of V", 0},
    [RATIO] = {"ratio", NULL, "ratio", "|A \u2212 U f(V X)| / |E|", 0},
};

/* ---- methods ---- */

static const two_layer_method by_default = {"method=auto", 0, 0}, exact = {"method=exact", 0, 0};
static const two_layer_method order_2 = {"method=tensor order=2 exactify=none", 1, 0};
static const two_layer_method order_3 = {"method=tensor order=3 exactify=none", 1, 0};
static const two_layer_method order_4 = {"method=tensor order=4 exactify=none", 1, 0};
/* The third order is refused for the ReLU. Score tensors do not depend on f: with the name of one
 * that has a third coefficient they are computed all the same. */
static const two_layer_method order_3_relu = {
    "method=tensor order=3 exactify=none activation=power:2", 1, 0};
static const two_layer_method algorithm_7 = {"method=one-sparse literal=yes bias=none", 1, 0};
static const two_layer_method peeling = {"method=one-sparse bias=none", 1, 0};
/* The printed programme returns E = 0: labels stay as they are. */
static const two_layer_method unclean = {"method=moments bias=none", 1, 0};
static const two_layer_method pursuit = {"method=sparse-noise pcp=yes bias=none", 1, 0};
static const two_layer_method staged = {"method=sparse-noise bias=none", 1, 0};
static const two_layer_method oracle_printed = {NULL, 1, DITHER_PRINTED};
static const two_layer_method oracle_best = {NULL, 1, DITHER_BEST};
static const two_layer_method any_noise = {"method=any-noise bias=none", 1, 0};

static const study_series lemma16_series[] = {
    {"auto", "kappa 10", KAPPA " = 10", &by_default},
    {"auto", "kappa 100", KAPPA " = 100", &by_default},
    {"auto", "kappa 1000", KAPPA " = 1000", &by_default},
};
static const study_series relu_series[] = {
    {"order-3", "order 3", "order 3, as printed", &order_3_relu},
    {"order-2", "order 2", "order 2", &order_2},
    {"order-4", "order 4", "order 4", &order_4},
};
static const study_series squared_series[] = {
    {"order-3", "order 3", "order 3, as printed", &order_3},
    {"order-2", "order 2", "order 2", &order_2},
};
static const study_series one_sparse_series[] = {
    {"literal", "Algorithm 7", "Algorithm 7", &algorithm_7},
    {"peeling", "peeling", "unrelu, peeling", &peeling},
};
static const study_series wrong_series[] = {
    {"printed", "E = 0", "printed programme (E = 0)", &unclean},
    {"staged", "staged", "unrelu, in stages", &staged},
    {"pcp", "with lambda", "with \u03bb = 1 / \u221amax(m, n)", &pursuit},
};
static const study_series noise_series[] = {
    {"oracle-printed", "8, its dither", "Algorithm 8, M given, its dither", &oracle_printed},
    {"any-noise", "any-noise", "unrelu, M not given", &any_noise},
    {"oracle-best", "8, best dither", "Algorithm 8, M given, best dither", &oracle_best},
};
static const study_series size_series[] = {
    {"exact", "5, 3, 3", "(d, k, m) = (5, 3, 3)", &exact},
    {"exact", "10, 5, 8", "(10, 5, 8)", &exact},
    {"exact", "20, 10, 12", "(20, 10, 12)", &exact},
    {"exact", "40, 20, 24", "(40, 20, 24)", &exact},
};
static const study_series count_series[] = {
    {"exact", "n = 4 d", "n = 4 d", &exact},
    {"exact", "n = 6 d", "n = 6 d", &exact},
    {"exact", "n = 20 d", "n = 20 d", &exact},
};

/* ---- panels ---- */

#define SERIES(of) .count = sizeof(of) / sizeof *(of), .series = (of)

static const two_layer_setting plain = {LABELS_EXACT, .signs_free = 0};
static const two_layer_setting lemma16 = {LABELS_LEMMA16, .signs_free = 0};
static const two_layer_setting tensor = {LABELS_EXACT, .signs_free = 1};
static const two_layer_setting tensor_squared = {LABELS_EXACT, {UNRELU_POWER, 2}, .signs_free = 1};
static const two_layer_setting wrong_cells = {LABELS_WRONG, .signs_free = 0};
static const two_layer_setting heavy_tails = {LABELS_NOISY, .kappa_u = 2};

enum { LEMMA16, TENSOR, SQUARED, ONE_SPARSE, WRONG, NOISE, SIZES, CONDITION, NEURONS, PANELS };

static const study_panel panels[PANELS] = {
    [LEMMA16] = {.key = "lemma16",
                 .varies = "n / kappa",
                 .symbol = "n / " KAPPA,
                 .axis = "samples over " KAPPA,
                 .heading = "Samples grow with the condition number (Lemma 16)",
                 .says =
                     "Two neurons with rows (1, A) and (1, \u2212A) and labels (f(x<sub>1</sub> "
                     "+ A x<sub>2</sub>) + f(x<sub>1</sub> \u2212 A x<sub>2</sub>)) / 2: only "
                     "samples with |x<sub>1</sub>| &lt; 2 A |x<sub>2</sub>| tell this network "
                     "from that of 2 A, and only those with |x<sub>1</sub>| &lt; A "
                     "|x<sub>2</sub>| tell its neurons apart. Against n / " KAPPA " all curves "
                     "are one: that is the lemma. Dashed is what normal inputs hold: a sample "
                     "that tells, and two between the kinks, without which the network is not "
                     "determined. Where there is none between the kinks the labels are those "
                     "of one neuron, and no method can know better.",
                 .limit = "what the samples hold",
                 .is_log = 1,
                 SERIES(lemma16_series),
                 .shows = {TOLD, RIGHT, -1},
                 .own = &lemma16},
    [TENSOR] = {.key = "tensor",
                .varies = "n",
                .symbol = "n",
                .axis = "samples n",
                .heading = "The third order holds nothing (Algorithm 4, ReLU)",
                .says =
                    "Rows of V from the score tensor alone, up to sign. Of order 3, as printed, "
                    "its expectation is 0 for the ReLU: the error stays that of random rows, "
                    "however many samples there are. unrelu takes order 2, and refuses the "
                    "third for the ReLU unless it is told, as here, that f is another.",
                .limit = "random rows",
                .is_log = 1,
                SERIES(relu_series),
                .shows = {ERR_V, -1},
                .own = &tensor},
    [SQUARED] = {.key = "tensor-squared",
                 .varies = "n",
                 .symbol = "n",
                 .axis = "samples n",
                 .heading = "Where the third order works: f = t\u00b2",
                 .says = "The same for labels with f(t) = max(0, t)\u00b2, whose third coefficient "
                         "is not 0. Order 2 is better here too.",
                 .limit = "random rows",
                 .is_log = 1,
                 SERIES(squared_series),
                 .shows = {ERR_V, -1},
                 .own = &tensor_squared},
    [ONE_SPARSE] = {.key = "one-sparse",
                    .varies = "n",
                    .symbol = "n",
                    .axis = "samples n",
                    .heading = "Fewer labels than neurons (Algorithm 7)",
                    .says = "Algorithm 7 waits for d samples with one neuron on, for each neuron; "
                            "peeling subtracts what it has found, and more samples become such.",
                    .is_log = 1,
                    SERIES(one_sparse_series),
                    .shows = {RIGHT, CERTIFIED, -1},
                    .own = &plain},
    [WRONG] = {.key = "wrong-labels",
               .varies = "share",
               .symbol = "share",
               .axis = "share of wrong labels",
               .heading = "Some labels are wrong (section 8)",
               .says =
                   "Wrong labels are off by 5 to 10 root mean squares. The printed programme, "
                   "min |Y|<sub>*</sub> + |E|<sub>1</sub>, has E = 0 as its solution whatever "
                   "the labels are, for |E|<sub>1</sub> \u2265 |E|<sub>*</sub>: what is learned "
                   "after it is learned from the wrong labels. With \u03bb before "
                   "|E|<sub>1</sub> it finds most of them; in stages all, up to a "
                   "share of some 30 %.",
               .is_log = 1,
               SERIES(wrong_series),
               .shows = {RIGHT, ERR_V, -1},
               .own = &wrong_cells},
    [NOISE] = {.key = "any-noise",
               .varies = "n",
               .symbol = "n",
               .axis = "samples n",
               .heading = "Noise of any shape (Algorithm 8)",
               .says =
                   "Noise with heavy tails (Student, 3 degrees of freedom) as large as the "
                   "labels. Algorithm 8 tries more matrices M than any computer can; here it is "
                   "given the right one. With its own dither the signs hold next to nothing at "
                   "these sizes; with the best dither it works, and unrelu, to which no M is "
                   "given, is closer.",
               .is_log = 1,
               SERIES(noise_series),
               .shows = {ERR_V, RATIO, -1},
               .own = &heavy_tails},
    [SIZES] = {.key = "samples",
               .varies = "n / d",
               .symbol = "n / d",
               .axis = "samples over d",
               .heading = "How many samples: d",
               .says = "Labels without noise, random V and U. The verdict is exact from max(6 d, "
                       "50) samples on, or where samples that were kept back confirm it.",
               SERIES(size_series),
               .shows = {RIGHT, CERTIFIED, -1},
               .own = &plain},
    [CONDITION] = {.key = "kappa",
                   .varies = "kappa",
                   .symbol = KAPPA,
                   .axis = "condition number of V",
                   .heading = "How many samples: " KAPPA,
                   .says = "The condition number of V matters where there are few samples.",
                   .is_log = 1,
                   SERIES(count_series),
                   .shows = {RIGHT, CERTIFIED, -1},
                   .own = &plain},
    [NEURONS] = {.key = "neurons",
                 .varies = "k",
                 .symbol = "k",
                 .axis = "neurons k = labels m",
                 .heading = "How many samples: k",
                 .says = "More neurons than inputs are no obstacle, though the theorems ask for k "
                         "\u2264 d.",
                 SERIES(count_series),
                 .shows = {RIGHT, CERTIFIED, -1},
                 .own = &plain},
};

/* ---- points ---- */

typedef struct {
    size_t n, d, k, m;
    double kappa, noise; /* 0: does not apply */
} size;

static void set_keys(study_point *p, size_t series, size s)
{
    double *key = p->key[series];
    key[KEY_N] = (double)s.n;
    key[KEY_D] = (double)s.d;
    key[KEY_K] = (double)s.k;
    key[KEY_M] = (double)s.m;
    key[KEY_KAPPA] = s.kappa > 0 ? s.kappa : NAN;
    key[KEY_NOISE] = s.noise > 0 ? s.noise : NAN;
}

/* seconds: of one run, about */
static study_point *add(study *s, size_t panel, double x, double seconds, size all)
{
    study_point *p = cli_study_add(s, panel, x, seconds);
    for (size_t i = 0; i < panels[panel].count; i++)
        set_keys(p, i, all);
    return p;
}

/* values of x, the first `quick` of which are those of --quick; 0 ends them */
typedef struct {
    size_t panel, quick;
    double x[10];
} values;

static const values all_values[] = {
    {LEMMA16, 3, {0.5, 2, 8, 0.25, 1, 4, 16, 32}},
    {TENSOR, 2, {1000, 10000, 3000, 30000, 100000}},
    {SQUARED, 2, {1000, 10000, 3000, 30000, 100000}},
    {ONE_SPARSE, 2, {500, 5000, 200, 1000, 2000, 10000, 20000}},
    {WRONG, 2, {0.05, 0.2, 0.01, 0.02, 0.1, 0.4}},
    {NOISE, 2, {1000, 4000, 16000, 64000}},
    {SIZES, 2, {3, 6, 2.5, 3.5, 4, 5, 8, 10}},
    {CONDITION, 2, {1, 30, 3, 10, 100, 300}},
    {NEURONS, 2, {5, 20, 2, 10, 15}},
};

static void add_point(study *s, size_t panel, double x)
{
    static const size shapes[] = {
        {0, 5, 3, 3, 0, 0}, {0, 10, 5, 8, 0, 0}, {0, 20, 10, 12, 0, 0}, {0, 40, 20, 24, 0, 0}};
    static const size_t over_d[] = {4, 6, 20}, kappas[] = {10, 100, 1000};
    size_t n = (size_t)x;
    study_point *p;
    switch (panel) {
    case LEMMA16:
        p = add(s, panel, x, 0.05 + 0.02 * x, (size){0});
        for (size_t i = 0; i < panels[panel].count; i++)
            set_keys(p, i,
                     (size){.n = (size_t)ceil(x * (double)kappas[i]),
                            .d = 2,
                            .k = 2,
                            .m = 1,
                            .kappa = (double)kappas[i]});
        break;
    case TENSOR:
    case SQUARED:
        add(s, panel, x, 1e-5 * x, (size){n, 10, 5, 8, 0, 0});
        break;
    case ONE_SPARSE:
        add(s, panel, x, 1e-5 * x, (size){n, 10, 6, 3, 3, 0});
        break;
    case WRONG:
        add(s, panel, x, 0.3, (size){1000, 10, 3, 50, 0, x});
        break;
    case NOISE:
        add(s, panel, x, 2e-5 * x, (size){n, 10, 3, 5, 0, 1});
        break;
    case SIZES:
        p = add(s, panel, x, x < 3 ? 1 : 0.05, (size){0});
        for (size_t i = 0; i < panels[panel].count; i++) {
            size one = shapes[i];
            one.n = (size_t)ceil(x * (double)one.d);
            set_keys(p, i, one);
        }
        break;
    default: /* CONDITION, NEURONS */
        p = add(s, panel, x, 0.1, (size){0});
        for (size_t i = 0; i < panels[panel].count; i++)
            set_keys(p, i,
                     panel == CONDITION ? (size){10 * over_d[i], 10, 5, 8, x, 0}
                                        : (size){10 * over_d[i], 10, n, n, 0, 0});
    }
}

/* x in order, the next larger than the last; INFINITY: no more */
static double next_x(const values *v, size_t count, double last)
{
    double next = INFINITY;
    for (size_t i = 0; i < count; i++)
        if (v->x[i] > last && v->x[i] < next)
            next = v->x[i];
    return next;
}

static void plan(study *s)
{
    static const char *const fixed[PANELS] = {
        [LEMMA16] = "d = k = 2, m = 1, A = 1 / kappa",
        [TENSOR] = "d = 10, k = 5, m = 8",
        [SQUARED] = "d = 10, k = 5, m = 8, f = power:2",
        [ONE_SPARSE] = "d = 10, k = 6, m = 3, kappa(V) = 3",
        [WRONG] = "n = 1000, d = 10, k = 3, m = 50",
        [NOISE] = "d = 10, k = 3, m = 5, kappa(U) = 2, |E| = |U f(V X)|",
        [SIZES] = "(d, k, m) as below",
        [CONDITION] = "d = 10, k = 5, m = 8",
        [NEURONS] = "d = 10, m = k",
    };
    for (size_t panel = 0; panel < PANELS; panel++) {
        const values *v = &all_values[panel];
        size_t count = 0;
        while (count < sizeof v->x / sizeof *v->x && v->x[count] > 0)
            count++;
        count = s->quick ? v->quick : count;
        for (double x = 0; (x = next_x(v, count, x)) < INFINITY;)
            add_point(s, panel, x);
        snprintf(s->fixed[panel], sizeof *s->fixed, "%s", fixed[panel]);
    }
}

/* ---- what it says beside its numbers ---- */

static void print_head(const study *s)
{
    printf("The claims of the two-layer paper: %zu runs a point, seed %llu\n", s->runs,
           (unsigned long long)s->seed);
    printf("V right: of the runs, max |V - V*| <= 1e-6; exact: the verdict\n"
           "err_V: root mean square of |v - v*| over rows; mean (standard deviation)\n"
           "none: runs without a network\n\n");
}

static void print_end(const study *s)
{
    double all = 0, certified = 0, wrong = 0;
    for (size_t p = 0; p < s->count; p++)
        for (size_t i = 0; i < cli_study_panel(s, p)->count; i++) {
            all += (double)s->runs;
            certified += (double)s->runs * s->rows[p][i].mean[CERTIFIED];
            wrong += (double)s->runs * s->rows[p][i].mean[FALSE_EXACT];
        }
    printf("called exact: %.0f of %.0f runs; of these %.0f are wrong\n"
           "(not counted: one neuron for Lemma 16, where no sample tells the two apart)\n",
           certified, all, wrong);
}

static void intro(const study *s, cli_page *page)
{
    (void)s;
    cli_html(page, "<p>What the two-layer paper (Bakshi, Jayaram and Woodruff, 2019) claims, run "
                   "on planted networks a = U f(V x): <b style=\"color: var(--second)\">\u25a0 its "
                   "algorithms as printed</b> where they are not what unrelu does, and <b "
                   "style=\"color: var(--first)\">\u25cf unrelu</b>. Every run has a network and "
                   "samples of its own; the methods of a chart see the same ones.</p>\n");
    cli_html(page, "<p class=\"note\">Shares are of the runs. V is right where no entry is off by "
                   "more than 1e-6; called exact is the verdict of <code>unrelu recover</code>. "
                   "The error of a row is the root mean square of |v \u2212 v*| over the rows, and "
                   "bars are one standard deviation.</p>\n");
}

const study_kind cli_study_two_layer = {
    .name = "two-layer",
    .brief = {"the claims of the two-layer paper: Lemma 16, tensors, Algorithms 7 and 8, wrong",
              "labels, and how many samples an exact recovery takes"},
    .title = "The two-layer paper, reproduced",
    .model = "a = U f(V x)",
    .figure = "study",
    .runs = 20,
    .quick_runs = 3,
    .keys = {"n", "d", "k", "m", "kappa", "noise"},
    .metric_count = TWO_LAYER_METRICS,
    .metrics = metrics,
    .lost = "no_network",
    .lost_name = "none",
    .lost_title = "no network",
    .panel_count = PANELS,
    .panels = panels,
    .plan = plan,
    .run = cli_two_layer_run,
    .print_head = print_head,
    .print_end = print_end,
    .intro = intro,
};
