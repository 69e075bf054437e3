// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "calls/call_options.h"
#include "option/command.h"
#include "option/opts.h"
#include "report/profile_file.h"
#include "export/export.h"
#include "profile/profile_io.h"
#include "base/output.h"

#define FORMATS_MAX 32

struct export_arguments {
	const struct export_format *format;
	const char *output;
	bool schema;
	bool ddl;
	struct export_options options; /* without the call */
	struct call_options call;
};

static int set_format(const struct opt *opt, const char *value, void *field, struct error *err)
{
	const char *words[FORMATS_MAX + 1] = { 0 };
	const struct export_format **format = field;
	size_t i;

	*format = export_find(value);
	if (*format)
		return 0;
	for (i = 0; i < FORMATS_MAX && export_formats[i].name; i++)
		words[i] = export_formats[i].name;
	opt_bad(opt, value, err, "no such format");
	if (!opt_hint_word(opt, value, words, err))
		error_hint(err, "bpfprofil export --help");
	return -EINVAL;
}

static const char *format_word(size_t i)
{
	return export_formats[i].name;
}

#define FIELD(member) offsetof(struct export_arguments, member)

/* By enum export_detail. */
static const char *const details[] = { "address", "line", "function", NULL };

static const struct opt export_opts[] = {
	OPT_SETTER("format", "FORMAT", set_format, "what to write; the formats are listed below",
		   .field = FIELD(format), .word = format_word),
	OPT_FILE("output", FIELD(output),
		 "where to write it; - is stdout, .gz compresses; gmon: the directory for its files",
		 .letter = 'o', .fallback = "-; gmon: ."),
	OPT_FLAG("schema", FIELD(schema),
		 "write the JSON Schema of profiles instead; no profile is read"),
	OPT_FLAG("ddl", FIELD(ddl),
		 "clickhouse: write the definition of its table; no profile is read"),
	{ 0 }
};

static const struct opt selection_opts[] = {
	OPT_STRING("object", FIELD(options.object), "NAME",
		   "only this program or library, by its path or the last component of it; raw: "
		   "the object of the call",
		   .fallback = "all; raw: needed if several objects have ticks in the region"),
	OPT_NUMBER("target", FIELD(options.target), "ID", 0, UINT32_MAX, "only this target",
		   .fallback = "all"),
	OPT_FLAG("program-first", FIELD(options.programs),
		 "folded, speedscope: begin each chain of callers with its program, even if there "
		 "is only one"),
	OPT_FLAG("waits", FIELD(options.waits),
		 "folded: where threads waited instead of where they ran, in nanoseconds, with the "
		 "class of the wait as the last frame"),
	OPT_WORD("detail", FIELD(options.detail), "WHAT", details,
		 "otlp, clickhouse: resolve to address, line or function", .fallback = "address"),
	{ 0 }
};

/* As call_widths, but without eight bytes, because no system had such counters. */
static const char *const raw_widths[] = { "2", "4", NULL };

static const struct opt buffer_opts[] = { OPT_WORD("width", FIELD(call.width_word), "2|4",
						   raw_widths, "bytes of a counter",
						   .fallback = "2"),
					  { 0 } };

static const struct opt_group export_groups[] = {
	{ .title = "Conversion", .opts = export_opts },
	{ .title = "Selection", .opts = selection_opts },
	{ .title = "Call (raw)", .opts = call_opts, .base = FIELD(call) },
	{ .title = "Buffer (raw)", .opts = buffer_opts },
	{ 0 },
};

static void list_formats(FILE *out)
{
	const struct export_format *format;

	fprintf(out, "\nFormats:\n");
	for (format = export_formats; format->name; format++)
		fprintf(out, "  %-24s  %s\n", format->name, format->description);
}

static void say_note(const struct export_format *format, const struct profile *profile,
		     const struct export_options *options)
{
	export_note_missing(format, profile, options);
	if (options->note[0])
		print_message(NULL, "export: %s", options->note);
}

