// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Who is in a cgroup, whether that is wanted, and what it is called. */
#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/choice.h"
#include "export/resource.h"
#include "sample.h"
#include "host/targets/container_names.h"
#include "test_file_fixture.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SANDBOX "e123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "11111111-2222-3333-4444-555555555555"
#define SLICE "kubepods-pod11111111_2222_3333_4444_555555555555.slice"
#define IN_POD "/kubepods.slice/" SLICE "/cri-containerd-" ID ".scope"

static void make_folder(const char *path)
{
	cr_assert_eq(mkdir(path, 0700), 0, "%s", path);
}

static void begin(void)
{
	folder_enter();
	make_folder("pods");
	make_folder("containers");
}

TestSuite(agent_names, .init = begin, .fini = folder_remove);

Test(agent_names, parts_of_paths)
{
	static const struct {
		const char *path, *container, *pod, *unit;
	} all[] = {
		{ IN_POD, ID, POD, "cri-containerd-" ID ".scope" },
		{ "/kubepods/burstable/pod" POD "/" ID, ID, POD, "" },
		{ "/kubepods/podabcdef0123456789abcdef0123456789/" ID, ID,
		  "abcdef0123456789abcdef0123456789", "" },
		{ "/system.slice/docker-" ID ".scope/init.scope", ID, "", "init.scope" },
		{ "/user.slice/pod1/x", "", "", "user.slice" },
		{ "", "", "", "" },
		{ NULL, "", "", "" },
	};
	struct cgroup_parts parts;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		cgroup_parts_find(all[i].path, &parts);
		cr_expect_str_eq(parts.container, all[i].container, "%zu", i);
		cr_expect_str_eq(parts.pod, all[i].pod, "%zu", i);
		cr_expect_str_eq(parts.unit, all[i].unit, "%zu", i);
	}
}

/* Whoever may make a directory could take the uid of another pod, and with that its names. */
Test(agent_names, pods_are_kubelets)
{
	static const struct {
		const char *path, *pod;
	} all[] = {
		{ "/docker/" OTHER "/kubelet/kubepods/burstable/pod" POD "/" ID, POD },
		{ "/system.slice/docker-" OTHER ".scope/kubelet.slice/kubelet-kubepods.slice/"
		  "kubelet-kubepods-burstable.slice/kubelet-" SLICE "/cri-containerd-" ID ".scope",
		  POD },
		{ "/system.slice/containerd.service/" SLICE ":cri-containerd:" ID, POD },
		{ "/kubepods/pod" POD "/" ID "/user.slice/user@1000.service/x", POD },
		{ "/user.slice/user-1000.slice/user@1000.service/evil-pod" POD "/" ID, "" },
		{ "/user.slice/user-1000.slice/user@1000.service/kubepods/pod" POD "/" ID, "" },
		{ "/user.slice/user@1000.service/" SLICE ":cri-containerd:" ID, "" },
		{ "/pod" POD "/" ID, "" },
		{ "/system.slice/my-pod" POD "/" ID, "" },
		{ "/mykubepods/pod" POD "/" ID, "" },
		{ "/kubepods/evilpod" POD "/" ID, "" },
		{ "/kubepods/pod" POD "evil/" ID, "" },
		{ "/kubepods/pod" POD ".evil/" ID, "" },
	};
	struct cgroup_parts parts;
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		cgroup_parts_find(all[i].path, &parts);
		cr_expect_str_eq(parts.pod, all[i].pod, "%zu", i);
		cr_expect(i == 3 || !strcmp(parts.container, ID), "%zu", i);
	}
	cgroup_parts_find("/user.slice/user@1000.service/user.slice/libpod-" ID ".scope", &parts);
	cr_expect(parts.is_users);
	cr_expect_str_eq(parts.container, ID);
	cgroup_parts_find("/docker/" ID "/user.slice/user@1000.service/" OTHER, &parts);
	cr_expect_not(parts.is_users);
	cr_expect_str_eq(parts.container, ID);
}

