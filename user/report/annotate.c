// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "report/annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"
#include "report/annotate_steps.h"
#include "naming/object_file.h"

/* Bytes to show around a place without a symbol. */
#define WINDOW 256

static bool is_vdso(const struct profile_object *object)
{
	return object->kind == PROFILE_FILE && !strcmp(object->path, "[vdso]");
}

static int refuse(const struct annotating *work, struct error *err)
{
	const struct profile_object *object = annotated_object(work);
	char root[64];

	if (object->build_id)
		error_set(err, -ESTALE,
			  "%.256s: not the file that was profiled, whose build id is %.64s",
			  object->path, object->build_id);
	error_hint(err, "--symfs DIR, where the file that ran is below DIR, or profile again");
	if (work->request->look_in_roots && object_file_find_root(object, root, sizeof(root)))
		error_hint(err, "--symfs %s", root);
	return -ESTALE;
}

static int open_file(struct annotating *work, struct error *err)
{
	const struct object_opener *opener = work->request->opener;
	const struct profile_object *object = annotated_object(work);

	if (!opener)
		return error_set(&work->no_code, 0, "%.256s: not looked for", object->path);
	work->fd = object_file_open(opener, object, work->annotation->object, work->root,
				    sizeof(work->root), &work->no_code);
	if (work->fd == -ESTALE) {
		*err = work->no_code;
		return refuse(work, err);
	}
	return work->fd == -ENOMEM ? -ENOMEM : 0;
}

/* Kernel text moves at each boot. Its symbols show whether the boot is still the same. */
static int check_kernel(struct annotating *work, struct error *err)
{
	const struct profile_function *function = work->place.function;
	const struct symbol *symbol;

	if (!work->symbols || !function)
		return error_set(
			&work->no_code, 0,
			"the kernel's code is not read: /proc/kallsyms hides its addresses "
			"from all but root, or has no function here");
	symbol = symbol_table_find(work->symbols, function->offset);
	if (symbol && symbol->offset == function->offset && !strcmp(symbol->name, function->name))
		return 0;
	return error_with_hint(err, -ESTALE,
			       "annotate before the host starts anew, or profile again",
			       "[kernel]: %.256s is no longer at 0x%" PRIx64, function->name,
			       function->offset);
}

/*
 * Opens the object and its symbols. Fails if the object has changed; if it is missing, no_code says
 * why.
 */
static int annotate_open(struct annotating *work, struct error *err)
{
	const struct profile_object *object = annotated_object(work);
	int ret = 0;

	if (object->kind == PROFILE_FILE && !is_vdso(object))
		ret = open_file(work, err);
	else if (object->kind == PROFILE_JIT)
		error_set(&work->no_code, 0, "%.256s: text of no file, whose code is gone",
			  object->path);
	else if (object->kind == PROFILE_MEMORY)
		error_set(&work->no_code, 0, "%.256s: a program's own region, whose code is gone",
			  object->path);
	if (ret)
		return ret;
	if (object->kind != PROFILE_FILE || work->fd >= 0 || is_vdso(object)) {
		uint64_t offsets[] = { work->place.offset, work->place.function ?
								   work->place.function->offset :
								   work->place.offset };

		annotate_load_symbols(work, offsets, 2);
	}
	return object->kind == PROFILE_KERNEL ? check_kernel(work, err) : 0;
}

/* --- where it begins and ends ----------------------------------------------------------------- */

/* True for text without a symbol; its name ends in its last byte. */
static bool is_stretch(const struct profile_function *function)
{
	char end[64];

	snprintf(end, sizeof(end), "+0x%" PRIx64 "..0x%" PRIx64, function->offset,
		 function->offset + function->size - 1);
	return text_ends_in(function->name, end);
}

static bool is_bin(const struct annotating *work)
{
	const struct profile_function *function = work->place.function;
	size_t i;

	for (i = 0; i < work->bins.nr; i++)
		if (work->bins.rows[i].function == function &&
		    work->bins.rows[i].size == function->size)
			return true;
	return false;
}

/* True if the profile has no symbol there: the function is a stretch of text or a single bin. */
static bool is_nameless(const struct annotating *work)
{
	const struct profile_function *function = work->place.function;
	char end[32];

	if (!function || is_stretch(function))
		return true;
	snprintf(end, sizeof(end), "+0x%" PRIx64, function->offset);
	if (!text_ends_in(function->name, end))
		return false;
	/* Functions whose extent comes from unwind information have such a name too. */
	return is_bin(work) || !work->symbols ||
	       !symbol_table_find(work->symbols, function->offset);
}

/* True if the user asked for a row of a table, not for a place in a function. */
static bool is_row(const struct annotating *work)
{
	return work->place.function && work->place.offset == work->place.function->offset;
}

/* Whether a bin belongs to the row, or is near the place. */
static bool is_shown(const struct annotating *work, bool row, const struct report_row *bin)
{
	uint64_t at = work->place.offset;

	if (row)
		return bin->function == work->place.function;
	return bin->object == work->place.object &&
	       (bin->offset < at ? at - bin->offset : bin->offset - at) <= WINDOW;
}

/*
 * Text without a symbol starts at a pc with ticks, because an instruction begins there. Covers all
 * ticks of the row, or those around the place.
 */
