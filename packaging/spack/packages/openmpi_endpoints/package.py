#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Threads that own MPI ranks, on Open MPI.  See ../../../README.md.

import os

from spack_repo.builtin.build_systems.autotools import AutotoolsPackage

from spack.package import *


class OpenmpiEndpoints(AutotoolsPackage):
    """MPI endpoints for Open MPI: a process has as many MPI ranks as it asks for, and each of its
    threads can be one."""

    homepage = "https://doi.org/10.1177/1094342014548772"

    # The tarball of a release (make dist) lies in the current folder, or in a mirror.
    manual_download = True
    url = "file:///openmpi-endpoints-0.1.0.tar.gz"

    license("BSD-3-Clause", checked_by="openmpi-endpoints")

    version("0.1.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build")
    depends_on("pkgconfig", type="build")

    # With the developers' headers, which the openmpi of this folder installs.
    depends_on("openmpi@5:6", type=("build", "link", "run"))
    depends_on("libfabric@1.18:")
    depends_on("pmix@4.2:")
    depends_on("hwloc@2.1:")

    def url_for_version(self, version):
        return f"file://{join_path(os.getcwd(), f'openmpi-endpoints-{version}.tar.gz')}"

    def configure_args(self):
        return [f"--with-ompi={self.spec['openmpi'].prefix}"]

    def setup_run_environment(self, env):
        env.set("MPIX_ENDPOINTS_ROOT", self.prefix)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.epmpicc)("--showme:version")
