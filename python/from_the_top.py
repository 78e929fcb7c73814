# SPDX-License-Identifier: Apache-2.0
"""The build back end of the top of the tree: setuptools, from this folder."""

import os
from pathlib import Path

os.chdir(Path(__file__).resolve().parent)

from setuptools.build_meta import *  # noqa: E402, F403
