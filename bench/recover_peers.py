#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recover_peers.py UNRELU [RUNS]: unrelu recover beside gradient descent.

Networks are planted by `unrelu generate network`; each is then fitted in turn, one thread each, by
unrelu, which is told nothing, and by three that are told the number of neurons and which biases
there are, in double precision: Adam (5000 steps of all samples, rate 0.01, one start), L-BFGS
(strong Wolfe, up to 5 starts, ended by a residual below 1e-7), and a student of twice the neurons
(L-BFGS, one start), whose cheapest neuron is taken out, with L-BFGS after each, down to the number
of neurons. The last is the idea of Expand-and-Cluster (Martinelli et al., 2023) with one student:
neurons of the same row are merged, then the one goes whose loss raises the sum of squares least.
With PyTorch Adam and L-BFGS are PyTorch's; without it they are those of this file, in NumPy, which
is said above the table. Recovered: every row of [V c], at |v| = 1, to 1e-6 after matching. Seconds
are medians over the runs, to the end of the fit whether it succeeded or not: of unrelu as in the
JSON, of the others the fit alone. `ratio` is to these seconds of unrelu, `to process` to those of
its whole process, from its start to its exit.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # one thread each
try:
    import numpy as np
except ImportError:
    print("NumPy not installed: skipped")
    sys.exit(0)
try:
    import torch
except ImportError:
    torch = None

ENOUGH = 1e-6  # error of [V c] that counts as recovered
POINTS = [  # d, k, m, n, condition number of V and U (0: as random matrices have it), biases
    (5, 3, 3, 50, 0, 0),
    (10, 5, 8, 100, 0, 0),
    (10, 5, 8, 200, 20, 0),
    (20, 10, 12, 200, 0, 0),
    (10, 8, 1, 800, 0, 0.5),  # fewer labels than neurons from here on
    (10, 16, 1, 1100, 0, 0.5),
    (20, 20, 2, 1400, 0, 0.5),
]


def unit_rows(V, d):
    """Rows [v c] at |v| = 1: the scale of a neuron is in its outputs."""
    return V / np.maximum(np.linalg.norm(V[:, :d], axis=1, keepdims=True), 1e-300)


def error_of(V, truth, d):
    """Largest distance of a true row to its partner: the nearest pairs are matched first."""
    if len(V) != len(truth):
        return np.inf
    V, truth = unit_rows(V, d), unit_rows(truth, d)
    far = np.linalg.norm(truth[:, None] - V[None], axis=2)
    worst = 0.0
    for _ in truth:
        i, j = np.unravel_index(np.argmin(far), far.shape)
        worst = max(worst, far[i, j])
        far[i, :] = far[:, j] = np.inf
    return worst


# ---- a student: rows [v c] and outputs [U e] in one vector; Z is [x 1], or x without biases ----


class Student:
    def __init__(self, Z, A, k):
        self.Z, self.A, self.k = Z, A, k
        self.q, self.m = Z.shape[1], A.shape[1]
        self.size = (A**2).sum()

    def split(self, w):
        return w[:self.k * self.q].reshape(self.k, self.q), w[self.k * self.q:].reshape(-1, self.m)

    def start(self, seed):
        draw = np.random.default_rng(seed).standard_normal
        V, U = draw((self.k, self.q)) / self.q**0.5, draw((self.k + 1, self.m)) / self.k**0.5
        return np.concatenate([V.ravel(), U.ravel()])

    def features(self, V):
        F = np.maximum(self.Z @ V.T, 0)
        return np.hstack([F, np.full((len(F), 1), float(self.has_bias))])

    @property
    def has_bias(self):
        return self.Z.std(axis=0)[-1] == 0

    def loss(self, w):
        """What is left of the labels, squared and relative, and its gradient."""
        V, U = self.split(w)
        F = self.features(V)
        R = F @ U - self.A
        inner = (R @ U[:-1].T) * (F[:, :-1] > 0)
        gradient = np.concatenate([(inner.T @ self.Z).ravel(), (F.T @ R).ravel()])
        return (R**2).sum() / self.size, 2 * gradient / self.size

    def prune(self, w):
        """The student without the neuron that costs least, or with two of one row made one."""
        V, U = self.split(w)
        length = np.linalg.norm(V, axis=1, keepdims=True)
        V, U = V / length, np.vstack([U[:-1] * length, U[-1:]])
        near = np.triu(V @ V.T, 1)
        i, j = np.unravel_index(np.argmax(near), near.shape)
        if near[i, j] > 1 - 1e-8:
            U[i] += U[j]
        else:
            F = self.features(V)
            inverse = np.linalg.pinv(F.T @ F)
            cost = (U[:-1]**2).sum(axis=1) / np.maximum(np.diag(inverse)[:-1], 1e-300)
            j = int(np.argmin(cost))
        keep = np.arange(self.k) != j
        small = Student(self.Z, self.A, self.k - 1)
        rows, outputs = V[keep], U[np.append(keep, True)]
        return small, np.concatenate([rows.ravel(), outputs.ravel()])


