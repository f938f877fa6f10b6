# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe of segyio's C library, for moho; leave it out where Spack has one of its own."""

from spack.package import *


class Segyio(CMakePackage):
    """Reads and writes SEG-Y files."""

    homepage = "https://github.com/equinor/segyio"
    git = "https://github.com/equinor/segyio.git"

    license("LGPL-3.0-or-later")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.11:", type="build")

    def cmake_args(self):
        return [
            self.define("BUILD_PYTHON", False),
            self.define("BUILD_TESTING", False),
            self.define("BUILD_SHARED_LIBS", True),
        ]
