// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Writes rows for ClickHouse, with the columns of the OpenTelemetry Collector's exporter. That
 * exporter also has a row for each sample, but loses the build ids of files. Therefore our rows
 * include them.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/json_text.h"
#include "export/export_impl.h"
#include "export/resource.h"
#include "export/samples.h"
#include "profile/profile_weights.h"

const char clickhouse_ddl[] =
	"CREATE TABLE IF NOT EXISTS otel_profiles (\n"
	"    Timestamp DateTime64(9) CODEC(Delta, ZSTD),\n"
	"    ProfileId String CODEC(ZSTD),\n"
	"    SampleType LowCardinality(String),\n"
	"    SampleUnit LowCardinality(String),\n"
	"    ServiceName LowCardinality(String),\n"
	"    ResourceAttributes Map(LowCardinality(String), String) CODEC(ZSTD),\n"
	"    ScopeName String CODEC(ZSTD),\n"
	"    ScopeVersion String CODEC(ZSTD),\n"
	"    ProfileAttributes Map(LowCardinality(String), String) CODEC(ZSTD),\n"
	"    SampleAttributes Map(LowCardinality(String), String) CODEC(ZSTD),\n"
	"    StackHash UInt64 CODEC(ZSTD),\n"
	"    Addresses Array(UInt64) CODEC(ZSTD),\n"
	"    FunctionNames Array(LowCardinality(String)) CODEC(ZSTD),\n"
	"    FileNames Array(LowCardinality(String)) CODEC(ZSTD),\n"
	"    LineNumbers Array(Int32) CODEC(ZSTD),\n"
	"    MappingFileNames Array(LowCardinality(String)) CODEC(ZSTD),\n"
	"    Values Array(Int64) CODEC(ZSTD),\n"
	"    TimestampsUnixNano Array(UInt64) CODEC(ZSTD),\n"
	"    DurationNano UInt64 CODEC(ZSTD),\n"
	"    Period Int64 CODEC(ZSTD),\n"
	"    PeriodType LowCardinality(String),\n"
	"    PeriodUnit LowCardinality(String),\n"
	"    TraceId String CODEC(ZSTD),\n"
	"    SpanId String CODEC(ZSTD)\n"
	") ENGINE = MergeTree\n"
	"PARTITION BY toDate(Timestamp)\n"
	"ORDER BY (ServiceName, SampleType, toDateTime(Timestamp));\n";

struct rows {
	const struct samples *samples;
	FILE *stream;
	uint64_t start;
	const struct sample_service *service; /* the current one */
	struct resource resource; /* of that service */
	char id[2 * PROFILE_ID_BYTES + 1]; /* of its current profile */
	const char *type;
	const char *unit;
};

static void put_json_key(struct rows *rows, const char *key)
{
	fprintf(rows->stream, ",\"%s\":", key);
}

static void put_json_string(struct rows *rows, const char *key, const char *text)
{
	put_json_key(rows, key);
	json_text_string(rows->stream, text);
}

static void put_json_number(struct rows *rows, const char *key, uint64_t number)
{
	put_json_key(rows, key);
	json_text_u64(rows->stream, number);
}

static void put_resource(struct rows *rows)
{
	const struct resource_attribute *attribute = rows->resource.all;
	size_t i;

	put_json_string(rows, "ServiceName", rows->resource.texts.all[attribute->value]);
	put_json_key(rows, "ResourceAttributes");
	for (i = 0; i < rows->resource.nr; i++, attribute++) {
		fputc(i ? ',' : '{', rows->stream);
		json_text_string(rows->stream, attribute->key);
		fputc(':', rows->stream);
		json_text_string(rows->stream, rows->resource.texts.all[attribute->value]);
	}
	fputc('}', rows->stream);
}

static void put_attributes(struct rows *rows, const struct sample *sample)
{
	static const char *const kinds[] = { "", "native", "kernel" };
	const struct samples *samples = rows->samples;
	const struct sample_process *process = &samples->processes[sample->process];
	const struct sample_place *place = &samples->places[sample->place];
	const struct {
		const char *key, *text;
	} all[] = {
		{ "profile.frame.type", kinds[place->kind] },
		{ "process.executable.build_id.gnu",
		  samples->values.all[samples->mappings[place->mapping].build_id] },
		{ "process.pid", samples->values.all[process->pid] },
		{ "process.executable.name", samples->values.all[process->name] },
	};
	char separator = '{';
	size_t i;

	put_json_key(rows, "SampleAttributes");
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!*all[i].text)
			continue;
		fprintf(rows->stream, "%c\"%s\":", separator, all[i].key);
		json_text_string(rows->stream, all[i].text);
		separator = ',';
	}
	fputs(separator == '{' ? "{}" : "}", rows->stream);
}

/* Columns with an entry for each frame. */
enum column {
	ADDRESSES,
	FUNCTIONS,
	FILES,
	LINES,
	MAPPINGS,
	NR_COLUMNS,
};

static void put_cell(struct rows *rows, enum column column, const struct sample_place *place,
		     const struct sample_line *line)
{
	const struct samples *samples = rows->samples;
	const struct sample_function *function = &samples->functions[line->function];

	if (column == ADDRESSES)
		json_text_u64(rows->stream, place->address);
	else if (column == LINES)
		json_text_u64(rows->stream, line->line > INT32_MAX ? 0 : line->line);
	else if (column == FUNCTIONS)
		json_text_string(rows->stream, samples->texts.all[function->name]);
	else if (column == FILES)
		json_text_string(rows->stream, samples->texts.all[function->file]);
	else
		json_text_string(rows->stream,
				 samples->texts.all[samples->mappings[place->mapping].file]);
}

