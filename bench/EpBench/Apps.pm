#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# The table of bench/apps: public applications and benchmarks, how each is built with plain mpicc and
# its like, what it is started with, and which lines of its output are results.

package EpBench::Apps;

use strict;
use warnings;

my $NUMBER = qr/[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?/;

# What HPCC reads.
my $HPCC = <<'END';
HPLinpack benchmark input file
Innovative Computing Laboratory, University of Tennessee
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
1            # of problems sizes (N)
1000         Ns
1            # of NBs
80           NBs
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
%N           Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
1            # of recursive stopping criterium
4            NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
40           values of NB
END

# What Debian's chemistry and material codes read: small systems.
my $LAMMPS = <<'END';
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 16 0 16 0 16
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 50
run 100
END
my $WATER = <<'END';
O 0.0  0.0000  0.1173
H 0.0  0.7572 -0.4692
H 0.0 -0.7572 -0.4692
END
my $NWCHEM = "start water\ngeometry units angstrom\n${WATER}end\n"
    . "basis\n* library 6-31g*\nend\ntask scf energy\n";
my $CP2K = <<"END";
&GLOBAL
 PROJECT h2o
 RUN_TYPE ENERGY
&END GLOBAL
&FORCE_EVAL
 METHOD Quickstep
 &DFT
  BASIS_SET_FILE_NAME GTH_BASIS_SETS
  POTENTIAL_FILE_NAME GTH_POTENTIALS
  &XC
   &XC_FUNCTIONAL Pade
   &END XC_FUNCTIONAL
  &END XC
  &MGRID
   CUTOFF 100
  &END MGRID
 &END DFT
 &SUBSYS
  &CELL
   ABC 5.0 5.0 5.0
  &END CELL
  &COORD
$WATER  &END COORD
  &KIND H
   BASIS_SET SZV-GTH
   POTENTIAL GTH-PADE-q1
  &END KIND
  &KIND O
   BASIS_SET SZV-GTH
   POTENTIAL GTH-PADE-q6
  &END KIND
 &END SUBSYS
&END FORCE_EVAL
END
my $QE = <<'END';
&control
 calculation='scf', prefix='h2o', pseudo_dir='..', outdir='out'
/
&system
 ibrav=1, celldm(1)=12.0, nat=3, ntyp=2, ecutwfc=20.0
/
&electrons
 conv_thr=1d-6
/
ATOMIC_SPECIES
O 16.0 O.UPF
H 1.0 H.UPF
ATOMIC_POSITIONS bohr
O 6.0 6.0 6.0
H 7.4 7.1 6.0
H 4.6 7.1 6.0
K_POINTS gamma
END
my $MPB = <<'END';
(set! num-bands 4)
(set! k-points (list (vector3 0 0 0) (vector3 0.5 0 0)))
(set! geometry (list (make cylinder (center 0 0 0) (radius 0.2) (height infinity)
                           (material (make dielectric (epsilon 12))))))
(set! geometry-lattice (make lattice (size 1 1 no-size)))
(set! resolution 32)
(run-te)
END

# An entry:
#   name     what --only chooses by
#   folder   a pattern that the folder's name matches, any case
#   needs    a file in it, by which an unpacked source is distinguished from something else
#   installed  instead of both: the path of a program that a package has installed
#   build    a command of the shell, run in a copy of the folder ($F: options of the compilers)
#   program  what is started, from the copy
#   args     its arguments; %N: ranks, %X, %Y, %Z: ranks in each of three dimensions
#   ranks    a function of the number wanted: the number it can run with (default: that number)
#   input    files that it reads in its folder: name and text of each (%N: ranks)
#   set      variables of its environment
#   libraries a pattern of folders with libraries that it needs
#   file     a pattern of files that it writes, whose contents count as its output
#   keep     a pattern: lines of the output that are results, equal with processes and threads
#   drop     a pattern that is cut out of these lines: times
#   digits   numbers in results are compared by so many digits (default: all), as sums of floating
#            point numbers depend on the order in which messages come, or on a collective's algorithm
my @TABLE = (
    {
        name => 'lulesh', folder => qr/lulesh/i, needs => 'lulesh.cc',
        build => 'mpicxx -O3 $F -DUSE_MPI=1 -o app *.cc', program => 'app',
        args => '-s 20 -i 60', ranks => sub { 8 <= $_[0] ? 8 : $_[0] },
        # A cube of ranks.
        cube => 1, keep => qr/Iteration count|Final Origin Energy|AbsDiff|RelDiff/, digits => 7,
    },
    {
        name => 'hpcg', folder => qr/hpcg/i, needs => 'src/CG.cpp',
        build => 'mpicxx -O3 $F -DHPCG_NO_OPENMP -Isrc -o app src/*.cpp', program => 'app',
        args => '--nx=32 --ny=32 --nz=32 --rt=2', file => 'HPCG-Benchmark*.txt',
        keep => qr/HPCG result is|Result=/, drop => qr/with a GFLOP.*/,
    },
    {
        name => 'minife', folder => qr/minife/i, needs => 'ref/src/cg_solve.hpp',
        build => 'cd ref/src && make CXX="mpicxx $F" CC="mpicc $F" && cp miniFE.x ../../app',
        program => 'app', args => '-nx 56 -ny 56 -nz 56',
        keep => qr/Final Resid Norm|Initial Residual|^Iteration = /, digits => 5,
    },
    {
        name => 'comd', folder => qr/comd/i, needs => 'src-mpi/CoMD.c',
        build => 'mkdir -p bin && cd src-mpi && cp Makefile.vanilla Makefile && make CC="mpicc $F"'
            . ' && cp ../bin/CoMD-mpi ../app',
        program => 'app', args => '-i %X -j %Y -k %Z -x 16 -y 16 -z 16 -N 60 -n 20 -d pots',
        keep => qr/^ +\d+ +\d+\.\d+ +-?\d|Final energy|eFinal|atoms lost/i,
        # Of a step: number, time, energies, temperature; then performance.
        drop => qr/(?<=\d) +\d+\.\d+ +\d+$/, digits => 9,
    },
    {
        name => 'miniamr', folder => qr/miniamr/i, needs => 'ref/block.c',
        build => 'cd ref && make CC="mpicc $F" LD="mpicc $F" && cp miniAMR.x ../app',
        program => 'app',
        args => '--npx %X --npy %Y --npz %Z --nx 8 --ny 8 --nz 8 --num_tsteps 20 --num_refine 3'
            . ' --num_objects 1 --object 2 0 -1.1 -1.1 -1.1 0.06 0.06 0.06 1.1 1.1 1.1 0.0 0.0 0.0',
        keep => qr/^Number of blocks at level|^Total number of blocks at/,
    },
    {
        name => 'imb', folder => qr/imb|mpi-benchmarks/i, needs => 'src_cpp/Makefile',
        # (Today's compilers warn of more.)
        build => "grep -rl -- -Werror . | xargs sed -i 's/-Werror//g';" . ' make IMB-MPI1 CC="mpicc $F" CXX="mpicxx $F" && cp IMB-MPI1 app', program => 'app',
        args => 'PingPong Exchange Allreduce Bcast Alltoall -npmin %N -iter 300 -msglog 2:14 -time 5',
        # Of a table, its sizes.
        keep => qr/^# (?:Benchmarking|#processes)|^ +\d+ +\d+ /, drop => qr/(?<=\d) +\d+ +\d+\.\d.*$/,
    },
    {
        name => 'osu', folder => qr/^osu/i, needs => 'configure',
        build => 'touch aclocal.m4 && find . -name Makefile.in -o -name configure | xargs touch &&'
            . ' ./configure CC="mpicc $F" CXX="mpicxx $F" && make -C mpi/collective osu_allreduce && cp mpi/collective/osu_allreduce app',
        program => 'app', args => '-f -i 500', keep => qr/^\d+ /, drop => qr/(?<=\d) .*/,
    },
    (map { my ($name, $path, $program, $args, $rank) = @$_; {
        name => "prk-$name", folder => qr/^(?:prk|kernels)/i, needs => "MPI1/$path/Makefile",
        build => "echo 'MPICC=mpicc \$F' >common/make.defs; echo 'DEFAULT_OPT_FLAGS=-O3' >>common/make.defs;"
            . " cd MPI1/$path && make $program && cp $program ../../app",
        program => 'app', args => $args, keep => qr/Solution validates|ERROR|norm|checksum/i,
        drop => qr/(?:Rate|time).*/i, digits => 9,
    } } [stencil => 'Stencil', 'stencil', '200 2000'], [transpose => 'Transpose', 'transpose', '60 1600'],
        [p2p => 'Synch_p2p', 'p2p', '40 2400 2400'], [sparse => 'Sparse', 'sparse', '100 10 4'],
        [pic => 'PIC-static', 'pic', '60 600 200000 1 2 GEOMETRIC 0.99']),
    # Programs as Debian has compiled them: packages, unpacked into one folder by dpkg -x.
    {
        name => 'debian-hpcc', folder => qr/^debian/i, needs => 'usr/bin/hpcc', build => 'ln -s usr/bin/hpcc app',
        program => 'app', args => '', libraries => 'usr/lib/*/blas', input => ['hpccinf.txt', $HPCC],
        file => 'hpccoutf.txt', keep => qr/Success=|Failures?=|tests completed/,
    },
    {
        name => 'debian-ptscotch', folder => qr/^debian/i, needs => 'usr/bin/dgpart',
        build => q[perl -e '$n = 120; print "0\n", $n * $n, " ", 4 * $n * ($n - 1), "\n0 000\n";]
            . q[ for $i (0 .. $n * $n - 1) { @to = (($i % $n ? $i - 1 : ()), ($i % $n < $n - 1 ? $i + 1 : ()),]
            . q[ ($i >= $n ? $i - $n : ()), ($i < $n * ($n - 1) ? $i + $n : ())); print scalar @to, " @to\n" }']
            . q[ >grid.txt && ln -s usr/bin/dgpart app],
        program => 'app', args => '6 grid.txt map.out', libraries => 'usr/lib/*-linux-gnu', file => 'map.out',
        # The parts differ from run to run, with processes as well.
        keep => qr/^\d+\s+\d/, drop => qr/\s\d+$/,
    },
    # Programs of installed packages.
    {
        name => 'lammps', installed => '/usr/bin/lmp', args => '-in in.lj', input => ['in.lj', $LAMMPS],
        keep => qr/^ +\d+ +-?\d+\.\d+ +-/, digits => 7,
    },
    {
        name => 'mumps', installed => '/usr/lib/mumps/dsimpletest', args => '',
        stdin => '/usr/lib/mumps/input_simpletest_real', keep => qr/Solution is/, digits => 12,
    },
    {
        name => 'mpb', installed => '/usr/bin/mpb-mpi', args => 'holes.ctl', input => ['holes.ctl', $MPB],
        keep => qr/^tefreqs/, digits => 5,
    },
    {
        name => 'quantum-espresso', installed => '/usr/bin/pw.x', args => '-in water.in',
        input => ['water.in', $QE], keep => qr/^! +total energy/, digits => 9,
        build => 'for x in H O; do zcat /usr/share/doc/quantum-espresso/examples/CPV/EXX-wf-example/'
            . '${x}_HSCV_PBE-1.0.UPF.gz >$x.UPF || exit; done',
    },
    {
        name => 'nwchem', installed => '/usr/bin/nwchem.openmpi', args => 'water.nw',
        input => ['water.nw', $NWCHEM], keep => qr/Total SCF energy/, digits => 10,
    },
    {
        name => 'cp2k', installed => '/usr/bin/cp2k.psmp', args => '-i water.inp',
        input => ['water.inp', $CP2K], set => { CP2K_DATA_DIR => '/usr/share/cp2k' },
        keep => qr/ENERGY\|/, digits => 10,
    },
    (map { {
        name => "scalapack-$_", installed => "/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests/x$_",
        args => '', build => 'cp $(dirname $(readlink app))/*.dat .', keep => qr/tests? completed|PASSED|FAILED/,
        drop => qr/.*(?=PASSED|FAILED)/,
    } } qw(dlu dllt dinv zqr)),
    # Images of Coarray Fortran, over windows: tests that OpenCoarrays installs.
    (map { {
        name => "coarrays-$_", installed => '/usr/lib/x86_64-linux-gnu/open-coarrays/openmpi/bin/'
            . "OpenCoarrays-2.10.2-tests/$_",
        args => '', keep => qr/[Tt]est passed/, drop => qr/:.*/,
    } } qw(atomics coarray_distributed_transpose co_sum_test strided_get syncimages)),
);

sub all
{
    return @TABLE;
}

# Ranks in each of three dimensions, as even as the number allows.
sub _dimensions
{
    my ($ranks) = @_;
    my @dims = (1, 1, 1);

    for my $factor (reverse _factors($ranks)) {
        @dims = sort { $a <=> $b } @dims;
        $dims[0] *= $factor;
    }
    return sort { $b <=> $a } @dims;
}

sub _factors
{
    my ($n) = @_;
    my @factors;

    for (my $p = 2; 1 < $n; ++$p) {
        while (0 == $n % $p) {
            push @factors, $p;
            $n /= $p;
        }
    }
    return @factors;
}

# How many ranks an application runs with, if that many are wanted.
sub ranks_of
{
    my ($app, $wanted) = @_;

    return $wanted if !$app->{cube};
    return (sort { $b <=> $a } grep { $_ <= ($wanted < 8 ? 8 : $wanted) } map { $_**3 } 1 .. 10)[0];
}

sub arguments
{
    my ($app, $ranks) = @_;
    my %values = ('%N' => $ranks);

    @values{qw(%X %Y %Z)} = _dimensions($ranks);
    return map { s/(%[NXYZ])/$values{$1}/r } split ' ', $app->{args};
}

# A number as it is compared.
sub _rounded
{
    my ($number, $digits) = @_;

    return $number if $number !~ /[.eE]/;
    return sprintf '%.*e', $digits - 1, $number;
}

# The lines of a text that are results.
sub results
{
    my ($app, $text) = @_;
    my @lines = grep { $_ =~ $app->{keep} } split /\n/, $text;

    for my $line (@lines) {
        $line =~ s/$app->{drop}// if $app->{drop};
        $line =~ s/($NUMBER)/_rounded($1, $app->{digits})/ge if $app->{digits};
        $line =~ s/\s+/ /g;
    }
    return sort @lines;
}

1;
