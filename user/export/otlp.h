/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef BPFPROFIL_OTLP_H
#define BPFPROFIL_OTLP_H

#include "export/samples.h"

#include "otlp.pb-c.h"

/* Attributes of mappings, places and samples. */
enum otlp_attribute_key {
	OTLP_BUILD_ID,
	OTLP_PID,
	OTLP_PROCESS_NAME,
	OTLP_FRAME_TYPE,
	OTLP_NR_ATTRIBUTES,
};

/* The dictionary's table of attributes, without duplicates. */
struct otlp_attributes {
	struct samples *samples;
	int32_t *numbers[OTLP_NR_ATTRIBUTES]; /* by number of the text; 0: none yet */
	Otlp__KeyValueAndUnit *all;
	Otlp__AnyValue *values;
	size_t nr;
	size_t room;
};

/*
 * Call it after adding the last of the samples' values, and otlp_attributes_end() in any case.
 * Returns 0 or -ENOMEM.
 */
int otlp_attributes_begin(struct otlp_attributes *attributes, struct samples *samples);
void otlp_attributes_end(struct otlp_attributes *attributes);

/*
 * Returns the number of an attribute, by the number of its text in the samples' values; 0 for "".
 */
int32_t otlp_attribute(struct otlp_attributes *attributes, enum otlp_attribute_key key,
		       uint32_t text);

void otlp_set_value(Otlp__AnyValue *value, const char *text);

/* Writes a part of a request. Repeated fields are appended to earlier parts. */
void otlp_put(const Otlp__Request *part, FILE *stream);

/*
 * Writes the used parts of the tables. Therefore call it last. Stacks are pairs of a sample's
 * callers and place, numbered by chain_tree_child(). Returns 0 or -ENOMEM.
 */
int otlp_put_dictionary(struct samples *samples, struct otlp_attributes *attributes,
			const struct chain_tree *stacks, FILE *stream);

#endif