/* Writes the profile, or if it is NULL the text. */
static int write_output(const struct export_arguments *arguments, const struct profile *profile,
			const struct export_options *options, const char *text)
{
	const char *path = arguments->output ? arguments->output : "-";
	struct error err = { 0 };
	unsigned int flags = 0;
	struct output *out;
	int ret;

	if (profile && arguments->format->compressed)
		flags |= OUTPUT_GZ;
	if (profile && profile_is_confidential(profile))
		flags |= OUTPUT_CONFIDENTIAL;
	stdout_begin();
	ret = output_open(path, flags, &out, &err);
	if (!ret) {
		if (profile)
			ret = export_write(arguments->format, profile, options, output_stream(out),
					   &err);
		else
			fputs(text, output_stream(out));
		ret = output_finish(out, ret, &err);
	}
	if (!ret) {
		if (options)
			say_note(arguments->format, profile, options);
		return EXIT_SUCCESS;
	}
	/* With EPIPE the reader has left, and nobody needs a message. */
	if (ret != -EPIPE)
		print_error(&err);
	return EXIT_FAILURE;
}

/* --- a file for each object ------------------------------------------------------------------- */

/*
 * The maximum length of an object's name in a file name. It leaves room for the rest and for a
 * temporary name.
 */
#define BASE_MAX 200

struct export_files {
	const struct export_format *format;
	const struct profile *profile;
	struct export_options options;
	const char *folder;
	size_t nr;
	uint64_t ticks; /* ticks of the hottest object that has a file */
	uint32_t hottest;
	uint64_t without; /* ticks of objects without a file */
};

/* The profile may be from another host, and names may contain anything. */
static void clean_base(const struct profile_object *object, char base[BASE_MAX])
{
	char *c;

	snprintf(base, BASE_MAX, "%s", profile_object_base(object));
	for (c = base; *c; c++)
		if ((unsigned char)*c < ' ' || *c == '/' || *c == '%' || *c == 0x7f)
			*c = '_';
}

/*
 * If an earlier object has the same name, the file's name also contains the object's index in the
 * profile, after a character that names of objects cannot have.
 */
static void name_file(const struct export_files *files, uint32_t object, char *path, size_t size)
{
	char base[BASE_MAX], other[BASE_MAX], part[BASE_MAX + 16], name[NAME_MAX + 1];
	uint32_t i;

	clean_base(&files->profile->objects[object], base);
	snprintf(part, sizeof(part), "%s", base);
	for (i = 0; i < object; i++) {
		clean_base(&files->profile->objects[i], other);
		if (!strcmp(base, other) && export_has_file(files->profile, &files->options, i))
			snprintf(part, sizeof(part), "%s%%%" PRIu32, base, object);
	}
	snprintf(name, sizeof(name), "%s.%s.out", files->format->name, part);
	snprintf(path, size, "%s/%s", files->folder, name);
}

static int write_file(struct export_files *files, uint32_t object, struct error *err)
{
	char path[PATH_MAX];
	struct output *out;
	int ret;

	files->options.file_object = object;
	name_file(files, object, path, sizeof(path));
	ret = output_open(path, profile_is_confidential(files->profile) ? OUTPUT_CONFIDENTIAL : 0,
			  &out, err);
	if (ret)
		return ret;
	ret = export_write(files->format, files->profile, &files->options, output_stream(out), err);
	return output_finish(out, ret, err);
}

static int write_files(struct export_files *files, struct error *err)
{
	uint64_t ticks;
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && i < files->profile->nr_objects; i++) {
		ticks = export_ticks(files->profile, &files->options, i);
		if (!export_has_file(files->profile, &files->options, i)) {
			files->without += ticks;
			continue;
		}
		if (ticks > files->ticks) {
			files->ticks = ticks;
			files->hottest = i;
		}
		files->nr++;
		ret = write_file(files, i, err);
	}
	return ret;
}

/* Says how to read the file of the hottest object. */
static void say_files(const struct export_files *files)
{
	const char *program = files->profile->objects[files->hottest].path;
	char path[PATH_MAX], hint[256], without[80] = "";

	name_file(files, files->hottest, path, sizeof(path));
	/* A part of a path names another file. */
	if (snprintf(hint, sizeof(hint), "gprof -b %s %s", program, path) >= (int)sizeof(hint))
		hint[0] = '\0';
	if (files->without)
		snprintf(without, sizeof(without), "; %" PRIu64 " ticks are in no file of text",
			 files->without);
	print_message(hint, "export: %zu file%s in %s%s", files->nr, files->nr == 1 ? "" : "s",
		      files->folder, without);
	say_note(files->format, files->profile, &files->options);
}

static int make_folder(const char *folder, struct error *err)
{
	return mkdir(folder, 0777) && errno != EEXIST ? error_errno(err, -errno, "%s", folder) : 0;
}

