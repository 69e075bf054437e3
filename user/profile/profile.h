/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_H
#define BPFPROFIL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "profile/callers.h"
#include "profile/waits.h"

/*
 * A finished profile: the engine's result, the contents of the JSON document, and the source of
 * reports and exports. It does not depend on BPF. The engine or the reader fills it in; after that
 * it does not change. The profile owns all of its pointers, and profile_free() frees them.
 *
 * In each account, total = binned + overflow + outside + filtered + every cause of lost.
 */
struct profile_lost {
	char *cause;
	uint64_t ticks;
};

/* Limits for files that anybody may have made. Causes and segments are searched one by one. */
enum {
	PROFILE_CAUSES_MAX = 256,
	PROFILE_SEGMENTS_MAX = 1170, /* as elf_check.h says, the kernel runs nothing with more */
};

struct profile_account {
	uint64_t total;
	uint64_t binned;
	uint64_t overflow;
	uint64_t outside;
	uint64_t filtered;
	struct profile_lost *lost;
	size_t nr_lost;
};

/* kind: "command", "pid", "cgroup", "system" or "call". A target's id is its index. */
struct profile_target {
	char *kind;
	char *name;
	char *cgroup; /* path in the hierarchy, for a cgroup; else NULL */
	char *host; /* NULL: the profile's only host */
	uint64_t period_ns; /* for calls and parts of a sum; 0: the profile's period */
	bool cpu_known; /* else cpu_ns is 0, as for calls, and in old files */
	uint64_t cpu_ns; /* scheduler's CPU time of its tasks while sampling */
	uint64_t excess; /* sum of n (n - 1) over samples of n ticks; 0: all are single */
	bool waits; /* in a view: its ticks are nanoseconds of waits */
	uint32_t waits_of; /* then the id of the target that waited */
	bool kernel_known; /* else kernel_ticks is 0, as for calls, and in old files */
	uint64_t kernel_ticks; /* of its ticks, those in the kernel, wherever they count */
	struct profile_account ticks;
};

/*
 * A process or cgroup of a split target, with its CPU time from the scheduler, and all of its
 * ticks, also outside of bins. With a process name and no pid, it is the sum of processes of that
 * name which ended without ticks, or found no memory.
 */
struct profile_split {
	uint32_t target;
	int64_t pid; /* -1: none, or several */
	char *process; /* last name; NULL: unknown */
	char *cgroup; /* NULL: none, or several */
	uint64_t ticks;
	uint64_t cpu_ns;
};

/* Stands for all cgroups whose ticks were excluded. */
#define PROFILE_LEFT_OUT "[left out]"

/*
 * Names of a cgroup besides its path: its container, its pod, and labels of the host, by
 * OpenTelemetry's names. A key occurs once for a host and cgroup.
 */
struct profile_label {
	char *host; /* NULL: the profile's only host */
	char *cgroup; /* NULL: for everything on the host */
	char *key;
	char *value;
};

