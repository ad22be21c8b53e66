# SPDX-License-Identifier: BSD-3-Clause
# The checks of configure.ac: must-haves (named all at once, with the Debian package), options, the closing table.

# TERN_MUST_HAVES
# Looks for everything that the build cannot do without by the cheapest means (search path, pkg-config), so that one
# run of configure names all that is missing. --with-pmix and --with-hwloc name a prefix.
AC_DEFUN([TERN_MUST_HAVES], [
tern_missing=
AC_ARG_WITH([pmix], [AS_HELP_STRING([--with-pmix=DIR], [prefix of PMIx >= 3 (default: what pkg-config finds)])])
AC_ARG_WITH([hwloc], [AS_HELP_STRING([--with-hwloc=DIR], [prefix of hwloc >= 2 (default: what pkg-config finds)])])
for tern_prefix in "$with_pmix" "$with_hwloc"; do
    AS_CASE([$tern_prefix], [no], [AC_MSG_ERROR([PMIx and hwloc are needed; --without-pmix and --without-hwloc do not exist])],
            [yes|''], [],
            [PKG_CONFIG_PATH="$tern_prefix/lib/pkgconfig:$tern_prefix/lib64/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
             export PKG_CONFIG_PATH])
done

AC_CHECK_PROGS([tern_compiler], [$CC gcc cc clang])
AS_IF([test -z "$tern_compiler"], [TERN_MISSING([a C compiler], [gcc libc6-dev])])
AC_PATH_PROGS([PYTHON3], [python3])
AS_IF([test -n "$PYTHON3" && "$PYTHON3" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null], [],
      [TERN_MISSING([Python >= 3.9 (it writes the C entry points from api/)], [python3])])
# The interpreter itself: a version manager's python3 is a script that looks for it at each start, which takes longer than it.
AS_IF([test -n "$PYTHON3"], [PYTHON3=`"$PYTHON3" -c 'import sys; print(sys.executable)' 2>/dev/null || echo "$PYTHON3"`])
PKG_PROG_PKG_CONFIG
AS_IF([test -z "$PKG_CONFIG"], [TERN_MISSING([pkg-config], [pkg-config])])
PKG_CHECK_MODULES([PMIX], [pmix >= 3.1], [],
                  [TERN_MISSING([PMIx >= 3.1 with headers (mpirun starts processes through it)], [libpmix-dev])])
PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.0], [],
                  [TERN_MISSING([hwloc >= 2.0 with headers (mpirun maps and binds with it)], [libhwloc-dev])])
PKG_CHECK_MODULES([NETTLE], [nettle >= 3.4], [],
                  [TERN_MISSING([Nettle >= 3.4 with headers (connections between hosts prove with it whose they are)],
                                [nettle-dev])])

# Debian 11 and Ubuntu 20.04 have PMIx in a directory that their own pkg-config file does not name.
TERN_HEADER([PMIX], [pmix_server.h], [libpmix-dev], [`$PKG_CONFIG --variable=libdir pmix`/pmix2])
TERN_HEADER([HWLOC], [hwloc.h], [libhwloc-dev])
TERN_HEADER([NETTLE], [nettle/hmac.h], [nettle-dev])

AS_IF([test -n "$tern_missing"], [AC_MSG_ERROR([these are needed and missing:$tern_missing
  On Debian as root:  apt-get install$tern_missing_packages])])

