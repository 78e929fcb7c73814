/* SPDX-License-Identifier: Apache-2.0 */
/* What is promised of `unrelu recover --method one-sparse`: how often a planted network of more
 * neurons than labels comes back to 1e-12, also with antiparallel columns of U, and that too few
 * rows are told so, with their number. A part of the runs in the tests; `--full` does them all. */
#include "networks.h"
#include "numbers.h"

typedef struct {
    size_t d, k, m, n;
    double kappa;
    int opposite; /* the last column of U is -c times the first */
    int runs;
    double wanted; /* share */
} point;

static const point points[] = {
    {10, 8, 4, 1000, 3, 0, 100, 1}, {10, 8, 4, 500, 3, 0, 100, .95}, {10, 8, 4, 200, 3, 0, 100, .6},
    {10, 6, 3, 500, 3, 0, 50, 1},   {20, 12, 6, 5000, 3, 0, 20, .8}, {10, 3, 2, 400, 0, 1, 20, 1},
    {10, 4, 3, 1000, 0, 1, 20, 1},  {10, 8, 4, 2000, 3, 1, 20, 1},   {5, 2, 1, 100, 0, 1, 20, 1},
    {10, 2, 1, 200, 0, 1, 20, 1},   {20, 2, 1, 500, 0, 1, 20, 1},    {40, 2, 1, 1000, 0, 1, 20, 1},
    {40, 2, 1, 4000, 0, 1, 20, 1},
};

static planted_network plant_point(const point *p, uint64_t seed)
{
    unrelu_network_plant_options o;
    unrelu_network_plant_options_init(&o, sizeof o);
    unrelu_error err = {0};
    o.d = p->d;
    o.k = p->k;
    o.m = p->m;
    o.kappa_v = p->kappa;
    o.seed = seed;
    planted_network planted = plant_network_with(o, p->n);
    double *U = planted.truth->U, times = -.5 - fabs(U[p->k - 1]);
    if (p->opposite) {
        for (size_t l = 0; l < p->m; l++)
            U[l * p->k + p->k - 1] = times * U[l * p->k];
        must(unrelu_network_predict(planted.truth, planted.x, p->n, NULL, planted.a, &err), &err);
    }
    return planted;
}

static void recovery(const point *p)
{
    int runs = runs_of(p->runs), good = 0, wrong = 0, failed = 0, told = 0;
    for (int run = 0; run < runs; run++) {
        planted_network planted = plant_point(p, (uint64_t)run + 1000);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.method = UNRELU_RECOVER_ONE_SPARSE;
        unrelu_network *model = recover(&planted, &o);
        int right = model->residual <= 1e-13 && error_of_V(planted.truth, model) <= 1e-12;
        good += right;
        wrong += !right && model->verdict == UNRELU_VERDICT_EXACT;
        failed += model->verdict == UNRELU_VERDICT_FAILED;
        told += model->verdict == UNRELU_VERDICT_FAILED && strstr(model->failure, "n of about");
        unrelu_network_free(model);
        planted_network_free(&planted);
    }
    char what[96];
    snprintf(what, sizeof what, "one-sparse, (%zu,%zu,%zu) n=%zu%s", p->d, p->k, p->m, p->n,
             p->opposite ? ", u and -u" : "");
    row(what, "share with V to 1e-12", (double)good / runs, p->wanted, 1, "");
    row(what, "wrong ones called exact", wrong, 0, 0, "");
    if (p->n <= 200 && p->wanted < 1)
        row(what, "failures that tell how many rows are needed", told, failed, failed, "");
}

/* Algorithm 7 alone has nothing to say of 1000 rows */
static void literal(void)
{
    const point p = {10, 8, 4, 1000, 3, 0, 100, 0};
    int runs = runs_of(p.runs), good = 0;
    for (int run = 0; run < runs; run++) {
        planted_network planted = plant_point(&p, (uint64_t)run + 1000);
        unrelu_recover_options o;
        unrelu_recover_options_init(&o, sizeof o);
        o.method = UNRELU_RECOVER_ONE_SPARSE;
        o.literal = 1;
        unrelu_network *model = recover(&planted, &o);
        good += model->verdict != UNRELU_VERDICT_FAILED;
        unrelu_network_free(model);
        planted_network_free(&planted);
    }
    row("one-sparse --literal, (10,8,4) n=1000", "share recovered", (double)good / runs, 0, .05,
        "");
}

int main(int argc, char **argv)
{
    numbers_begin(argc, argv, .3, "The two-layer network where one neuron is on alone");
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        recovery(&points[i]);
    literal();
    return numbers_end();
}
