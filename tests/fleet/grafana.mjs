// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// grafana.mjs BPFPROFIL FOLDER CPU_STATS: whether the queries under user/grafana/ say of ClickHouse's table
// what the scheduler says of the profiles in the folder, which are of several duties, and of control groups
// whose CPU time is known ("/group microseconds" a line); and whether the dashboard asks just these.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gunzipSync } from 'node:zlib';

const { Session } = createRequire(`${process.cwd()}/`)('chdb');
const [bin, profiles, stats] = process.argv.slice(2);
const folder = new URL('../../user/grafana/', import.meta.url);
const read = name => readFileSync(new URL(name, folder), 'utf8');
const paths = readdirSync(profiles).filter(name => name.endsWith('.gz')).map(name => `${profiles}/${name}`);
const docs = paths.map(path => JSON.parse(gunzipSync(readFileSync(path))));
const session = new Session();

// What Grafana puts in their place, for an hour that the profiles are in.
const start = Math.floor(Math.min(...docs.map(doc => Date.parse(doc.started))) / 1000);
const from = start - 1800, to = start + 1800;
const ask = (name, service = '.*') => session.query(read(`${name}.sql`)
	.replaceAll('$__timeFilter(Timestamp)', `Timestamp >= toDateTime(${from}) AND Timestamp <= toDateTime(${to})`)
	.replaceAll('$__fromTime', `toDateTime(${from})`).replaceAll('$__toTime', `toDateTime(${to})`)
	.replaceAll('$service', service), 'JSONEachRow')
	.trim().split('\n').filter(line => line).map(line => JSON.parse(line));
const sum = (list, key) => list.reduce((all, one) => all + Number(one[key]), 0);
const near = (a, b, share = 1e-6) => assert(Math.abs(a - b) <= share * Math.max(1, Math.abs(b)), `${a} is not ${b}`);
const insert = list => {
	writeFileSync('rows.jsonl', list.map(line => `${JSON.stringify(line)}\n`).join(''));
	session.query(`INSERT INTO otel_profiles SELECT * FROM file('${process.cwd()}/rows.jsonl', JSONEachRow)`);
};

session.query(execFileSync(bin, ['export', '--format', 'clickhouse', '--ddl'], { encoding: 'utf8' }));
const lines = paths.flatMap(path => execFileSync(bin, ['export', '--format', 'clickhouse', '--detail', 'function', path],
	{ encoding: 'utf8', maxBuffer: 1 << 28 }).trim().split('\n').map(line => JSON.parse(line)));
insert(lines);
const duties = new Set(lines.map(line => line.Period));
assert(duties.size >= 2, `the profiles are all of one duty: ${[...duties]}`);
const times = lines.filter(line => line.SampleType === 'cpu');
const seconds = (list, test = () => true) => list.filter(test).reduce((all, one) => all + one.Values[0], 0) / 1e9;
const all = docs.flatMap(doc => doc.targets).reduce((ns, target) => ns + target.cpu_ns, 0) / 1e9;

const containers = ask('containers');
near(sum(containers, 'seconds'), all);
near(sum(containers, 'share'), 1);
for (const line of readFileSync(stats, 'utf8').trim().split('\n')) {
	const [group, usec] = line.split(' ');
	const one = containers.find(row => row.cgroup === group);
	console.log(`containers.sql: ${group}: ${Number(one.seconds).toFixed(3)} s, cpu.stat ${usec / 1e6}`);
	near(one.seconds, usec / 1e6, 0.02);
	const name = `^${one.service.replace(/[^\w]/g, '.')}$`;
	near(sum(ask('containers', name), 'seconds'), one.seconds);
	near(sum(ask('kernel-share', name), 'seconds'), one.seconds);
	near(sum(ask('hottest-functions', name), 'seconds'), one.seconds);
	near(sum(ask('cores-per-function', name), 'cores') * (to - from), one.seconds);
}

const kernel = ask('kernel-share');
near(sum(kernel, 'seconds'), all);
near(sum(kernel, 'kernel'), seconds(times, one => one.SampleAttributes['profile.frame.type'] === 'kernel'));

const hottest = ask('hottest-functions');
const is = (line, one) => line.FunctionNames[0] === one.function && line.MappingFileNames[0] === one.file;
const build = line => line.SampleAttributes['process.executable.build_id.gnu'] ?? '';
assert(hottest.length > 1 && hottest.length <= 50);
for (const one of hottest) {
	near(one.seconds, seconds(times, line => is(line, one) && build(line) === one.build));
	near(one.share, one.seconds / all);
}
for (const one of ask('cores-per-function'))
	near(one.cores, seconds(times, line => is(line, one)) / (to - from));

// One build of each file has no other to be compared with. A second one, all of whose time is in one
// function, takes that function's share to 1.
assert.deepEqual(ask('release-against-release'), []);
const old = hottest.find(one => one.build && one.function !== '[unknown]');
const older = times.filter(line => line.MappingFileNames[0] === old.file && build(line) === old.build);
const newer = structuredClone(older.find(line => line.FunctionNames[0] === old.function));
newer.SampleAttributes['process.executable.build_id.gnu'] = 'ffff';
newer.Timestamp = `${start + 60}.000000000`;
insert([newer]);
const change = ask('release-against-release');
const [of] = change.filter(one => one.function === old.function && one.file === old.file);
near(of.after, 1);
near(of.before, old.seconds / seconds(older));
assert(change.every(one => one.file === old.file));
if (change.length < 50)
	near(sum(change, 'change'), 0);

const builds = ask('builds');
assert(builds.length > 1);
for (const one of builds)
	near(one.seconds, seconds([...times, newer], line => line.MappingFileNames[0] === one.file && build(line) === one.build));