PKG_CHECK_VAR([PMIX_LIBDIR], [pmix], [libdir])
PMIX_VERSION=`$PKG_CONFIG --modversion pmix`
HWLOC_VERSION=`$PKG_CONFIG --modversion hwloc`
NETTLE_VERSION=`$PKG_CONFIG --modversion nettle`
PKG_CHECK_VAR([NETTLE_LIBDIR], [nettle], [libdir])
# Opened at the first connection, by the name that programs link to: libnettle.so.8
tern_nettle=`basename "\`readlink -f "$NETTLE_LIBDIR/libnettle.so"\`" | sed 's/^\(libnettle\.so\.@<:@0-9@:>@*\).*/\1/'`
AS_CASE([$tern_nettle], [libnettle.so.@<:@0-9@:>@*], [], [tern_nettle=libnettle.so.8])
AC_DEFINE_UNQUOTED([TERN_NETTLE_LIBRARY], ["$tern_nettle"], [the soname of the Nettle that was built against])
# A rank opens libpmix only when a launcher told it where its server is, by this name or else by the soname alone.
AC_DEFINE_UNQUOTED([TERN_PMIX_LIBRARY], ["$PMIX_LIBDIR/libpmix.so.2"], [the PMIx library that was built against])
AC_DEFINE_UNQUOTED([TERN_PMIX_VERSION], ["$PMIX_VERSION"], [version of the PMIx that was built against])
AC_DEFINE_UNQUOTED([TERN_HWLOC_VERSION], ["$HWLOC_VERSION"], [version of the hwloc that was built against])
])

# TERN_HEADER(LIBRARY, HEADER, PACKAGE, [DIRECTORY])
# A library that pkg-config knows may lack its headers. DIRECTORY: where else its include and lib may be.
AC_DEFUN([TERN_HEADER], [
AS_IF([test -n "$tern_compiler" && test -n "$$1_LIBS"], [
    AC_MSG_CHECKING([for $2])
    tern_found=no
    for tern_dir in '' $4; do
        AS_IF([AS_ECHO(["@%:@include <$2>"]) | $tern_compiler $CPPFLAGS $$1_CFLAGS ${tern_dir:+-I$tern_dir/include} -E - \
               >/dev/null 2>&AS_MESSAGE_LOG_FD],
              [tern_found=yes
               $1_CFLAGS="$$1_CFLAGS${tern_dir:+ -I$tern_dir/include}"
               $1_LIBS="${tern_dir:+-L$tern_dir/lib }$$1_LIBS"
               break])
    done
    AC_MSG_RESULT([$tern_found])
    AS_IF([test $tern_found = no],
          [TERN_MISSING([the header $2 (pkg-config knows m4_tolower([$1]), and its directories do not have the header)], [$3])])
])
])

# TERN_MISSING(WHAT, PACKAGES)
AC_DEFUN([TERN_MISSING], [
tern_missing="$tern_missing
    $1: package $2"
tern_missing_packages="$tern_missing_packages $2"
])