/*
 * Writes a format that has a file for each object, into folder or, if it is NULL, the current one.
 * options->note must be set. Returns the exit status.
 */
static int export_files(const struct export_format *format, const struct profile *profile,
			const struct export_options *options, const char *folder)
{
	struct export_files files = { .format = format,
				      .profile = profile,
				      .options = *options,
				      .folder = folder ? folder : "." };
	struct error err = { 0 };

	if (!strcmp(files.folder, "-"))
		return usage_error("-o FOLDER",
				   "export: --output '-': %s has a file for each object",
				   format->name);
	if (export_check(profile, options, format->name, &err) || make_folder(files.folder, &err) ||
	    write_files(&files, &err)) {
		print_error(&err);
		return EXIT_FAILURE;
	}
	if (!files.nr)
		return failure(NULL, "export: %s: no tick is in an object that has a file",
			       format->name);
	say_files(&files);
	return EXIT_SUCCESS;
}

/* --- the command ------------------------------------------------------------------------------ */

static bool is_for_terminal(const struct export_arguments *arguments)
{
	const char *path = arguments->output;

	if (!arguments->format->binary || !terminal_attached(stdout) || (path && strcmp(path, "-")))
		return true;
	return refuse("-o FILE, or a pipe",
		      "export: --format %s: is binary, and not for a terminal",
		      arguments->format->name);
}

static int export_profile(const struct export_arguments *arguments, const struct export_call *call,
			  int nr, char **operands)
{
	char note[EXPORT_NOTE_BYTES] = "";
	struct export_options options = arguments->options;
	struct profile *profile;
	int status;

	if (!is_for_terminal(arguments))
		return EXIT_USAGE;
	options.call = call;
	options.note = note;
	profile = profile_of_operand(&command_export, nr, operands, &status);
	if (!profile)
		return status;
	if (arguments->format->per_object)
		status = export_files(arguments->format, profile, &options, arguments->output);
	else
		status = write_output(arguments, profile, &options, NULL);
	profile_free(profile);
	return status;
}

/* sizes has room for each region of the call. */
static void describe_call(const struct region_call *call, const struct region_table *table,
			  uint64_t *sizes, struct export_call *result)
{
	size_t i;

	for (i = 0; i < call->nr; i++)
		sizes[i] = call->entries[i].size;
	*result = (struct export_call){
		.table = table->table,
		.lines = table->lines,
		.sizes = sizes,
		.nr = call->nr,
		.overflow = table->overflow,
		.width = call->width,
		.full = dialect_full(call->dialect, call->sprofil),
	};
}

/* Writes a format that needs a call. */
static int export_call(const struct export_arguments *arguments, int nr, char **operands)
{
	struct export_call described;
	struct region_table table;
	struct region_call call;
	struct call_entry entry;
	struct error err = { 0 };
	uint64_t *sizes;
	int status;

	if (call_options_call(&arguments->call, &entry, &call, &err)) {
		print_error(&err);
		return EXIT_USAGE;
	}
	sizes = calloc(call.nr, sizeof(*sizes));
	if (!sizes || region_table_compile(&call, &table)) {
		print_message(NULL, "export: regions: %s", strerror(ENOMEM));
		free(sizes);
		return EXIT_FAILURE;
	}
	describe_call(&call, &table, sizes, &described);
	status = export_profile(arguments, &described, nr, operands);
	region_table_free(&table);
	free(sizes);
	return status;
}

/* The first given option of a selection or call that an output with these uses ignores, or NULL. */
static const char *stray_option(const struct export_arguments *arguments, unsigned int uses)
{
	if (!(uses & EXPORT_USES_CALL) &&
	    (call_options_given(&arguments->call) || arguments->call.width_word))
		return "call";
	if (!(uses & EXPORT_USES_OBJECT) && arguments->options.object)
		return "--object";
	if (!(uses & EXPORT_USES_TARGET) && arguments->options.target != EXPORT_ALL_TARGETS)
		return "--target";
	if (!(uses & EXPORT_USES_DETAIL) && arguments->options.detail != EXPORT_ADDRESS)
		return "--detail";
	if (!(uses & EXPORT_USES_PROGRAMS) && arguments->options.programs)
		return "--program-first";
	if (!(uses & EXPORT_USES_WAITS) && arguments->options.waits)
		return "--waits";
	return NULL;
}

