/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAMPLES_H
#define BPFPROFIL_SAMPLES_H

#include "export/export.h"
#include "export/texts.h"
#include "profile/profile_chains.h"

/*
 * The parts of a profile that are the same for all backends that collect from many hosts: services,
 * and samples of each. The samples add up to all of its ticks: those that are in no bin are samples
 * too, named "[lost: exit]" or by whatever became of them. Index 0 of every table is the empty
 * entry.
 */

enum place_kind {
	PLACE_NONE, /* for ticks that are in no bin */
	PLACE_USER,
	PLACE_KERNEL,
};

struct sample_function {
	uint32_t name; /* numbers in texts */
	uint32_t file;
};

struct sample_line {
	uint32_t function;
	uint32_t line; /* 0: unknown */
};

/* A segment of an object's text, or all of its text that was hit. */
struct sample_mapping {
	uint32_t file; /* number in texts */
	uint32_t build_id; /* number in values */
	struct profile_text text;
	uint32_t object; /* one that it is of; two of an equal file are one mapping */
};

struct sample_place {
	uint32_t mapping;
	enum place_kind kind;
	uint64_t address;
	const struct profile_function *function; /* belongs to the profile; NULL: unknown */
	uint64_t start; /* where its function begins; its mapping, if the function is unknown */
	size_t first; /* its lines, innermost first */
	size_t nr;
	bool nameless; /* neither a symbol nor DWARF names its function */
};

/* The process of ticks that were split by process; else the program that their callers belong to. */
struct sample_process {
	uint32_t pid; /* number in values */
	uint32_t name;
};

struct sample {
	uint32_t service;
	uint32_t place;
	uint32_t process;
	uint32_t callers; /* a context of samples->callers; 0: no callers are known */
	uint64_t ticks;
	uint64_t ns; /* CPU time */
};

/* What a backend takes as one source: a target, or one cgroup of a target. */
struct sample_service {
	uint32_t target;
	const char *cgroup; /* belongs to the profile; NULL: none */
	size_t first; /* index of its samples, which are consecutive */
	size_t nr;
};

/* Finds the numbers of a table's entries by what is in them. */
struct sample_index {
	struct sample_slot {
		uint32_t number; /* 0: free */
		uint32_t hash;
	} * slots;
	size_t nr;
	size_t room; /* a power of two */
};

struct samples {
	const struct profile *profile;
	const struct profile_label **labels; /* the profile's labels, sorted by cgroup */
	struct texts texts; /* names of functions and files */
	struct texts values; /* all other texts */
	struct sample_function *functions;
	size_t nr_functions, functions_room;
	struct sample_index functions_index;
	struct sample_line *lines;
	size_t nr_lines, lines_room;
	struct sample_mapping *mappings;
	size_t nr_mappings, mappings_room;
	struct sample_index mappings_index;
	struct sample_place *places;
	size_t nr_places, places_room;
	struct sample_index places_index;
	struct sample_process *processes;
	size_t nr_processes, processes_room;
	struct sample_index processes_index;
	struct sample_service *services;
	size_t nr_services, services_room;
	struct sample_index services_index;
	struct sample *all; /* sorted by service; each place, process and callers once */
	size_t nr, room;
	struct chain_tree callers; /* its frames are numbers of places */
	uint32_t piece; /* which piece of its only service this is */
	uint32_t pieces; /* of how many; 0: services are whole */
	/*
	 * As pprof, places in the kernel have numbers instead of their addresses, which would tell
	 * anybody who reads them where the kernel is.
	 */
	bool hides_kernel;
	int error; /* -ENOMEM */
};

/* What Pyroscope takes in one profile, that is, of one service; others take more. */
#define SAMPLES_MOST 16000
#define SAMPLES_BYTES ((size_t)4 << 20) /* as pprof, not compressed */

/*
 * Builds the samples of what the options choose. With options->object they are the ticks of that
 * object only, with none that are in no bin. Call samples_free() in any case.
 */
int samples_build(struct samples *samples, const struct profile *profile,
		  const struct export_options *options, struct error *err);
void samples_free(struct samples *samples);

/*
 * Makes services coarser that have more samples than `most`, or more bytes as pprof: the coldest
 * places become their function, and when that is not enough, the coldest leaves their callers, and
 * at last the coldest functions their object.
 * The sums stay the same. One that is all objects stays as large as it is. The outcome depends on
 * the samples alone. Returns 0 or -ENOMEM; call samples_free() in any case.
 */
int samples_fold(struct samples *samples, size_t most, size_t bytes);

/*
 * Makes other samples of nr of these, from the first on, with tables that have only what they refer
 * to. Services keep their numbers. Call samples_free() on the part in any case. Returns 0 or -ENOMEM.
 */
int samples_cut(struct samples *part, const struct samples *whole, size_t first, size_t nr);

/*
 * Makes other samples of the service that has this cgroup, or else of all services that have this
 * name: a Deployment's replicas on one host have one, and so have a unit's cgroups. Services keep
 * their numbers. Call samples_free() on the part in any case. Returns 0, -ENOENT or -ENOMEM.
 */
int samples_named(struct samples *part, const struct samples *whole, const char *name);

/* Writes the samples as a request of OTLP. Returns 0 or -ENOMEM; other errors show in the stream. */
int samples_write_otlp(struct samples *samples, FILE *stream);

/*
 * Writes one service as pprof, for backends that use their own labels for whose it is: its samples
 * add up to all its ticks, as in OTLP. The output is not compressed. NULL: all services, each
 * sample with the service's name and cgroup as labels. Returns 0 or -ENOMEM; other errors show in
 * the stream.
 */
int samples_write_pprof(const struct samples *samples, const struct sample_service *service,
			FILE *stream);

#endif
