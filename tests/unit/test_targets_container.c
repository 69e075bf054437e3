// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "child.h"
#include "base/cgroup_parts.h"
#include "test_targets_fixture.h"

#define ID_A "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_B "0123456789abcdff0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_TAIL "23456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID_C "c0ffee6789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void check_id(const char *directory, bool expected)
{
	const char *id = container_id_in(directory);

	cr_expect_eq(!!id, expected, "%s", directory);
	if (id)
		cr_expect_eq(strncmp(id, ID_A, 64), 0, "%s", directory);
	cr_expect_eq(container_id_names(ID_A, directory), expected, "%s", directory);
}

Test(container_id, directories)
{
	check_id(ID_A, true);
	check_id("docker-" ID_A ".scope", true);
	check_id("libpod-" ID_A ".scope", true);
	check_id("libpod-" ID_A, true);
	check_id("libpod-payload-" ID_A, true);
	check_id("crio-" ID_A ".scope", true);
	check_id("crio-" ID_A, true);
	check_id("nerdctl-" ID_A ".scope", true);
	check_id("cri-containerd-" ID_A ".scope", true);
	check_id("kubepods-burstable-pod1c.slice:cri-containerd:" ID_A, true);
}

Test(container_id, lookalikes)
{
	check_id("", false);
	check_id(".scope", false);
	check_id("libpod-conmon-" ID_A ".scope", false);
	check_id("crio-conmon-" ID_A ".scope", false);
	check_id("crio-conmon-" ID_A, false);
	check_id("conmon-" ID_A, false);
	check_id(ID_A ".service", false);
	check_id(ID_A "-4f2.service", false);
	check_id("var-lib-docker-overlay2-" ID_A "-merged.mount", false);
	check_id("docker-" ID_A ".slice", false);
	check_id("docker" ID_A, false);
	check_id("-" ID_A, false);
	check_id("0" ID_A, false);
	check_id(ID_A "0", false);
	check_id("docker-123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde.scope",
		 false);
	check_id("docker-0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef", false);
}

Test(container_id, other_ids)
{
	cr_expect(container_id_names("c1", "c1"));
	cr_expect(container_id_names("c1", "runc-c1.scope"));
	cr_expect_not(container_id_names("c1", "c12"));
	cr_expect_not(container_id_names("c1", "abc1"));
	cr_expect_not(container_id_names("c1", "libpod-conmon-c1.scope"));
	cr_expect_not(container_id_names("", "c1"));
}

Test(container_id, names)
{
	cr_expect(container_name_is_valid("web"));
	cr_expect(container_name_is_valid("web_1.a-b+c"));
	cr_expect_not(container_name_is_valid(""));
	cr_expect_not(container_name_is_valid("-v"));
	cr_expect_not(container_name_is_valid("--help"));
	cr_expect_not(container_name_is_valid("a b"));
	cr_expect_not(container_name_is_valid("a\n"));
	cr_expect_not(container_name_is_valid("../x"));
	cr_expect_not(container_name_is_valid("$(id)"));
	cr_expect_not(container_name_is_valid("\xff"));
}

Test(container_id, as_kubernetes_prints_it)
{
	cr_expect_str_eq(container_name_bare("docker://" ID_A), ID_A);
	cr_expect_str_eq(container_name_bare("cri-o://" ID_A), ID_A);
	cr_expect_str_eq(container_name_bare("web"), "web");
	cr_expect_str_eq(container_name_bare("://web"), "://web");
	cr_expect_str_eq(container_name_bare("docker:/web"), "docker:/web");
	cr_expect_str_eq(container_name_bare("a://b://c"), "b://c");
}

#define ADD(host, name) targets_add_container(&(host)->targets, name, &(host)->err)

static void v2(struct host *host)
{
	host_begin(host);
	host_mount(host, "cg", NULL, "/");
}

#define PAYLOAD_A "cg/machine.slice/libpod-" ID_A ".scope"

