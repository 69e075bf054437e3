// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

/* Processes that are already running, and how an attach ends. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <criterion/criterion.h>

#include "attach.h"
#include "base/util.h"
#include "kernel.h"
#include "need.h"

#define TRIES 3
#define PID_TEXT 16
#define FIVE_THREE_TWO SHARES({ "alpha", 5 }, { "beta", 3 }, { "delta", 2 })

TestSuite(live_attach, .init = need_root, .timeout = 180);

/*
 * live_run_timed() says why a machine may need more than one try, and why an error of ours does not
 * pass.
 */
static void thrice(bool (*agrees)(struct live *live))
{
	struct live live;
	bool good = false;
	int i;

	for (i = 0; i < TRIES && !good; i++) {
		live_begin(&live);
		good = agrees(&live);
		live_end(&live);
	}
	cr_expect(good, "three times not the ticks that the CPU time should have");
}

static const char *pid_text(pid_t pid, char text[PID_TEXT])
{
	snprintf(text, PID_TEXT, "%d", pid);
	return text;
}

static uint64_t total_of(struct json_object *target)
{
	return doc_number(target, "ticks.total");
}

static bool count_threads(struct live *live)
{
	char pid[PID_TEXT];
	struct burner threads;
	struct child child;
	bool good;

	burner_start(&threads, live, "my_threads", WORKLOAD("threads"), 9, ARGS("8", "1000000"));
	attach_start(live, &child, ARGS("--pid", pid_text(threads.child.pid, pid)));
	/* Eight rounds begin before it and end after it: few beside all of them. */
	burner_run(&threads, 6);
	attach_end(live, &child, SIGINT);
	burner_end(&threads);
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.95);
	good = ticks_agree(live->doc, doc_number(live->doc, "ticks.total"), threads.cpu_ns,
			   threads.turns);
	return good;
}

/* All threads of the process exist before it becomes a target. */
Test(live_attach, threads_that_already_run)
{
	thrice(count_threads);
}

/* Two of three processes are targets: each has its own account, and the third has none. */
static bool count_two(struct live *live)
{
	char list[2 * PID_TEXT], pid[PID_TEXT];
	struct burner burners[3];
	struct json_object *target;
	struct child child;
	bool good = true;
	int i;

	burner_start(&burners[0], live, "one_of_two", WORKLOAD("forever"), 1, ARGS(NULL));
	burner_start(&burners[1], live, "two_of_two", WORKLOAD("forever"), 1, ARGS(NULL));
	burner_start(&burners[2], live, "no_target", WORKLOAD("forever"), 1, ARGS(NULL));
	snprintf(list, sizeof(list), "%d,%d", burners[0].child.pid, burners[1].child.pid);
	attach_start(live, &child, ARGS("--pid", list));
	for (i = 0; i < 3; i++)
		burner_let(&burners[i]);
	for (i = 0; i < 3; i++)
		burner_wait(&burners[i], 1);
	for (i = 0; i < 3; i++)
		burner_hold(&burners[i]);
	attach_end(live, &child, SIGTERM);
	cr_expect_eq(json_object_array_length(doc_get(live->doc, "targets")), 2);
	for (i = 0; i < 3; i++)
		burner_end(&burners[i]);
	for (i = 0; i < 2; i++) {
		size_t other = !i;

		target = json_object_array_get_idx(doc_get(live->doc, "targets"), (size_t)i);
		cr_expect_str_eq(json_object_get_string(doc_get(target, "kind")), "pid");
		cr_expect(strstr(json_object_get_string(doc_get(target, "name")),
				 pid_text(burners[i].child.pid, pid)));
		cr_expect_eq(doc_target_file(live->doc, target, burners[other].name), 0);
		cr_expect_eq(doc_target_file(live->doc, target, "no_target"), 0);
		good = ticks_agree(live->doc, total_of(target), burners[i].cpu_ns,
				   burners[i].turns) &&
		       good;
	}
	return good;
}

Test(live_attach, several_processes)
{
	thrice(count_two);
}

