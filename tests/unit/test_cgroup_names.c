// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* What people call a cgroup, by the labels of a profile. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows.h"
#include "sample.h"
#include "host/top/list.h"
#include "host/top/model.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void add(struct profile *profile, const char *cgroup, const char *key, const char *value)
{
	cr_assert_eq(profile_add_label(profile, cgroup, key, value), 0);
}

static void check(const struct cgroup_names *names, const char *cgroup, const char *wanted)
{
	const char *name = cgroup_names_find(names, cgroup);

	cr_expect(wanted ? name && !strcmp(name, wanted) : !name, "%s: %s", cgroup, name ?: "-");
}

Test(cgroup_names, of_labels)
{
	cleanup_profile struct profile *profile = profile_new();
	struct cgroup_names *names;

	add(profile, "/a/docker-" ID ".scope", "container.name", "web");
	add(profile, "/a/docker-" ID ".scope/init/x", "container.name", "web");
	add(profile, "/runc-db.scope", "container.name", "db");
	add(profile, "/db/below", "container.name", "db");
	add(profile, "/kubepods/pod1/" ID, "k8s.container.name", "nginx");
	add(profile, "/kubepods/pod1/" ID, "service.name", "not this");
	add(profile, "/kubepods/pod1/" ID, "k8s.pod.name", "web-0");
	add(profile, "/kubepods/pod1/" ID, "k8s.namespace.name", "shop");
	add(profile, "/kubepods/pod1", "k8s.pod.name", "web-0");
	add(profile, "/kubepods/pod1", "k8s.namespace.name", "shop");
	add(profile, "/b", "service.name", "nor this");
	add(profile, NULL, "container.name", "nobody");
	names = cgroup_names_new(profile);
	cr_assert_not_null(names);
	check(names, "/a/docker-" ID ".scope", "web");
	check(names, "/a/docker-" ID ".scope/init/x", "web/init/x");
	check(names, "/runc-db.scope", "db");
	check(names, "/db/below", "db/below");
	check(names, "/kubepods/pod1/" ID, "shop/web-0/nginx");
	check(names, "/kubepods/pod1", "shop/web-0");
	check(names, "/b", NULL);
	check(names, NULL, NULL);
	cgroup_names_free(names);
}

/* One container after the other may have a name, and rows must not look the same. */
Test(cgroup_names, same_name)
{
	cleanup_profile struct profile *profile = profile_new();
	struct cgroup_names *names;

	add(profile, "/docker/" ID, "container.name", "web");
	add(profile, "/docker/" OTHER, "container.name", "web");
	add(profile, "/docker/" OTHER "/x", "container.name", "web");
	names = cgroup_names_new(profile);
	cr_assert_not_null(names);
	check(names, "/docker/" ID, "web (/docker/" ID ")");
	check(names, "/docker/" OTHER, "web (/docker/" OTHER ")");
	check(names, "/docker/" OTHER "/x", "web/x");
	cgroup_names_free(names);
}

/* The name becomes known in the second interval; the row stays the same one. */
Test(cgroup_names, in_top)
{
	struct top_choice choice = { .by = TOP_CGROUPS, .filter = "web" };
	struct top_list list = { 0 };
	struct top_model model;
	struct profile *profile;
	int i;

	top_model_init(&model);
	for (i = 0; i < 2; i++) {
		profile = INTERVAL(0, { "/bin/a", "main", 0x10, 7, "a", "/docker/" ID, 60 });
		if (i)
			add(profile, "/docker/" ID, "container.name", "web");
		cr_assert_eq(top_model_add(&model, profile), 0);
		profile_free(profile);
		cr_assert_eq(top_list_choose(&list, &model, &choice), 0);
		cr_expect_eq(list.nr, (size_t)i);
	}
	cr_expect_eq(list.rows[0]->total, 120);
	cr_expect_str_eq(top_row_name(list.rows[0]), "web");
	cr_expect_str_eq(list.rows[0]->name, "/docker/" ID);
	top_list_free(&list);
	top_model_free(&model);
}