static void find_hits(struct annotating *work, bool row)
{
	uint64_t at = work->place.offset, start = row ? UINT64_MAX : at, end = row ? 0 : at + 1;
	const struct report_row *bin;
	size_t i;

	for (i = 0; i < work->bins.nr; i++) {
		bin = &work->bins.rows[i];
		if (!is_shown(work, row, bin))
			continue;
		if (bin->offset < start)
			start = bin->offset;
		if (bin->offset + bin->size > end)
			end = bin->offset + bin->size;
	}
	work->annotation->offset = start;
	work->annotation->size = end > start ? end - start : 1;
}

static int name_hits(struct annotating *work)
{
	struct annotation *annotation = work->annotation;
	char name[64];

	snprintf(name, sizeof(name), "0x%" PRIx64 "..0x%" PRIx64, annotation->offset,
		 annotation->offset + annotation->size - 1);
	annotation->name = string_set_add(&annotation->strings, name);
	if (!annotation->name)
		return -ENOMEM;
	return annotation_note(annotation,
			       "no symbol is known here: shown is what was hit within %d bytes",
			       WINDOW);
}

static int name_row(struct annotating *work)
{
	work->annotation->name = work->place.function->name;
	return annotation_note(work->annotation, "no symbol is known here: shown is what was hit, "
						 "and what follows that");
}

static int find_unnamed(struct annotating *work)
{
	struct annotation *annotation = work->annotation;
	const struct symbol *symbol = NULL;
	bool row = is_row(work);

	/* If a bin has several functions, show the first. */
	if (work->symbols && !(row && is_stretch(work->place.function)))
		symbol = symbol_table_find(work->symbols, work->place.offset);
	if (symbol) {
		annotation->offset = symbol->offset;
		annotation->size = symbol->size;
		annotation->name = string_set_add(&annotation->strings, symbol->name);
		return annotation->name ? 0 : -ENOMEM;
	}
	find_hits(work, row);
	work->from_hits = true;
	return row ? name_row(work) : name_hits(work);
}

static bool overlaps(const struct annotation *annotation, const struct report_row *bin)
{
	return bin->object == annotation->object &&
	       bin->offset < annotation->offset + annotation->size &&
	       bin->offset + bin->size > annotation->offset;
}

/* Keeps the bins that report counts for the function, so that both sums agree. */
static int keep_bins(struct annotating *work, bool by_extent)
{
	struct annotation *annotation = work->annotation;
	struct report_row sum = { .own.ns = 0 };
	uint64_t elsewhere = 0;
	size_t i, kept = 0;

	for (i = 0; i < work->bins.nr; i++) {
		const struct report_row *bin = &work->bins.rows[i];

		if (by_extent ? bin->object == annotation->object &&
					bin->offset - annotation->offset < annotation->size :
				bin->function == work->place.function) {
			annotation->ticks += bin->own.ticks;
			sum.own.ns += bin->own.ns;
			if (bin->size > annotation->bytes_per_bin)
				annotation->bytes_per_bin = bin->size;
			work->bins.rows[kept++] = *bin;
		} else if (overlaps(annotation, bin)) {
			elsewhere += bin->own.ticks;
		}
	}
	work->bins.nr = kept;
	annotation->percent = row_percent(work->ns, &sum);
	if (!elsewhere)
		return 0;
	return annotation_note(annotation,
			       "%" PRIu64 " ticks more are in bins that reach into other functions",
			       elsewhere);
}

/* Determines where the function begins and ends, and leaves only its bins in work->bins. */
static int annotate_find_extent(struct annotating *work, struct error *err)
{
	struct annotation *annotation = work->annotation;
	bool nameless = is_nameless(work);
	int ret = 0;

	if (nameless) {
		ret = find_unnamed(work);
	} else {
		annotation->name = work->place.function->name;
		annotation->offset = work->place.function->offset;
		annotation->size = work->place.function->size;
	}
	if (!ret)
		ret = keep_bins(work, nameless && !is_row(work));
	if (ret || annotation->ticks)
		return ret;
	return error_with_hint(err, -EINVAL, "bpfprofil report", "'%.256s': no tick fell there",
			       work->request->place ? work->request->place : annotation->name);
}

/* --- all of it -------------------------------------------------------------------------------- */

static int find_function(struct annotating *work, struct error *err)
{
	const struct annotation_request *request = work->request;
	const struct report_options options = annotated_rows(request);
	int ret = rows_of_bins(work->profile, &options, &work->bins, err);

	if (ret)
		return ret;
	work->annotation->total = rows_account(work->profile, &options)->total;
	work->ns = rows_ns(work->profile, &options);
	ret = annotate_find_place(work, err);
	if (ret)
		return ret;
	work->annotation->object = work->place.object;
	ret = annotate_open(work, err);
	return ret ? ret : annotate_find_extent(work, err);
}

static int read_function(struct annotating *work)
{
	return annotate_read_code(work)		 ?:
		       annotate_count(work)	 ?:
		       annotate_find_lines(work) ?:
		       annotate_find_jumps(work->annotation, work->request->lanes);
}

int annotation_build(const struct profile *profile, const struct annotation_request *request,
		     struct annotation **result, struct error *err)
{
	struct annotating work = { .profile = profile, .request = request, .fd = -1 };
	int ret = -ENOMEM;

	work.annotation = calloc(1, sizeof(*work.annotation));
	if (!work.annotation)
		goto out;
	work.annotation->profile = profile;
	ret = find_function(&work, err);
	if (!ret)
		ret = read_function(&work);
out:
	close_fd(&work.fd);
	object_symbols_release(request->opener, work.symbols);
	free(work.targets);
	rows_free(&work.bins);
	if (ret)
		annotation_free(work.annotation);
	else
		*result = work.annotation;
	return ret == -ENOMEM ? error_errno(err, ret, "annotate") : ret;
}
