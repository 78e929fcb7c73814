#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recover_peers.py UNRELU [RUNS]: unrelu recover beside gradient descent.

Networks are planted by `unrelu generate network`; each is then fitted in turn, one thread each, by
unrelu, which is told nothing, and by PyTorch's Adam (5000 steps of all samples, rate 0.01, one
start) and L-BFGS (strong Wolfe, up to 5 starts, ended by a residual below 1e-7), both in double
precision and told the number of neurons. Recovered: every row of V to 1e-6 after matching. Seconds
are medians over the runs, to the end of the fit whether it succeeded or not: of unrelu as in the
JSON, of PyTorch the fit alone. `ratio` is to these seconds of unrelu, `to process` to those of its
whole process, from its start to its exit.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import torch
except ImportError:
    print("PyTorch not installed: skipped")
    sys.exit(0)

ENOUGH = 1e-6  # error of V that counts as recovered
POINTS = [  # d, k, m, n, condition number of V and U (0: as random matrices have it)
    (5, 3, 3, 50, 0),
    (10, 5, 8, 100, 0),
    (10, 5, 8, 200, 20),
    (20, 10, 12, 200, 0),
]


def unit_rows(V):
    return V / np.maximum(np.linalg.norm(V, axis=1, keepdims=True), 1e-300)


def error_of(V, truth):
    """Largest distance of a true row to its partner: the nearest pairs are matched first."""
    if len(V) != len(truth):
        return np.inf
    V, truth = unit_rows(V), unit_rows(truth)
    far = np.linalg.norm(truth[:, None] - V[None], axis=2)
    worst = 0.0
    for _ in truth:
        i, j = np.unravel_index(np.argmin(far), far.shape)
        worst = max(worst, far[i, j])
        far[i, :] = far[:, j] = np.inf
    return worst


def start(X, A, k, seed):
    generator = torch.Generator().manual_seed(seed)
    d, m = X.shape[1], A.shape[1]
    V = torch.randn(k, d, dtype=torch.float64, generator=generator) / d**0.5
    U = torch.randn(m, k, dtype=torch.float64, generator=generator) / k**0.5
    return V.requires_grad_(), U.requires_grad_()


def loss_of(X, A, V, U):
    return ((torch.relu(X @ V.T) @ U.T - A) ** 2).mean()


def adam(X, A, k, seed):
    V, U = start(X, A, k, seed)
    optimizer = torch.optim.Adam([V, U], lr=1e-2)
    for _ in range(5000):
        optimizer.zero_grad()
        loss_of(X, A, V, U).backward()
        optimizer.step()
    return V


def lbfgs(X, A, k, seed):
    best, least, size = None, np.inf, (A**2).mean().item()
    for attempt in range(5):
        V, U = start(X, A, k, 1000 * (attempt + 1) + seed)
        optimizer = torch.optim.LBFGS(
            [V, U], max_iter=2000, max_eval=5000, tolerance_grad=1e-14, tolerance_change=1e-18,
            history_size=20, line_search_fn="strong_wolfe")

        def closure():
            optimizer.zero_grad()
            loss = loss_of(X, A, V, U)
            loss.backward()
            return loss

        optimizer.step(closure)
        rss = loss_of(X, A, V, U).item() / size
        if best is None or rss < least:
            best, least = V, rss
        if least < 1e-14:
            break
    return best


def timed(fit, X, A, k, seed, truth):
    begin = time.perf_counter()
    V = fit(X, A, k, seed)
    seconds = time.perf_counter() - begin
    return error_of(V.detach().numpy(), truth), seconds


def unrelu(program, folder, truth):
    """Error of V, seconds by the JSON, seconds of the process."""
    command = [program, "recover", folder + "/x.npy", folder + "/a.npy", "-o", folder + "/net.npz",
               "--threads", "1", "--json", "--quiet"]
    begin = time.perf_counter()
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    outer = time.perf_counter() - begin
    if answer.returncode != 0:
        return np.inf, outer, outer
    inner = json.loads(answer.stdout)["seconds"]
    return error_of(np.load(folder + "/net.npz")["V"], truth), inner, outer


def plant(program, folder, point, seed):
    d, k, m, n, kappa = point
    command = [program, "generate", "network", "-d", d, "-k", k, "-m", m, "-n", n, "--seed", seed,
               "-o", folder, "--quiet"]
    if kappa:
        command += ["--kappa-v", kappa, "--kappa-u", kappa]
    subprocess.run([str(word) for word in command], check=True)
    X, A = (torch.from_numpy(np.load(folder + name)) for name in ("/x.npy", "/a.npy"))
    return X, A, np.load(folder + "/truth.npz")["V"]


def measure(program, point, runs):
    fits = {"Adam": adam, "L-BFGS": lbfgs}
    good = dict.fromkeys(["unrelu", *fits], 0)
    spent = {name: [] for name in ["unrelu", "process", *fits]}
    for seed in range(1, runs + 1):
        with tempfile.TemporaryDirectory() as folder:
            X, A, truth = plant(program, folder, point, seed)
            error, inner, outer = unrelu(program, folder, truth)
            good["unrelu"] += error < ENOUGH
            spent["unrelu"].append(inner)
            spent["process"].append(outer)
            for name, fit in fits.items():
                error, seconds = timed(fit, X, A, point[1], seed, truth)
                good[name] += error < ENOUGH
                spent[name].append(seconds)
    return good, {name: np.median(seconds) for name, seconds in spent.items()}


def main():
    program, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 6
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}, {runs} networks each")
    head = ["network", "solver", "recovered", "seconds", "ratio", "to process"]
    wide = [30, 8, 9, 9, 8, 10]
    print("| " + " | ".join(f"{text:<{w}}" for text, w in zip(head, wide)) + " |")
    print("|" + "|".join("-" * (w + 2) for w in wide) + "|")
    for point in POINTS:
        d, k, m, n, kappa = point
        title = f"({d},{k},{m}) n={n}" + (f" kappa {kappa}" if kappa else "")
        good, spent = measure(program, point, runs)
        for name in ("unrelu", "Adam", "L-BFGS"):
            cells = [title, name, f"{good[name]} of {runs}", f"{spent[name]:.5f}",
                     f"{spent[name] / spent['unrelu']:.1f}",
                     f"{spent[name] / spent['process']:.1f}"]
            print("| " + " | ".join(f"{text:<{w}}" for text, w in zip(cells, wide)) + " |",
                  flush=True)


main()
