/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_PROFILE_H
#define BPFPROFIL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A finished profile: what the engine leaves, what the JSON document holds, what reports and
 * exports read. It knows nothing of BPF. The engine or the reader fills it in, then it does not
 * change. The profile owns every pointer in it; profile_free() releases all.
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
	char *cgroup; /* of a cgroup: its path in the hierarchy; else NULL */
	char *host; /* where it ran; NULL: on the profile's one host */
	uint64_t period_ns; /* of a call's own clock, or of a part of a merged profile that was
			       sampled with another period; 0: what was sampled with */
	bool cpu_known; /* else cpu_ns is 0, as of calls and of files from before it was kept */
	uint64_t cpu_ns; /* what the scheduler gave to its tasks while they were sampled */
	uint64_t excess; /* sum of n (n - 1) over samples that stand for n ticks: 0 where each is one */
	struct profile_account ticks;
};

/*
 * A process or cgroup that a target was split into: the CPU time that the scheduler gave it, and all
 * its ticks, those in no bin too. With neither pid nor cgroup it is all that had no tick.
 */
struct profile_split {
	uint32_t target;
	int64_t pid; /* -1: of no single process */
	char *process; /* its name when it was last seen; NULL: not known */
	char *cgroup; /* NULL: of no single cgroup */
	uint64_t ticks;
	uint64_t cpu_ns;
};

/* An executable segment: file offset, the address the file asks for, size in bytes. */
struct profile_text {
	uint64_t offset;
	uint64_t address;
	uint64_t size;
};

