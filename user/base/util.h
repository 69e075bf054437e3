/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_UTIL_H
#define BPFPROFIL_UTIL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

/*
 * Makes room for `need` elements of `size` bytes in *array, and at least doubles *capacity, which
 * counts elements. New elements are not initialised. On failure nothing has changed: -ENOMEM, or
 * -EOVERFLOW if the bytes do not fit a size_t.
 */
int grow(void **array, size_t *capacity, size_t need, size_t size);

/* The same for an array by its elements' type; list and capacity are variables, or members of one. */
#define GROW(list, capacity, need)                                                                 \
	({                                                                                         \
		void *grow_array = (list);                                                         \
		int grow_ret = grow(&grow_array, &(capacity), (need), sizeof(*(list)));            \
		(list) = grow_array;                                                               \
		grow_ret;                                                                          \
	})

/* A sum that would overflow stays at the maximum, where no account can be exact. */
static inline uint64_t add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

/*
 * Parse numbers as a user types them. The whole text must be the number: no sign, no blank, nothing
 * behind it. Return 0, -EINVAL (not such a number) or -ERANGE (too large), and leave *result
 * untouched on failure. None depends on the locale.
 */
int parse_u64(const char *text, uint64_t *result); /* decimal, or hexadecimal after 0x */
int parse_double(const char *text, double *result); /* decimal, may have an exponent; finite */
int parse_size(const char *text, uint64_t *result); /* bytes; K, M, G, T are powers of 1024 */
int parse_duration(const char *text, uint64_t *result); /* ns; units ns us ms s m h, default s */

/* Adds a formatted sentence to a list, and counts it. Returns 0 or -ENOMEM. */
int notes_add(char ***notes, size_t *nr, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The value of a hexadecimal digit; -1: it is none. */
static inline int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Sorts an array, which may be NULL if it has no elements. */
#define SORT(list, nr, compare)                                                                    \
	do {                                                                                       \
		if (nr)                                                                            \
			qsort((list), (nr), sizeof(*(list)), (compare));                           \
	} while (0)

/* For qsort(): which of two comes first. A NULL text comes before any other. */
static inline int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int compare_text(const char *a, const char *b);

/*
 * How many elements of a sorted list come before a place: nr, or the index of the first for which a
 * condition on its index no longer holds, as BISECT(i, nr, list[i].start <= address). Where elements
 * are found by what is equal to them, bsearch() does it.
 */
#define BISECT(index, nr, holds)                                                                   \
	({                                                                                         \
		size_t bisect_low = 0, bisect_high = (nr);                                         \
		while (bisect_low < bisect_high) {                                                 \
			const size_t index = bisect_low + (bisect_high - bisect_low) / 2;          \
			if (holds)                                                                 \
				bisect_low = index + 1;                                            \
			else                                                                       \
				bisect_high = index;                                               \
		}                                                                                  \
		bisect_low;                                                                        \
	})

/*
 * Returns a descriptor of a process, because its pid may be reused later; -1 and errno on failure.
 */
int process_fd(pid_t pid);

/* 1 too for a process whose threads have all ended and that waits to be reaped; -errno: unknown. */
int process_has_ended(int pid_fd);

/*
 * Reads the first line of a small file, such as those in sysfs, without its newline. Returns 0 or a
 * negative errno.
 */
int read_first_line(const char *path, char *line, size_t size);

/* Reads that much of a file. Returns how much there was, which is less at its end only, or a negative errno. */
ssize_t read_range(int fd, void *to, size_t size, uint64_t offset);

/* The path in /proc by which a descriptor's file is opened, linked or watched. Returns ret. */
#define FD_PATH 32
const char *fd_path(int fd, char ret[FD_PATH]);

/*
 * The number of our namespace of a kind, as "pid"; 0: it is the host's, which has a fixed number on all
 * kernels (PROC_PID_INIT_INO and the like), or unknown.
 */
enum { HOST_CGROUPS = 0xeffffffb, HOST_PIDS = 0xeffffffc, HOST_USERS = 0xeffffffd };
uint32_t own_namespace(const char *kind, uint32_t host);

/* Root only: who started us through sudo. False: nobody did. */
bool sudo_caller(uid_t *user, gid_t *group);

/* Whether this thread has a capability now; CAP_... of linux/capability.h. */
bool may_do(unsigned int capability);

/* Whether files of that user are ours: we are that user, or were started by them through sudo. */
bool is_our_user(uid_t user);

#define SECOND_NS INT64_C(1000000000)

/* The time of the monotonic clock, which nobody can set. */
uint64_t monotonic_ns(void);

struct timespec timespec_of(uint64_t ns);

/* A condition whose timed waits end by the monotonic clock. */
void cond_init_monotonic(pthread_cond_t *cond);

/* The CPU time of this thread. */
uint64_t thread_cpu_ns(void);

/* A random time below most_ns, so that hosts do not all do the same thing at the same moment. */
uint64_t chance_below(uint64_t most_ns);

/*
 * FNV-1a, which tells texts apart that nobody chose to have one hash. It begins with HASH_BEGIN and goes on
 * with what the call before returned.
 */
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)
uint64_t hash_bytes(uint64_t before, const void *bytes, size_t size);

/* The length of the UTF-8 sequence at the start of text; 0 if it is not valid UTF-8. */
size_t utf8_sequence(const char *text, size_t length);

/* The code point of a sequence of that length. */
uint32_t utf8_code_point(const char *text, size_t length);

/*
 * Whether that sequence must not be printed from others' text: C0, DEL and C1, which a terminal may
 * obey, line ends, characters that change the direction of text, and invisible ones.
 */
bool utf8_is_control(const char *text, size_t length);

/* Whether a spreadsheet would take a cell with this text for a formula. */
bool csv_is_formula(const char *text);

/*
 * Raises the limit of open files to at least that number, if we may, else as far as we may; 0: as
 * far as anybody may.
 */
void raise_file_limit(uint64_t wanted);

/* So many descriptors, or a quarter of the limit, are for what is opened and closed again. */
#define FDS_RESERVED 128

/*
 * Whether a descriptor that others' deeds made us open may be kept open. One that may not is closed at
 * once, so that what we do ourselves never lacks one.
 */
bool fd_may_stay(int fd);
uint32_t fd_most_that_stay(void); /* all below this number */

/* Closes *fd unless it is -1, which it is afterwards. */
void close_fd(int *fd);

void cleanup_fd_close(const int *fd);
void cleanup_file_close(FILE **file);
void cleanup_free_pointer(void *pointer);

/*
 * For variables that own a resource until the end of their scope. An fd of -1 and a NULL pointer
 * own nothing. errno is kept.
 */
#define cleanup_fd __attribute__((cleanup(cleanup_fd_close)))
#define cleanup_file __attribute__((cleanup(cleanup_file_close)))
#define cleanup_free __attribute__((cleanup(cleanup_free_pointer)))

#endif
