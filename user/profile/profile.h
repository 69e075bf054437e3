/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_H
#define BPFPROFIL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h"
#include "profile/callers.h"

/*
 * A finished profile: the engine's result, the contents of the JSON document, and what reports and
 * exports read. It knows nothing of BPF. The engine or the reader fills it in, and after that it
 * does not change. The profile owns every pointer in it, and profile_free() releases all of them.
 *
 * total = binned + overflow + outside + filtered + every lost cause, in each account.
 */
struct profile_lost {
	char *cause;
	uint64_t ticks;
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
	char *cgroup; /* for a cgroup: its path in the hierarchy; else NULL */
	char *host; /* where it ran; NULL: the profile's only host */
	uint64_t period_ns; /* for calls and parts of a sum; 0: the profile's period */
	bool cpu_known; /* otherwise cpu_ns is 0, as for calls and in files from older writers */
	uint64_t cpu_ns; /* CPU time that its tasks got from the scheduler while sampled */
	uint64_t excess; /* sum of n (n - 1) over samples of n ticks; 0 if each is one */
	bool kernel_known; /* otherwise kernel_ticks is 0, as for calls and in older files */
	uint64_t kernel_ticks; /* of its ticks, those in the kernel, whichever text they count for */
	struct profile_account ticks;
};

/*
 * A process or cgroup that a target was split into: the CPU time that it got from the scheduler,
 * and all its ticks, including those in no bin. With a process and no pid it is the sum of all of that
 * name that had ended without a tick, or that there was no memory to tell apart.
 */
struct profile_split {
	uint32_t target;
	int64_t pid; /* -1: not a single process */
	char *process; /* its name when last seen; NULL: unknown */
	char *cgroup; /* NULL: not a single cgroup */
	uint64_t ticks;
	uint64_t cpu_ns;
};

/* The cgroup that stands for all those whose ticks nobody wanted. */
#define PROFILE_LEFT_OUT "[left out]"

/*
 * What people call a cgroup besides its path: its container, its pod, what its host was given; by
 * OpenTelemetry's names. Each key occurs once for a host and cgroup.
 */