/* An executable segment: file offset, the address in the file's program header, size in bytes. */
struct profile_text {
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

enum profile_object_kind {
	PROFILE_FILE,
	PROFILE_JIT, /* anonymous text of a process; offsets are addresses */
	PROFILE_KERNEL, /* offsets are addresses */
	PROFILE_MEMORY, /* the region of a call's buffer; offsets are addresses */
};

/* An object's id is its index. build_id is lower-case hex or NULL. */
struct profile_object {
	enum profile_object_kind kind;
	char *path;
	char *build_id;
	struct profile_text *text;
	size_t nr_text;
};

struct profile_bin {
	uint64_t index;
	uint64_t count;
};

/* Bins of a histogram that is being collected. */
struct profile_bins {
	struct profile_bin *list;
	size_t nr;
	size_t capacity;
};

/* Bin i covers [offset + i * bytes_per_bin, offset + (i + 1) * bytes_per_bin). Bins ascend. */
struct profile_histogram {
	uint32_t target;
	uint32_t object;
	int64_t pid; /* process, or thread in a split by threads; -1: none, or several */
	char *process; /* last name, or common name of several; NULL: unknown */
	char *cgroup; /* NULL: none, or several */
	uint64_t offset; /* file offset; an address for JIT text, kernel and memory */
	uint64_t size; /* bytes of text covered */
	uint32_t width; /* bytes of a counter */
	uint64_t scale; /* 131072 / bytes_per_bin, as with 16-bit counters; or a call's own */
	uint64_t bytes_per_bin;
	bool overflow; /* sprofil()'s overflow bin */
	char *stopped; /* why counting ended early, or NULL */
	char *dialect; /* of a program's own call; else NULL */
	uint64_t buffer; /* address in the program; only with a dialect */
	uint32_t region; /* number in the call; only with a dialect */
	struct profile_bin *bins;
	size_t nr_bins;
};

/*
 * A function with ticks, or with callees that have ticks. offset is in its object's offsets. The
 * hottest comes first.
 */
struct profile_function {
	uint32_t object;
	char *name;
	uint64_t offset;
	uint64_t size;
	uint64_t ticks; /* exclusive */
};

struct profile_host {
	char *kernel;
	char *arch;
	uint32_t cpus;
	char *name;
};

/* A part of the time with a constant period. since_ns counts from the profile's start. */
struct profile_segment {
	uint64_t since_ns;
	uint64_t duration_ns;
	uint64_t period_ns;
};

/* The budget and cost of sampling. budget_percent 0: no budget. */
struct profile_cost {
	double budget_percent; /* of one busy CPU */
	double percent; /* by interrupts and programs, at the last period */
	double interrupt_ns; /* per tick, as measured at the start */
	double handler_ns; /* all programs' time per tick, by the kernel's statistics */
	double fixed_percent; /* part of `percent` that does not depend on the number of ticks */
};

struct profile_sampling {
	char *source; /* "clock" or "tick" */
	char *mode; /* "charged", "user" or "split" */
	char *split; /* by "process", "thread" or "cgroup"; NULL: not split */
	char *cpus; /* sampled CPUs, like 0,2-3; NULL: all, or they differ between parts */
	char *hierarchy; /* of cgroups: "v2", or "v1:" and a controller; NULL: none */
	uint64_t period_ns;
	double requested_hz;
	double measured_hz;
	double duty_percent; /* share of ticks that count; 0: all, or it differs between parts */
	uint64_t sampled_ns; /* this share of the duration; 0: all */
	uint64_t unsampled_ns; /* before the profile, since an agent that ended; 0: none */
	uint64_t *delivered; /* ticks by CPU number; NULL: unknown */
	size_t nr_delivered;
	struct profile_segment *segments; /* if the period changed; else NULL */
	size_t nr_segments;
	struct profile_cost cost;
};

/* Whether all targets are a program's own calls. */
enum profile_kinds { KINDS_UNKNOWN, KINDS_ONLY_CALLS, KINDS_OTHERS };

struct profile {
	char *tool; /* version of the writer */
	char *started; /* RFC 3339 */
	uint64_t duration_ns;
	bool complete;
	struct profile_host host; /* of several hosts: their common values, else "" and 0 */
	struct profile_host *hosts; /* if the profile is merged from several hosts */
	size_t nr_hosts;
	char **command; /* NULL-terminated, or NULL */
	struct profile_sampling sampling;
	struct profile_account ticks;
	struct profile_target *targets;
	size_t nr_targets;
	enum profile_kinds kinds; /* see profile_note_kinds() */
	struct profile_split *splits; /* by target, pid, cgroup and process */
	size_t nr_splits;
	struct profile_label *labels;
	size_t nr_labels;
	struct profile_object *objects;
	size_t nr_objects;
	struct profile_histogram *histograms;
	size_t nr_histograms;
	struct profile_callers *callers; /* NULL: not recorded */
	struct profile_waits *waits; /* NULL: not recorded */
	struct profile_function *functions;
	size_t nr_functions;
	char **notes; /* sentences for users (coarser bins, throttling) */
	size_t nr_notes;
};

struct profile *profile_new(void); /* NULL: out of memory */
void profile_free(struct profile *profile); /* NULL is fine */

/* The sum of an account's lost causes. */
uint64_t profile_account_lost(const struct profile_account *account);

/* Whether the identity above holds, and no sum overflows. */
bool profile_account_exact(const struct profile_account *account);

/* Free the contents, but not the structure. */
void profile_account_free(struct profile_account *account);
void profile_split_free(struct profile_split *split);
void profile_object_free(struct profile_object *object);
void profile_command_free(char **command); /* frees the array too; NULL is fine */

int profile_bins_add(struct profile_bins *bins, uint64_t index, uint64_t count); /* 0 or -ENOMEM */

/* Adds all figures and causes of part to sum; -ENOMEM. */
int profile_account_add(struct profile_account *sum, const struct profile_account *part);

/* Whether the target is a program's own call of profil(), sprofil() or pcsample(). */
bool profile_target_is_call(const struct profile_target *target);

/*
 * Whether a target's ticks are included in totals. A program's own calls have their own clock:
 * beside our samples, they would count the same time twice.
 */
bool profile_target_counts(const struct profile *profile, uint32_t target);

/*
 * Notes the kinds of the targets, which do not change after that. Otherwise each
 * profile_target_counts() searches all targets.
 */
void profile_note_kinds(struct profile *profile);

#define PROFILE_ALL_TARGETS UINT64_MAX

/* Whether a target is chosen. PROFILE_ALL_TARGETS: whether it counts. */
bool profile_target_chosen(const struct profile *profile, uint64_t chosen, uint32_t target);

/*
 * CPU time from the scheduler of all targets that count. False: one of them lacks it, or there is
 * no such target.
 */
bool profile_cpu_time(const struct profile *profile, uint64_t *result);

/* Whether only some ticks count; and the share of the time that they stand for. */
bool profile_is_partly_sampled(const struct profile *profile);
uint64_t profile_sampled_ns(const struct profile *profile);

/* For qsort(): functions by heat, then by place and name. */
int profile_function_compare(const void *left, const void *right);

/* Orders histograms by target, object, process and cgroup. */
int profile_compare_texts(const struct profile_histogram *a, const struct profile_histogram *b);

/* Start of the text of a histogram's i-th bin. */
static inline uint64_t profile_bin_start(const struct profile_histogram *histogram, size_t i)
{
	return histogram->offset + histogram->bins[i].index * histogram->bytes_per_bin;
}

/* The sum of a histogram's bins. */
uint64_t profile_histogram_ticks(const struct profile_histogram *histogram);

/* Whether the profile is of all processes of one or more hosts. */
bool profile_is_of_host(const struct profile *profile);

/*
 * Whether the profile reveals the kernel's addresses, or the activity of processes that were not
 * named. Then only its owner may read a new file of it.
 */
bool profile_is_confidential(const struct profile *profile);

/* Adds a sentence for users; -ENOMEM. */
#define profile_note(profile, ...) notes_add(&(profile)->notes, &(profile)->nr_notes, __VA_ARGS__)

/*
 * Adds a label. The key must be new for the cgroup. NULL or "" as value is skipped. Returns 0 or
 * -ENOMEM.
 */
int profile_add_label(struct profile *profile, const char *cgroup, const char *key,
		      const char *value);

/* The segment with an offset, or an address; NULL: there is none. */
const struct profile_text *profile_text_at(const struct profile_text *text, size_t nr,
					   uint64_t offset);
const struct profile_text *profile_text_with(const struct profile_text *text, size_t nr,
					     uint64_t address);

/* Whether all segments end below 2^64. */
bool profile_text_fits(const struct profile_text *text, size_t nr);

/* Whether text is lower-case hexadecimal, two digits a byte. */
bool profile_is_build_id(const char *text);

/* The last component of the object's path, or the word for its kind. */
const char *profile_object_base(const struct profile_object *object);

/*
 * The name of a function that is all just-in-time code of a process, from the first tick to the
 * last, because no names of it are known. NULL: the object has no such function.
 */
const char *profile_whole_name(const struct profile_object *object);

/* The address of an offset in the object's disassembly: by its segments, or the offset itself. */
uint64_t profile_object_address(const struct profile_object *object, uint64_t offset);

/* The JSON words of enum profile_object_kind. */
extern const char *const profile_object_kinds[PROFILE_MEMORY + 1];

/* A profile's functions by place. The profile must outlive the index. */
struct profile_index;

struct profile_index *profile_index_new(const struct profile *profile); /* NULL: out of memory */
void profile_index_free(struct profile_index *index); /* NULL is fine */

/*
 * Returns the function of a bin of size bytes at offset: the one with its first byte, else the
 * first that begins in the bin; NULL: there is none.
 */
const struct profile_function *profile_index_find(const struct profile_index *index,
						  uint32_t object, uint64_t offset, uint64_t size);

/* Does the same; all bins of this size from offset to *last have this function. */
const struct profile_function *profile_index_find_up_to(const struct profile_index *index,
							uint32_t object, uint64_t offset,
							uint64_t size, uint64_t *last);

/* The function of a histogram's i-th bin. */
static inline const struct profile_function *
profile_bin_function(const struct profile_index *index, const struct profile_histogram *histogram,
		     size_t i)
{
	return profile_index_find(index, histogram->object, profile_bin_start(histogram, i),
				  histogram->bytes_per_bin);
}

#endif