/* podman puts the payload into a cgroup below its own directory, and its monitor beside it. */
FIXTURE_TEST(host, v2, targets_container, top_of_it)
{
	host_cgroup(host, "cg/machine.slice/libpod-conmon-" ID_A ".scope", "6\n");
	host_cgroup(host, PAYLOAD_A "/container/init.scope", "7\n");
	host_ready(host);
	host_expect(host, ADD(host, ID_A), PAYLOAD_A, "");
	cr_expect_str_eq(host->targets.list[0].name, ID_A);
}

FIXTURE_TEST(host, v2, targets_container, container_in_a_container)
{
	host_cgroup(host, "cg/docker/" ID_A, "6\n");
	host_cgroup(host, "cg/docker/" ID_A "/docker/" ID_C, "7\n");
	host_ready(host);
	host_expect(host, ADD(host, "c0ffee6789ab"), "cg/docker/" ID_A "/docker/" ID_C, "");
}

/* LXC's have their names in their directories. A user may give the same name, but not instead of root's. */
FIXTURE_TEST(host, v2, targets_container, of_lxc)
{
	host_cgroup(host, "cg/lxc.monitor.db", "5\n");
	host_cgroup(host, "cg/lxc.payload.db/system.slice/x.service", "6\n");
	host_cgroup(host, "cg/lxc.payload.a/user.slice/user@1000.service/lxc.payload.db", "7\n");
	host_cgroup(host, "cg/docker/" ID_A "/lxc.payload.db", "7\n");
	host_cgroup(host, "cg/user.slice/user@1000.service/lxc.payload.db", "7\n");
	host_cgroup(host, "cg/user.slice/user@1000.service/lxc.payload.two", "9\n");
	host_cgroup(host, "cg/user.slice/user@1001.service/lxc.payload.two", "10\n");
	host_ready(host);
	host_expect_error(host, ADD(host, "two"), -ENOTUNIQ,
			  "--container 'two': /user.slice/user@1000.service/lxc.payload.two and "
			  "/user.slice/user@1001.service/lxc.payload.two have this name",
			  "--cgroup /user.slice/user@1000.service/lxc.payload.two");
	host_expect_error(host, ADD(host, "dbx"), -ENOENT,
			  "--container 'dbx': no running container of that name or id",
			  "--container db");
	/* Names of hexadecimal digits are names first. */
	host_cgroup(host, "cg/docker/db" ID_TAIL, "11\n");
	host_expect(host, ADD(host, "db"), "cg/lxc.payload.db", "");
}

FIXTURE_TEST(host, v2, targets_container, of_a_users_lxc)
{
	host_cgroup(host, "cg/user.slice/user@1000.service/lxc.payload.mine", "8\n");
	host_ready(host);
	host_expect(host, ADD(host, "mine"), "cg/user.slice/user@1000.service/lxc.payload.mine",
		    "");
}

FIXTURE_TEST(host, v2, targets_container, beginning_of_an_id)
{
	host_cgroup(host, "cg/docker/" ID_A, "6\n");
	host_cgroup(host, "cg/docker/" ID_B, "7\n");
	host_cgroup(host, "cg/docker/" ID_C, "8\n");
	host_ready(host);
	host_expect_error(host, ADD(host, "0123456789abc"), -ENOTUNIQ,
			  "--container '0123456789abc': 2 containers' ids begin so: "
			  "0123456789abcdef, 0123456789abcdff",
			  "--container with more of the id");
	/* A short id: there is no runtime that could know it as a name. */
	host_expect_error(host, ADD(host, "0"), -ENOTUNIQ,
			  "--container '0': 2 containers' ids begin so: 0123456789abcdef, "
			  "0123456789abcdff",
			  "--container with more of the id");
	host_expect(host, ADD(host, "c0"), "cg/docker/" ID_C, "");
	host_expect(host, ADD(host, "docker://" ID_C), "cg/docker/" ID_C, "");
	host_expect_error(host, ADD(host, "docker://--all"), -EINVAL,
			  "--container 'docker://--all': must be a name, or an id or its beginning",
			  "");
}

