// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * elfutils 0.192, as in Debian 13, has these calls in libdw.so and libelf.so, but not in libdw.a
 * and libelf.a. If later ones have them, theirs are used. A tree begins with its root. No lock is
 * needed, because a tree belongs to one open file, which one thread reads.
 */
#include <search.h>
#include <stddef.h>

struct search_tree {
	void *root;
};

typedef int compare_fn(const void *a, const void *b);
typedef void free_fn(void *node);

#define WEAK_CALL(type, call)                                                                      \
	type call;                                                                                 \
	__attribute__((weak)) type call

WEAK_CALL(void *, eu_tsearch(const void *key, struct search_tree *tree, compare_fn *compare))
{
	return tsearch(key, &tree->root, compare);
}

WEAK_CALL(void *, eu_tfind(const void *key, struct search_tree *tree, compare_fn *compare))
{
	return tfind(key, &tree->root, compare);
}

WEAK_CALL(void *, eu_tdelete(const void *key, struct search_tree *tree, compare_fn *compare))
{
	return tdelete(key, &tree->root, compare);
}

WEAK_CALL(void, eu_search_tree_init(struct search_tree *tree))
{
	tree->root = NULL;
}

WEAK_CALL(void, eu_tdestroy(struct search_tree *tree, free_fn *free_node))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}

WEAK_CALL(void, eu_search_tree_fini(struct search_tree *tree, free_fn *free_node))
{
	eu_tdestroy(tree, free_node);
}
