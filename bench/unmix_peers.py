#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unmix_peers.py UNRELU [RUNS]: unrelu unmix beside what is used on mixtures today.

Samples x = A max(0, W z) + noise are unmixed in turn, one thread each, by unrelu, which is told
nothing and learns W W' besides, and by methods that are told p and give A alone: scikit-learn's
FastICA (contrast u^3, the skewness: half the error of logcosh here, or less), its NMF (coordinate
descent from nndsvda, tolerance 1e-6, 2000 iterations: five times as many still improve it
without noise), and successive projections (SPA: the samples in their p leading directions,
without those shorter than 0.3 of the median, which noise rules, scaled onto the hyperplane that
fits them best). Of A: the largest distance of a unit column to its partner after matching, signs
being free. Errors and seconds are medians over the runs, the seconds of each the smaller of two
turns; unrelu's are those in its JSON, of others the fit alone. `-`: unrelu refused most of the
runs, or NMF does not apply. `A any` is planted by `unrelu generate mixture`; `A >= 0` has half of
its entries 0, as NMF likes it (negative samples are set to 0 for NMF alone). Hidden units are
independent, or W W' has condition number 9; noise is relative to the root mean square.
"""
import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[name] = "1"

import json
import subprocess
import sys
import tempfile
import time
import warnings

try:
    import numpy as np
    from scipy.optimize import linear_sum_assignment
    from sklearn.decomposition import NMF, FastICA
except ImportError as missing:
    print(f"{missing}: skipped; NumPy, SciPy and scikit-learn are needed")
    sys.exit(0)

KAPPA = {"independent": 1, "correlated": 9}
TURNS = 2
METHODS = ["unrelu", "FastICA", "NMF", "SPA"]
POINTS = [  # A >= 0, p, d
    (False, 5, 10),
    (False, 10, 15),
    (True, 10, 15),
]


def unit_columns(A):
    return A / np.maximum(np.linalg.norm(A, axis=0), 1e-300)


def error_of(A, truth):
    """Largest distance of a true column to its partner, least total distance."""
    if A.shape != truth.shape or not np.isfinite(A).all():
        return np.inf
    A, truth = unit_columns(A), unit_columns(truth)
    apart = [np.linalg.norm(truth[:, :, None] - s * A[:, None], axis=0) for s in (1, -1)]
    far = np.minimum(*apart)
    return far[linear_sum_assignment(far)].max()


# ---- samples ----


def random_layer(rng, p, kappa):
    """W with W W' of condition number kappa."""
    U, _ = np.linalg.qr(rng.standard_normal((p, p)))
    return U * np.logspace(0, -0.5 * np.log10(kappa), p)


def plant_nonnegative(folder, p, d, n, kappa, noise, seed):
    rng = np.random.default_rng(seed)
    A = unit_columns(np.maximum(0, rng.standard_normal((d, p))))
    M = np.maximum(0, rng.standard_normal((n, p)) @ random_layer(rng, p, kappa).T)
    X = M @ A.T
    X += noise * np.sqrt((X**2).mean()) * rng.standard_normal(X.shape)
    np.save(folder + "/x.npy", X)
    return X, A


def plant_any(program, folder, p, d, n, kappa, noise, seed):
    command = [program, "generate", "mixture", "-p", p, "-d", d, "-n", n, "--kappa", kappa,
               "--noise", noise, "--seed", seed, "-o", folder, "--quiet"]
    subprocess.run([str(word) for word in command], check=True)
    return np.load(folder + "/x.npy"), np.load(folder + "/truth.npz")["A"]


# ---- methods: A (d x p) of samples X (n x d) ----


def fast_ica(X, p, seed):
    ica = FastICA(p, whiten="unit-variance", max_iter=500, tol=1e-5, random_state=seed,
                  fun=lambda u: (u**2, (2 * u).mean(axis=-1)))
    return ica.fit(X).mixing_


