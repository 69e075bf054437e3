#!/usr/bin/perl
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# words.pl FOLDER: prints the words that the files under FOLDER use most. This is what `make demo`
# profiles.
use strict;
use warnings;

my %count;
my @folders = @ARGV;
my $bytes = 0;

while (@folders && $bytes < 24e6) {
	for my $path (glob shift(@folders) . "/*") {
		if (-d $path) {
			push @folders, $path unless -l $path;
			next;
		}
		open my $file, "<", $path or next;
		while (my $line = <$file>) {
			$bytes += length $line;
			$count{lc $1}++ while $line =~ /([A-Za-z]\w+)/g;
		}
	}
}
my @words = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
printf "%d bytes, %d words; most used:", $bytes, scalar @words;
printf " %s %d", $_, $count{$_} for grep { defined } @words[0 .. 4];
print "\n";
