// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "host/feature/features.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/util.h"
#include "host/cost/cost.h"
#include "host/engine/kernel_btf.h"
#include "host/engine/program_cost.h"
#include "host/engine/sampler.h"
#include "host/engine/sched_tick.h"
#include "host/engine/session.h"
#include "host/targets/cgroups.h"
#include "reader/reader.h"

/* Probes of the kernel's BPF. Each loads programs of a few instructions. */

/*
 * The tick handler needs three commits: 91c960b00566 ("bpf: Rename BPF_XADD and prepare to encode
 * other atomics in .imm", 5.12), dd6e10fbd9fb ("bpf: Add bpf_task_pt_regs() helper", 5.15),
 * 7c7e3d31e785 ("bpf: Introduce helper bpf_find_vma", 5.17). The hint names 6.1, because it is the
 * oldest kernel that we test.
 */
#define NEWER_KERNEL "a newer kernel; 6.1 has it"

/* Docker 20.10 does not know CAP_BPF, and podman's seccomp profile refuses bpf() to it. */
#define BETTER_CONTAINER                                                                           \
	"a container with --cap-add SYS_ADMIN, or with --cap-add BPF --cap-add PERFMON (podman: "  \
	"and --security-opt seccomp=unconfined)"
#define OPEN_CONTAINER "a container with --security-opt seccomp=unconfined, or --cap-add SYS_ADMIN"

#define OUTSIDE                                                                                    \
	"outside of the user namespace: docker run --userns=host, podman or lxc as the host's root"

/*
 * The fix for a lack of privilege. For root sudo changes nothing, and in a user namespace no
 * capability gives a right to BPF or to whole CPUs.
 */
static const char *mend_of(const char *of_users, const char *of_root)
{
	if (own_namespace("user", HOST_USERS))
		return OUTSIDE;
	return geteuid() ? of_users : of_root;
}

/* Fills in an answer; mend may be NULL. */
static void __attribute__((format(printf, 4, 5)))
feature_answer_set(struct feature_answer *answer, enum feature_state state, const char *mend,
		   const char *format, ...)
{
	va_list args;

	answer->state = state;
	va_start(args, format);
	vsnprintf(answer->detail, sizeof(answer->detail), format, args);
	va_end(args);
	snprintf(answer->mend, sizeof(answer->mend), "%s", mend ? mend : "");
}

#define FOUND(answer, ...) feature_answer_set(answer, FEATURE_OK, NULL, __VA_ARGS__)
#define LIMITED(answer, mend, ...) feature_answer_set(answer, FEATURE_LIMITED, mend, __VA_ARGS__)
#define MISSING(answer, mend, ...) feature_answer_set(answer, FEATURE_MISSING, mend, __VA_ARGS__)
#define UNKNOWN(answer, ...) feature_answer_set(answer, FEATURE_UNKNOWN, NULL, __VA_ARGS__)

/*
 * libbpf recognises a missing helper by the verifier's message. Without the right to load programs
 * there is no message, and libbpf would answer yes. Therefore check the right first.
 */
static bool may_load(struct feature_answer *answer)
{
	cleanup_fd int fd = empty_program_load(BPF_PROG_TYPE_PERF_EVENT, NULL, NULL);

	if (fd >= 0)
		return true;
	UNKNOWN(answer, "needs the right to load programs");
	return false;
}

/* The trial itself failed and says nothing about the kernel. */
static void not_tried(struct feature_answer *answer, int err)
{
	UNKNOWN(answer, "cannot be tried: %s", strerror(-err));
}

static void probe_bpf(struct feature_answer *answer)
{
	cleanup_fd int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 8, 1, NULL);

	if (fd >= 0)
		FOUND(answer, "maps can be created");
	else if (fd == -ENOSYS)
		MISSING(answer, "a kernel with CONFIG_BPF_SYSCALL=y",
			"the kernel has no bpf() system call");
	else if (fd == -EPERM)
		MISSING(answer, mend_of("sudo", OPEN_CONTAINER),
			"the bpf() system call is refused");
	else
		MISSING(answer, NULL, "bpf(): %s", strerror(-fd));
}

static void probe_perf_program(struct feature_answer *answer)
{
	cleanup_fd int fd = empty_program_load(BPF_PROG_TYPE_PERF_EVENT, NULL, NULL);

	if (fd >= 0)
		FOUND(answer, "a program loads");
	else if (fd == -EPERM || fd == -EACCES)
		MISSING(answer, mend_of("sudo", BETTER_CONTAINER),
			"a perf event program is refused: CAP_BPF and CAP_PERFMON or "
			"CAP_SYS_ADMIN are needed");
	else
		MISSING(answer, "a kernel with CONFIG_BPF_EVENTS=y",
			"a perf event program does not load: %s", strerror(-fd));
}