/* The kernel's programs do not read the front of such a path, where user@1000.service may be. */
Test(agent_names, paths_without_a_front)
{
	char path[2048] = "";
	struct cgroup_parts parts;
	size_t i;

	for (i = 0; i < 45; i++)
		strcat(path, "/a");
	strcat(path, "/kubepods/pod" POD "/" ID);
	cgroup_parts_find(path, &parts);
	cr_expect_str_eq(parts.pod, "");
	cr_expect(parts.is_users);
	cgroup_parts_find(path + strlen("/a"), &parts);
	cr_expect_str_eq(parts.pod, POD);
	path[0] = '\0';
	for (i = 0; i < 5; i++)
		snprintf(path + strlen(path), 256, "/%0200d", 0);
	strcat(path, "/kubepods/pod" POD "/" ID);
	cgroup_parts_find(path, &parts);
	cr_expect_str_eq(parts.pod, "");
	cr_expect_str_eq(parts.container, ID);
}

/* Another user's own podman has containers there, but root's runtimes have none. */
Test(agent_names, containers_of_users_have_no_names_of_root)
{
	static const char docker[] = "#!/bin/sh\necho " ID " web\n";
	struct container_names *names;
	char name[CONTAINER_NAME_MAX] = "", path[8192];
	struct error err = { 0 };
	FILE *file = fopen("docker", "we");

	cr_assert_not_null(file);
	fputs(docker, file);
	cr_assert_eq(fchmod(fileno(file), 0700), 0);
	cr_assert_eq(fclose(file), 0);
	cr_assert_not_null(getcwd(path, 4096));
	snprintf(path + strlen(path), 4096, ":%s", getenv("PATH"));
	setenv("PATH", path, 1);
	cr_assert_eq(container_names_open(CONTAINERS_FOR_A_WHILE, &names, &err), 0, "%s", err.text);
	container_names_wait(names, 60000);
	cr_expect(container_names_find(names, "/system.slice/docker-" ID ".scope", name));
	cr_expect_str_eq(name, "web");
	cr_expect(container_names_find(names, "/docker/" ID "/user@1000.service/" OTHER, name));
	cr_expect(!container_names_find(names, "/user.slice/user@1000.service/" ID, name) ||
		  geteuid());
	container_names_close(names);
}

static bool find(const char *cgroup, struct kubelet_names *names)
{
	struct cgroup_parts parts;

	cgroup_parts_find(cgroup, &parts);
	return kubelet_names_find(".", &parts, names);
}

/* Where kubelet makes no links to logs. */
Test(agent_names, only_container_of_a_pod)
{
	struct kubelet_names names;

	cr_assert_eq(rmdir("containers"), 0);
	cr_expect(!find(IN_POD, &names), "no folder yet");
	make_folder("pods/shop_web-0_99999999-2222-3333-4444-555555555555");
	make_folder("pods/shop_web-0_" POD);
	cr_expect(!find(IN_POD, &names), "no container yet");
	cr_expect_str_eq(names.pod, "web-0");
	make_folder("pods/shop_web-0_" POD "/nginx");
	cr_expect(find(IN_POD, &names));
	cr_expect_str_eq(names.namespace, "shop");
	cr_expect_str_eq(names.container, "nginx");
	cr_expect(find("/kubepods/pod" POD, &names), "the pod's own cgroup");
	cr_expect_str_eq(names.container, "");
}

Test(agent_names, one_of_several_containers)
{
	struct kubelet_names names;

	make_folder("pods/shop_web-0_" POD);
	make_folder("pods/shop_web-0_" POD "/nginx");
	make_folder("pods/shop_web-0_" POD "/envoy");
	cr_expect(!find(IN_POD, &names));
	cr_expect_str_eq(names.container, "");
	make_folder("containers/web-0_shop_nginx-" OTHER ".log");
	make_folder("containers/web-0_shop_envoy-" ID ".log");
	cr_expect(find(IN_POD, &names));
	cr_expect_str_eq(names.container, "envoy");
}

