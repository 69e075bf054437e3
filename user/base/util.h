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
 * counts elements. New elements are not initialised. After a failure nothing has changed: -ENOMEM,
 * or -EOVERFLOW if the size overflows.
 */
int grow(void **array, size_t *capacity, size_t need, size_t size);

/* The same with the size of the array's elements. list and capacity are variables or members. */
#define GROW(list, capacity, need)                                                                 \
	({                                                                                         \
		void *grow_array = (list);                                                         \
		int grow_ret = grow(&grow_array, &(capacity), (need), sizeof(*(list)));            \
		(list) = grow_array;                                                               \
		grow_ret;                                                                          \
	})

/* Appends an element, after making room with GROW(), whose result it has. */
#define PUSH(list, capacity, nr, ...)                                                              \
	({                                                                                         \
		int push_ret = GROW(list, capacity, (nr) + 1);                                     \
		if (!push_ret)                                                                     \
			(list)[(nr)++] = __VA_ARGS__;                                              \
		push_ret;                                                                          \
	})

/* A sum that overflows stays at the maximum. */
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
 * Parse numbers from the command line. The whole text must be the number, without sign, blanks or
 * suffix. Return 0, -EINVAL (malformed) or -ERANGE (too large), and leave *result unchanged on
 * failure. They do not depend on the locale.
 */
int parse_u64(const char *text, uint64_t *result); /* decimal, or hexadecimal after 0x */
int parse_double(const char *text, double *result); /* decimal, may have an exponent; finite */
int parse_size(const char *text, uint64_t *result); /* bytes; K, M, G, T are powers of 1024 */
int parse_duration(const char *text, uint64_t *result); /* ns; units ns us ms s m h, default s */

