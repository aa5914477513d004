#
# Copyright (c) 2026 The Open MPI Endpoints project contributors.
#
# SPDX-License-Identifier: BSD-3-Clause
#
# Where processes are, and how they reach each other: nodes and networks, shared memory that they
# lack, more ranks than cores, and what epinfo says of it.
# What an entry is: lib/Ept/Matrix.pm.

package Ept::Table::Places;

use strict;
use warnings;

# On three nodes what takes long is cut short.
my %CLUSTER_ARGS = (random_traffic => '--seed 31 --epochs 1', comm_inter => '--case across',
                    create => '--case parents', comm_bridge => '--case processes');

our @ENTRIES = (
    # The places of ranks, with more than one node.
    { program => 'comm_bridge', variant => 'hosts', hosts => 1,
      configs => ['4x2/node'], longer => [qw(2x2/tcp 4x2/tcp)], quick => [], plain => 0 },
    { program => 'comm_ops', variant => 'hosts', hosts => 1, configs => [qw(4x2/tcp 4x2/node)], long => 1,
      quick => [], plain => 0 },
    { program => 'random_traffic', variant => 'hosts', hosts => 1, configs => ['4x2/node'],
      quick => [], args => '--seed 15', plain => 0 },
    # Processes of a node meet first, then nodes.
    (map { +{ program => $_, variant => 'hosts', hosts => 'halves', configs => ['4x2/node'],
              longer => ['8x2/node'], quick => [], plain => 0 } } qw(coll_layout coll_order)),

    # Likewise in the tree of a block, as where a node has more processes than a group; and late.
    (map { +{ program => $_, variant => 'hosts_fan', hosts => 'halves', configs => ['6x2/node'], quick => [],
              plain => 0, long => 'coll_order' eq $_, mca => 'coll_epcoll_fanout 2' } } qw(coll_layout coll_order)),
    # So many steps that leaders meet in memory on each of the communicators.
    { program => 'coll_late', variant => 'hosts', hosts => 1, configs => ['4x2/node'], quick => [], plain => 0,
      args => '--steps 600' },
    (map { my ($form, $name) = @$_;
           +{ program => 'coll_layout', variant => "hosts_$name", hosts => 'halves', quick => [], plain => 0,
              configs => ['4x2/node'], longer => ['8x2/node'], long => 1, args => "--form $form" } }
        [1, 'nonblocking'], [2, 'persistent']),
    # Nodes' processes do not follow each other; and nodes have three, two and two of them.
    (map { my ($form, $name) = @$_;
           +{ program => 'coll_layout', variant => $name, cluster => 'one', quick => [], plain => 0,
              configs => ['7x2/node'], longer => ['6x2/node'], long => 1, args => "--form $form" } }
        [0, 'cluster'], [1, 'cluster_nonblocking'], [2, 'cluster_persistent']),
    # (Questions of processes that are waited for long would be counted, too.)
    { program => 'coll_nodes', variant => 'hosts', hosts => 1, quick => [], plain => 0,
      configs => ['5x2/node'], longer => ['4x2/node'], mca => 'pml_epml_liveness_interval 0' },
    { program => 'coll_nodes', variant => 'cluster', cluster => 'one', quick => [], plain => 0,
      configs => ['7x2/node'], mca => 'pml_epml_liveness_interval 0' },
    { program => 'coll_order', variant => 'cluster', cluster => 'one', long => 1, plain => 0,
      configs => ['7x2/node'] },

    # Three nodes with two processes each: shared memory within a node, tcp between them.
    { program => 'cluster', variant => 'link', cluster => 'one', configs => ['6x2/node'],
      quick => [], args => '--down 5000', plain => 0,
      mca => 'pml_epml_liveness_interval 300 btl_epofi_unanswered 1',
      says => 'does not answer.*Host: +ept-\w.*Peer: +(?:rank \d on host ept|unknown).*10\.77\.0\.' },
    # A process that is not in MPI, and many that connect to it.
    { program => 'cluster', variant => 'away', cluster => 'narrow', configs => ['3x8/node'],
      quick => [], args => '--away 5', plain => 0, mca => 'pml_epml_liveness_interval 100' },
    # Longer, and what else a link can have: with and without traffic meanwhile.
    (map { my ($fault, $seconds, $idle) = @$_;
           +{ program => 'cluster', variant => "$fault$seconds" . ($idle ? '_idle' : ''),
              cluster => 'one', configs => ['6x2/node'], long => 1, plain => 0,
              args => "--down ${seconds}000 --fault $fault --idle $idle",
              timeout => 120 + 2 * $seconds,
              mca => 'pml_epml_liveness_interval 1000 btl_epofi_unanswered ' . ($idle ? 0 : 10),
              $idle || 'slow' eq $fault ? () : (says => 'does not answer') } }
        [link => 45, 0], [link => 300, 0], [link => 300, 1], [address => 20, 0],
        [address => 20, 1], [mute => 45, 0], [mute => 200, 1], [slow => 20, 0]),
    { program => 'cluster', variant => 'away_long', cluster => 'narrow', configs => ['3x8/node'],
      long => 1, args => '--away 150', plain => 0, timeout => 400,
      mca => 'btl_epofi_unanswered 0' },
    (map { +{ program => $_, variant => 'cluster', cluster => 'one', configs => ['6x2/node'],
              quick => [], args => $CLUSTER_ARGS{$_} // '', plain => 0,
              long => scalar(/^(?:p2p_basic|coll_move|coll_reduce)$/) } }
        qw(p2p_basic random_traffic create comm_bridge comm_inter coll_move coll_reduce client)),
    (map { +{ program => $_, variant => 'cluster_long', cluster => 'one', configs => ['6x2/node'],
              long => 1, plain => 0, args => /^comm_(?:inter|tree)$/ ? '--hosts 3' : '' } }
        qw(create comm_bridge comm_inter p2p_match p2p_order p2p_sizes p2p_requests comm_ops
           comm_tree comm_groups coll_neighbor part)),
    # Their endpoints share one context of the network's in each process, or two.
    (map { my $most = $_;
           +{ program => 'random_traffic', variant => "cluster_contexts$most", cluster => 'one',
              configs => ['6x3/node'], quick => [], long => 2 == $most, plain => 0,
              args => "--seed 4$most --epochs 1", mca => "btl_epofi_max_contexts $most" } } 1 .. 2),
    # Nobody has died: a connection is over, and ob1 has lost messages.
    { program => 'cluster', variant => 'closed', cluster => 'one', kind => 'fatal', plain => 0,
      configs => ['2x1/node'], quick => [], args => '--closed 1', timeout => 30,
      mca => 'pml_epml_launcher_wait 300',
      says => '[1-9]\d* connections closed.*error occurred in Socket closed' },
    # Which network the endpoints of all nodes take.
    (map { my ($layout, $interfaces, $mca) = @$_;
           my $others = join '', map { "(?!.*interface $_->[1],)" } grep { !$_->[0] } @$interfaces;
           my ($taken) = join '|', map { $_->[1] } grep { $_->[0] } @$interfaces;
           +{ program => 'cluster', variant => $layout, cluster => $layout =~ s/_.*//r, plain => 0,
              configs => ['3x1/node'], quick => [], mca => "btl_base_verbose 10 $mca",
              says => "\\A$others(?:.*btl:epofi: provider tcp, interface (?:$taken),){3}" } }
        [fast => [[1, 'eth1'], [0, 'eth0']], ''],
        [two_include => [[1, 'eth1'], [0, 'eth0']], 'btl_tcp_if_include 10.76.0.0/16'],
        [two_exclude => [[1, 'eth1'], [0, 'eth0']], 'btl_tcp_if_exclude lo,eth0'],
        [two_own => [[1, 'eth1'], [0, 'eth0']],
         'btl_tcp_if_include eth0 btl_epofi_interface 10.76.0.0/24'],
        [uneven => [[1, 'ens4'], [1, 'eno1'], [0, 'ens3']], ''],
        [docker => [[1, 'eth0'], [0, 'docker0']],
         'btl_tcp_if_include eth0 btl_epofi_interface docker0,eth0'],
        [both => [[1, 'eth1'], [0, 'eth0']],
         'btl_tcp_if_include eth0 btl_epofi_interface eth1'],
        [ipv6 => [[1, 'eth0']], '']),
    # (Two on a node would be told by btl/tcp that it finds no addresses to reach each other by.)
    { program => 'p2p_basic', variant => 'ipv6', cluster => 'ipv6', configs => ['3x2/node'],
      long => 1, plain => 0 },
    # One that does not lead everywhere, asked for: what is said.
    { program => 'cluster', variant => 'torn', cluster => 'torn', kind => 'fatal', plain => 0,
      configs => ['2x1/node'], quick => [], args => '--torn 1', timeout => 30,
      mca => 'btl_tcp_if_include eth0 btl_epofi_interface eth1 btl_epofi_unanswered 1',
      says => 'does not answer.*Host: +ept-a.*Peer: +rank 1 on host ept-b, .*10\.78\.0\.2.*'
          . 'Interface: +eth1, fi_sockaddr_in://10\.78\.0\.1:.*btl_epofi_interface' },

    # Processes that cannot share memory, or not all: they do not want to, it cannot be made, or it
    # is not where the others look for it.  All take the network.
    { program => 'random_traffic', variant => 'lacking', configs => ['2x2/node'], plain => 0,
      quick => ['2x2/node'], rank0 => 'OMPI_MCA_btl_epshm_processes=0',
      mca => 'btl_epofi_provider tcp', args => '--seed 17' },
    { program => 'random_traffic', variant => 'unmade', configs => ['2x2/node'], plain => 0,
      quick => [], rank0 => 'OMPI_MCA_btl_epshm_directory=/dev/null/none',
      mca => 'btl_epofi_provider tcp', args => '--seed 18', says => 'could not be made' },
    { program => 'random_traffic', variant => 'apart', configs => ['2x2/node'], plain => 0,
      quick => [], rank0 => 'OMPI_MCA_btl_epshm_directory=/tmp', mca => 'btl_epofi_provider tcp',
      args => '--seed 19', says => 'cannot be used.*No such file' },
    { program => 'comm_bridge', variant => 'lacking', configs => ['2x2/node'], plain => 0,
      quick => [], rank0 => 'OMPI_MCA_btl_epshm_processes=0', mca => 'btl_epofi_provider tcp' },
    { program => 'comm_bridge', variant => 'apart', configs => ['2x2/node'], plain => 0,
      quick => [], rank0 => 'OMPI_MCA_btl_epshm_directory=/tmp', mca => 'btl_epofi_provider tcp',
      says => 'cannot be used.*No such file' },

    # Another user of the node is in the folder; what is said is that the network is used.
    { program => 'strangers', configs => ['2x1/node'], plain => 0 },
    # Somebody is at the ports of a job's endpoints, and is not let in.
    { program => 'strangers_net', configs => ['2x1/tcp'], plain => 0,
      mca => 'btl_epofi_interface lo btl_epofi_unproven 64', says => 'did not prove.*From: +127' },

    # So little memory that some pairs have no area, and few cells.
    { program => 'random_traffic', variant => 'tight', configs => ['2x8/node'], plain => 0,
      quick => [], args => '--seed 20 --epochs 2', mca => 'btl_epshm_segment_size 524288',
      says => '\A\z|no memory left' },
    { program => 'p2p_types', variant => 'tight', configs => ['2x8/node'], plain => 0,
      long => 1, mca => 'btl_epshm_segment_size 524288 btl_epshm_single_copy 0',
      says => '\A\z|no memory left' },

    # Partitioned messages there; and so many pairs that few have any: all reach each other.
    # Whether memory runs out depends on how many messages are under way at a time; mostly it does.
    { program => 'ways', variant => 'area', configs => ['2x4/node'], plain => 0, quick => [],
      mca => 'btl_epshm_segment_size 524288', says => 'no memory left|\A\s*\z', timeout => 60 },
    { program => 'ways', variant => 'back', configs => ['2x1/node'], plain => 0, quick => [],
      args => '--way back', mca => 'btl_epshm_segment_size 524288', timeout => 60 },
    { program => 'ways', variant => 'group', configs => ['2x1/node'], plain => 0, quick => [],
      args => '--way group', mca => 'btl_epshm_segment_size 524288', timeout => 60 },
    # The two directions of a pair by different links.
    { program => 'ways', variant => 'links', configs => ['3x1/node'], plain => 0, quick => [],
      args => '--way links', rank0 => 'OMPI_MCA_btl_epshm_processes=0',
      mca => 'btl_epofi_provider tcp', timeout => 60 },

    # More ranks than cores.
    { program => 'oversubscribe', configs => ['1x16'],
      longer => [qw(2x16 4x16)], quick => ['1x16'] },
    # Seconds against seconds: what else the machine does may change one of them alone.
    { program => 'oversubscribe', variant => 'ratio', kind => 'ratio', configs => ['1x16'],
      long => 1, quick => [], args => '--rounds 300', plain => 0, timeout => 120 },

    # A process that is bound to too few cores, and those where that is nobody's oversight.
    { program => 'bound', configs => ['1x2'], quick => [], plain => 0,
      says => '^epml: the 2 endpoints of a process share 1 of the node.s \d+ cores, .*numa:PE=2 or' },
    { program => 'bound', variant => 'free', configs => ['1x2'], quick => [], plain => 0,
      args => '--cores 1000', never => 'endpoints of a process share' },
    { program => 'bound', variant => 'silent', configs => ['1x2'], quick => [], plain => 0,
      mca => 'pml_epml_warn_bound 0', never => 'endpoints of a process share' },

    # What a job's choices are.
    { program => 'epinfo', kind => 'tool', configs => [qw(1x2)], plain => 0, quick => [],
      says => 'Open MPI Endpoints \d+\.\d+\.\d+, Open MPI \d.*, 1 process with 2 endpoints each\nprocess 0 on \S+\n  base PML +\w+, .*'
             . 'on the node +not needed.*network +not needed.*pml_epml_unexpected_limit' },
    { program => 'epinfo', kind => 'tool', configs => ['2x1/tcp'], plain => 0, quick => [],
      says => 'processes with 1 endpoint each\nprocess 0-1 on \S+\n.*'
             . 'on the node +the network: btl_epshm_processes is off.*'
             . "network +libfabric's tcp .as btl_epofi_provider says.*interface +\\w+ .*hello +" },
    { program => 'epinfo', kind => 'tool', configs => ['2x2/node'], plain => 0, quick => ['2x2/node'],
      says => 'process 0-1 on .*on the node +shared memory .btl/epshm. in .*[GM]iB free there\n'
             . '  single copy +\w+.*network +not needed' },
    { program => 'epinfo', variant => 'contexts', kind => 'tool', configs => ['2x5/tcp'], plain => 0,
      quick => [], mca => 'btl_epofi_max_contexts 3',
      says => 'contexts +at most 3, as btl_epofi_max_contexts says; the first 2 for one endpoint '
             . 'each, now 2; 1 for all others, now 1 with 3 endpoints' },
    { program => 'epinfo', variant => 'fast', kind => 'tool', configs => ['3x1/node'], plain => 0,
      quick => [], cluster => 'fast', mca => 'btl_tcp_if_exclude lo,docker0',
      says => 'process 0 on ept-a\n  base PML .*process 1 on ept-b, otherwise than process 0\n'
             . '(?!.*base PML).*interface +eth1 .10\.76\.0\.2.: all nodes are in this network '
             . '.3 hosts.\n  passed over +eth0 .10\.77\.0\.2.: slower\n' },
    # A site that has linked providers to one for others to use.
    { program => 'epinfo', variant => 'linked', kind => 'tool', configs => ['3x1/node'], plain => 0,
      quick => [], cluster => 'one', env => 'FI_LNX_PROV_LINKS=shm+tcp;ofi_rxm',
      says => "network +libfabric's tcp .the best that there is here" },
    { program => 'epinfo', variant => 'docker', kind => 'tool', configs => ['3x1/node'], plain => 0,
      quick => [], cluster => 'docker',
      mca => 'btl_tcp_if_include eth0 btl_epofi_interface docker0,10.77.0.0/24',
      says => '  passed over +docker0 .172\.17\.0\.1.: another node has the same\n.*'
             . 'process 2 on ept-c, otherwise than process 0\n(?!.*docker0 .172)'
             . '.*interface +eth0 .10\.77\.0\.3., of those that btl_epofi_interface names: all nodes' },
    { program => 'epinfo', variant => 'unselected', kind => 'tool', configs => ['2x0'], plain => 0,
      quick => [], mca => 'pml ob1', status => 1, says => 'pml/epml was not selected' },
    { program => 'epinfo', variant => 'usage', kind => 'tool', configs => ['1x0'], plain => 0,
      quick => [], args => '--ep 0', status => 2, says => 'usage: epmpirun' },
);

1;