/* Kubelet makes the folder of a container's logs while only the pod's sandbox runs. */
Test(agent_names, a_sandbox_has_no_container)
{
	struct kubelet_names names;

	make_folder("pods/shop_web-0_" POD);
	make_folder("pods/shop_web-0_" POD "/nginx");
	cr_expect_not(find("/kubepods/pod" POD "/" SANDBOX, &names));
	cr_expect_str_eq(names.pod, "web-0");
	cr_expect_str_eq(names.container, "");
	cr_expect_not(find(IN_POD, &names), "not yet");
	cr_expect_str_eq(names.container, "");
	make_folder("containers/web-0_shop_nginx-" ID ".log");
	cr_expect_not(find("/kubepods/pod" POD "/" SANDBOX, &names));
	cr_expect_str_eq(names.container, "");
	cr_expect(find(IN_POD, &names));
	cr_expect_str_eq(names.container, "nginx");
}

Test(agent_names, names_that_no_one_gave)
{
	struct kubelet_names names;

	make_folder("pods/sh\nop_web-0_" POD);
	make_folder("pods/_web_" POD);
	make_folder("pods/shop__" POD);
	make_folder("pods/shop_a\"b_" POD);
	make_folder("pods/" POD);
	cr_expect(!find(IN_POD, &names));
	cr_expect_str_eq(names.namespace, "");
	cr_expect_str_eq(names.pod, "");
	make_folder("pods/shop_web-0_" POD);
	cr_assert_eq(rmdir("containers"), 0);
	make_folder("pods/shop_web-0_" POD "/UPPER");
	cr_expect(!find(IN_POD, &names));
	cr_expect_str_eq(names.container, "");
}

static enum space_state decide(const struct choice_rule *rules, size_t nr, const char *cgroup)
{
	struct agent_choice choice = { .rules = rules, .nr_rules = nr };
	struct error err = { 0 };
	enum space_state told;

	cr_assert_eq(identities_open(".", &choice.identities, &err), 0, "%s", err.text);
	told = choice_decide(&choice, cgroup);
	identities_close(choice.identities);
	return told;
}

Test(agent_names, whose_ticks_are_wanted)
{
	static const struct choice_rule shop = { CHOICE_NAMESPACE, "shop*", false };
	static const struct choice_rule not_envoy = { CHOICE_CONTAINER, "envoy", true };
	static const struct choice_rule ssh = { CHOICE_UNIT, "ssh*", false };
	static const struct choice_rule user = { CHOICE_CGROUP, "/user.slice*", true };
	const struct choice_rule both[] = { shop, not_envoy }, units[] = { ssh, user };

	/* It is not known yet, so there is no answer to keep. */
	cr_expect_eq(decide(both, 2, IN_POD), SPACE_ANNOUNCED);
	make_folder("pods/shop-a_web-0_" POD);
	cr_expect_eq(decide(both, 2, IN_POD), SPACE_ANNOUNCED);
	make_folder("containers/web-0_shop-a_nginx-" ID ".log");
	cr_expect_eq(decide(both, 2, IN_POD), SPACE_WANTED);
	cr_expect_eq(decide(&not_envoy, 1, IN_POD), SPACE_WANTED);
	cr_expect_eq(decide(both, 2, "/system.slice/ssh.service"), SPACE_FILTERED);
	cr_assert_eq(rmdir("containers/web-0_shop-a_nginx-" ID ".log"), 0);
	make_folder("containers/web-0_shop-a_envoy-" ID ".log");
	cr_expect_eq(decide(both, 2, IN_POD), SPACE_FILTERED);
	cr_expect_eq(decide(units, 2, "/system.slice/ssh.service/inner"), SPACE_WANTED);
	cr_expect_eq(decide(units, 2, "/user.slice/a/ssh.service"), SPACE_FILTERED);
	cr_expect_eq(decide(units, 2, "/system.slice/sshd/x"), SPACE_FILTERED);
	cr_expect_eq(decide(&user, 1, "/"), SPACE_WANTED);
}