/* A shell that waits for a line and then has children that burn. */
static void attach_to_parent(struct live *live, const char *option)
{
	const char *fifo = live_path(live, "go"), *ready = live_path(live, "ready");
	struct child shell, child;
	struct child_end end;
	char pid[PID_TEXT];
	FILE *go;

	cr_assert_eq(mkfifo(fifo, 0600), 0);
	child_start(&shell, NULL,
		    ARGS("sh", "-c", "echo $$ > \"$1\"; read x < \"$2\"; \"$0\" 8000; \"$0\" 8000",
			 WORKLOAD("three"), ready, fifo));
	pid_text((pid_t)number_in_file(ready), pid);
	attach_start(live, &child, ARGS("--pid", pid, option));
	go = fopen(fifo, "we");
	cr_assert_not_null(go);
	fputs("go\n", go);
	fclose(go);
	child_finish(&shell, &end);
	cr_expect_eq(end.status, 0, "%s", end.err);
	child_end_free(&end);
	attach_end(live, &child, 0);
}

LIVE_TEST(live_attach, children_count)
{
	attach_to_parent(live, NULL);
	doc_assert_shares(live->doc, FIVE_THREE_TWO, 0.9);
}

LIVE_TEST(live_attach, no_children)
{
	attach_to_parent(live, "--no-children");
	cr_expect_eq(doc_object(live->doc, NULL, "three"), 0);
	cr_expect_lt(doc_number(live->doc, "ticks.total"), 1000);
}

static bool has_pid(struct json_object *doc, long pid)
{
	struct json_object *histograms = doc_get(doc, "histograms");
	size_t i;

	for (i = 0; i < json_object_array_length(histograms); i++)
		if (doc_number(json_object_array_get_idx(histograms, i), "pid") == (uint64_t)pid)
			return true;
	return false;
}

/* A shell that sleeps, with a child and a grandchild that burn. */
static void attach_to_family(struct live *live, const char *option, long pids[3])
{
	const char *names[3] = { live_path(live, "shell"), live_path(live, "child"),
				 live_path(live, "grandchild") };
	struct child shell, child;
	struct child_end end;
	char pid[PID_TEXT];
	int i;

	child_start(&shell, NULL,
		    ARGS("sh", "-c",
			 "echo $$ > $1; \"$0\" $2 & sh -c '\"$0\" $1 & wait' \"$0\" $3 & wait",
			 WORKLOAD("forever"), names[0], names[1], names[2]));
	for (i = 0; i < 3; i++)
		pids[i] = number_in_file(names[i]);
	attach_start(live, &child,
		     ARGS("--pid", pid_text((pid_t)pids[0], pid), "--split", "process",
			  "--duration", "1.5", option));
	attach_end(live, &child, 0);
	kill(shell.pid, SIGKILL);
	for (i = 1; i < 3; i++)
		kill((pid_t)pids[i], SIGKILL);
	child_finish(&shell, &end);
	child_end_free(&end);
}

LIVE_TEST(live_attach, descendants_that_run)
{
	long pids[3];

	attach_to_family(live, NULL, pids);
	cr_expect(has_pid(live->doc, pids[1]), "the child has no tick");
	cr_expect(has_pid(live->doc, pids[2]), "the grandchild has no tick");
	cr_expect_gt(doc_function(live->doc, "neighbour_spin", NULL), 100);
}

LIVE_TEST(live_attach, no_descendants_that_run)
{
	long pids[3];

	attach_to_family(live, "--no-children", pids);
	cr_expect_eq(doc_function(live->doc, "neighbour_spin", NULL), 0);
	cr_expect(strstr(live->end.err, "No tick: nothing of it ran."), "%s", live->end.err);
}

/*
 * Two processes match the pattern and a third does not: one target, which is announced at the
 * start.
 */
LIVE_TEST(live_attach, by_name)
{
	struct burner burners[3];
	struct child child;
	int i;

	burner_start(&burners[0], live, "named_one", WORKLOAD("forever"), 1, ARGS(NULL));
	burner_start(&burners[1], live, "named_two", WORKLOAD("forever"), 1, ARGS(NULL));
	burner_start(&burners[2], live, "unnamed", WORKLOAD("forever"), 1, ARGS(NULL));
	attach_start(live, &child, ARGS("--name", "named_*"));
	for (i = 2; i >= 0; i--)
		burner_run(&burners[i], 0.3);
	attach_end(live, &child, SIGINT);
	cr_expect(strstr(live->end.err, "--name 'named_*': named_"), "%s", live->end.err);
	cr_expect_eq(json_object_array_length(doc_get(live->doc, "targets")), 1);
	cr_expect_gt(doc_object(live->doc, "file", "/named_one"), 100);
	cr_expect_gt(doc_object(live->doc, "file", "/named_two"), 100);
	cr_expect_eq(doc_object(live->doc, "file", "/unnamed"), 0);
	for (i = 0; i < 3; i++)
		burner_end(&burners[i]);
}

