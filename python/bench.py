# SPDX-License-Identifier: Apache-2.0
"""What Python adds to a call of the C library, side by side."""

import time
import warnings

import numpy as np

import unrelu
from unrelu._library import ffi, lib


def least(run, times, repeats):
    """Seconds of CPU of one run: the least of several repeats."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        for _ in range(times):
            run()
        found.append((time.process_time() - start) / times)
    return min(found)


def in_c(X):
    out, opened = ffi.new("unrelu_gaussian **"), ffi.new("unrelu_source **")
    place = ffi.new("unrelu_exec *")
    lib.unrelu_exec_init(place, ffi.sizeof("unrelu_exec"))
    place.threads = 1
    x = ffi.cast("double *", X.ctypes.data)
    assert lib.unrelu_source_memory(x, *X.shape, ffi.NULL, opened, ffi.NULL) == 0
    assert lib.unrelu_gaussian_fit(opened[0], ffi.NULL, place, out, ffi.NULL) == 0
    lib.unrelu_source_close(opened[0])
    lib.unrelu_gaussian_free(out[0])


def main():
    warnings.simplefilter("ignore")
    model = unrelu.RectifiedGaussian(n_jobs=1)
    print(f"{'samples':>14} {'C':>10} {'Python':>10} {'more':>10} {'ratio':>7}")
    for n, d, times in ((100, 3, 300), (100_000, 200, 1)):
        X = np.ascontiguousarray(unrelu.generate("gaussian", n_samples=n, d=d, random_state=0)[0])
        c = least(lambda: in_c(X), times, 7)
        python = least(lambda: model.fit(X), times, 7)
        more = f"{(python - c) * 1e6:.0f} us"
        size = f"{n} x {d}"
        print(f"{size:>14} {c * 1e6:7.0f} us {python * 1e6:7.0f} us {more:>10} {python / c:7.3f}")


if __name__ == "__main__":
    main()