/* Writes a text of ours, which depends on no profile. */
static int export_text(const struct export_arguments *arguments, const char *option,
		       const char *usage, const char *text)
{
	const char *stray = stray_option(arguments, 0);

	if (stray)
		return usage_error(usage, "export: %s: takes no %s", option, stray);
	return write_output(arguments, NULL, NULL, text);
}

static int run_parsed(const struct export_arguments *arguments, int nr, char **operands)
{
	const struct export_format *format = arguments->format;
	const char *stray;

	if (arguments->schema && (format || nr))
		return usage_error("bpfprofil export --schema",
				   "export: --schema: takes neither a FILE nor a --format");
	if (arguments->schema && arguments->ddl)
		return usage_error("bpfprofil export --schema", "export: --schema: takes no --ddl");
	if (arguments->schema)
		return export_text(arguments, "--schema", "bpfprofil export --schema",
				   profile_schema);
	if (!format)
		return usage_error("--format pprof, or another of bpfprofil export --help",
				   "export: --format: not given");
	stray = stray_option(arguments, format->uses);
	if (!stray && arguments->ddl && !format->ddl)
		stray = "--ddl";
	if (stray)
		return usage_error("another --format", "export: --format %s: takes no %s",
				   format->name, stray);
	if (arguments->options.waits && arguments->options.object)
		return usage_error("leaving one of them out", "export: --waits: takes no --object");
	if (arguments->ddl && nr)
		return usage_error("bpfprofil export --format clickhouse --ddl",
				   "export: --ddl: takes no FILE");
	if (arguments->ddl)
		return export_text(arguments, "--ddl", "bpfprofil export --format clickhouse --ddl",
				   format->ddl);
	if (format->uses & EXPORT_USES_CALL)
		return export_call(arguments, nr, operands);
	return export_profile(arguments, NULL, nr, operands);
}

static int run(int argc, char **argv)
{
	struct export_arguments arguments = { .options.target = EXPORT_ALL_TARGETS };
	int first, status;

	call_options_init(&arguments.call);
	if (command_parse(&command_export, argc, argv, &arguments, &first, &status))
		status = run_parsed(&arguments, argc - first, argv + first);
	call_options_free(&arguments.call);
	return status;
}

static const struct command_example export_examples[] = {
	{ "every bin as a line of a table", "bpfprofil export --format csv -o profile.csv" },
	{ "instructions and lines, for kcachegrind",
	  "bpfprofil export --format callgrind -o callgrind.out.server server.json" },
	{ "a flame graph of functions, or of stacks if the profile has callers",
	  "bpfprofil export --format folded | flamegraph.pl >profile.svg" },
	{ "a flame graph of where threads waited",
	  "bpfprofil export --format folded --waits | flamegraph.pl --countname ns >waits.svg" },
	{ "a compressed copy of a profile",
	  "bpfprofil export --format json -o server.json.gz server.json" },
	{ "what profil() would have left in a buffer",
	  "bpfprofil export --format raw --dialect bsd44 --offset 0x1000 --scale 16384 --size 8192" },
	{ "a gmon.out for gprof, of a program that was built without -pg",
	  "bpfprofil export --format gmon --object server server.json" },
	{ "a profile for go tool pprof, with inlined functions",
	  "bpfprofil export --format pprof -o server.pb.gz server.json" },
	{ "rows for ClickHouse, by function, and the table for them",
	  "bpfprofil export --format clickhouse --detail function -o rows.jsonl server.json\n"
	  "  bpfprofil export --format clickhouse --ddl" },
	{ "a request for an OpenTelemetry collector",
	  "bpfprofil export --format otlp -o profiles.pb server.json" },
	{ "a profile for clang -fprofile-sample-use",
	  "bpfprofil export --format llvm-sample -o program.prof" },
	{ "the JSON Schema of profiles", "bpfprofil export --schema" },
	{ 0 },
};

const struct command command_export = {
	.name = "export",
	.summary = "convert a profile to another format",
	.operands = "[FILE] --format FORMAT",
	.operand = VALUE_FILE,
	.description = "Reads the profile FILE (bpfprofil.json; - is standard input; a directory "
		       "is the sum of its profiles) and writes it in another format.",
	.groups = export_groups,
	.examples = export_examples,
	.more_help = list_formats,
	.run = run,
};