static void put_cells(struct rows *rows, enum column column, uint32_t number, bool first)
{
	const struct sample_place *place = &rows->samples->places[number];
	size_t i;

	for (i = 0; i < place->nr; i++) {
		if (!first || i)
			fputc(',', rows->stream);
		put_cell(rows, column, place, &rows->samples->lines[place->first + i]);
	}
}

/* Innermost frame first. */
static void put_row_frames(struct rows *rows, const struct sample *sample)
{
	static const char *const names[NR_COLUMNS] = { "Addresses", "FunctionNames", "FileNames",
						       "LineNumbers", "MappingFileNames" };
	const struct chain_context *callers = rows->samples->callers.all;
	enum column column;
	uint32_t at;

	for (column = 0; column < NR_COLUMNS; column++) {
		put_json_key(rows, names[column]);
		fputc('[', rows->stream);
		put_cells(rows, column, sample->place, true);
		for (at = sample->callers; at; at = callers[at].parent)
			put_cells(rows, column, callers[at].frame, false);
		fputc(']', rows->stream);
	}
}

static uint64_t hash_place(const struct rows *rows, uint64_t hash, uint32_t number)
{
	const struct samples *samples = rows->samples;
	const struct sample_place *place = &samples->places[number];
	const struct sample_function *function;
	size_t i;

	for (i = 0; i < place->nr; i++) {
		function = &samples->functions[samples->lines[place->first + i].function];
		hash = resource_hash(hash, samples->texts.all[function->name]);
		hash = resource_hash(hash, samples->texts.all[function->file]);
	}
	return hash;
}

/* Hashes names only, so that builds can be compared. */
static uint64_t hash_stack(const struct rows *rows, const struct sample *sample)
{
	const struct chain_context *callers = rows->samples->callers.all;
	uint64_t hash = hash_place(rows, 0, sample->place);
	uint32_t at;

	for (at = sample->callers; at; at = callers[at].parent)
		hash = hash_place(rows, hash, callers[at].frame);
	return hash;
}

static void put_json_row(struct rows *rows, const struct sample *sample, uint64_t value)
{
	const enum sample_value first = samples_first_value(rows->samples, rows->service);
	const struct profile *profile = rows->samples->profile;

	fprintf(rows->stream, "{\"Timestamp\":\"%" PRIu64 ".%09" PRIu64 "\"",
		rows->start / 1000000000, rows->start % 1000000000);
	put_json_string(rows, "ProfileId", rows->id);
	put_json_string(rows, "SampleType", rows->type);
	put_json_string(rows, "SampleUnit", rows->unit);
	put_resource(rows);
	put_json_string(rows, "ScopeName", "bpfprofil");
	put_json_string(rows, "ScopeVersion", profile->tool);
	put_attributes(rows, sample);
	put_json_number(rows, "StackHash", hash_stack(rows, sample));
	put_row_frames(rows, sample);
	fprintf(rows->stream, ",\"Values\":[%" PRId64 "],\"TimestampsUnixNano\":[%" PRIu64 "]",
		export_clamp(value), rows->start);
	put_json_number(rows, "DurationNano", profile->duration_ns);
	put_json_number(
		rows, "Period",
		(uint64_t)export_clamp(profile_target_period(profile, rows->service->target)));
	put_json_string(rows, "PeriodType",
			sample_value_names[first == SAMPLE_OFF_CPU ? first : SAMPLE_CPU].type);
	put_json_string(rows, "PeriodUnit", "nanoseconds");
	fputs("}\n", rows->stream);
}

static void put_json_rows(struct rows *rows, enum sample_value which)
{
	const struct sample *sample = &rows->samples->all[rows->service->first];
	uint8_t id[PROFILE_ID_BYTES];
	uint64_t value;
	size_t i;

	rows->type = sample_value_names[which].type;
	rows->unit = sample_value_names[which].unit;
	resource_profile_id(rows->samples, rows->service, rows->type, id);
	for (i = 0; i < PROFILE_ID_BYTES; i++)
		snprintf(rows->id + 2 * i, 3, "%02x", id[i]);
	for (i = 0; i < rows->service->nr && !ferror(rows->stream); i++, sample++) {
		value = sample_number(sample, which);
		if (value)
			put_json_row(rows, sample, value);
	}
}

static int put_json_service(struct rows *rows)
{
	const enum sample_value first = samples_first_value(rows->samples, rows->service);
	int ret = resource_of(&rows->resource, rows->samples, rows->service);

	if (!ret) {
		put_json_rows(rows, first);
		if (first == SAMPLE_OFF_CPU ||
		    rows->samples->profile->targets[rows->service->target].cpu_known)
			put_json_rows(rows, first + 1);
	}
	resource_free(&rows->resource);
	return ret;
}

int export_clickhouse(const struct profile *profile, const struct export_options *options,
		      FILE *stream, struct error *err)
{
	struct samples samples;
	struct export_options all = *options;
	struct rows rows = { .samples = &samples, .stream = stream };
	size_t i;
	int ret;

	errno = 0;
	rows.start = (uint64_t)export_start_ns(profile);
	all.waits = true;
	ret = samples_build(&samples, profile, &all, err);
	for (i = 1; !ret && i < samples.nr_services; i++) {
		rows.service = &samples.services[i];
		if (put_json_service(&rows))
			ret = error_errno(err, -ENOMEM, "clickhouse");
	}
	if (!ret)
		ret = export_end(stream, "clickhouse", err);
	samples_free(&samples);
	return ret;
}