static void probe_tp_btf(struct feature_answer *answer)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP);
	const struct kernel_btf *btf;
	cleanup_fd int fd = -1;
	int id;

	id = kernel_btf_read(&btf, NULL) ?: btf->fork_tracepoint;
	if (id > 0) {
		opts.attach_btf_id = (__u32)id;
		fd = empty_program_load(BPF_PROG_TYPE_TRACING, NULL, &opts);
	}
	if (fd >= 0)
		FOUND(answer, "a program on fork loads");
	else if (id == -ENOMEM)
		not_tried(answer, id);
	else
		MISSING(answer, "a kernel with CONFIG_DEBUG_INFO_BTF=y and CONFIG_BPF_EVENTS=y",
			"a program on fork does not load: %s", strerror(id > 0 ? -fd : -id));
}

/* Tries a cmpxchg on the stack. */
static void probe_atomics(struct feature_answer *answer)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_1, .imm = 1 },
		{ .code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = BPF_REG_10, .off = -8 },
		{ .code = BPF_STX | BPF_ATOMIC | BPF_DW,
		  .dst_reg = BPF_REG_10,
		  .src_reg = BPF_REG_1,
		  .off = -8,
		  .imm = BPF_CMPXCHG },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	cleanup_fd int fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "Dual BSD/GPL", insns,
					  sizeof(insns) / sizeof(insns[0]), NULL);

	if (fd >= 0)
		FOUND(answer, "compare-and-exchange loads");
	else
		MISSING(answer, NEWER_KERNEL, "the kernel's BPF has no compare-and-exchange");
}

/* Tries a helper, and to make a map of the type that goes with it; NULL: none does. */
static void probe_helper(struct feature_answer *answer, enum bpf_func_id id, const char *name,
			 enum bpf_map_type type, const char *map)
{
	int helper = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, id, NULL);
	int there = helper > 0 && map ? libbpf_probe_bpf_map_type(type, NULL) : helper;

	if (there < 0)
		not_tried(answer, there);
	else if (there)
		FOUND(answer, "the helper is there");
	else if (helper)
		MISSING(answer, NEWER_KERNEL, "the kernel has no %s maps", map);
	else
		MISSING(answer, NEWER_KERNEL, "the kernel has no %s for perf event programs", name);
}

#define PROBE_HELPER(word, helper, type, map)                                                      \
	static void probe_##word(struct feature_answer *answer)                                    \
	{                                                                                          \
		probe_helper(answer, BPF_FUNC_##helper, "bpf_" #helper, type, map);                \
	}

PROBE_HELPER(find_vma, find_vma, BPF_MAP_TYPE_UNSPEC, NULL)
PROBE_HELPER(task_pt_regs, task_pt_regs, BPF_MAP_TYPE_UNSPEC, NULL)
PROBE_HELPER(task_storage, task_storage_get, BPF_MAP_TYPE_TASK_STORAGE, "task storage")
PROBE_HELPER(ringbuf, ringbuf_reserve, BPF_MAP_TYPE_RINGBUF, "ring buffer")

/*
 * Loads a call of the helper. libbpf 1.1 would report that the helper is there, because it does not
 * recognise how newer verifiers refuse it.
 */
static void probe_read_kernel(struct feature_answer *answer)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	cleanup_fd int fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, NULL, "Dual BSD/GPL", insns,
					  sizeof(insns) / sizeof(insns[0]), NULL);

	/* The helper is older than all others here. If it is missing, lockdown forbids it. */
	if (fd >= 0)
		FOUND(answer, "the helper is there");
	else
		MISSING(answer,
			"booting without lockdown=confidentiality (cat "
			"/sys/kernel/security/lockdown)",
			"the kernel refuses bpf_probe_read_kernel");
}

static void probe_exit(struct feature_answer *answer)
{
	int hook;

	hook = exit_hook_find(NULL);
	if (hook < 0)
		not_tried(answer, hook);
	else if (hook == EXIT_HOOK_LATE)
		LIMITED(answer, "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS=y, or 6.16",
			"none: ticks of giving memory back at exit are lost");
	else
		FOUND(answer, "%s",
		      hook == EXIT_HOOK_FUNCTION ? "fentry on exit_mm_release" :
						   "sched_process_exit");
}

