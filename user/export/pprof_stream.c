// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/pprof_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/export_impl.h"

void pprof_put(struct pprof_stream *pprof, const Pprof__Profile *part)
{
	export_message(&part->base, pprof->stream);
}

static int64_t put_pprof_text(struct pprof_stream *pprof, char *text)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;

	part.n_string_table = 1;
	part.string_table = &text;
	pprof_put(pprof, &part);
	return pprof->nr_texts++;
}

int pprof_stream_begin(struct pprof_stream *pprof, FILE *stream)
{
	*pprof = (struct pprof_stream){ .stream = stream };
	pprof->escaped = open_memstream(&pprof->text, &pprof->size);
	if (!pprof->escaped)
		return pprof->error = -ENOMEM;
	put_pprof_text(pprof, (char[]){ "" });
	return 0;
}

void pprof_stream_end(struct pprof_stream *pprof)
{
	if (pprof->escaped)
		fclose(pprof->escaped);
	free(pprof->text);
	string_set_free(&pprof->shared);
	pointer_map_clear(&pprof->numbers);
}

/*
 * protobuf requires UTF-8 in strings. Control characters are replaced, to protect the user's
 * terminal.
 */
static int escape_pprof_text(struct pprof_stream *pprof, const char *text)
{
	rewind(pprof->escaped);
	export_text(pprof->escaped, text, 0, NULL);
	fputc('\0', pprof->escaped);
	if (fflush(pprof->escaped) || ferror(pprof->escaped))
		pprof->error = -ENOMEM;
	return pprof->error;
}

int64_t pprof_text(struct pprof_stream *pprof, const char *text)
{
	if (!text || !*text || escape_pprof_text(pprof, text))
		return 0;
	return put_pprof_text(pprof, pprof->text);
}

int64_t pprof_shared_text(struct pprof_stream *pprof, const char *text)
{
	const char *kept;
	uint64_t *number;

	if (!text || !*text)
		return 0;
	kept = string_set_add(&pprof->shared, text);
	number = kept ? pointer_map_at(&pprof->numbers, kept, NULL) : NULL;
	if (!number) {
		pprof->error = -ENOMEM;
		return 0;
	}
	if (!*number)
		*number = (uint64_t)pprof_text(pprof, kept);
	return (int64_t)*number;
}

/* The host's name by its labels, or else by the kernel, which has the pod's name in a pod. */
static const char *name_of_host(const struct profile *profile)
{
	const struct profile_label *label;
	size_t i;

	for (i = 0; i < profile->nr_labels; i++) {
		label = &profile->labels[i];
		if (!label->host && !label->cgroup && !strcmp(label->key, "host.name"))
			return label->value;
	}
	return profile->host.name;
}

void pprof_put_host(struct pprof_stream *pprof, const struct profile *profile, uint64_t id)
{
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings = &mapping;
	Pprof__Profile part = PPROF__PROFILE__INIT;
	const char *host = name_of_host(profile);
	char name[320];

	snprintf(name, sizeof(name), "all processes of %.255s", host && *host ? host : "hosts");
	mapping.id = id;
	mapping.filename = pprof_text(pprof, name);
	mapping.has_functions = true;
	part.n_mapping = 1;
	part.mapping = &mappings;
	pprof_put(pprof, &part);
}

/* CPU time is shown first; without it, the time of waits. */
void pprof_put_head(struct pprof_stream *pprof, const struct profile *profile, uint64_t period_ns,
		    enum sample_value first, size_t nr)
{
	Pprof__ValueType values[SAMPLE_VALUES], *types[SAMPLE_VALUES];
	Pprof__Profile part = PPROF__PROFILE__INIT;
	size_t i;

	for (i = 0; i < nr; i++) {
		types[i] = &values[i];
		pprof__value_type__init(&values[i]);
		values[i].type = pprof_shared_text(pprof, sample_value_names[first + i].type);
		values[i].unit = pprof_shared_text(pprof, sample_value_names[first + i].unit);
	}
	part.n_sample_type = nr;
	part.sample_type = types;
	part.period_type = types[first == SAMPLE_TICKS];
	part.default_sample_type = part.period_type->type;
	part.period = export_clamp(period_ns);
	part.time_nanos = export_start_ns(profile);
	part.duration_nanos = export_clamp(profile->duration_ns);
	pprof_put(pprof, &part);
}
