// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Any bytes as a container runtime's answer about one container, or about all: accepted or refused.
 */
#include <stdlib.h>

#include "base/file.h"
#include "bytes.h"
#include "base/nearest.h"
#include "host/targets/runtimes.h"

typedef int (*parse)(struct json_reader *json, struct runtime_parse *parse);

static const parse parsers[] = { runtime_parse_docker, runtime_parse_cri, runtime_parse_oci };

static void check(parse parse, const void *data, size_t size, struct names *names)
{
	struct runtime_containers containers = { 0 };
	struct runtime_parse parsed = { .runtime = "fuzz",
					.name = "web",
					.containers = &containers,
					.names = names };
	struct input *in = fuzz_input(data, size);
	struct error err = { "", "" };
	struct json_reader *json = json_reader_new(in, &err);
	size_t i;

	if (parse(json, &parsed) < 0 || json_reader_end(json))
		fuzz_check_refusal(&err);
	for (i = 0; i < containers.nr; i++)
		fuzz_check(containers.list[i].id && containers.list[i].pid >= 0,
			   "a container has an id, and no negative pid");
	json_reader_free(json);
	input_close(in);
	runtime_containers_free(&containers);
}

/* The first byte selects the runtime. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct names names = { 0 };
	parse parse;

	if (!size)
		return 0;
	parse = parsers[*data % (sizeof(parsers) / sizeof(*parsers))];
	check(parse, data + 1, size - 1, NULL);
	check(parse, data + 1, size - 1, &names);
	names_nearest(&names, "web");
	names_free(&names);
	return 0;
}
