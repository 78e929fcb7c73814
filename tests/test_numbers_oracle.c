/* SPDX-License-Identifier: Apache-2.0 */
/* What is promised of `--method enumerate` on small and on one-sided data: the verdict of the
 * literal Algorithms 1 and 2 on 500 tiny integer instances, and every network whose inputs have one
 * sign. A tenth of the runs in the tests; `--full` does them all. */
#include "nonnegative_inputs.h"
#include "numbers.h"
#include "tiny_instances.h"

static void verdicts(void)
{
    int runs = runs_of(500), good = 0, feasible = 0;
    char note[64];
    for (int i = 0; i < runs; i++) {
        int shape, origin;
        literal_instance in = tiny_instance(i, &shape, &origin);
        int truth = literal_feasible(&in, NULL);
        good += truth == tiny_verdict(&in);
        feasible += truth;
    }
    snprintf(note, sizeof note, " (%d feasible, %d not)", feasible, runs - feasible);
    row("tiny integers, n <= 7, k <= 3", "share with the oracle's verdict", (double)good / runs, 1,
        1, note);
}

static void one_sign(void)
{
    int runs = runs_of(95), rays = 0, faces = 0, exact = 0;
    size_t most = 0;
    char note[64];
    for (int i = 0; i < runs; i++) {
        nonnegative_case c = nonnegative_draw(i, runs);
        nonnegative_counts counts = nonnegative_count(&c);
        rays += counts.by_rays == c.k;
        faces += counts.by_faces == c.k;
        most = counts.looked > most ? counts.looked : most;
        exact += nonnegative_residual(&c) <= 1e-12;
        nonnegative_free(&c);
    }
    snprintf(note, sizeof note, " (at most %zu faces)", most);
    row("X >= 0, a row of V >= 0", "share found by faces", (double)faces / runs, 1, 1, note);
    row("X >= 0, a row of V >= 0", "share found by rays alone", (double)rays / runs, 0, .3, "");
    row("X >= 0, a row of V >= 0", "share met to 1e-12", (double)exact / runs, 1, 1, "");
}

int main(int argc, char **argv)
{
    numbers_begin(argc, argv, 0.1, "Enumeration: small and one-sided data");
    verdicts();
    one_sign();
    return numbers_end();
}