/* What a process that was not yet found forks while attach looks for processes is followed too. */
LIVE_TEST(live_attach, descendants_that_are_born)
{
	const char *file;
	struct child shell, child;
	struct child_end end;
	char pid[PID_TEXT];
	int i;

	file = live_path(live, "shell");
	child_start(&shell, NULL,
		    ARGS("sh", "-c",
			 "echo $$ > $1; sh -c 'while [ -f $1 ]; do \"$0\" 20; done' \"$0\" $1 & "
			 "wait",
			 WORKLOAD("three"), file));
	pid_text((pid_t)number_in_file(file), pid);
	for (i = 0; i < 5; i++) {
		attach_start(live, &child, ARGS("--pid", pid, "--duration", "0.3"));
		attach_end(live, &child, 0);
		cr_expect_gt(doc_object(live->doc, "file", "/three"), 0, "try %d", i);
	}
	unlink(file);
	child_finish(&shell, &end);
	child_end_free(&end);
}

/*
 * The kernel gives the pid to the executing thread, a hundred times; this is not the end of the
 * process.
 */
LIVE_TEST(live_attach, thread_that_execs)
{
	struct burner burner;
	struct child child;
	char pid[PID_TEXT];

	burner_start(&burner, live, "threadexec", WORKLOAD("threadexec"), 1, ARGS("100", "30"));
	attach_start(live, &child, ARGS("--pid", pid_text(burner.child.pid, pid)));
	burner_let(&burner);
	attach_end(live, &child, 0);
	cr_expect_eq(process_state(burner.child.pid), 'Z', "it was left before its end");
	doc_assert_shares(live->doc, SHARES({ "alpha", 5 }, { "beta", 3 }), 0.75);
	burner_end(&burner);
}

LIVE_TEST(live_attach, duration)
{
	struct burner burner;
	struct child child;
	char pid[PID_TEXT];

	burner_start(&burner, live, "burner", WORKLOAD("forever"), 1, ARGS(NULL));
	attach_start(live, &child,
		     ARGS("--pid", pid_text(burner.child.pid, pid), "--duration", "1"));
	burner_let(&burner);
	attach_end(live, &child, 0);
	cr_expect_geq(doc_number(live->doc, "duration_ns"), 1000000000);
	cr_expect_gt(doc_function(live->doc, "neighbour_spin", NULL), 100);
	cr_expect_eq(process_state(burner.child.pid), 'R');
	burner_end(&burner);
}

/* It does not end with one of two targets, but with the last one. */
LIVE_TEST(live_attach, ends_with_the_last_target)
{
	struct burner first, second;
	char list[2 * PID_TEXT];
	struct child child;

	burner_start(&first, live, "first", WORKLOAD("forever"), 1, ARGS(NULL));
	burner_start(&second, live, "second", WORKLOAD("forever"), 1, ARGS(NULL));
	snprintf(list, sizeof(list), "%d,%d", first.child.pid, second.child.pid);
	attach_start(live, &child, ARGS("--pid", list));
	burner_run(&first, 0.2);
	burner_end(&first);
	burner_run(&second, 0.5);
	cr_expect_neq(process_state(child.pid), 'Z', "it ended with the first");
	cr_expect_neq(access(live->profile, F_OK), 0);
	burner_end(&second);
	attach_end(live, &child, 0);
	cr_expect_gt(doc_object(live->doc, "file", "/first"), 100);
	cr_expect_gt(doc_object(live->doc, "file", "/second"), 100);
}