/*
 * An older runc on a hybrid host does not use version 2, or makes a directory but moves nobody
 * there.
 */
FIXTURE_TEST(host, v2, targets_container, hybrid)
{
	host_mount(host, "systemd", "rw,name=systemd", "/");
	host_mount(host, "memory", "rw,memory", "/");
	host_cgroup(host, "cg/docker/" ID_A, "");
	host_cgroup(host, "systemd/docker/" ID_A, "6\n");
	host_cgroup(host, "memory/docker/" ID_A, "6\n");
	host_ready(host);
	host_expect(host, ADD(host, ID_A), "memory/docker/" ID_A, "memory");
}

FIXTURE_TEST(host, v2, targets_container, no_names_that_are_options)
{
	host_program(host, "docker", "touch \"$0.ran\"\n");
	host_ready(host);
	host_expect_error(host, ADD(host, "--all"), -EINVAL,
			  "--container '--all': must be a name, or an id or its beginning", "");
	cr_expect(fopen(host_path("bin/docker.ran", host), "re") == NULL);
}

#define DOCKER(name, id, running, pid)                                                             \
	"[ \"$*\" = 'inspect --type container -- " name "' ] ||\n"                                 \
	"	{ echo \"Error: No such object: $5\" >&2; exit 1; }\n"                                   \
	"echo '[ { \"Id\": \"" id "\", \"Created\": null, \"Name\": \"/" name "\",\n"              \
	"	\"State\": { \"Status\": \"x\", \"Running\": " running ", \"Pid\": " pid           \
	" } } ]'\n"

FIXTURE_TEST(host, v2, targets_container, by_name)
{
	host_cgroup(host, "cg/docker/" ID_A, "6\n");
	host_cgroup(host, "cg/docker/" ID_C, "7\n");
	host_program(host, "docker", DOCKER("web", ID_C, "true", "7"));
	host_ready(host);
	host_expect(host, ADD(host, "web"), "cg/docker/" ID_C, "");
	cr_expect_str_eq(host->targets.list[0].name, "web");
}

/* For docker what is typed is a name first, however much it looks like an id. */
FIXTURE_TEST(host, v2, targets_container, name_like_an_id)
{
	host_cgroup(host, "cg/docker/" ID_A, "6\n");
	host_cgroup(host, "cg/docker/" ID_C, "7\n");
	host_program(host, "docker", DOCKER("c0ffee", ID_A, "true", "6"));
	host_ready(host);
	host_expect(host, ADD(host, "c0ffee"), "cg/docker/" ID_A, "");
}

FIXTURE_TEST(host, v2, targets_container, not_running)
{
	host_program(host, "podman", DOCKER("web", ID_C, "false", "0"));
	host_ready(host);
	host_expect_error(host, ADD(host, "web"), -ESRCH,
			  "--container 'web': not running, says podman", "");
}

/* The runtime was told where to put it, so no directory has the id; and the mount is hybrid. */
FIXTURE_TEST(host, v2, targets_container, by_its_first_process)
{
	host_mount(host, "memory", "rw,memory", "/");
	host_cgroup(host, "cg/user.slice", "41\n");
	host_cgroup(host, "memory/jobs/runc-c1.scope/inner", "42\n");
	host_file(host, "proc/42/cgroup", "4:memory:/jobs/runc-c1.scope/inner\n0::/user.slice\n");
	host_file(host, "proc/42/status", "Name:\tsh\nPPid:\t41\n");
	host_file(host, "proc/41/cgroup", "4:memory:/\n0::/user.slice\n");
	host_program(host, "runc",
		     "[ \"$*\" = 'state -- c1' ] ||\n"
		     "	{ echo 'container does not exist' >&2; exit 1; }\n"
		     "echo '{ \"ociVersion\": \"1\", \"id\": \"c1\", \"pid\": 42,\n"
		     "	\"status\": \"running\", \"bundle\": \"/x\" }'\n");
	host_ready(host);
	host_expect(host, ADD(host, "c1"), "memory/jobs/runc-c1.scope", "memory");
}