def nmf(X, p, seed):
    fit = NMF(p, init="nndsvda", max_iter=2000, tol=1e-6, random_state=seed)
    return fit.fit(np.maximum(0, X)).components_.T


def spa(X, p, _seed):
    """Samples that are extreme after all were scaled to h'y = 1, h by least squares."""
    length = np.linalg.norm(X, axis=1)
    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    Y = X @ Vt[:p].T / s[:p]
    height = Y @ np.linalg.lstsq(Y, np.ones(len(Y)), rcond=None)[0]
    rows = np.flatnonzero((length > 0.3 * np.median(length)) & (height > 1e-3 * np.median(height)))
    left = Y[rows] / height[rows, None]
    chosen = []
    for _ in range(p):
        far = np.argmax((left**2).sum(axis=1))
        chosen.append(rows[far])
        q = left[far] / max(np.linalg.norm(left[far]), 1e-300)
        left = left - np.outer(left @ q, q)
    return X[chosen].T


def timed(fit, X, p, seed, truth):
    seconds = np.inf
    for _ in range(TURNS):
        begin = time.perf_counter()
        A = fit(X, p, seed)
        seconds = min(seconds, time.perf_counter() - begin)
    return error_of(A, truth), seconds


def unrelu(program, folder, truth):
    command = [program, "unmix", folder + "/x.npy", "-o", folder + "/mix.npz", "--threads", "1",
               "--json", "--quiet"]
    seconds = np.inf
    for _ in range(TURNS):
        begin = time.perf_counter()
        answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                check=False)
        outer = time.perf_counter() - begin
        if answer.returncode not in (0, 5):
            return np.inf, outer
        seconds = min(seconds, json.loads(answer.stdout)["seconds"])
    return error_of(np.load(folder + "/mix.npz")["A"], truth), seconds


# ---- the table ----


def measure(program, nonnegative, p, d, n, kappa, noise, runs):
    fits = {"FastICA": fast_ica, "SPA": spa}
    if nonnegative:
        fits["NMF"] = nmf
    found = {name: [] for name in ["unrelu", *fits]}
    for seed in range(1, runs + 1):
        with tempfile.TemporaryDirectory() as folder:
            if nonnegative:
                X, A = plant_nonnegative(folder, p, d, n, kappa, noise, seed)
            else:
                X, A = plant_any(program, folder, p, d, n, kappa, noise, seed)
            found["unrelu"].append(unrelu(program, folder, A))
            for name, fit in fits.items():
                found[name].append(timed(fit, X, p, seed, A))
    return {name: np.median(pairs, axis=0) for name, pairs in found.items()}


def cell(number, form):
    return "-" if number is None or not np.isfinite(number) else format(number, form)


def print_row(texts, wide):
    print("| " + " | ".join(f"{text:<{w}}" for text, w in zip(texts, wide)) + " |", flush=True)


def main():
    program, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    warnings.simplefilter("ignore")  # FastICA and NMF that have not converged
    head = ["samples", *METHODS, *(name + " s" for name in METHODS)]
    wide = [48, *(8 for _ in METHODS), *(9 for _ in METHODS)]
    print(f"errors of A, then seconds; medians of {runs} mixtures")
    print_row(head, wide)
    print("|" + "|".join("-" * (w + 2) for w in wide) + "|")
    for nonnegative, p, d in POINTS:
        for hidden, kappa in KAPPA.items():
            for noise in (0, 0.01):
                for n in (20 * p, 200 * p):
                    best = measure(program, nonnegative, p, d, n, kappa, noise, runs)
                    sign = ">= 0" if nonnegative else "any"
                    title = f"A {sign}, p={p} d={d} {hidden}, noise {100 * noise:g} %, n={n}"
                    cells = [best.get(name, (None, None)) for name in METHODS]
                    print_row([title, *(cell(e, ".2g") for e, _ in cells),
                               *(cell(s, ".4f") for _, s in cells)], wide)


main()