/* Each rule waits for its own name only. */
Test(agent_names, what_a_rule_waits_for)
{
	static const struct choice_rule shop = { CHOICE_NAMESPACE, "shop*", false };
	static const struct choice_rule not_shop = { CHOICE_NAMESPACE, "shop*", true };
	static const struct choice_rule api = { CHOICE_POD, "api-*", false };
	static const struct choice_rule nginx = { CHOICE_CONTAINER, "nginx", false };
	static const struct choice_rule not_envoy = { CHOICE_CONTAINER, "envoy", true };
	const struct choice_rule both[] = { shop, not_envoy }, two[] = { shop, nginx };
	const char *docker = "/system.slice/docker-" ID ".scope";
	const char *sandbox = "/kubepods/pod" POD "/" SANDBOX;

	cr_expect_eq(decide(&shop, 1, docker), SPACE_FILTERED);
	cr_expect_eq(decide(&not_shop, 1, docker), SPACE_WANTED);
	cr_expect_eq(decide(both, 2, docker), SPACE_FILTERED);
	cr_expect_eq(decide(&not_envoy, 1, docker), SPACE_ANNOUNCED);
	cr_expect_eq(decide(&shop, 1, sandbox), SPACE_ANNOUNCED, "no folder yet");
	make_folder("pods/payments_api-0_" POD);
	make_folder("pods/payments_api-0_" POD "/nginx");
	make_folder("pods/payments_api-0_" POD "/envoy");
	cr_expect_eq(decide(&shop, 1, sandbox), SPACE_FILTERED);
	cr_expect_eq(decide(&not_shop, 1, sandbox), SPACE_WANTED);
	cr_expect_eq(decide(&api, 1, sandbox), SPACE_WANTED);
	cr_expect_eq(decide(both, 2, sandbox), SPACE_FILTERED);
	cr_expect_eq(decide(two, 2, sandbox), SPACE_ANNOUNCED);
	cr_expect_eq(decide(&not_envoy, 1, "/kubepods/pod" POD), SPACE_WANTED, "the pod's own");
}

Test(agent_names, no_name_is_waited_for_for_good)
{
	const struct choice_rule rules[] = { { CHOICE_CONTAINER, "nginx", false },
					     { CHOICE_NAMESPACE, "shop*", true } };
	struct agent_choice choice = { .rules = rules, .nr_rules = 2 };
	struct error err = { 0 };

	cr_assert_eq(identities_open(".", &choice.identities, &err), 0, "%s", err.text);
	cr_expect_eq(choice_decide(&choice, IN_POD), SPACE_ANNOUNCED);
	identities_set_patience(choice.identities, 0);
	cr_expect_eq(choice_decide(&choice, IN_POD), SPACE_FILTERED);
	choice.rules++;
	choice.nr_rules--;
	cr_expect_eq(choice_decide(&choice, IN_POD), SPACE_WANTED);
	identities_close(choice.identities);
}

Test(agent_names, rules_hold_for_any_number_of_cgroups)
{
	const struct choice_rule rules[] = { { CHOICE_NAMESPACE, "shop", true },
					     { CHOICE_CGROUP, "/n/9999", true } };
	struct agent_choice choice = { .rules = rules, .nr_rules = 2 };
	struct error err = { 0 };
	char path[32];
	int i;

	make_folder("pods/shop_web-0_" POD);
	cr_assert_eq(identities_open(".", &choice.identities, &err), 0, "%s", err.text);
	for (i = 0; i < 10000; i++) {
		snprintf(path, sizeof(path), "/n/%d", i);
		cr_assert_eq(choice_decide(&choice, path),
			     i == 9999 ? SPACE_FILTERED : SPACE_WANTED, "%s", path);
	}
	cr_expect_eq(choice_decide(&choice, IN_POD), SPACE_FILTERED);
	choice.rules = &(const struct choice_rule){ CHOICE_CONTAINER, "envoy", true };
	choice.nr_rules = 1;
	cr_expect_eq(choice_decide(&choice, "/docker/" ID), SPACE_WANTED, "no room, so no wait");
	/* Those that neither of two profiles had make room. */
	identities_end_interval(choice.identities);
	identities_end_interval(choice.identities);
	cr_expect_eq(choice_decide(&choice, "/docker/" ID), SPACE_ANNOUNCED);
	identities_close(choice.identities);
}

