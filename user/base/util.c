// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/util.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct suffix {
	const char *name;
	uint64_t factor;
};

static const struct suffix size_units[] = {
	{ "", 1 },	     { "K", 1ULL << 10 }, { "k", 1ULL << 10 }, { "M", 1ULL << 20 },
	{ "m", 1ULL << 20 }, { "G", 1ULL << 30 }, { "g", 1ULL << 30 }, { "T", 1ULL << 40 },
	{ "t", 1ULL << 40 }, { NULL, 0 },
};

static const struct suffix duration_units[] = {
	{ "", SECOND_NS },	   { "ns", 1 },	       { "us", 1000 },
	{ "ms", 1000000 },	   { "s", SECOND_NS }, { "m", 60 * SECOND_NS },
	{ "h", 3600 * SECOND_NS }, { NULL, 0 },
};

int grow(void **array, size_t *capacity, size_t need, size_t size)
{
	size_t wanted = *capacity < 8 ? 8 : *capacity;
	size_t bytes;
	void *old;
	void *new;

	if (need <= *capacity)
		return 0;
	while (wanted < need)
		wanted = wanted > SIZE_MAX / 2 ? need : wanted * 2;
	if (__builtin_mul_overflow(wanted, size, &bytes))
		return -EOVERFLOW;
	/*
	 * The caller's pointer is not a void *. Therefore copy it instead of dereferencing it as
	 * one.
	 */
	memcpy(&old, array, sizeof(old));
	new = realloc(old, bytes);
	if (!new)
		return -ENOMEM;
	memcpy(array, &new, sizeof(new));
	*capacity = wanted;
	return 0;
}

size_t combine_equal(void *list, size_t nr, size_t size,
		     int (*compare)(const void *left, const void *right),
		     void (*add)(void *sum, const void *element))
{
	char *kept = list, *at = list;
	size_t i, left = nr != 0;

	if (nr)
		qsort(list, nr, size, compare);
	for (i = 1; i < nr; i++) {
		at += size;
		if (compare(kept, at)) {
			kept += size;
			memmove(kept, at, size);
			left++;
		} else if (add) {
			add(kept, at);
		}
	}
	return left;
}

int notes_add(char ***notes, size_t *nr, const char *format, ...)
{
	char **grown = reallocarray(*notes, *nr + 1, sizeof(*grown));
	va_list args;
	int length;

	if (!grown)
		return -ENOMEM;
	*notes = grown;
	va_start(args, format);
	length = vasprintf(&grown[*nr], format, args);
	va_end(args);
	if (length < 0)
		return -ENOMEM;
	++*nr;
	return 0;
}

void free_all(void *list, size_t nr)
{
	void **pointers = list;

	while (nr)
		free(pointers[--nr]);
	free(list);
}

char *format_text(const char *format, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	return length < 0 ? NULL : text;
}

/* Reads digits at *text, and moves *text after them. */
static int scan_digits(const char **text, unsigned int base, uint64_t *result)
{
	const char *p = *text;
	uint64_t value = 0;

	if ((unsigned int)hex_value(*p) >= base)
		return -EINVAL;
	for (; (unsigned int)hex_value(*p) < base; p++) {
		if (__builtin_mul_overflow(value, base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)hex_value(*p), &value))
			return -ERANGE;
	}
	*text = p;
	*result = value;
	return 0;
}

int parse_u64(const char *text, uint64_t *result)
{
	unsigned int base = 10;
	uint64_t value;
	int ret;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	ret = scan_digits(&text, base, &value);
	if (ret)
		return ret;
	if (*text)
		return -EINVAL;
	*result = value;
	return 0;
}

static size_t skip_digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* strtod() also accepts blanks, signs, hexadecimal numbers, inf and nan, which are not rates. */
static bool is_decimal(const char *text)
{
	size_t whole = skip_digits(text);
	size_t fraction = 0;
	size_t exponent;

	text += whole;
	if (*text == '.') {
		fraction = skip_digits(++text);
		text += fraction;
	}
	if (!whole && !fraction)
		return false;
	if (*text == 'e' || *text == 'E') {
		text++;
		if (*text == '+' || *text == '-')
			text++;
		exponent = skip_digits(text);
		if (!exponent)
			return false;
		text += exponent;
	}
	return !*text;
}

int parse_double(const char *text, double *result)
{
	locale_t c_locale;
	double value;

	if (!is_decimal(text))
		return -EINVAL;
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!c_locale)
		return -ENOMEM;
	value = strtod_l(text, NULL, c_locale);
	freelocale(c_locale);
	if (!isfinite(value))
		return -ERANGE;
	*result = value;
	return 0;
}

static uint64_t find_unit(const struct suffix *units, const char *name)
{
	while (units->name && strcmp(units->name, name) != 0)
		units++;
	return units->factor;
}