/* Probes without BPF: the process's privileges and the host's configuration. */

#define DEFAULT_HZ 997
#define TICKS_NS 300000000 /* how long the scheduler's ticks are measured */

/* Reads a setting of the kernel. Returns 0 or -errno. */
static int read_setting(const char *path, int64_t *result)
{
	char line[32];
	int ret = read_first_line(path, line, sizeof(line));

	if (ret)
		return ret;
	return sscanf(line, "%" SCNd64, result) == 1 ? 0 : -EINVAL;
}

/* A way to give this program the right without being root. */
static void setcap_mend(char *mend, size_t size)
{
	char path[128];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path));

	if (length <= 0 || (size_t)length == sizeof(path))
		length = snprintf(path, sizeof(path), "$(command -v bpfprofil)");
	snprintf(mend, size, "sudo, or: sudo setcap cap_bpf,cap_perfmon+ep %.*s", (int)length,
		 path);
}

/*
 * Each function tries one feature and reports the result. Afterwards the state is never
 * FEATURE_UNTRIED.
 */
static void probe_privilege(struct feature_answer *answer)
{
	bool bpf = may_do(CAP_BPF), perfmon = may_do(CAP_PERFMON);
	const char *why = geteuid() ? "not root, and without CAP_BPF and CAP_PERFMON" :
				      "root, but without CAP_BPF and CAP_PERFMON";
	char mend[192];

	if (own_namespace("user", HOST_USERS)) {
		MISSING(answer, OUTSIDE,
			"in a user namespace (rootless, userns-remap), whose root has no "
			"rights over the host");
		return;
	}
	if (may_do(CAP_SYS_ADMIN)) {
		FOUND(answer, "CAP_SYS_ADMIN");
		return;
	}
	if (bpf && perfmon) {
		FOUND(answer, "CAP_BPF and CAP_PERFMON");
		return;
	}
	if (bpf || perfmon)
		why = bpf ? "CAP_BPF is there, CAP_PERFMON is missing" :
			    "CAP_PERFMON is there, CAP_BPF is missing";
	if (geteuid())
		setcap_mend(mend, sizeof(mend));
	else
		snprintf(mend, sizeof(mend), "%s", BETTER_CONTAINER);
	MISSING(answer, mend, "%s", why);
}

static void probe_perf_event(struct feature_answer *answer)
{
	int cpu = sched_getcpu();
	/* Any process on this CPU; a session opens the same event on every CPU. */
	cleanup_fd int fd = cpu_clock_open(1000000000, -1, cpu < 0 ? 0 : cpu);
	int64_t paranoid = -1;

	if (fd >= 0) {
		FOUND(answer, "the CPU clock opens");
		return;
	}
	read_setting("/proc/sys/kernel/perf_event_paranoid", &paranoid);
	if (fd == -ENOSYS || fd == -ENOENT)
		MISSING(answer, "a kernel with CONFIG_PERF_EVENTS=y",
			"the kernel has no perf events");
	else if (fd != -EACCES && fd != -EPERM)
		MISSING(answer, NULL, "perf_event_open: %s", strerror(-fd));
	else if (paranoid > 2 && !may_do(CAP_SYS_ADMIN))
		/*
		 * The kernels of Debian and Ubuntu: at 3 no event can be opened, even with
		 * CAP_PERFMON.
		 */
		MISSING(answer,
			mend_of("sudo, or: sudo sysctl kernel.perf_event_paranoid=2",
				"--cap-add SYS_ADMIN, or on the host: sysctl "
				"kernel.perf_event_paranoid=2"),
			"kernel.perf_event_paranoid is %" PRId64
			", which refuses perf events even with CAP_PERFMON",
			paranoid);
	else if (!may_do(CAP_PERFMON) && !may_do(CAP_SYS_ADMIN))
		MISSING(answer, mend_of("sudo", BETTER_CONTAINER),
			"perf_event_open needs CAP_PERFMON or CAP_SYS_ADMIN");
	else
		MISSING(answer, mend_of(OPEN_CONTAINER, OPEN_CONTAINER),
			"perf_event_open is refused although CAP_PERFMON is there");
}

static void probe_btf(struct feature_answer *answer)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";

	if (!access(path, R_OK))
		FOUND(answer, "%s", path);
	else if (errno == ENOENT)
		MISSING(answer, "a kernel with CONFIG_DEBUG_INFO_BTF=y, and /sys mounted",
			"%s: the kernel has no BTF", path);
	else
		MISSING(answer, NULL, "%s: %s", path, strerror(errno));
}