/* A profile whose only split is of that cgroup. */
static struct profile *profile_of(const char *cgroup)
{
	struct profile *profile = sample_profile();

	profile->splits = calloc(1, sizeof(*profile->splits));
	profile->splits[0] = (struct profile_split){ .target = 1, .cgroup = strdup(cgroup) };
	profile->nr_splits = 1;
	return profile;
}

static const char *label_of(const struct profile *profile, const char *key)
{
	size_t i;

	for (i = 0; i < profile->nr_labels; i++)
		if (!strcmp(profile->labels[i].key, key))
			return profile->labels[i].value;
	return "";
}

/* A Job's pod may be deleted long before the profile is made. */
Test(agent_names, pods_that_are_gone)
{
	cleanup_profile struct profile *profile = profile_of(IN_POD);
	struct agent_choice choice = { 0 };
	struct error err = { 0 };
	struct pollfd again = { .events = POLLIN };

	make_folder("pods/shop_job-0_" POD);
	cr_assert_eq(identities_open(".", &choice.identities, &err), 0, "%s", err.text);
	again.fd = identities_fd(choice.identities);
	cr_expect_eq(poll(&again, 1, 0), 0);
	cr_expect(choice_look_up(&choice, IN_POD), "there may be a link soon");
	make_folder("containers/job-0_shop_task-" ID ".log");
	cr_assert_eq(poll(&again, 1, -1), 1);
	identities_look_again(choice.identities);
	cr_expect_not(choice_look_up(&choice, IN_POD));
	cr_expect_not(choice_look_up(&choice, "/system.slice/ssh.service"));
	cr_assert_eq(rmdir("containers/job-0_shop_task-" ID ".log"), 0);
	cr_assert_eq(rmdir("pods/shop_job-0_" POD), 0);
	cr_assert_eq(choice_label(&choice, profile), 0);
	cr_expect_str_eq(label_of(profile, "k8s.namespace.name"), "shop");
	cr_expect_str_eq(label_of(profile, "k8s.pod.name"), "job-0");
	cr_expect_str_eq(label_of(profile, "k8s.container.name"), "task");
	identities_close(choice.identities);
}

static void look_when_due(struct identities *identities)
{
	struct pollfd again = { .fd = identities_fd(identities), .events = POLLIN };

	cr_assert_eq(poll(&again, 1, 60000), 1);
	identities_look_again(identities);
}

/* One that is met while another waits is looked up again too. */
Test(agent_names, pods_that_are_gone_one_after_the_other)
{
	const char *other = "/kubepods/pod" POD "/" OTHER;
	struct identities *identities;
	struct error err = { 0 };

	make_folder("pods/shop_job-0_" POD);
	cr_assert_eq(identities_open(".", &identities, &err), 0, "%s", err.text);
	identities_find(identities, IN_POD);
	usleep(300000);
	identities_find(identities, other);
	look_when_due(identities);
	make_folder("containers/job-0_shop_late-" OTHER ".log");
	look_when_due(identities);
	cr_assert_eq(rmdir("containers/job-0_shop_late-" OTHER ".log"), 0);
	cr_expect_str_eq(identities_find(identities, other)->names.container, "late");
	identities_close(identities);
}

/* A busy node's kubelet makes the link some seconds late. */
Test(agent_names, links_that_come_late)
{
	struct identities *identities;
	struct error err = { 0 };

	make_folder("pods/shop_job-0_" POD);
	cr_assert_eq(identities_open(".", &identities, &err), 0, "%s", err.text);
	identities_find(identities, IN_POD);
	look_when_due(identities);
	make_folder("containers/job-0_shop_task-" ID ".log");
	look_when_due(identities);
	cr_assert_eq(rmdir("containers/job-0_shop_task-" ID ".log"), 0);
	cr_expect_str_eq(identities_find(identities, IN_POD)->names.container, "task");
	identities_close(identities);
}

