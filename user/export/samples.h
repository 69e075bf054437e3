/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_SAMPLES_H
#define BPFPROFIL_SAMPLES_H

#include "export/export.h"
#include "export/texts.h"
#include "profile/profile_chains.h"

/*
 * The common form for all backends that collect profiles of many hosts: services, and their
 * samples. The samples add up to all ticks. Ticks outside of bins have samples too, named "[lost:
 * exit]" and the like. Index 0 of every table is the empty entry.
 */

enum place_kind {
	PLACE_NONE, /* ticks outside of bins */
	PLACE_USER,
	PLACE_KERNEL,
};

struct sample_function {
	uint32_t name; /* number in texts */
	uint32_t file;
};

struct sample_line {
	uint32_t function;
	uint32_t line; /* 0: unknown */
};

/* A segment of an object's text, or all of its text with ticks. */
struct sample_mapping {
	uint32_t file; /* number in texts */
	uint32_t build_id; /* number in values */
	struct profile_text text;
	uint32_t object; /* one of its objects; equal files share a mapping */
};

struct sample_place {
	uint32_t mapping;
	enum place_kind kind;
	uint64_t address;
	const struct profile_function *function; /* owned by the profile; NULL: unknown */
	uint64_t start; /* start of its function; of its mapping, if the function is unknown */
	size_t first; /* its lines, innermost first */
	size_t nr;
	bool nameless; /* neither symbols nor DWARF name its function */
};

/* The process, if ticks were split by process; else the program at the start of the chain. */
struct sample_process {
	uint32_t pid; /* number in values */
	uint32_t name;
};

struct sample {
	uint32_t service;
	uint32_t place;
	uint32_t process;
	uint32_t callers; /* a context of samples->callers; 0: unknown */
	uint64_t ticks;
	uint64_t ns; /* CPU time */
	uint64_t waits; /* their number; of these, ticks and ns are their time */
};

/* A source for backends: a target, or one cgroup of a target. */
struct sample_service {
	uint32_t target;
	const char *cgroup; /* owned by the profile; NULL: none */
	size_t first; /* index of its samples, which are consecutive */
	size_t nr;
};

struct samples {
	const struct profile *profile; /* of waits, a view with their targets */
	struct waits_view *view; /* owns that; NULL: it is the profile of the caller */
	const struct profile_label **labels; /* the profile's, sorted by cgroup */
	struct texts texts; /* names of functions and files */
	struct texts values; /* all other texts */
	struct sample_function *functions;
	size_t nr_functions, functions_room;
	struct hash_index functions_index;
	struct sample_line *lines;
	size_t nr_lines, lines_room;
	struct sample_mapping *mappings;
	size_t nr_mappings, mappings_room;
	struct hash_index mappings_index;
	struct sample_place *places;
	size_t nr_places, places_room;
	struct hash_index places_index;
	struct sample_process *processes;
	size_t nr_processes, processes_room;
	struct hash_index processes_index;
	struct sample_service *services;
	size_t nr_services, services_room;
	struct hash_index services_index;
	struct sample *all; /* sorted by service; without duplicates */
	size_t nr, room;
	struct chain_tree callers; /* frames are numbers of places */
	uint32_t piece; /* number of this piece of its only service */
	uint32_t pieces; /* number of pieces; 0: services are whole */
	/*
	 * As in pprof, places in the kernel have numbers instead of addresses, which would reveal
	 * where the kernel is.
	 */
	bool hides_kernel;
	bool exact_places; /* places with one address only are equal */
	int error; /* -ENOMEM */
};

/* Pyroscope's limit for a profile, which is one service. Others accept more. */
#define SAMPLES_MOST 16000
#define SAMPLES_BYTES ((size_t)4 << 20) /* as pprof, not compressed */

/* The values of a service: ticks and CPU time, or the time and number of waits. */
enum sample_value { SAMPLE_TICKS, SAMPLE_CPU, SAMPLE_OFF_CPU, SAMPLE_WAITS, SAMPLE_VALUES };

struct sample_value_name {
	const char *type, *unit;
};

extern const struct sample_value_name sample_value_names[SAMPLE_VALUES];

/* The first of the two values of a service. */
enum sample_value samples_first_value(const struct samples *samples,
				      const struct sample_service *service);

/* A sample's number for such a value. */
uint64_t sample_number(const struct sample *sample, enum sample_value value);

/*
 * Builds the samples that the options choose. With options->object, only that object's ticks,
 * without ticks outside of bins. Call samples_free() in any case.
 */
int samples_build(struct samples *samples, const struct profile *profile,
		  const struct export_options *options, struct error *err);
void samples_free(struct samples *samples);

/*
 * Reduces services with more samples than `most`, or more bytes as pprof. First the coldest places
 * become their function, then the coldest leaves become their callers, and at last the coldest
 * functions become their object. Sums stay the same. A service of objects only is not reduced
 * further. The result only depends on the samples. Returns 0 or -ENOMEM; call samples_free() in any
 * case.
 */
int samples_fold(struct samples *samples, size_t most, size_t bytes);

/*
 * Copies nr samples, from the first on, with the parts of the tables that they use. Services keep
 * their numbers. Call samples_free() on the part in any case. Returns 0 or -ENOMEM.
 */
int samples_cut(struct samples *part, const struct samples *whole, size_t first, size_t nr);

/*
 * Copies the samples of the service with this cgroup, or else of all services with this name:
 * replicas of a Deployment on one host share a name, and so do a unit's cgroups. Services keep
 * their numbers. Call samples_free() on the part in any case. Returns 0, -ENOENT or -ENOMEM.
 */
int samples_named(struct samples *part, const struct samples *whole, const char *name);

/* Writes the samples as an OTLP request. Returns 0 or -ENOMEM; the stream has other errors. */
int samples_write_otlp(struct samples *samples, FILE *stream);

/*
 * Writes one service as pprof, for backends that identify it by labels. Its samples add up to all
 * of its ticks, as in OTLP. The output is not compressed. NULL: all services, each sample with the
 * service's name and cgroup as labels. Returns 0 or -ENOMEM; the stream has other errors.
 */
int samples_write_pprof(const struct samples *samples, const struct sample_service *service,
			FILE *stream);

#endif