struct profile_label {
	char *host; /* NULL: the profile's only host */
	char *cgroup; /* NULL: for everything there */
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
	PROFILE_JIT, /* anonymous text of one process: offsets are addresses */
	PROFILE_KERNEL, /* offsets are addresses */
	PROFILE_MEMORY, /* the buffer region of a call: offsets are addresses */
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

/* Bins that are being collected for a histogram. */
struct profile_bins {
	struct profile_bin *list;
	size_t nr;
	size_t capacity;
};

/* Bin i covers [offset + i * bytes_per_bin, offset + (i + 1) * bytes_per_bin). Bins ascend. */
struct profile_histogram {
	uint32_t target;
	uint32_t object;
	int64_t pid; /* of a process, or of a thread if split by it; -1: not a single one */
	char *process; /* its name when last seen, or that of several; NULL: unknown */
	char *cgroup; /* NULL: not a single cgroup */
	uint64_t offset; /* file offset; an address for jit, kernel and memory */
	uint64_t size; /* bytes of text covered */
	uint32_t width; /* bytes of a counter */
	uint64_t scale; /* 131072 / bytes_per_bin, as with 16-bit counters; or a call's own */
	uint64_t bytes_per_bin;
	bool overflow; /* it is sprofil()'s overflow bin */
	char *stopped; /* why counting ended early, or NULL */
	char *dialect; /* for a program's own call; else NULL */
	uint64_t buffer; /* its address in the program; only with a dialect */
	uint32_t region; /* its number in that call; only with a dialect */
	struct profile_bin *bins;
	size_t nr_bins;
};

/*
 * A function with at least one tick, or, in a profile with callers, one that called such a function.
 * offset is in its object's offsets. The hottest comes first.
 */
struct profile_function {
	uint32_t object;
	char *name;
	uint64_t offset;
	uint64_t size;
	uint64_t ticks; /* that fell in it, and not in what it called */
};

struct profile_host {
	char *kernel;
	char *arch;
	uint32_t cpus;
	char *name;
};

/* A segment of time with one period; since_ns counts from the profile's start. */
struct profile_segment {
	uint64_t since_ns;
	uint64_t duration_ns;
	uint64_t period_ns;
};

/* What --budget allowed, and what sampling took. budget_percent 0: there was no budget. */
struct profile_cost {
	double budget_percent; /* of a busy CPU's time */
	double percent; /* taken by interrupts and programs, at the last period */
	double interrupt_ns; /* per tick, as measured at the start */
	double handler_ns; /* all programs' time per tick, by the kernel's statistics */
	double fixed_percent; /* of `percent`, what is taken however many ticks there are */
};

struct profile_sampling {
	char *source; /* "clock" or "tick" */
	char *mode; /* "charged", "user" or "split" */
	char *split; /* targets are split by "process", "thread" or "cgroup"; NULL: not split */
	char *cpus; /* the only ones sampled, as a list like 0,2-3; NULL: all, or parts differ */
	char *hierarchy; /* of the cgroups: "v2", or "v1:" and a controller; NULL: none */
	uint64_t period_ns;
	double requested_hz;
	double measured_hz;
	double duty_percent; /* how many of the ticks count; 0: all, or parts differ */
	uint64_t sampled_ns; /* that share of the duration; 0: all */
	uint64_t unsampled_ns; /* before it, since the last profile of an agent that ended; 0: none */
	uint64_t *delivered; /* ticks of the targets by CPU number; NULL: unknown */
	size_t nr_delivered;
	struct profile_segment *segments; /* if the period changed during the run; else NULL */
	size_t nr_segments;
	struct profile_cost cost;
};

struct profile {
	char *tool; /* version of the writer */
	char *started; /* RFC 3339 */
	uint64_t duration_ns;
	bool complete;
	struct profile_host host; /* for several hosts: what they have in common, else "" and 0 */
	struct profile_host *hosts; /* for a merged profile of several hosts */
	size_t nr_hosts;
	char **command; /* NULL-terminated, or NULL */
	struct profile_sampling sampling;
	struct profile_account ticks;
	struct profile_target *targets;
	size_t nr_targets;
	struct profile_split *splits; /* by target, pid, cgroup and process */
	size_t nr_splits;
	struct profile_label *labels;
	size_t nr_labels;
	struct profile_object *objects;
	size_t nr_objects;
	struct profile_histogram *histograms;
	size_t nr_histograms;
	struct profile_callers *callers; /* NULL: nobody asked for them */
	struct profile_function *functions;
	size_t nr_functions;
	char **notes; /* sentences for the reader (coarser bins, throttling); JSON key "notes" */
	size_t nr_notes;
};

struct profile *profile_new(void); /* NULL: out of memory */
void profile_free(struct profile *profile); /* NULL is fine */

/* The sum of an account's lost causes. */
uint64_t profile_account_lost(const struct profile_account *account);

/* Whether the identity above holds and no sum overflows. */
bool profile_account_exact(const struct profile_account *account);

/* Free what these hold, but not the structures themselves. */
void profile_account_free(struct profile_account *account);
void profile_host_free(struct profile_host *host);
void profile_target_free(struct profile_target *target);
void profile_split_free(struct profile_split *split);
void profile_label_free(struct profile_label *label);
void profile_object_free(struct profile_object *object);
void profile_histogram_free(struct profile_histogram *histogram);
void profile_command_free(char **command); /* frees the array too; NULL is fine */

int profile_bins_add(struct profile_bins *bins, uint64_t index, uint64_t count); /* 0 or -ENOMEM */

/* Adds every figure and every cause of part to sum; -ENOMEM. */
int profile_account_add(struct profile_account *sum, const struct profile_account *part);

/* Whether the target is a program's own call of profil(), sprofil() or pcsample(). */
bool profile_target_is_call(const struct profile_target *target);

/*
 * Whether a target's ticks are shown together with those of the others. A program's own calls have
 * a clock of their own, so beside what we sampled their ticks would count the same time again.
 */
bool profile_target_counts(const struct profile *profile, uint32_t target);

#define PROFILE_ALL_TARGETS UINT64_MAX

/* Whether a target is the chosen one; of PROFILE_ALL_TARGETS, whether it counts. */
bool profile_target_chosen(const struct profile *profile, uint64_t chosen, uint32_t target);

/*
 * The CPU time that the scheduler gave to all targets that count. False: one of them does not know
 * it, or there is no such target.
 */
bool profile_cpu_time(const struct profile *profile, uint64_t *result);

/* Whether not all of the ticks count, and what share of the time those are that do. */
bool profile_is_partly_sampled(const struct profile *profile);
uint64_t profile_sampled_ns(const struct profile *profile);

/* For qsort(): functions by heat; those that are as hot by place and name. */
int profile_function_compare(const void *left, const void *right);

/* Orders histograms by whose text they have: by target, object, process and cgroup. */
int profile_compare_texts(const struct profile_histogram *a, const struct profile_histogram *b);

/* Where the text of a histogram's i-th bin begins. */
static inline uint64_t profile_bin_start(const struct profile_histogram *histogram, size_t i)
{
	return histogram->offset + histogram->bins[i].index * histogram->bytes_per_bin;
}

/* The sum of a histogram's bins. */
uint64_t profile_histogram_ticks(const struct profile_histogram *histogram);

/* Whether it is of all processes of a host, or of several. */
bool profile_is_of_host(const struct profile *profile);

/*
 * Whether it tells where the kernel is in memory, or what processes did that were not asked for by
 * name. Then only its owner may read a new file of it.
 */
bool profile_is_confidential(const struct profile *profile);

/* Adds a sentence for the reader; -ENOMEM. */
#define profile_note(profile, ...) notes_add(&(profile)->notes, &(profile)->nr_notes, __VA_ARGS__)

/*
 * Adds a key, which must be new for the cgroup; one whose value is NULL or "" is skipped. Returns 0
 * or -ENOMEM.
 */
int profile_add_label(struct profile *profile, const char *cgroup, const char *key,
		      const char *value);

/* The last component of its path, or the word for its kind if it has no path. */
const char *profile_object_base(const struct profile_object *object);

/*
 * What the object's own disassembly shows for an offset: an address of its segments, or the offset.
 */
uint64_t profile_object_address(const struct profile_object *object, uint64_t offset);

/* The JSON word of a kind, and the inverse (-1: no such word). */
const char *profile_object_kind_name(enum profile_object_kind kind);
int profile_object_kind_parse(const char *word);

/* A profile's functions by place. The profile must outlive the index. */
struct profile_index;

struct profile_index *profile_index_new(const struct profile *profile); /* NULL: out of memory */
void profile_index_free(struct profile_index *index); /* NULL is fine */

/*
 * The function that a bin of size bytes at offset belongs to: the one that contains its first byte,
 * else the first one that begins in the bin; NULL: there is none.
 */
const struct profile_function *profile_index_find(const struct profile_index *index,
						  uint32_t object, uint64_t offset, uint64_t size);

/* The same. All bins of this size from offset to *last have it. */
const struct profile_function *profile_index_find_up_to(const struct profile_index *index,
							uint32_t object, uint64_t offset,
							uint64_t size, uint64_t *last);

/* The function that has the ticks of a histogram's i-th bin. */
static inline const struct profile_function *
profile_bin_function(const struct profile_index *index, const struct profile_histogram *histogram,
		     size_t i)
{
	return profile_index_find(index, histogram->object, profile_bin_start(histogram, i),
				  histogram->bytes_per_bin);
}

#endif