/*
 * Only the first network namespace has the setting. Therefore load a program and check whether the
 * kernel compiled it.
 */
static void probe_compiled(struct feature_answer *answer)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);
	cleanup_fd int fd = -1;
	int ret;

	if (!may_load(answer))
		return;
	fd = empty_program_load(BPF_PROG_TYPE_PERF_EVENT, NULL, NULL);
	ret = fd < 0 ? fd : bpf_obj_get_info_by_fd(fd, &info, &size);
	if (ret)
		not_tried(answer, ret);
	else if (info.jited_prog_len)
		FOUND(answer, "a program is compiled");
	else
		LIMITED(answer, "a kernel with CONFIG_BPF_JIT=y and net.core.bpf_jit_enable=1",
			"a program is not compiled: ticks cost several times more");
}

static void probe_jit(struct feature_answer *answer)
{
	int64_t on = 0;
	int ret = read_setting("/proc/sys/net/core/bpf_jit_enable", &on);

	if (ret == -EACCES)
		UNKNOWN(answer, "net.core.bpf_jit_enable is for root's eyes");
	else if (ret)
		probe_compiled(answer);
	else if (!on)
		LIMITED(answer, "sudo sysctl net.core.bpf_jit_enable=1",
			"off: ticks cost several times more");
	else
		FOUND(answer, "on");
}

static void probe_max_rate(struct feature_answer *answer)
{
	int64_t rate = 0;

	if (read_setting("/proc/sys/kernel/perf_event_max_sample_rate", &rate))
		UNKNOWN(answer, "kernel.perf_event_max_sample_rate cannot be read");
	else if (rate < DEFAULT_HZ)
		LIMITED(answer, "sudo sysctl kernel.perf_event_max_sample_rate=100000",
			"at most %" PRId64 " ticks per second: below the default rate", rate);
	else
		FOUND(answer, "%" PRId64 " ticks per second", rate);
}

static void probe_lateness(struct feature_answer *answer)
{
	struct lateness lateness;
	char late[64] = "";
	struct error err;

	if (lateness_measure(&lateness, &err)) {
		UNKNOWN(answer, "not measured: %.160s", err.text);
		return;
	}
	if (lateness.ticks)
		snprintf(late, sizeof(late), "%.0f us late, 1 in 100 by %.0f; ",
			 lateness.median_ns / 1000, lateness.p99_ns / 1000);
	FOUND(answer,
	      "%ssamples see %.0f, %.0f, %.0f %% of bursts of %u, %u, %u us, and are "
	      "weighed",
	      late, 100 * lateness.bursts[0].seen, 100 * lateness.bursts[1].seen,
	      100 * lateness.bursts[2].seen, lateness.bursts[0].on_us, lateness.bursts[1].on_us,
	      lateness.bursts[2].on_us);
}

static void probe_sched_tick(struct feature_answer *answer)
{
	struct sched_tick tick;
	struct error err;

	if (sched_tick_find(&tick, &err))
		LIMITED(answer, NULL, "none: %.160s", err.text);
	else
		FOUND(answer, "%.6g a second", 1e9 / (double)sched_tick_period_ns());
}

static void probe_clock_cost(struct feature_answer *answer)
{
	double ns = calibrate_busy_tick_ns();

	if (ns <= 0)
		UNKNOWN(answer, "not measured: the host is too busy, or its clock does not open");
	else
		FOUND(answer, "%.1f us, which is %.1f %% at %d Hz", ns / 1000,
		      ns * DEFAULT_HZ / 1e7, DEFAULT_HZ);
}

/* Samples this process while it is busy for `ns`. */
static int try_session(struct session_options options, uint64_t ns, struct session_cost *result,
		       struct error *err)
{
	const struct target self = { .kind = TARGET_PID, .name = "doctor", .pid = getpid() };
	struct session *session = NULL;
	uint64_t until;
	int ret;

	options.mode = MODE_AT_USER_PC;
	options.memory = 4 << 20;
	options.targets = &self;
	options.nr_targets = 1;
	ret = session_open(&options, &session, err);
	if (!ret)
		ret = session_start(session, err);
	for (until = monotonic_ns() + ns; !ret && monotonic_ns() < until;)
		;
	if (!ret)
		session_cost(session, result);
	session_close(session);
	return ret;
}