/* A sandbox is looked up for a name until the pod's folder may be gone, which tells it no more. */
Test(agent_names, what_was_known_of_a_pod)
{
	const char *sandbox = "/kubepods/pod" POD "/" SANDBOX;
	struct identities *identities;
	struct error err = { 0 };

	make_folder("pods/shop_job-0_" POD);
	cr_assert_eq(identities_open(".", &identities, &err), 0, "%s", err.text);
	cr_expect_str_eq(identities_find(identities, sandbox)->names.pod, "job-0");
	cr_assert_eq(rmdir("pods/shop_job-0_" POD), 0);
	cr_expect_str_eq(identities_find(identities, sandbox)->names.pod, "job-0");
	cr_expect_str_eq(identities_find(identities, sandbox)->names.namespace, "shop");
	/* One that is met only now, as it ends. */
	cr_expect_str_eq(identities_find(identities, IN_POD)->names.pod, "job-0");
	cr_expect_str_eq(identities_find(identities, IN_POD)->names.container, "");
	cr_expect_str_eq(identities_find(identities, "/kubepods/pod66666666-2222-3333-4444-"
						     "555555555555/" ID)
				 ->names.pod,
			 "");
	identities_close(identities);
}

/* The name of the service of such a profile, labelled. */
static void name(const char *template, const char *cgroup, char ret[256])
{
	cleanup_profile struct profile *profile = profile_of(cgroup);
	struct agent_choice choice = { .service = template,
				       .labels = { { "team", "a\"b" } },
				       .nr_labels = 1 };
	struct samples samples = { 0 };
	struct sample_service service = { .target = 1, .cgroup = cgroup };
	struct resource resource;
	struct error err = { 0 };
	size_t i;
	bool team = false;

	cr_assert_eq(identities_open(".", &choice.identities, &err), 0, "%s", err.text);
	cr_assert_eq(choice_label(&choice, profile), 0);
	cr_assert_eq(samples_build(&samples, profile,
				   &(struct export_options){ .target = EXPORT_ALL_TARGETS }, &err),
		     0);
	cr_assert_eq(resource_of(&resource, &samples, &service), 0);
	cr_expect_str_eq(resource.all[0].key, "service.name");
	snprintf(ret, 256, "%s", resource.texts.all[resource.all[0].value]);
	for (i = 0; i < resource.nr; i++)
		team = team || (!strcmp(resource.all[i].key, "team") &&
				!strcmp(resource.texts.all[resource.all[i].value], "a\"b"));
	cr_expect(team);
	resource_free(&resource);
	samples_free(&samples);
	identities_close(choice.identities);
}

Test(agent_names, services)
{
	char got[256];

	make_folder("pods/shop_web-0_" POD);
	name(NULL, IN_POD, got);
	cr_expect_str_eq(got, "shop/web-0");
	make_folder("containers/web-0_shop_nginx-" ID ".log");
	name(NULL, IN_POD, got);
	cr_expect_str_eq(got, "shop/nginx");
	name("{host}:{pod}", IN_POD, got);
	cr_expect(strstr(got, ":web-0"), "%s", got);
	name("{pod}", "/system.slice/ssh.service", got);
	cr_expect_str_eq(got, "ssh.service");
	name(NULL, "/system.slice/docker-" ID ".scope", got);
	cr_expect_str_eq(got, "0123456789ab");
	name("x{cgroup}", "/a/b", got);
	cr_expect_str_eq(got, "x/a/b");
	name(NULL, "/lxc.payload.db/system.slice/x.service", got);
	cr_expect_str_eq(got, "db");
	/* Whoever is in a container may make any name below it. */
	name(NULL, "/lxc.payload.web/lxc.payload.db", got);
	cr_expect_str_eq(got, "web");
	/* A user's container has no name of root's. */
	name(NULL, "/user.slice/user@1000.service/lxc.payload.db/y.service", got);
	cr_expect_str_eq(got, "y.service");
}

