// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "export/pprof_stream.h"

#include <string.h>

#include "export/export_impl.h"

void pprof_put(struct pprof_stream *pprof, const Pprof__Profile *part)
{
	export_message(&part->base, pprof->stream);
}

int64_t pprof_text(struct pprof_stream *pprof, const char *text)
{
	const uint32_t number = texts_add(&pprof->texts, text);
	Pprof__Profile part = PPROF__PROFILE__INIT;

	if (number < pprof->nr_texts)
		return number;
	part.n_string_table = 1;
	part.string_table = (char **)&pprof->texts.all[number];
	pprof_put(pprof, &part);
	pprof->nr_texts++;
	return number;
}

int pprof_stream_begin(struct pprof_stream *pprof, FILE *stream)
{
	int ret;

	*pprof = (struct pprof_stream){ .stream = stream };
	ret = texts_begin(&pprof->texts);
	if (!ret)
		pprof_text(pprof, "");
	return ret;
}

void pprof_stream_end(struct pprof_stream *pprof)
{
	texts_end(&pprof->texts);
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
		values[i].type = pprof_text(pprof, sample_value_names[first + i].type);
		values[i].unit = pprof_text(pprof, sample_value_names[first + i].unit);
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