static void probe_tick_cost(struct feature_answer *answer)
{
	const struct session_options options = { .source = SOURCE_TICK,
						 .period_ns = sched_tick_period_ns(),
						 .measure = true };
	struct session_cost cost = { 0 };
	struct error err = { 0 };

	if (try_session(options, TICKS_NS, &cost, &err))
		UNKNOWN(answer, "not measured: %.160s", err.text);
	else if (!cost.runs || !cost.time_ns)
		feature_answer_set(answer, FEATURE_UNKNOWN,
				   mend_of("sudo", "a container with --cap-add SYS_ADMIN"),
				   "not measured: the kernel's BPF statistics need CAP_SYS_ADMIN");
	else
		FOUND(answer,
		      "%.2f us a timer, of which there were %.0f a second: %.3f %% of a CPU",
		      (double)cost.ticking_ns / 1e3 / (double)cost.runs,
		      1e9 * (double)cost.runs / (double)cost.time_ns,
		      100 * (double)cost.ticking_ns / (double)cost.time_ns);
}

static void probe_ptrace(struct feature_answer *answer)
{
	if (may_do(CAP_SYS_PTRACE))
		FOUND(answer, "CAP_SYS_PTRACE");
	else
		LIMITED(answer, mend_of("sudo", "a container with --cap-add SYS_PTRACE"),
			"without CAP_SYS_PTRACE files of other users' processes may "
			"stay without names");
}

static void probe_kallsyms(struct feature_answer *answer)
{
	cleanup_file FILE *file = fopen("/proc/kallsyms", "re");
	uint64_t address = 0;
	int line;

	if (!file) {
		LIMITED(answer, "a kernel with CONFIG_KALLSYMS=y", "/proc/kallsyms: %s",
			strerror(errno));
		return;
	}
	/* If addresses are hidden, all are 0. If not, only the first per-CPU variable is at 0. */
	for (line = 0; line < 16 && !address; line++) {
		if (fscanf(file, "%" SCNx64 "%*[^\n]", &address) != 1)
			break;
	}
	if (address)
		FOUND(answer, "addresses are shown");
	else
		LIMITED(answer,
			mend_of("sudo, or: sudo sysctl kernel.kptr_restrict=0",
				"a container with --cap-add SYSLOG"),
			"addresses are hidden: kernel functions stay without names");
}

static void probe_callers(struct feature_answer *answer)
{
	struct error err;
	int known = kernel_can_walk(&err);

	if (known < 0)
		UNKNOWN(answer, "%.160s", err.text);
	else if (known)
		FOUND(answer, "stacks can be walked");
	else
		LIMITED(answer, NEWER_KERNEL,
			"the kernel's mappings are not in a tree that is known");
}

/* The programs themselves are loaded and attached. */
static void probe_waits(struct feature_answer *answer)
{
	const struct session_options options = { .period_ns = 1000000000 / DEFAULT_HZ,
						 .waits = true };
	struct session_cost cost;
	struct error err = { 0 };

	if (!try_session(options, 0, &cost, &err))
		FOUND(answer, "switches and wakeups are seen");
	else
		LIMITED(answer, *err.hint ? err.hint : NULL, "none: %.160s", err.text);
}

static void probe_reader(struct feature_answer *answer)
{
	struct error err;

	if (!reader_check(&err))
		FOUND(answer, "no capability, few system calls");
	else
		LIMITED(answer, *err.hint ? err.hint : NULL, "their text has no names: %.160s",
			err.text);
}

static bool is_of_kubelet(const char *directory, const void *wanted)
{
	(void)wanted;
	return strstr(directory, "kubepods");
}

/*
 * A container sees the node's pods in its cgroups, but it gets their names only if it can see a
 * folder of the host.
 */
static void probe_pods(struct feature_answer *answer)
{
	cleanup_places struct cgroup_places places = { 0 };
	struct cgroups cgroups;
	int ret = cgroups_read(&cgroups, "/proc", NULL);

	if (ret) {
		not_tried(answer, ret);
		return;
	}
	cgroup_places_find(&places, &cgroups, is_of_kubelet, NULL, NULL);
	cgroups_free(&cgroups);
	if (!places.nr)
		FOUND(answer, "no pods run here");
	else if (access("/var/log/pods", F_OK))
		LIMITED(answer, "-v /var/log:/var/log:ro, or the hostPath /var/log",
			"there is no /var/log/pods: pods have no names");
	else
		FOUND(answer, "in /var/log/pods");
}

