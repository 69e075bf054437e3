// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "agent/codes.h"

#include <stdio.h>
#include <string.h>

static const char *const words[CODES_NR] = {
	"none",	   "other",   "1xx",	 "2xx",	    "3xx",     "4xx",	  "5xx",     "200",
	"202",	   "204",     "301",	 "302",	    "303",     "307",	  "308",     "400",
	"401",	   "403",     "404",	 "405",	    "406",     "408",	  "411",     "413",
	"415",	   "422",     "429",	 "500",	    "501",     "502",	  "503",     "504",
	"grpc-0",  "grpc-1",  "grpc-2",	 "grpc-3",  "grpc-4",  "grpc-5",  "grpc-6",  "grpc-7",
	"grpc-8",  "grpc-9",  "grpc-10", "grpc-11", "grpc-12", "grpc-13", "grpc-14", "grpc-15",
	"grpc-16", "grpc-xx",
};

/* CODES_NR: it has no word of its own. */
static size_t find_word(const char *word)
{
	size_t i;

	for (i = 0; i < CODES_NR && strcmp(words[i], word) != 0; i++)
		;
	return i;
}

size_t code_number(long http, bool grpc, long status)
{
	char word[32] = "none";
	size_t number;

	if (grpc && http == 200)
		snprintf(word, sizeof(word), "grpc-%ld", status);
	else if (http)
		snprintf(word, sizeof(word), "%ld", http);
	number = find_word(word);
	if (number < CODES_NR)
		return number;
	if (grpc && http == 200)
		return find_word("grpc-xx");
	snprintf(word, sizeof(word), "%ldxx", http / 100);
	number = find_word(word);
	return number < CODES_NR ? number : find_word("other");
}

const char *code_word(size_t number)
{
	return words[number];
}
