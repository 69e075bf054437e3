// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "option/command.h"
#include "host/feature/features.h"
#include "base/output.h"

struct doctor_arguments {
	unsigned int format;
	bool quick;
};

enum { DOCTOR_TEXT, DOCTOR_JSON };

static const char *const format_words[] = { "text", "json", NULL };

static const struct opt doctor_opts[] = {
	OPT_WORD("format", offsetof(struct doctor_arguments, format), "text|json", format_words,
		 "write the findings in this format", .fallback = "text"),
	OPT_FLAG("quick", offsetof(struct doctor_arguments, quick), "skip slow checks"),
	{ 0 }
};

static const struct opt_group doctor_groups[] = {
	{ .title = "Findings", .opts = doctor_opts },
	{ 0 },
};

static const char *state_word(enum feature_state state)
{
	static const char *const words[] = {
		[FEATURE_UNTRIED] = "untried", [FEATURE_OK] = "ok",
		[FEATURE_LIMITED] = "limited", [FEATURE_MISSING] = "missing",
		[FEATURE_UNKNOWN] = "unknown",
	};

	return words[state];
}

static const char *state_color(enum feature_state state)
{
	if (!color_enabled(stdout))
		return "";
	return state == FEATURE_OK	? "\033[32m" :
	       state == FEATURE_MISSING ? "\033[1;31m" :
					  "\033[33m";
}

static void print_text(bool can_run)
{
	const struct feature_answer *answer;
	const struct feature *feature;
	const char *color;
	size_t i;

	for (i = 0; (feature = features_at(i, &answer)); i++) {
		color = state_color(answer->state);
		printf("%s%-8s%s %-13s %s", color, state_word(answer->state),
		       *color ? "\033[0m" : "", feature->id, feature->description);
		if (answer->state == FEATURE_OK)
			printf(" (%s)\n", answer->detail);
		else
			printf("\n%22s why: %s\n", "", answer->detail);
		if (answer->mend[0])
			printf("%22s try: %s\n", "", answer->mend);
	}
	printf("\n%s\n", can_run ? "Profiling can run." : "Profiling cannot run.");
}

static void print_json(bool can_run)
{
	const struct feature_answer *answer;
	const struct feature *feature;
	size_t i;

	printf("{ \"can_run\": %s,\n  \"features\": [", can_run ? "true" : "false");
	for (i = 0; (feature = features_at(i, &answer)); i++) {
		printf("%s{ \"id\": ", i ? ",\n    " : "\n    ");
		json_text_string(stdout, feature->id);
		printf(", \"state\": \"%s\", \"required\": %s, \"description\": ",
		       state_word(answer->state), feature->required ? "true" : "false");
		json_text_string(stdout, feature->description);
		printf(", \"detail\": ");
		json_text_string(stdout, answer->detail);
		printf(", \"mend\": ");
		json_text_string_or_null(stdout, answer->mend[0] ? answer->mend : NULL);
		printf(" }");
	}
	printf("\n  ] }\n");
}

static int run(int argc, char **argv)
{
	struct doctor_arguments arguments = { 0 };
	int first, status;
	bool can_run;

	if (!command_parse(&command_doctor, argc, argv, &arguments, &first, &status))
		return status;
	if (first < argc)
		return usage_error("bpfprofil doctor", "doctor: takes no operand, not '%.128s'",
				   argv[first]);
	if (arguments.quick)
		features_hurry();
	can_run = !features_require(NULL);
	stdout_begin();
	if (arguments.format == DOCTOR_JSON)
		print_json(can_run);
	else
		print_text(can_run);
	status = stdout_end("doctor: standard output");
	return can_run ? status : EXIT_FAILURE;
}

static const struct command_example doctor_examples[] = {
	{ "can I profile here as this user?", "bpfprofil doctor" },
	{ "and with all privileges?", "sudo bpfprofil doctor" },
	{ 0 },
};

const struct command command_doctor = {
	.name = "doctor",
	.summary = "check whether profiling works on this host",
	.description =
		"Tries each kernel feature that profiling needs, and shows a way out for each "
		"that is missing. The exit status is 0 if profiling works, and 1 if not.",
	.groups = doctor_groups,
	.examples = doctor_examples,
	.run = run,
};