FIXTURE_TEST(host, v2, targets_container, without_a_cgroup_of_its_own)
{
	host_cgroup(host, "cg/user.slice", "41\n42\n");
	host_file(host, "proc/42/cgroup", "0::/user.slice\n");
	host_file(host, "proc/42/status", "Name:\tsh\nPPid:\t41\n");
	host_file(host, "proc/41/cgroup", "0::/user.slice\n");
	host_program(host, "docker", DOCKER("web", ID_C, "true", "42"));
	host_ready(host);
	host_expect_error(host, ADD(host, "web"), -ENOENT,
			  "--container 'web': docker gave it no cgroup of its own, by which its "
			  "processes could be told from others",
			  "--pid 42");
}

/* In a cgroup namespace of our own, other containers are beside what the mount shows. */
FIXTURE_TEST(host, v2, targets_container, beside_our_own)
{
	host_file(host, "proc/42/cgroup", "0::/../" ID_C "\n");
	host_file(host, "proc/42/status", "Name:\tsh\nPPid:\t41\n");
	host_file(host, "proc/41/cgroup", "0::/../../system.slice/docker.service\n");
	host_program(host, "docker", DOCKER("web", ID_C, "true", "42"));
	host_ready(host);
	host_expect_error(host, ADD(host, "web"), -ENOENT,
			  "--container 'web': its cgroup is not below a mount that is seen here",
			  "-v /sys/fs/cgroup:/sys/fs/cgroup:ro or --cgroupns host, if this is a "
			  "container");
}

#define CRI_CONTAINER(id, name, pod)                                                               \
	"{ \"id\": \"" id "\", \"metadata\": { \"name\": \"" name "\", \"attempt\": 0 },\n"        \
	"	\"image\": { \"image\": \"i\" }, \"state\": \"CONTAINER_RUNNING\",\n"                    \
	"	\"labels\": { \"io.kubernetes.pod.name\": \"" pod "\",\n"                          \
	"	\"io.kubernetes.pod.namespace\": \"prod\" } }"

#define CRICTL                                                                                     \
	"[ \"$*\" = 'ps -o json' ] || exit 1\n"                                                    \
	"echo '{ \"containers\": [ " CRI_CONTAINER(ID_A, "nginx", "front-1") ",\n" CRI_CONTAINER(  \
		ID_B, "nginx", "front-2") ", " CRI_CONTAINER(ID_C, "redis", "cache-1") " ] }'\n"

FIXTURE_TEST(host, v2, targets_container, kubernetes)
{
	host_cgroup(host, "cg/kubepods.slice/cri-containerd-" ID_A ".scope", "5\n");
	host_cgroup(host, "cg/kubepods.slice/cri-containerd-" ID_B ".scope", "6\n");
	host_cgroup(host, "cg/kubepods.slice/cri-containerd-" ID_C ".scope", "7\n");
	host_program(host, "crictl", CRICTL);
	host_ready(host);
	host_expect_error(host, ADD(host, "nginx"), -ENOTUNIQ,
			  "--container 'nginx': 2 containers: 0123456789ab (crictl "
			  "prod/front-1/nginx), 0123456789ab (crictl prod/front-2/nginx)",
			  "--container 0123456789ab");
	host_expect_error(host, ADD(host, "rediz"), -ENOENT,
			  "--container 'rediz': no running container of that name or id",
			  "--container redis");
	host_expect(host, ADD(host, "redis"), "cg/kubepods.slice/cri-containerd-" ID_C ".scope",
		    "");
}

