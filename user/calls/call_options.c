// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "calls/call_options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/util.h"
#include "calls/spec.h"

#define DIALECT_ENV "BPFPROFIL_DIALECT"

const char *const call_widths[] = { "2", "4", "8", NULL };

int call_number_parse(const char *text, uint64_t *result)
{
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (*end)
		return -EINVAL;
	if (errno)
		return -ERANGE;
	*result = value;
	return 0;
}

static int set_number(const struct opt *opt, const char *value, void *field, struct error *err)
{
	struct call_number *number = field;

	if (call_number_parse(value, &number->value))
		return opt_bad(opt, value, err, "must be a number of at most 64 bits");
	number->given = true;
	return 0;
}

/* Reads the next number of text. `end` must follow it: ':' or NUL. */
static bool next_number(const char **text, char end, uint64_t *result)
{
	size_t length = strcspn(*text, ":");
	char number[32];

	if (length >= sizeof(number) || (*text)[length] != end)
		return false;
	memcpy(number, *text, length);
	number[length] = '\0';
	*text += length + !!end;
	return !call_number_parse(number, result);
}

static int set_region(const struct opt *opt, const char *value, void *field, struct error *err)
{
	struct call_options *options = field;
	struct call_entry entry = { 0 };
	const char *text = value;
	int ret;

	if (!next_number(&text, ':', &entry.offset) || !next_number(&text, ':', &entry.scale) ||
	    !next_number(&text, '\0', &entry.size))
		return opt_bad(opt, value, err, "must be OFFSET:SCALE:SIZE");
	if (options->nr_regions == DIALECT_REGIONS_MAX)
		return opt_bad(opt, value, err, "more than %d regions (E2BIG)",
			       DIALECT_REGIONS_MAX);
	ret = PUSH(options->regions, options->regions_capacity, options->nr_regions, entry);
	return ret ? error_errno(err, ret, "--%s", opt->name) : 0;
}

#define FIELD(member) offsetof(struct call_options, member)

const struct opt call_opts[] = {
	OPT_WORD(
		"dialect", FIELD(dialect), "NAME", dialect_names,
		"behave like profil() of this system: glibc, v7, svr4, solaris, bsd43, bsd44, bsd44doc or irix",
		.fallback = "$" DIALECT_ENV ", else glibc"),
	OPT_SETTER("offset", "ADDRESS", set_number,
		   "profil()'s offset: the lowest pc of the region", .field = FIELD(offset)),
	OPT_SETTER("scale", "S", set_number,
		   "profil()'s scale: 65536 is one byte of buffer for each byte of text",
		   .field = FIELD(scale)),
	OPT_SETTER("size", "BYTES", set_number, "profil()'s bufsiz: bytes of the buffer",
		   .field = FIELD(size)),
	OPT_SETTER("region", "OFFSET:SCALE:SIZE", set_region,
		   "a region of sprofil(), in place of these three; repeatable"),
	{ 0 }
};

void call_options_init(struct call_options *options)
{
	*options = (struct call_options){ .dialect = DIALECT_COUNT };
}

void call_options_free(struct call_options *options)
{
	free(options->regions);
	call_options_init(options);
}

bool call_options_given(const struct call_options *options)
{
	return options->dialect != DIALECT_COUNT || options->offset.given || options->scale.given ||
	       options->size.given || options->nr_regions;
}

/* The dialect option, or else the dialect that the library would use. */
static int choose_dialect(const struct call_options *options, uint32_t *result, struct error *err)
{
	const char *name = getenv(DIALECT_ENV), *nearest;

	*result = options->dialect;
	if (*result != DIALECT_COUNT)
		return 0;
	if (!name || !*name) {
		*result = DIALECT_GLIBC;
		return 0;
	}
	for (*result = 0; dialect_names[*result]; ++*result)
		if (!strcmp(dialect_names[*result], name))
			return 0;
	error_set(err, -EINVAL, "%s '%.64s': no such dialect", DIALECT_ENV, name);
	nearest = nearest_word(name, dialect_names);
	error_hint(err, "%s=%s", DIALECT_ENV, nearest ?: "glibc");
	return -EINVAL;
}

static int profil_entry(const struct call_options *options, struct call_entry *entry,
			struct error *err)
{
	const char *missing = !options->offset.given ? "--offset" :
			      !options->scale.given  ? "--scale" :
			      !options->size.given   ? "--size" :
						       NULL;

	if (missing)
		return error_with_hint(err, -EINVAL, "--offset 0x401000 --scale 65536 --size 4096",
				       "%s: not given", missing);
	*entry = (struct call_entry){ .offset = options->offset.value,
				      .scale = options->scale.value,
				      .size = options->size.value };
	return 0;
}

static int refuse(const struct region_call *call, size_t i, struct error *err)
{
	const struct call_entry *entry = &call->entries[i];
	const char *name = dialect_names[call->dialect];
	char region[80];

	snprintf(region, sizeof(region), "0x%" PRIx64 ":0x%" PRIx64 ":%" PRIu64, entry->offset,
		 entry->scale, entry->size);
	if (entry->scale == DIALECT_SCALE_OVERFLOW)
		return error_set(err, -EINVAL,
				 "--region %s: %s wants the overflow bin last (EINVAL)", region,
				 name);
	if (call->sprofil)
		return error_set(err, -EINVAL, "--region %s: %s has no scale above 65536 (EINVAL)",
				 region, name);
	return error_set(err, -EINVAL, "--scale 0x%" PRIx64 ": %s has none above 65536 (EINVAL)",
			 entry->scale, name);
}

int call_options_call(const struct call_options *options, struct call_entry *entry,
		      struct region_call *result, struct error *err)
{
	struct region_call call = { .width = 2U << options->width_word };
	size_t refused;
	int ret = choose_dialect(options, &call.dialect, err);

	if (ret)
		return ret;
	if (options->nr_regions) {
		if (options->offset.given || options->scale.given || options->size.given)
			return error_set(err, -EINVAL,
					 "--region: stands for --offset, --scale and --size");
		call.sprofil = true;
		call.entries = options->regions;
		call.nr = options->nr_regions;
	} else {
		ret = profil_entry(options, entry, err);
		if (ret)
			return ret;
		call.entries = entry;
		call.nr = 1;
	}
	if (region_call_check(&call, &refused))
		return refuse(&call, refused, err);
	*result = call;
	return 0;
}