int parse_size(const char *text, uint64_t *result)
{
	uint64_t value;
	uint64_t factor;
	int ret = scan_digits(&text, 10, &value);

	if (ret)
		return ret;
	factor = find_unit(size_units, text);
	if (!factor)
		return -EINVAL;
	if (__builtin_mul_overflow(value, factor, &value))
		return -ERANGE;
	*result = value;
	return 0;
}

/* Reads digits after a decimal point as billionths. Digits after the ninth are below 1 ns. */
static int scan_fraction(const char **text, uint64_t *result)
{
	uint64_t billionths = 0;
	size_t digits = skip_digits(*text);
	size_t i;

	if (!digits)
		return -EINVAL;
	for (i = 0; i < 9; i++)
		billionths = billionths * 10 + (i < digits ? (uint64_t)((*text)[i] - '0') : 0);
	*text += digits;
	*result = billionths;
	return 0;
}

int parse_duration(const char *text, uint64_t *result)
{
	uint64_t fraction = 0;
	uint64_t whole;
	uint64_t factor;
	int ret = scan_digits(&text, 10, &whole);

	if (!ret && *text == '.') {
		text++;
		ret = scan_fraction(&text, &fraction);
	}
	if (ret)
		return ret;
	factor = find_unit(duration_units, text);
	if (!factor)
		return -EINVAL;
	fraction = (uint64_t)((unsigned __int128)fraction * factor / SECOND_NS);
	if (__builtin_mul_overflow(whole, factor, &whole) ||
	    __builtin_add_overflow(whole, fraction, &whole))
		return -ERANGE;
	*result = whole;
	return 0;
}

uint64_t hash_bytes(uint64_t before, const void *bytes, size_t size)
{
	const unsigned char *at = bytes, *end = at + size;

	while (at < end)
		before = (before ^ *at++) * UINT64_C(0x100000001b3);
	return before;
}

/* The first byte determines the length and the range of the second, as in Unicode's table 3-7. */
size_t utf8_sequence(const char *text, size_t length)
{
	const unsigned char *p = (const unsigned char *)text;
	unsigned char low = 0x80;
	unsigned char high = 0xbf;
	size_t need;
	size_t i;

	if (!length)
		return 0;
	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	need = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f; /* surrogates */
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (length < need || p[1] < low || p[1] > high)
		return 0;
	for (i = 2; i < need; i++)
		if (p[i] < 0x80 || p[i] > 0xbf)
			return 0;
	return need;
}

/* Returns the size of the copy; to may be NULL. */
static size_t replace_bytes(const char *text, char *to)
{
	size_t size = 0, len, put;

	for (; *text; text += len ? len : 1, size += put) {
		len = utf8_sequence(text, strnlen(text, 4));
		put = len ? len : strlen(UTF8_REPLACEMENT);
		if (to)
			memcpy(to + size, len ? text : UTF8_REPLACEMENT, put);
	}
	return size;
}

char *utf8_copy(const char *text)
{
	char *copy = calloc(1, replace_bytes(text, NULL) + 1);

	if (copy)
		replace_bytes(text, copy);
	return copy;
}

uint32_t utf8_code_point(const char *text, size_t length)
{
	static const unsigned char lead[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t code = (unsigned char)text[0] & lead[length];
	size_t i;

	for (i = 1; i < length; i++)
		code = code << 6 | ((unsigned char)text[i] & 0x3f);
	return code;
}

bool utf8_is_control(const char *text, size_t length)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0, 0x1f },	      { 0x7f, 0x9f }, /* controls: C0, DEL, C1 */
		{ 0xad, 0xad }, /* soft hyphen */
		{ 0x61c, 0x61c },     { 0x200b, 0x200f }, /* direction marks and zero-width ones */
		{ 0x2028, 0x202e }, /* line and paragraph separators, embeddings */
		{ 0x2060, 0x206f }, /* joiners, isolates */
		{ 0xfeff, 0xfeff },   { 0xfff9, 0xfffb }, /* byte order mark, annotations */
		{ 0xe0000, 0xe007f }, /* tags */
	};
	uint32_t code;
	size_t i;

	if (!length)
		return false;
	code = utf8_code_point(text, length);
	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && code >= ranges[i].first; i++)
		if (code <= ranges[i].last)
			return true;
	return false;
}

const char *fd_path(int fd, char ret[FD_PATH])
{
	snprintf(ret, FD_PATH, "/proc/self/fd/%d", fd);
	return ret;
}

uint32_t own_namespace(const char *kind, uint32_t host)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", kind);
	return stat(path, &st) || st.st_ino == host ? 0 : (uint32_t)st.st_ino;
}

bool subordinates_next(FILE *file, uint32_t *first, uint32_t *nr)
{
	char line[256];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*[^:]:%u:%u", first, nr) == 2 && *first)
			return true;
	return false;
}

