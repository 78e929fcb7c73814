/* SPDX-License-Identifier: Apache-2.0 */
#include "docs.h"

const cli_code cli_codes[] = {
    {"few-positives",
     "column: fewer than 10 positive values, or the standard error of b / scale exceeds 0.25"},
    {"constant", "column: it never changes; scale 0, correlations set to 0"},
    {"no-zeros", "column: nothing was censored; plain mean and deviation"},
    {"duplicate",
     "column: a multiple of another one, or an affine map of it where neither has zeros"},
    {"few-joint",
     "pair: fewer than 10 rows where both are positive, or the standard error of the correlation "
     "exceeds 0.2; at most its sign is known, or, of a fit cell by cell, what its interval says"},
    {"negative-bias",
     "column: more than half is censored, so that b < 0 and the paper's theorem does not hold"},
    {"no-truncated-mle", "column: the likelihood of --norms truncated has no maximum; NaN"},
    {"misfit", "column: the share of zeros is far from what the fitted normal has: outliers, a "
               "header read as data, or not a rectified Gaussian"},
    {"sigma-range", "column: the square of its scale leaves the range of a double"},
    {"top-coded",
     "column: many values equal the largest one; --top where it stands for larger ones"},
    {"repeated-value", "column: many values equal one that is not the largest: a limit, or a code "
                       "for a missing cell"},
    {"few-values", "column: at most ten different values: counts, grades or codes"},
    {"rounded", "column: so coarsely rounded, or counts, that two values are often equal"},
    {"missing", "cells are missing, with their number"},
    {"at-limit", "values that equal the limit of their cell, which nothing says were seen"},
    {"n-below-d", "fewer rows than columns"},
    {"outliers", "rows were left out by --robust"},
    {"dropped", "columns were left out by --drop"},
    {"noise-unmeasured", "--additive-noise auto found too few negative values in some columns"},
    {"noise-shape",
     "--additive-noise auto: negative values are not those of normal noise: gross cells, "
     "or noise of another shape"},
    {"repaired",
     "the correlations were indefinite and were moved to the nearest that are not, in units "
     "of their standard errors"},
    {"repair-moved", "the repair moved correlations by more than their standard error"},
    {"indefinite", "they are indefinite and were left so (--method paper)"},
    {"limit-guessed", "censored cells without a limit on the transformed scale: the smallest value "
                      "of the column was taken"},
    {"few-clusters", "--errors cluster rests on fewer than 20 clusters; errors are too small then"},
    {"bootstrap-failed", "how many samples of --errors bootstrap could not be fitted"},
    {"incomplete", "rows with a missing cell were left out by --complete, with their number"},
    {"no-se", "which standard errors cannot be had, and why"},
    {"uncertified", "network, mixture: why the fit is not shown to be the only one"},
    {"not-identifiable",
     "network: the inputs do not span their space, or a neuron has too few samples on one side of "
     "its kink, with its share of samples"},
    {"merged",
     "network: fewer neurons than asked for: two coincide, one has no output or is never on"},
    {"signs-open", "network: the labels do not decide on the signs of the rows of V"},
    {"leaky-slope", "network: the labels are those of a leaky ReLU, with its slope"},
    {"linear-part", "network: part of the map is linear in the inputs, with its rank"},
    {"single-precision", "network: the labels carry fewer digits; exact to that precision"},
    {"no-exact-fit", "network: the best residual; the noisy fit was made in place of an exact one"},
    {"approximate", "network: why what is left of the labels cannot be noise"},
    {"stopped", "network: a time limit or an interrupt ended the run, with what is missing"},
    {"joint-solver", "network: the labels have a rank below the number of neurons; no theory says "
                     "that the answer is the only one"},
    {"rank-deficient-inputs",
     "network: inputs are linearly dependent; rows of V are the shortest that fit"},
    {"near-duplicate", "network: two rows of V almost coincide"},
    {"heavy-tails",
     "column: robust errors hang on a few rows, or values lie far out; network: the noise of the "
     "labels has heavier tails than normal noise; see --robust"},
    {"weak-neuron", "network: a bias beyond 2.5 deviations of its input: it hardly switches"},
    {"fewer-neurons", "network: BIC prefers fewer neurons than the k that was given"},
    {"few-starts-agree", "network: the best noisy fit was reached from one start only"},
    {"k-bound", "network: the number of neurons is at the edge of what was tried"},
    {"moments-skipped", "network: no start from moments, and why"},
    {"fallback", "network: the default found no exact network; which other methods were tried"},
    {"offset", "network: the noise of --method any-noise has a mean; --intercept fits it"},
    {"dependent-rest", "network: what --method any-noise leaves depends on the inputs: too few "
                       "neurons or biases, or noise that is not independent of them"},
    {"certify", "network: why --certify verified nothing in exact arithmetic"},
    {"ambiguous", "mixture: the samples have more facets than there are units; those with most "
                  "samples were taken"},
    {"noise-high", "mixture: noise above 3 % of the samples, so that facets may be missed"},
    {"noise-uneven", "mixture: the singular values beyond those of the units are not those of "
                     "equal noise in every column"},
    {"not-noise", "mixture: what the units leave of the samples is taken for noise and is not like "
                  "it: a unit may be in it"},
    {"p-unsure", "mixture: the gap behind the p-th singular value is small; give -p"},
    {"low-precision",
     "mixture: the samples carry fewer digits than a double; their rounding is taken as noise"},
    {0},
};