/* docker may be a wrapper of podman. */
FIXTURE_TEST(host, v2, targets_container, one_that_two_runtimes_tell_of)
{
	host_cgroup(host, PAYLOAD_A, "6\n");
	host_program(host, "docker", DOCKER("web", ID_A, "true", "6"));
	host_program(host, "podman", DOCKER("web", ID_A, "true", "6"));
	host_ready(host);
	host_expect(host, ADD(host, "web"), PAYLOAD_A, "");
}

FIXTURE_TEST(host, v2, targets_container, two_of_one_name)
{
	host_program(host, "docker", DOCKER("web", ID_A, "true", "6"));
	host_program(host, "podman", DOCKER("web", ID_C, "true", "6"));
	host_ready(host);
	host_expect_error(host, ADD(host, "web"), -ENOTUNIQ,
			  "--container 'web': 2 containers: 0123456789ab (docker), c0ffee6789ab "
			  "(podman)",
			  "--container 0123456789ab");
}

/* What podman has merely created, or has stopped, is not what docker runs by this name. */
FIXTURE_TEST(host, v2, targets_container, one_of_two_runs)
{
	host_cgroup(host, "cg/docker/" ID_C, "7\n");
	host_program(host, "docker", DOCKER("web", ID_C, "true", "7"));
	host_program(host, "podman", DOCKER("web", ID_A, "false", "0"));
	host_ready(host);
	host_expect(host, ADD(host, "web"), "cg/docker/" ID_C, "");
}

FIXTURE_TEST(host, v2, targets_container, near_names)
{
	host_cgroup(host, "cg/docker/" ID_C, "7\n");
	host_program(host, "docker",
		     "[ \"$1\" = ps ] && { echo database; echo webserver; exit 0; }\n"
		     "echo 'Error: No such object' >&2; exit 1\n");
	host_ready(host);
	host_expect_error(host, ADD(host, "websrever"), -ENOENT,
			  "--container 'websrever': no running container of that name or id",
			  "--container webserver");
	host_expect_error(host, ADD(host, "c0ffe36789ab"), -ENOENT,
			  "--container 'c0ffe36789ab': no running container of that name or id",
			  "--container c0ffee6789ab");
}

#define NONE(name) "--container '" name "': no running container of that name or id"

/* Each runtime that fails is named with its reason, and others are asked all the same. */
FIXTURE_TEST(host, v2, targets_container, runtime_that_fails)
{
	host_cgroup(host, "cg/docker/" ID_C, "7\n");
	host_program(host, "docker", "echo 'WARNING: x' >&2; echo 'Cannot connect' >&2; exit 1\n");
	host_program(host, "podman", DOCKER("web", ID_C, "true", "7"));
	host_program(host, "runc", "exit 3\n");
	host_program(host, "crun", "kill -9 $$\n");
	host_ready(host);
	host_expect_error(host, ADD(host, "none"), -ENOENT,
			  NONE("none") " in podman (docker: Cannot connect; runc: failed without a "
				       "word; crun: failed without a word)",
			  "");
	host_expect(host, ADD(host, "web"), "cg/docker/" ID_C, "");
}

static void check_answer(const char *answer, const char *trouble)
{
	struct host host;
	char script[1024], text[512];

	v2(&host);
	host_cgroup(&host, "cg/docker/" ID_C, "7\n");
	snprintf(script, sizeof(script), "printf '%%s' '%s'\n", answer);
	host_program(&host, "docker", script);
	host_ready(&host);
	snprintf(text, sizeof(text), NONE("web") "%s", trouble);
	host_expect_error(&host, ADD(&host, "web"), -ENOENT, text, "");
	host_end(&host);
}