/* Not the long id, which no one could look for, and which is another one after each restart. */
Test(agent_names, services_of_unnamed_containers)
{
	char got[256];

	make_folder("pods/shop_web-0_" POD);
	name(NULL, "/kubepods/pod" POD "/" SANDBOX, got);
	cr_expect_str_eq(got, "shop/web-0");
	name("{namespace}-{container}", "/kubepods/pod" POD "/" SANDBOX, got);
	cr_expect_str_eq(got, "shop/web-0");
	cr_assert_eq(rmdir("pods/shop_web-0_" POD), 0);
	name(NULL, "/kubepods/pod" POD "/" SANDBOX, got);
	cr_expect_str_eq(got, "e123456789ab");
	name("{container}", "/system.slice/docker-" ID ".scope", got);
	cr_expect_str_eq(got, "0123456789ab");
	make_folder("pods/shop_web-0_" POD);
	name("{namespace}", "/kubepods/pod" POD "/" SANDBOX, got);
	cr_expect_str_eq(got, "shop");
}

Test(agent_names, templates)
{
	static const char *const wrong[] = { "", "{", "{}", "{units}", "{unit", "a{host}{Pod}" };
	const char *why = NULL;
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect(choice_check_template(wrong[i], &why), "%s", wrong[i]);
	cr_expect_eq(choice_check_template("a}{host}-{unit}{pod}", &why), 0);
}

static void put_below(const char *folder, const char *name, const char *text)
{
	char path[256], command[256];

	snprintf(command, sizeof(command), "mkdir -p ./%s", folder);
	cr_assert_eq(system(command), 0);
	snprintf(path, sizeof(path), "./%s/%s", folder, name);
	folder_put(path, text);
}

static void assert_file_name(const char *id, const char *wanted)
{
	char name[CONTAINER_NAME_MAX] = "";
	bool found = container_files_find(".", id, name);

	cr_expect_eq(found, wanted != NULL, "%s", name);
	if (wanted && found)
		cr_expect_str_eq(name, wanted);
}

Test(agent_names, files_of_docker)
{
	put_below("var/lib/docker/containers/" ID, "config.v2.json",
		  "{\"State\":{\"Name\":\"no\"},\"ID\":\"" ID
		  "\",\"Name\":\"/web\",\"Driver\":\"x\"}");
	put_below("mnt/big/containers/" OTHER, "config.v2.json", "{\"Name\":\"/other\"}");
	assert_file_name(ID, "web");
	assert_file_name(OTHER, NULL);
	put_below("etc/docker", "daemon.json", "{\"debug\":true,\"data-root\":\"/mnt/big\"}");
	assert_file_name(OTHER, "other");
	assert_file_name(ID, NULL);
	put_below("mnt/big/containers/" OTHER, "config.v2.json", "{\"Name\":\"/--help\"}");
	assert_file_name(OTHER, NULL);
	put_below("mnt/big/containers/" OTHER, "config.v2.json", "{\"Name\":\"/half");
	assert_file_name(OTHER, NULL);
}

Test(agent_names, files_of_podman)
{
	put_below("var/lib/containers/storage/overlay-containers", "containers.json",
		  "[{\"id\":\"" SANDBOX "\",\"names\":null},"
		  "{\"names\":[\"first\",\"db\"],\"id\":\"" ID "\",\"flags\":{\"id\":\"x\"}}]");
	put_below("var/lib/containers/storage/vfs-containers", "volatile-containers.json",
		  "[{\"id\":\"" OTHER "\",\"names\":[\"passing\"]}]");
	assert_file_name(ID, "db");
	assert_file_name(OTHER, "passing");
	assert_file_name(SANDBOX, NULL);
}