/* Appends a formatted sentence to a list. Returns 0 or -ENOMEM. */
int notes_add(char ***notes, size_t *nr, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Frees the elements of a list, which are pointers, and the list. */
void free_all(void *list, size_t nr);

/* The value of a hexadecimal digit; -1: it is not one. */
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

/* Like asprintf(), but NULL: out of memory. The caller frees the result. */
char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sorts an array, which may be NULL if it has no elements. */
#define SORT(list, nr, compare)                                                                    \
	do {                                                                                       \
		if (nr)                                                                            \
			qsort((list), (nr), sizeof(*(list)), (compare));                           \
	} while (0)

/*
 * Sorts an array and combines elements that compare as equal: add() adds each further one to the
 * first; NULL: they are dropped. Returns how many are left.
 */
#define COMBINE(list, nr, compare, add)                                                            \
	combine_equal((list), (nr), sizeof(*(list)), (compare), (add))
size_t combine_equal(void *list, size_t nr, size_t size,
		     int (*compare)(const void *left, const void *right),
		     void (*add)(void *sum, const void *element));

/* For qsort(). NULL sorts before any text. */
static inline int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static inline int compare_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static inline int compare_double(double a, double b)
{
	return (a > b) - (a < b);
}

int compare_text(const char *a, const char *b);

/*
 * Define such a function, which compares elements a and b as an expression says, by one member, or
 * by two.
 */
#define DEFINE_COMPARE_AS(name, type, order)                                                       \
	static int name(const void *left, const void *right)                                       \
	{                                                                                          \
		const type *a = left, *b = right;                                                  \
                                                                                                   \
		return order;                                                                      \
	}
#define DEFINE_COMPARE(name, type, member)                                                         \
	DEFINE_COMPARE_AS(name, type, compare_u64(a->member, b->member))
#define DEFINE_COMPARE_2(name, type, first, second)                                                \
	DEFINE_COMPARE_AS(name, type,                                                              \
			  compare_u64(a->first, b->first) ?: compare_u64(a->second, b->second))

/*
 * The number of elements in a sorted list before a place: the index of the first element for which
 * a condition on its index is false, or nr. For example BISECT(i, nr, list[i].start <= address).
 * For equality, use bsearch().
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

/* Returns a descriptor of a process, because the pid may be reused; -1 and errno on failure. */
int process_fd(pid_t pid);

/* Also returns 1 if all threads have ended and the process waits to be reaped; -errno: unknown. */
int process_has_ended(int pid_fd);

/*
 * Reads the first line of a small file, such as those in sysfs, without its newline. Returns 0 or a
 * negative errno.
 */
int read_first_line(const char *path, char *line, size_t size);

/* Reads a range of a file. Returns the bytes read, fewer only at the end, or a negative errno. */
ssize_t read_range(int fd, void *to, size_t size, uint64_t offset);

/*
 * Writes all bytes, however many a write accepts, and again after a signal. Returns 0 or a negative
 * errno.
 */
int write_fully(int fd, const void *bytes, size_t size);

/* The path in /proc to open, link or watch a descriptor's file. Returns ret. */
#define FD_PATH 32
const char *fd_path(int fd, char ret[FD_PATH]);

/*
 * The number of our namespace of a kind, such as "pid"; 0: it is the host's, or unknown. The host's
 * number is fixed in all kernels (PROC_PID_INIT_INO and the like).
 */
enum { HOST_CGROUPS = 0xeffffffb, HOST_PIDS = 0xeffffffc, HOST_USERS = 0xeffffffd };
uint32_t own_namespace(const char *kind, uint32_t host);

/* Reads the next range of uids for a user's namespaces, see subuid(5); false: there is none. */
#define SUBORDINATES_FILE "/etc/subuid"
bool subordinates_next(FILE *file, uint32_t *first, uint32_t *nr);

/* For root: the user who ran sudo. False: nobody did. */
bool sudo_caller(uid_t *user, gid_t *group);

/* Whether this thread has a capability now; CAP_... of linux/capability.h. */
bool may_do(unsigned int capability);

/* Capabilities as bits: those that this thread may have. */
#define RIGHT(capability) (UINT64_C(1) << (capability))
uint64_t permitted_rights(void);

/*
 * Gives up all capabilities except these for good, of this thread, of threads that it starts later,
 * and of programs that they start. Returns 0 or -errno.
 */
int keep_rights(uint64_t few);

/* Whether that user's files are ours: we are that user, or that user ran us by sudo. */
bool is_our_user(uid_t user);

#define SECOND_NS INT64_C(1000000000)

/* The time of the monotonic clock, which nobody can set. */
uint64_t monotonic_ns(void);

struct timespec timespec_of(uint64_t ns);

/* Initialises a condition whose timed waits use the monotonic clock. */
void cond_init_monotonic(pthread_cond_t *cond);

uint64_t thread_cpu_ns(void);

/* A random time below most_ns, so that hosts do not act at the same moment. */
uint64_t chance_below(uint64_t most_ns);

/*
 * FNV-1a. It separates texts, unless somebody chose them to collide. Start with HASH_BEGIN;
 * continue with the previous result.
 */
#define HASH_BEGIN UINT64_C(0xcbf29ce484222325)
uint64_t hash_bytes(uint64_t before, const void *bytes, size_t size);

/* The length of the UTF-8 sequence at the start of text; 0 if it is not valid UTF-8. */
size_t utf8_sequence(const char *text, size_t length);

/* Stands for a byte that is not UTF-8. */
#define UTF8_REPLACEMENT "\xef\xbf\xbd"

/* Copies text with each byte that is not UTF-8 replaced, as JSON writes it. NULL: out of memory. */
char *utf8_copy(const char *text);

/* The code point of a sequence of that length. */
uint32_t utf8_code_point(const char *text, size_t length);

/*
 * Whether this sequence must not be printed from other people's text: C0, DEL and C1, which
 * terminals may obey, line ends, characters that change the direction of text, and invisible ones.
 */
bool utf8_is_control(const char *text, size_t length);

/*
 * Raises the limit of open files to at least this number, as far as we may; 0: as far as possible.
 */
void raise_file_limit(uint64_t wanted);

/* Descriptors for short use: this many, or a quarter of the limit. */
#define FDS_RESERVED 128

/*
 * Whether a descriptor that other people's actions made us open may stay open. If not, close it at
 * once, so that our own work never lacks descriptors.
 */
bool fd_may_stay(int fd);
uint32_t fd_most_that_stay(void); /* limit for these numbers */

/* Closes *fd unless it is -1, and sets it to -1. */
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

/* Locks a mutex until the end of the scope. */
#define LOCK_SCOPE(mutex)                                                                          \
	__attribute__((cleanup(cleanup_unlock))) pthread_mutex_t *const locked = (mutex);          \
	pthread_mutex_lock(locked)
void cleanup_unlock(pthread_mutex_t *const *mutex);

#endif