near(sum(builds.filter(one => one.file === old.file), 'share'), 1);
assert.equal(builds.find(one => one.file === old.file).build, 'ffff');

// Another profiler's has ticks alone: they count by their period, and ours not once more.
const ticks = structuredClone(lines.find(line => line.SampleType === 'samples'));
Object.assign(ticks, { ServiceName: 'elsewhere', Values: [7], Period: 52631578 });
insert([ticks]);
near(sum(ask('containers', '^elsewhere$'), 'seconds'), 7 * 0.052631578);
near(sum(ask('containers'), 'seconds'), all + newer.Values[0] / 1e9 + 7 * 0.052631578);

// One host has no other to be compared with. A second one, where all of a service is in one function: that has
// so much more of it, and the service's other functions have as much less.
assert.deepEqual(ask('node-against-fleet').filter(one => one.service === 'twin'), []);
const twins = older.map(line => ({ ...structuredClone(line), ServiceName: 'twin' }));
const alone = structuredClone(twins.find(line => line.FunctionNames[0] === old.function));
alone.ResourceAttributes['host.name'] = 'elsewhere';
insert([...twins, alone]);
const differs = ask('node-against-fleet', '^twin$').filter(one => one.host === 'elsewhere');
near(differs.find(one => one.function === old.function).here, 1);
near(differs.find(one => one.function === old.function).elsewhere, seconds(twins, one => one.FunctionNames[0] === old.function) / seconds(twins));

// A pod's container, and one of which only the id is known.
const pod = structuredClone(twins[0]), nameless = structuredClone(twins[0]);
pod.ServiceName = 'shop/web';
Object.assign(pod.ResourceAttributes, { 'k8s.pod.uid': 'u', 'k8s.namespace.name': 'shop', 'k8s.pod.name': 'web-1',
	'k8s.container.name': 'web' });
nameless.ServiceName = '0123456789ab';
nameless.ResourceAttributes['container.id'] = '0123456789ab';
insert([pod, nameless]);
const [of_pod, ...more] = ask('pods', '^shop/web$');
assert.deepEqual([of_pod.namespace, of_pod.pod, of_pod.container, more], ['shop', 'web-1', 'web', []]);
near(of_pod.cores, pod.Values[0] / 1e9 / (to - from));
// Others of this host may have none either.
const unnamed = new Set(lines.map(line => [line.ServiceName, line.ResourceAttributes])
	.filter(([, of]) => (of['container.id'] || of['k8s.pod.uid']) && !of['k8s.pod.name'] && !of['container.name'])
	.map(([service]) => service));
assert.deepEqual(ask('unnamed-services').filter(one => Number(one.nameless)).map(one => one.service).sort(),
		 [nameless.ServiceName, ...unnamed].sort());
near(sum(ask('unnamed-services', '^twin$'), 'unknown'), seconds([...twins, alone], one => one.FunctionNames[0] === '[unknown]'));

// A flame graph has all of the time at its top, and of a stack each frame below its caller.
near(ask('flame-graph')[0].value, sum(ask('containers'), 'seconds'));
const stacked = { ...structuredClone(pod), ServiceName: 'stacked', FunctionNames: ['inner', 'outer'] };
stacked.SampleAttributes['process.executable.name'] = 'program';
insert([stacked, { ...stacked, FunctionNames: ['outer'] }]);
const stacks = ask('flame-graph', '^stacked$'), once = pod.Values[0] / 1e9;
assert.deepEqual(stacks.map(row => `${row.level} ${row.label}`),
	['0 all', '1 stacked', '2 web-1', '3 program', '4 outer', '5 inner']);
for (const [i, row] of stacks.entries()) {
	near(row.value, i < 5 ? 2 * once : once);
	near(row.self, i < 4 ? 0 : once);
}

// At eleven in the evening, and at noon before that.
const midnight = Number(session.query('SELECT toUnixTimestamp(toStartOfDay(now()))', 'TSV'));
const night = [-1, -12].map(hours => ({ ...structuredClone(twins[0]), ServiceName: 'night',
	Timestamp: `${midnight + hours * 3600}.000000000` }));
insert(night);
const [of_night, ...others] = ask('last-night', '^night$');
assert.deepEqual(others, []);
near(of_night.seconds, night[0].Values[0] / 1e9);
near(of_night.share, 1);

// The dashboards ask just what the files do.
const boards = ['clickhouse', 'prometheus'].map(name => JSON.parse(read(`${name}.json`)));
const asked = boards.map(board => board.panels.flatMap(panel => panel.targets ?? []));
const files = readdirSync(folder).filter(name => name.endsWith('.sql'));
assert.deepEqual(asked[0].map(one => one.rawSql).sort(), files.map(name => read(name).replace(/^.*\n/, '').trim()).sort());
assert.deepEqual(asked[1].map(one => one.expr).sort(),
		 read('prometheus.promql').trim().split('\n').filter(line => !line.startsWith('#')).sort());
assert.equal(files.length, 11);
for (const board of boards) {
	const ids = board.panels.map(panel => panel.id);
	assert.equal(new Set(ids).size, ids.length);
	// No panel is on top of another.
	const boxes = board.panels.map(panel => panel.gridPos);
	for (const [i, one] of boxes.entries())
		assert(boxes.every((two, j) => i >= j || one.x + one.w <= two.x || two.x + two.w <= one.x ||
			one.y + one.h <= two.y || two.y + two.h <= one.y), `${board.panels[i].title} is below another`);
}
// At perf's clock there is no such metric without CAP_SYS_ADMIN.
for (const panel of boards[1].panels.filter(one => one.targets?.[0].expr.includes('cost_ratio')))
	assert.match(panel.fieldConfig.defaults.noValue, /CAP_SYS_ADMIN/);
