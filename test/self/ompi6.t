#!/usr/bin/perl
#
# Copyright (c) 2026      The Open MPI Endpoints project contributors.
#                         All rights reserved.
# $COPYRIGHT$
#
# Additional copyrights may follow
#
# $HEADER$
#
# ompi6.t BUILD-FOLDER: what .ci/run has run before, with Open MPI 6, so that the summary counts it.

use strict;
use warnings;

use Test::More;

plan skip_all => 'only after the jobs on Open MPI 6 that .ci/run runs' if !defined $ENV{EP_SMOKE};
plan tests => 1;
is($ENV{EP_SMOKE}, 0, './ep check --ompi 6 --smoke, whose failures are shown above');