/* To fchown() and setresuid(), -1 means "unchanged". */
static bool sudo_id(const char *name, uint32_t *result)
{
	const char *text = getenv(name);
	uint64_t value;

	if (!text || parse_u64(text, &value) || value >= UINT32_MAX)
		return false;
	*result = (uint32_t)value;
	return true;
}

bool sudo_caller(uid_t *user, gid_t *group)
{
	return !geteuid() && sudo_id("SUDO_UID", user) && sudo_id("SUDO_GID", group);
}

/* A process's rights, as capget() reads and capset() writes them. */
struct rights {
	struct __user_cap_header_struct head;
	struct __user_cap_data_struct halves[_LINUX_CAPABILITY_U32S_3];
};

/* All 0 if the kernel refuses. */
static struct rights read_rights(void)
{
	struct rights rights = { .head.version = _LINUX_CAPABILITY_VERSION_3 };

	syscall(SYS_capget, &rights.head, rights.halves);
	return rights;
}

bool may_do(unsigned int capability)
{
	const struct rights rights = read_rights();

	return rights.halves[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

uint64_t permitted_rights(void)
{
	const struct rights rights = read_rights();

	return rights.halves[0].permitted | (uint64_t)rights.halves[1].permitted << 32;
}

int keep_rights(uint64_t few)
{
	struct rights rights = { .head.version = _LINUX_CAPABILITY_VERSION_3 };
	unsigned int i;

	/*
	 * Dropping from the bounding set needs CAP_SETPCAP. A process without it is not root, and
	 * could regain nothing.
	 */
	for (i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if (!(few & RIGHT(i)))
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	few &= permitted_rights();
	for (i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		rights.halves[i].permitted = rights.halves[i].effective = (uint32_t)(few >> 32 * i);
	/* Nothing is inheritable any more. With that, the kernel clears the ambient set too. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_capset, &rights.head, rights.halves))
		return -errno;
	return 0;
}

bool is_our_user(uid_t user)
{
	uid_t caller;

	return user == geteuid() || (!geteuid() && sudo_id("SUDO_UID", &caller) && user == caller);
}

void raise_file_limit(uint64_t wanted)
{
	struct rlimit limit, more;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	more.rlim_cur = more.rlim_max = wanted > limit.rlim_max ? wanted : limit.rlim_max;
	if (!setrlimit(RLIMIT_NOFILE, &more))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

uint32_t fd_most_that_stay(void)
{
	struct rlimit limit;
	rlim_t reserve;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return INT_MAX;
	reserve = limit.rlim_cur / 4 < FDS_RESERVED ? limit.rlim_cur / 4 : FDS_RESERVED;
	return limit.rlim_cur < INT_MAX ? (uint32_t)(limit.rlim_cur - reserve) : INT_MAX;
}

/* The kernel uses the lowest free number. Therefore all numbers below fd are in use. */
bool fd_may_stay(int fd)
{
	return fd < 0 || (uint32_t)fd < fd_most_that_stay();
}

void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void cleanup_fd_close(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

void cleanup_file_close(FILE **file)
{
	int saved = errno;

	if (*file)
		fclose(*file);
	errno = saved;
}

void cleanup_free_pointer(void *pointer)
{
	void *block;

	memcpy(&block, pointer, sizeof(block));
	free(block);
}

void cleanup_unlock(pthread_mutex_t *const *mutex)
{
	pthread_mutex_unlock(*mutex);
}

int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

int process_fd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

int process_has_ended(int pid_fd)
{
	struct pollfd end = { .fd = pid_fd, .events = POLLIN };
	int ret = poll(&end, 1, 0);

	return ret < 0 ? -errno : ret;
}

ssize_t read_range(int fd, void *to, size_t size, uint64_t offset)
{
	size_t done = 0;
	ssize_t got;

	while (done < size) {
		got = pread(fd, (char *)to + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

int write_fully(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;
	ssize_t done;

	while (size) {
		done = write(fd, at, size);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done ? -errno : -ENOSPC;
		at += done;
		size -= (size_t)done;
	}
	return 0;
}

int read_first_line(const char *path, char *line, size_t size)
{
	cleanup_file FILE *file = fopen(path, "re");

	if (!file)
		return -errno;
	if (!fgets(line, (int)size, file))
		return -EIO;
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / SECOND_NS),
				  .tv_nsec = (long)(ns % SECOND_NS) };
}

void cond_init_monotonic(pthread_cond_t *cond)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attributes);
	pthread_condattr_destroy(&attributes);
}

uint64_t monotonic_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t thread_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t chance_below(uint64_t most_ns)
{
	uint32_t random;

	/* Shortly after boot there is no randomness. */
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint32_t)monotonic_ns();
	return (uint64_t)((unsigned __int128)most_ns * random >> 32);
}
