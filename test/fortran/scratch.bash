# SPDX-License-Identifier: BSD-3-Clause
# For the tests of Fortran: sets mpifort, checks that its compiler is there, and goes to an empty directory, which is removed at the
# end. Sets status to 0.
mpifort=$(dirname "$MPICC")/mpifort
fc=$("$mpifort" -showme:command)
command -v "${fc%% *}" >/dev/null || { echo "${fc%% *} is missing; as root: apt-get install gfortran"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
status=0