# ---- Adam and L-BFGS: PyTorch's, or these ----


def adam_here(loss, w, steps=5000, rate=1e-2):
    first, second = np.zeros_like(w), np.zeros_like(w)
    for step in range(1, steps + 1):
        _, g = loss(w)
        first = 0.9 * first + 0.1 * g
        second = 0.999 * second + 0.001 * g * g
        w = w - rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return w


def wolfe(loss, w, f, g, p, slope):
    """A step along p that falls and flattens enough: bisection between what is too short and too
    long (Lewis and Overton)."""
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(30):
        fresh, gradient = loss(w + t * p)
        if not fresh <= f + 1e-4 * t * slope:
            high = t
        elif abs(gradient @ p) > 0.9 * abs(slope) and gradient @ p < 0:
            low = t
        else:
            return t, fresh, gradient
        t = 2 * low if high == np.inf else (low + high) / 2
    return (t, fresh, gradient) if fresh < f else (0.0, f, g)


def lbfgs_here(loss, w, steps=2000, history=20, enough=1e-28):
    f, g = loss(w)
    pairs = []
    for _ in range(steps):
        p, kept = -g.copy(), []
        for s, y, r in reversed(pairs):
            kept.append(r * (s @ p))
            p -= kept[-1] * y
        if pairs:
            s, y, _ = pairs[-1]
            p *= (s @ y) / (y @ y)
        for (s, y, r), a in zip(pairs, reversed(kept)):
            p += (a - r * (y @ p)) * s
        slope = g @ p
        if not slope < 0:
            break
        t, fresh, gradient = wolfe(loss, w, f, g, p, slope)
        if t == 0 or f - fresh < 1e-18 * f or fresh < enough:
            return w + t * p, fresh
        s, y = t * p, gradient - g
        if s @ y > 0:
            pairs = (pairs + [(s, y, 1 / (s @ y))])[-history:]
        w, f, g = w + s, fresh, gradient
    return w, f


def through_torch(loss, w, make, steps):
    point = torch.from_numpy(w.copy()).requires_grad_()
    optimizer = make([point])

    def closure():
        f, g = loss(point.detach().numpy())
        point.grad = torch.from_numpy(g)
        return torch.tensor(f)

    for _ in range(steps):
        optimizer.step(closure)
    return point.detach().numpy()


def descend_adam(loss, w):
    if not torch:
        return adam_here(loss, w)
    return through_torch(loss, w, lambda p: torch.optim.Adam(p, lr=1e-2), 5000)


def descend_lbfgs(loss, w):
    if not torch:
        return lbfgs_here(loss, w)
    w = through_torch(loss, w, lambda p: torch.optim.LBFGS(
        p, max_iter=2000, max_eval=5000, tolerance_grad=1e-14, tolerance_change=1e-18,
        history_size=20, line_search_fn="strong_wolfe"), 1)
    return w, loss(w)[0]


# ---- the three peers: rows [v c] ----


def adam(Z, A, k, seed):
    student = Student(Z, A, k)
    return student.split(descend_adam(student.loss, student.start(seed)))[0]


def lbfgs(Z, A, k, seed):
    student, best, least = Student(Z, A, k), None, np.inf
    for attempt in range(5):
        w, f = descend_lbfgs(student.loss, student.start(1000 * (attempt + 1) + seed))
        if best is None or f < least:
            best, least = w, f
        if least < 1e-14:
            break
    return student.split(best)[0]


