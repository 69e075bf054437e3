/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OTLP_H
#define BPFPROFIL_OTLP_H

#include "export/samples.h"

#include "otlp.pb-c.h"

/* The attributes of mappings, places and samples. */
enum otlp_attribute_key {
	OTLP_BUILD_ID,
	OTLP_PID,
	OTLP_PROCESS_NAME,
	OTLP_FRAME_TYPE,
	OTLP_NR_ATTRIBUTES,
};

/* The dictionary's table of attributes, each once. */
struct otlp_attributes {
	struct samples *samples;
	int32_t *numbers[OTLP_NR_ATTRIBUTES]; /* by number of the text; 0: it has none yet */
	Otlp__KeyValueAndUnit *all;
	Otlp__AnyValue *values;
	size_t nr;
	size_t room;
};

/*
 * Call after the last of the samples' values was added, and otlp_attributes_end() in any case.
 * Returns 0 or -ENOMEM.
 */
int otlp_attributes_begin(struct otlp_attributes *attributes, struct samples *samples);
void otlp_attributes_end(struct otlp_attributes *attributes);

/*
 * The number of an attribute, by the number of its text among the samples' values; 0 for the text
 * "".
 */
int32_t otlp_attribute(struct otlp_attributes *attributes, enum otlp_attribute_key key,
		       uint32_t text);

void otlp_set_value(Otlp__AnyValue *value, const char *text);

/* Writes a part of a request: a repeated field is appended to what came before. */
void otlp_put(const Otlp__Request *part, FILE *stream);

/*
 * Writes the tables as far as they were used, so it comes last. Stacks are pairs of a sample's callers
 * and place, numbered by chain_tree_child(). Returns 0 or -ENOMEM.
 */
int otlp_put_dictionary(struct samples *samples, struct otlp_attributes *attributes,
			const struct chain_tree *stacks, FILE *stream);

#endif