enum profile_object_kind {
	PROFILE_FILE,
	PROFILE_JIT, /* anonymous text of one process: offsets are addresses */
	PROFILE_KERNEL, /* offsets are addresses */
	PROFILE_MEMORY, /* a caller's own region: offsets are addresses */
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

/* Bins on their way into a histogram. */
struct profile_bins {
	struct profile_bin *list;
	size_t nr;
	size_t capacity;
};

/* Bin i covers [offset + i * bytes_per_bin, offset + (i + 1) * bytes_per_bin). Bins ascend. */
struct profile_histogram {
	uint32_t target;
	uint32_t object;
	int64_t pid; /* -1: of no single process */
	char *process; /* its name when it was last seen; NULL: not known */
	char *cgroup; /* NULL: of no single cgroup */
	uint64_t offset; /* file offset; an address for jit, kernel and memory */
	uint64_t size; /* bytes of text covered */
	uint32_t width; /* bytes of a counter */
	uint64_t scale; /* as in profil() with 16-bit counters: 131072 / bytes_per_bin; of a call,
			   what it was called with */
	uint64_t bytes_per_bin;
	bool overflow; /* the overflow bin of sprofil() */
	char *stopped; /* NULL, or why counting ended early */
	char *dialect; /* of a program's own call; NULL: of none */
	uint64_t buffer; /* its address there; only with a dialect */
	uint32_t region; /* its number in that call; likewise */
	struct profile_bin *bins;
	size_t nr_bins;
};

/* A function with at least one tick; offset in its object's offsets. Hottest first. */
struct profile_function {
	uint32_t object;
	char *name;
	uint64_t offset;
	uint64_t size;
	uint64_t ticks;
};

struct profile_host {
	char *kernel;
	char *arch;
	uint32_t cpus;
	char *name;
};

/* A stretch of time with one period, from the profile's start. */
struct profile_segment {
	uint64_t since_ns;
	uint64_t duration_ns;
	uint64_t period_ns;
};

/* What --budget allowed, and what sampling took of it. budget_percent 0: there was none. */
struct profile_cost {
	double budget_percent; /* of a busy CPU's time */
	double percent; /* what an interrupt and the programs took, by the last period */
	double interrupt_ns; /* as measured at the start */
	double handler_ns; /* all programs' time for each tick, by the kernel's statistics */
};

struct profile_sampling {
	char *source; /* "clock" or "tick" */
	char *mode; /* "charged", "user" or "split" */
	char *split; /* what targets were told apart by: "process", "thread", "cgroup"; NULL: not told */
	char *hierarchy; /* that cgroups were told by: "v2" or "v1:" and a controller; NULL: none */
	uint64_t period_ns;
	double requested_hz;
	double measured_hz;
	uint64_t *delivered; /* ticks of the targets by CPU number; NULL: not known */
	size_t nr_delivered;
	struct profile_segment *segments; /* where the period changed on the way; else NULL */
	size_t nr_segments;
	struct profile_cost cost;
};

struct profile {
	char *tool; /* version of the writer */
	char *started; /* RFC 3339 */
	uint64_t duration_ns;
	bool complete;
	struct profile_host host; /* of several: what they have in common, else "" and 0 */
	struct profile_host *hosts; /* of a merged profile, when there are several */
	size_t nr_hosts;
	char **command; /* NULL-terminated, or NULL */
	struct profile_sampling sampling;
	struct profile_account ticks;
	struct profile_target *targets;
	size_t nr_targets;
	struct profile_split *splits; /* by target, pid, cgroup and process */
	size_t nr_splits;
	struct profile_object *objects;
	size_t nr_objects;
	struct profile_histogram *histograms;
	size_t nr_histograms;
	struct profile_function *functions;
	size_t nr_functions;
	char **notes; /* sentences for the reader: coarser bins, throttling; JSON key "notes" */
	size_t nr_notes;
};

struct profile *profile_new(void); /* NULL: out of memory */
void profile_free(struct profile *profile); /* NULL is fine */

/* Ticks in all lost causes of an account. */
uint64_t profile_account_lost(const struct profile_account *account);

/* True when the identity above holds and no sum overflows. */
bool profile_account_exact(const struct profile_account *account);

/* What these hold, not themselves. */
void profile_account_free(struct profile_account *account);
void profile_host_free(struct profile_host *host);
void profile_target_free(struct profile_target *target);
void profile_split_free(struct profile_split *split);
void profile_object_free(struct profile_object *object);
void profile_histogram_free(struct profile_histogram *histogram);
void profile_command_free(char **command); /* itself too; NULL is fine */

int profile_bins_add(struct profile_bins *bins, uint64_t index, uint64_t count); /* or -ENOMEM */

/* Adds part to sum, each figure and each cause; -ENOMEM. */
int profile_account_add(struct profile_account *sum, const struct profile_account *part);

/* Whether it is of a program that called profil(), sprofil() or pcsample(). */
bool profile_target_is_call(const struct profile_target *target);

/*
 * Whether a target's ticks are shown with those of the others. A program's own calls have a clock of
 * their own: beside what we have sampled, their ticks would be the same time once more.
 */
bool profile_target_counts(const struct profile *profile, uint32_t target);

/*
 * What the scheduler gave to all targets that count. False: one of them does not know it, or there
 * is none.
 */
bool profile_cpu_time(const struct profile *profile, uint64_t *ret);

/* Sum of a histogram's bins. */
uint64_t profile_histogram_ticks(const struct profile_histogram *histogram);

/*
 * Whether it says where the kernel lies in memory, or what processes did that were not asked for by
 * name: a new file of it is its owner's only.
 */
bool profile_is_confidential(const struct profile *profile);

/* A sentence for the reader; -ENOMEM. */
int profile_note(struct profile *profile, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The last component of its path; the word for its kind when it has none. */
const char *profile_object_base(const struct profile_object *object);

/* What an object's own disassembly calls an offset: an address of its segments, or the offset. */
uint64_t profile_object_address(const struct profile_object *object, uint64_t offset);

/* The JSON word of a kind, and back (-1: no such word). */
const char *profile_object_kind_name(enum profile_object_kind kind);
int profile_object_kind_parse(const char *word);

#endif