enum { REQUIRED = 1, LOADS = 2, SLOW = 4 };

#define FEATURE(word, flags, meaning)                                                              \
	{                                                                                          \
		.id = #word, .description = (meaning), .required = (flags)&REQUIRED,               \
		.loads = (flags)&LOADS, .slow = (flags)&SLOW, .probe = probe_##word                \
	}

/* In the order of reading: a missing feature explains the lines below it. */
static const struct feature features[] = {
	FEATURE(privilege, REQUIRED, "the right to load BPF programs and to sample whole CPUs"),
	FEATURE(bpf, REQUIRED, "the bpf() system call"),
	FEATURE(btf, REQUIRED, "the kernel's type information, which programs are fitted to"),
	FEATURE(perf_event, REQUIRED, "the CPU clock of perf, one event per CPU"),
	FEATURE(perf_program, REQUIRED, "BPF programs on perf events: the tick handler"),
	FEATURE(tp_btf, REQUIRED | LOADS,
		"BPF programs on fork, exec and exit: following children"),
	FEATURE(atomics, REQUIRED | LOADS, "fetching atomics: counters that several CPUs claim"),
	FEATURE(find_vma, REQUIRED | LOADS, "bpf_find_vma: which file a pc is in"),
	FEATURE(task_pt_regs, REQUIRED | LOADS,
		"bpf_task_pt_regs: the user pc of a tick in the kernel"),
	FEATURE(task_storage, REQUIRED | LOADS, "task storage: which tasks are followed"),
	FEATURE(ringbuf, REQUIRED | LOADS, "the ring buffer: news of files and processes"),
	FEATURE(read_kernel, REQUIRED | LOADS, "bpf_probe_read_kernel: names of files"),
	FEATURE(exit, LOADS, "a hook before exit gives the address space up: its ticks"),
	FEATURE(callers, 0, "the kernel's tree of mappings, for --callers"),
	FEATURE(waits, LOADS, "BPF programs on the scheduler's events, for --waits"),
	FEATURE(jit, 0, "the BPF compiler: a cheap tick"),
	FEATURE(max_rate, 0, "the highest rate the kernel allows"),
	FEATURE(lateness, SLOW, "a clock that comes when it is due, and what it sees of bursts"),
	FEATURE(clock_cost, SLOW, "what a tick of the clock takes from a busy CPU"),
	FEATURE(sched_tick, 0, "the scheduler's own tick, for --source tick"),
	FEATURE(tick_cost, SLOW, "what --source tick takes from a busy CPU"),
	FEATURE(ptrace, 0, "reading the files of other users' processes"),
	FEATURE(reader, 0, "a process without rights, which reads files of other users"),
	FEATURE(pods, 0, "kubelet's folders, for names of pods"),
	FEATURE(kallsyms, 0, "names of kernel functions, for --mode split"),
};

#define NR_FEATURES (sizeof(features) / sizeof(features[0]))

static struct feature_answer answers[NR_FEATURES];
static bool in_hurry;

void features_hurry(void)
{
	in_hurry = true;
}

static void probe(const struct feature *feature, struct feature_answer *answer)
{
	libbpf_print_fn_t print = libbpf_set_print(NULL);

	if (in_hurry && feature->slow)
		UNKNOWN(answer, "not tried");
	else if (!feature->loads || may_load(answer))
		feature->probe(answer);
	libbpf_set_print(print);
}

const struct feature *features_at(size_t i, const struct feature_answer **ret_answer)
{
	if (i >= NR_FEATURES)
		return NULL;
	if (answers[i].state == FEATURE_UNTRIED)
		probe(&features[i], &answers[i]);
	*ret_answer = &answers[i];
	return &features[i];
}

int features_require(struct error *err)
{
	const struct feature_answer *answer;
	const struct feature *feature;
	size_t i;
	int ret;

	for (i = 0; i < NR_FEATURES; i++) {
		/*
		 * Skip optional features: they take longer to try, and profiling does not depend on
		 * them.
		 */
		if (!features[i].required)
			continue;
		feature = features_at(i, &answer);
		if (answer->state != FEATURE_MISSING)
			continue;
		ret = feature->probe == probe_privilege ? -EPERM : -EOPNOTSUPP;
		error_set(err, ret, "cannot profile: %s", answer->detail);
		if (answer->mend[0])
			error_hint(err, "%s", answer->mend);
		return ret;
	}
	return 0;
}

const char *features_libbpf_version(void)
{
	return libbpf_version_string();
}