LIVE_TEST(live_attach, profile_on_standard_output)
{
	struct burner burner;
	struct child child;
	char pid[PID_TEXT];

	burner_start(&burner, live, "burner", WORKLOAD("forever"), 1, ARGS(NULL));
	attach_start(live, &child, ARGS("--pid", pid_text(burner.child.pid, pid), "-o", "-"));
	burner_run(&burner, 0.5);
	burner_end(&burner);
	child_finish(&child, &live->end);
	cr_assert_eq(live->end.status, 0, "%s", live->end.err);
	cr_expect_neq(access(live->profile, F_OK), 0);
	live->doc = doc_parse(live->end.out);
	doc_assert_sound(live->doc);
	cr_expect_gt(doc_function(live->doc, "neighbour_spin", NULL), 100);
}

/* Another BPF program that keeps something about a task, and forgets it, again and again. */
struct keeper {
	pthread_t thread;
	int map;
	int task; /* a pidfd */
	atomic_bool done;
	uint64_t kept;
};

static void *keep_and_forget(void *argument)
{
	struct keeper *keeper = argument;
	uint32_t value = 1;

	while (!keeper->done) {
		keeper->kept += !bpf_map_update_elem(keeper->map, &keeper->task, &value, BPF_ANY);
		bpf_map_delete_elem(keeper->map, &keeper->task);
	}
	return NULL;
}

static void keeper_start(struct keeper *keeper, pid_t pid)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	struct btf *btf = btf__new_empty();

	memset(keeper, 0, sizeof(*keeper));
	cr_assert(btf);
	options.btf_key_type_id = options.btf_value_type_id = btf__add_int(btf, "int", 4, 0);
	cr_assert_eq(btf__load_into_kernel(btf), 0);
	options.btf_fd = btf__fd(btf);
	keeper->map = bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "keeper", 4, 4, 0, &options);
	cr_assert_geq(keeper->map, 0);
	keeper->task = process_fd(pid);
	cr_assert_geq(keeper->task, 0);
	btf__free(btf);
	cr_assert_eq(pthread_create(&keeper->thread, NULL, keep_and_forget, keeper), 0);
}

static void keeper_end(struct keeper *keeper)
{
	keeper->done = true;
	pthread_join(keeper->thread, NULL);
	close(keeper->map);
	close(keeper->task);
	cr_expect_gt(keeper->kept, 1000);
}

/*
 * The kernel refuses a task's first record while another program makes its first one, or deletes its
 * last, on another CPU.
 */
LIVE_TEST(live_attach, beside_another_program)
{
	struct burner burner;
	struct keeper keeper;
	struct child child;
	char pid[PID_TEXT];
	int i;

	burner_start(&burner, live, "burner", WORKLOAD("forever"), 1, ARGS(NULL));
	keeper_start(&keeper, burner.child.pid);
	for (i = 0; i < 30; i++) {
		attach_start(live, &child,
			     ARGS("--pid", pid_text(burner.child.pid, pid), "--duration", "0.01"));
		attach_end(live, &child, 0);
		json_object_put(live->doc);
		live->doc = NULL;
	}
	keeper_end(&keeper);
	burner_end(&burner);
}

static bool is_blocked(void *argument)
{
	struct child *child = argument;

	return process_fds(child->pid, "perf_event") == 0;
}

/*
 * The first signal stops the clocks, and the profile is written into a pipe that nobody reads; the
 * second ends the process at once.
 */
LIVE_TEST(live_attach, second_interrupt_quits)
{
	struct child child;
	const char *fifo;

	fifo = live_path(live, "fifo");
	cr_assert_eq(mkfifo(fifo, 0600), 0);
	attach_start(live, &child, ARGS("--all", "-o", fifo));
	kill(child.pid, SIGINT);
	cr_assert(eventually(is_blocked, &child));
	cr_expect_neq(process_state(child.pid), 'Z');
	/* So soon it would be the first one's copy, as timeout(1) sends it. */
	usleep(400000);
	kill(child.pid, SIGINT);
	child_finish(&child, &live->end);
	cr_expect_eq(live->end.status, 128 + SIGINT, "exit %d: %s", live->end.status,
		     live->end.err);
	unlink(fifo);
	cr_expect_eq(rmdir(live->dir), 0, "a file stays in %s", live->dir);
	cr_assert_eq(mkdir(live->dir, 0700), 0);
}