# TERN_SANITIZERS
# The whole library, the tools and what our mpicc builds: a sanitized library needs a sanitized program.
AC_DEFUN([TERN_SANITIZERS], [
AC_ARG_ENABLE([sanitizers],
    [AS_HELP_STRING([--enable-sanitizers@<:@=LIST@:>@], [build with these sanitizers (default list: address,undefined)])],
    [], [enable_sanitizers=no])
AS_CASE([$enable_sanitizers], [no], [SANITIZERS=], [yes], [SANITIZERS=address,undefined], [SANITIZERS=$enable_sanitizers])
SANITIZER_FLAGS=${SANITIZERS:+-fsanitize=$SANITIZERS -fno-omit-frame-pointer}
AS_IF([test -n "$SANITIZER_FLAGS"], [
    AC_MSG_CHECKING([whether $CC can link with $SANITIZER_FLAGS])
    tern_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $SANITIZER_FLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM()], [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([the sanitizers' run-time libraries are missing; on Debian they come with package gcc])])
    CFLAGS=$tern_saved_CFLAGS
])
# The sanitizers' own symbols come from the program.
NO_UNDEFINED=
AS_IF([test -z "$SANITIZERS"], [NO_UNDEFINED=-Wl,-z,defs])
AC_SUBST([NO_UNDEFINED])
AC_SUBST([SANITIZERS])
AC_SUBST([SANITIZER_FLAGS])
AC_DEFINE_UNQUOTED([TERN_SANITIZER_FLAGS], ["$SANITIZER_FLAGS"], [what mpicc adds for a library with sanitizers])
])

# TERN_OPTIONAL
# What may be absent. Each leaves a line for the table in TERN_REPORT.
AC_DEFUN([TERN_OPTIONAL], [
PKG_CHECK_MODULES([CHECK], [check >= 0.10], [have_check=yes], [have_check=no])
AM_CONDITIONAL([HAVE_CHECK], [test $have_check = yes])

AC_ARG_WITH([libfabric], [AS_HELP_STRING([--with-libfabric=DIR],
    [prefix of libfabric >= 1.17 (default: what pkg-config finds; --without-libfabric: no byte mover ofi)])])
AS_CASE([$with_libfabric], [no|yes|''], [],
        [PKG_CONFIG_PATH="$with_libfabric/lib/pkgconfig:$with_libfabric/lib64/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
         export PKG_CONFIG_PATH])
have_libfabric=no
AS_IF([test "$with_libfabric" != no],
      [PKG_CHECK_MODULES([LIBFABRIC], [libfabric >= 1.17],
                         [have_libfabric=`$PKG_CONFIG --modversion libfabric`], [have_libfabric=no])])
AS_IF([test "$have_libfabric" = no && test -n "$with_libfabric" && test "$with_libfabric" != no],
      [AC_MSG_ERROR([--with-libfabric=$with_libfabric: pkg-config finds no libfabric >= 1.17 there; on Debian install libfabric-dev])])
AM_CONDITIONAL([HAVE_LIBFABRIC], [test "$have_libfabric" != no])
AC_SUBST([have_libfabric])

AC_ARG_WITH([cuda], [AS_HELP_STRING([--with-cuda=DIR], [CUDA's prefix (default: /usr/local/cuda; --without-cuda: none)])])
AS_CASE([$with_cuda], [no], [cuda_dirs=], [yes|''], [cuda_dirs="${CUDA_HOME:-/usr/local/cuda} /usr/local/cuda /usr/lib/cuda /usr"],
        [cuda_dirs=$with_cuda])
CUDA_CPPFLAGS=
have_cuda=no
AS_IF([test -n "$cuda_dirs"], [AC_MSG_CHECKING([for CUDA's headers])])
for cuda_dir in $cuda_dirs; do
    AS_IF([test -r "$cuda_dir/include/cuda.h"], [
        have_cuda=`$SED -n 's/^#define CUDA_VERSION @<:@ 	@:>@*\(@<:@0-9@:>@*\).*/\1/p' "$cuda_dir/include/cuda.h" | head -n 1`
        have_cuda=`expr "${have_cuda:-0}" / 1000`.`expr "${have_cuda:-0}" % 1000 / 10`
        CUDA_CPPFLAGS="-isystem $cuda_dir/include"
        AC_DEFINE([HAVE_CUDA], [1], [CUDA's headers are there])
        break
    ])
done
AS_IF([test -n "$cuda_dirs"], [AC_MSG_RESULT([$have_cuda])])
AS_IF([test $have_cuda = no && test -n "$with_cuda" && test "$with_cuda" != no],
      [AC_MSG_ERROR([--with-cuda=$with_cuda: no include/cuda.h there; give CUDA's prefix, e.g. --with-cuda=/usr/local/cuda])])
AC_SUBST([CUDA_CPPFLAGS])
AM_CONDITIONAL([HAVE_CUDA], [test "$have_cuda" != no])

# The libraries are C; a Fortran compiler is for the modules mpi and mpi_f08 only.
AC_ARG_VAR([FC], [Fortran compiler, with which mpifort works and the modules mpi and mpi_f08 are compiled; no: none])
AC_CHECK_PROGS([FC], [gfortran], [no])
have_fortran=no
AS_IF([test "$FC" = no], [FC=gfortran], [
    AC_MSG_CHECKING([whether $FC compiles a module])
    mkdir -p conftest.dir
    AS_ECHO(["module conftest; end module"]) > conftest.dir/conftest.f90
    AS_IF([(cd conftest.dir && $FC -c conftest.f90) >&AS_MESSAGE_LOG_FD 2>&1], [have_fortran=yes])
    rm -rf conftest.dir
    AC_MSG_RESULT([$have_fortran])
    AS_IF([test $have_fortran = no], [AC_MSG_ERROR([$FC cannot compile a Fortran module, see config.log; name another compiler with FC=..., or FC=no])])
])
# ccache and its kin stand before the compiler
FC_NAME=`for word in $FC; do case $word in *ccache|-*) ;; *) basename "$word"; break ;; esac; done`
AC_SUBST([FC_NAME])
AS_IF([test $have_fortran = yes], [tern_modules=yes], [tern_modules="no (tern-fortran-modules compiles it)"])
AC_DEFINE_UNQUOTED([TERN_FORTRAN_MODULES], ["$tern_modules"], [are the modules mpi and mpi_f08 compiled with the library])
AM_CONDITIONAL([HAVE_FORTRAN], [test $have_fortran = yes])

AC_LANG_PUSH([C++])
AC_MSG_CHECKING([whether $CXX compiles C++17])
tern_saved_CXXFLAGS=$CXXFLAGS
CXXFLAGS="$CXXFLAGS -std=gnu++17"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <map>]], [[std::map<int, int> map; map.try_emplace(1, 1);]])],
    [have_cxx=yes], [have_cxx=no])
CXXFLAGS=$tern_saved_CXXFLAGS
AC_MSG_RESULT([$have_cxx])
AC_LANG_POP([C++])
AM_CONDITIONAL([HAVE_CXX], [test $have_cxx = yes])
AC_SUBST([have_cxx])
])

# TERN_REPORT
# The table at the end: found or not, and what the absence costs.
AC_DEFUN([TERN_REPORT], [
tern_row() { printf '  %-11s %-10s %s\n' "$[]1" "$[]2" "$[]3"; }
echo
echo "$PACKAGE_STRING, into $prefix"
tern_row C "$CC" "`$CC -dumpfullversion 2>/dev/null`, $CFLAGS${SANITIZER_FLAGS:+ $SANITIZER_FLAGS}"
AS_IF([test $have_cxx = yes], [tern_row C++ "$CXX" "what mpicxx runs; libmpi_cxx is made with it"],
      [tern_row C++ no "no libmpi_cxx: programs that Open MPI's mpicxx built do not start (package g++)"])
tern_row python3 "`$PYTHON3 -c 'import platform; print(platform.python_version())'`" "writes mpi.h and the entry points from api/"
tern_row PMIx "$PMIX_VERSION" "mpirun links it; libmpi opens it only under a launcher"
tern_row hwloc "$HWLOC_VERSION" "mpirun maps and binds with it"
tern_row Nettle "$NETTLE_VERSION" "proves whose a connection is; opened at the first one"
AS_IF([test $have_check = yes], [tern_row Check "`$PKG_CONFIG --modversion check`" "unit tests"],
      [tern_row Check no "make check cannot run the unit tests and fails (package check)"])
AS_IF([test "$have_libfabric" = no], [tern_row libfabric no "no fabrics (InfiniBand, EFA, Slingshot, ...), TCP in their place (package libfabric-dev)"],
      [tern_row libfabric "$have_libfabric" "fabrics; libmpi opens it only if there is one"])
AS_IF([test "$have_cuda" = no], [tern_row CUDA no "costs nothing: the driver is used where a program has loaded it"],
      [tern_row CUDA "$have_cuda" "headers for a test; the driver is used where a program has loaded it"])
AS_IF([test $have_fortran = no],
      [tern_row Fortran no "no modules mpi and mpi_f08 (package gfortran); programs that are compiled already run"],
      [tern_row Fortran "$FC" "`$FC --version 2>/dev/null | head -n 1`; modules mpi and mpi_f08"])
echo
])
