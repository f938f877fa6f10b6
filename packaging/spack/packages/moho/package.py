# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe of moho, in a separate repository:

    spack repo add packaging/spack
    spack dev-build --source-path . moho@main +openmp      # or: spack install moho@main
"""

from spack.package import *


class Moho(CMakePackage, CudaPackage):
    """Exploration-geophysics kernels on Kokkos: rays, gravity, traveltimes, waves, migration and inversion,
    and the programs that use them.
    """

    homepage = "https://kokkos.org"  # page of Kokkos; the sources have no page

    license("BSD-3-Clause")

    # Sources are given by `spack dev-build`, or by a "git" attribute that a site adds.
    version("main", branch="main")

    variant("openmp", default=True, description="Kernels for hosts run on OpenMP threads, too")
    variant("examples", default=True, description="Build and install the programs")
    variant("mpi", default=True, description="Ranks share sources, prisms and shots")
    variant("native", default=False,
            description="Compile for the processor of this machine, whatever the target")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    generator("ninja")

    depends_on("kokkos@3.4: +serial cxxstd=20")
    depends_on("kokkos +openmp", when="+openmp")
    depends_on("kokkos-kernels@3.4:")
    depends_on("fmt@8:")
    depends_on("nlohmann-json@3.9:")
    depends_on("libsodium@1.0.12:")
    # Spack has no recipe of segyio: CMake finds an installed one (CMAKE_PREFIX_PATH)
    depends_on("boost@1.70: +program_options", when="+examples")
    depends_on("mpi", when="+mpi")
    depends_on("python@3.9:", when="+examples", type="run")
    depends_on("py-numpy", when="+examples", type="run")
    depends_on("py-matplotlib", when="+examples", type="run")

    for arch in CudaPackage.cuda_arch_values:
        depends_on(f"kokkos +cuda +wrapper cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
        depends_on(f"kokkos-kernels +cuda cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")

    conflicts("+cuda", when="cuda_arch=none", msg="name the device: cuda_arch=90 for an H200")

    def cmake_args(self):
        args = [
            self.define("MOHO_TESTS", False),
            self.define("MOHO_BENCH", False),
            self.define("MOHO_DOCS", False),
            self.define("MOHO_CCACHE", False),  # config:ccache sets it for all of Spack
            self.define_from_variant("MOHO_EXAMPLES", "examples"),
            self.define_from_variant("MOHO_NATIVE", "native"),
            self.define_from_variant("MOHO_CUDA", "cuda"),
            self.define("MOHO_MPI", "ON" if self.spec.satisfies("+mpi") else "OFF"),
        ]
        if self.spec.satisfies("+cuda"):
            # member of the spec in Spack 0.23, of the package in later versions
            kokkos = self.spec["kokkos"]
            compiler = getattr(kokkos, "kokkos_cxx", None) or kokkos.package.kokkos_cxx
            args.append(self.define("CMAKE_CXX_COMPILER", compiler))
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def traces_rays(self):
        """Runs the programs from their installed folder."""
        if self.spec.satisfies("+examples"):
            trace_rays = Executable(join_path(self.prefix.bin, "trace_rays"))
            trace_rays("--builtin", "salt", "--shape", "41,21", "--no-plot", "--out",
                       join_path(self.stage.path, "rays"))