Test(targets_container, runtime_that_answers_nonsense)
{
#define REASON(reason) " (docker: line 1: " reason ")"
	check_answer("", " (docker: truncated)");
	check_answer("<html>", REASON("'<' where an array should be"));
	check_answer("[]", "");
	check_answer("[ {} ]", "");
	check_answer("[ 1 ]", REASON("'1' where an object should be"));
	check_answer("[] []", REASON("'[' where the end should be"));
	check_answer("[ { \"State\": { \"Pid\": -1 } } ]",
		     REASON("'-' where a whole number that is not negative should be"));
	check_answer("[ { \"State\": { \"Pid\": 99999999999 } } ]", REASON("no pid"));
	check_answer("[ { \"Id\": [] } ]", REASON("'[' where a string should be"));
}

/* An invalid id leads nowhere. */
FIXTURE_TEST(host, v2, targets_container, hostile_id)
{
	host_program(host, "docker", DOCKER("web", "../../etc", "true", "0"));
	host_ready(host);
	host_expect_error(host, ADD(host, "web"), -ENOENT,
			  "--container 'web': docker knows it, but no cgroup is it", "");
}

FIXTURE_TEST(host, v2, targets_container, endless_answer)
{
	host_program(host, "docker", "while :; do printf '%65536s' x || exit 1; done\n");
	host_ready(host);
	cr_assert_eq(ADD(host, "web"), -ENOENT);
	cr_expect(strstr(host->err.text, "(docker: "), "%s", host->err.text);
}

static bool is_gone(void *argument)
{
	char state = process_state(*(pid_t *)argument);

	return !state || state == 'Z';
}

/* It is killed with what it has started. */
FIXTURE_TEST(host, v2, targets_container, runtime_that_hangs)
{
	pid_t program, child;

	host_cgroup(host, "cg/docker/" ID_C, "7\n");
	host_program(host, "docker",
		     "echo $$ > \"$0.pid\"\n"
		     "/bin/sleep 1000 &\n"
		     "echo $! > \"$0.child\"\n"
		     "wait\n");
	host_program(host, "podman", DOCKER("web", ID_C, "true", "7"));
	host_ready(host);
	host_expect(host, ADD(host, "web"), "cg/docker/" ID_C, "");
	program = (pid_t)number_in_file(host_path("bin/docker.pid", host));
	child = (pid_t)number_in_file(host_path("bin/docker.child", host));
	cr_expect_eq(process_state(program), 0);
	cr_expect(eventually(is_gone, &child));
}

/* One that docker has stopped is not meant while LXC's runs; of two that run, neither is. */
FIXTURE_TEST(host, v2, targets_container, of_lxc_and_docker)
{
	host_cgroup(host, "cg/docker/" ID_C, "7\n");
	host_cgroup(host, "cg/lxc.payload.web", "8\n");
	host_program(host, "docker", DOCKER("web", ID_C, "true", "7"));
	host_ready(host);
	host_expect_error(host, ADD(host, "web"), -ENOTUNIQ,
			  "--container 'web': one of docker, and /lxc.payload.web",
			  "--container c0ffee6789ab, or --cgroup /lxc.payload.web");
	host_program(host, "docker", DOCKER("web", ID_C, "false", "0"));
	host_expect(host, ADD(host, "web"), "cg/lxc.payload.web", "");
}

/* What a user calls a container has no say in what root means. */
FIXTURE_TEST(host, v2, targets_container, of_docker_and_a_users_lxc)
{
	host_cgroup(host, "cg/docker/" ID_C, "7\n");
	host_cgroup(host, "cg/user.slice/user@1000.service/lxc.payload.web", "8\n");
	host_program(host, "docker", DOCKER("web", ID_C, "true", "7"));
	host_ready(host);
	host_expect(host, ADD(host, "web"), "cg/docker/" ID_C, "");
}

FIXTURE_TEST(host, v2, targets_container, of_an_id_and_a_users_lxc)
{
	host_cgroup(host, "cg/docker/" ID_C, "7\n");
	host_cgroup(host, "cg/user.slice/user@1000.service/lxc.payload.c0ffee", "9\n");
	host_ready(host);
	host_expect(host, ADD(host, "c0ffee"), "cg/docker/" ID_C, "");
}