def pruned(Z, A, k, seed):
    student = Student(Z, A, 2 * k)
    w, _ = descend_lbfgs(student.loss, student.start(seed))
    while student.k > k:
        student, w = student.prune(w)
        w, _ = descend_lbfgs(student.loss, w)
    return student.split(w)[0]


PEERS = {"Adam": adam, "L-BFGS": lbfgs, "2k student": pruned}


def timed(fit, Z, A, k, seed, truth, d):
    begin = time.perf_counter()
    V = fit(Z, A, k, seed)
    return error_of(V, truth, d), time.perf_counter() - begin


def rows_of(path, biases):
    net = np.load(path)
    return np.hstack([net["V"], net["c"][:, None]]) if biases else net["V"]


def unrelu(program, folder, truth, point):
    """Error of [V c], seconds by the JSON, seconds of the process."""
    command = [program, "recover", folder + "/x.npy", folder + "/a.npy", "-o", folder + "/net.npz",
               "--threads", "1", "--json", "--quiet"]
    begin = time.perf_counter()
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    outer = time.perf_counter() - begin
    if answer.returncode != 0:
        return np.inf, outer, outer
    inner = json.loads(answer.stdout)["seconds"]
    return error_of(rows_of(folder + "/net.npz", point[5]), truth, point[0]), inner, outer


def plant(program, folder, point, seed):
    d, k, m, n, kappa, bias = point
    command = [program, "generate", "network", "-d", d, "-k", k, "-m", m, "-n", n, "--seed", seed,
               "--bias", bias, "-o", folder, "--quiet"]
    if kappa:
        command += ["--kappa-v", kappa, "--kappa-u", kappa]
    subprocess.run([str(word) for word in command], check=True)
    X, A = (np.load(folder + name) for name in ("/x.npy", "/a.npy"))
    Z = np.hstack([X, np.ones((n, 1))]) if bias else X
    return Z, A.reshape(n, m), rows_of(folder + "/truth.npz", bias)


def measure(program, point, runs):
    good = dict.fromkeys(["unrelu", *PEERS], 0)
    spent = {name: [] for name in ["unrelu", "process", *PEERS]}
    for seed in range(1, runs + 1):
        with tempfile.TemporaryDirectory() as folder:
            Z, A, truth = plant(program, folder, point, seed)
            error, inner, outer = unrelu(program, folder, truth, point)
            good["unrelu"] += error < ENOUGH
            spent["unrelu"].append(inner)
            spent["process"].append(outer)
            for name, fit in PEERS.items():
                error, seconds = timed(fit, Z, A, point[1], seed, truth, point[0])
                good[name] += error < ENOUGH
                spent[name].append(seconds)
    return good, {name: np.median(seconds) for name, seconds in spent.items()}


def main():
    program, runs = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 6
    if torch:
        torch.set_num_threads(1)
        print(f"Adam and L-BFGS of PyTorch {torch.__version__}, {runs} network(s) each")
    else:
        print("PyTorch is not installed: Adam and L-BFGS are those of this file, in NumPy "
              f"{np.__version__}; {runs} network(s) each")
    head = ["network", "solver", "recovered", "seconds", "ratio", "to process"]
    wide = [30, 10, 9, 9, 8, 10]
    print("| " + " | ".join(f"{text:<{w}}" for text, w in zip(head, wide)) + " |")
    print("|" + "|".join("-" * (w + 2) for w in wide) + "|")
    for point in POINTS:
        d, k, m, n, kappa, bias = point
        title = f"({d},{k},{m}) n={n}" + (f" kappa {kappa}" if kappa else "")
        title += " biases" if bias else ""
        good, spent = measure(program, point, runs)
        for name in ("unrelu", *PEERS):
            cells = [title, name, f"{good[name]} of {runs}", f"{spent[name]:.5f}",
                     f"{spent[name] / spent['unrelu']:.1f}",
                     f"{spent[name] / spent['process']:.1f}"]
            print("| " + " | ".join(f"{text:<{w}}" for text, w in zip(cells, wide)) + " |",
                  flush=True)


main()
