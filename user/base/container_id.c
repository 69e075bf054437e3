// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "base/container_id.h"

#include <string.h>

#define DIGITS "0123456789abcdef"
#define MONITOR "conmon"
#define SCOPE ".scope"

bool container_id_is_prefix(const char *text)
{
	size_t length = strlen(text);

	return length && length <= CONTAINER_ID_LENGTH && strspn(text, DIGITS) == length;
}

bool container_id_is_full(const char *id)
{
	return strlen(id) == CONTAINER_ID_LENGTH && container_id_is_prefix(id);
}

/* The length without ".scope". */
static size_t bare_length(const char *directory)
{
	size_t length = strlen(directory), scope = strlen(SCOPE);

	if (length > scope && !strcmp(directory + length - scope, SCOPE))
		return length - scope;
	return length;
}

/* Whether this may come before an id: nothing, or words that end in - or : */
static bool may_precede(const char *directory, size_t length)
{
	size_t monitor = strlen(MONITOR);

	if (!length)
		return true;
	length--;
	if (!length || (directory[length] != '-' && directory[length] != ':'))
		return false;
	return length < monitor || strncmp(directory + length - monitor, MONITOR, monitor) != 0;
}

const char *container_id_in(const char *directory)
{
	size_t length = bare_length(directory), at = length - CONTAINER_ID_LENGTH;

	if (length < CONTAINER_ID_LENGTH || strspn(directory + at, DIGITS) < CONTAINER_ID_LENGTH)
		return NULL;
	return may_precede(directory, at) ? directory + at : NULL;
}

bool container_id_names(const char *id, const char *directory)
{
	size_t length = bare_length(directory), wanted = strlen(id);

	if (!wanted || length < wanted)
		return false;
	return !strncmp(directory + length - wanted, id, wanted) &&
	       may_precede(directory, length - wanted);
}

const char *container_name_bare(const char *typed)
{
	size_t runtime = strspn(typed, "abcdefghijklmnopqrstuvwxyz-");

	return runtime && !strncmp(typed + runtime, "://", 3) ? typed + runtime + 3 : typed;
}

bool container_name_is_valid(const char *name)
{
	static const char first[] =
		"0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char rest[] =
		"0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-";

	return *name && strchr(first, *name) && !name[strspn(name, rest)];
}
