// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// grafana.mjs BPFPROFIL PROFILE.json ROWS: whether the queries under user/grafana/ say of ClickHouse's
// table what the profile says, and the dashboard asks just these.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { Session } = createRequire(`${process.cwd()}/`)('chdb');
const [bin, profile, rows] = process.argv.slice(2);
const folder = new URL('../../user/grafana/', import.meta.url);
const read = name => readFileSync(new URL(name, folder), 'utf8');
const doc = JSON.parse(readFileSync(profile, 'utf8'));
const session = new Session();

// What Grafana puts in their place, for an hour that the profile is in.
const start = Math.floor(Date.parse(doc.started) / 1000), from = start - 1800, to = start + 1800;
const ask = (name, service = '.*') => session.query(read(`${name}.sql`)
	.replaceAll('$__timeFilter(Timestamp)', `Timestamp >= toDateTime(${from}) AND Timestamp <= toDateTime(${to})`)
	.replaceAll('$__fromTime', `toDateTime(${from})`).replaceAll('$__toTime', `toDateTime(${to})`)
	.replaceAll('$service', service), 'JSONEachRow')
	.trim().split('\n').filter(line => line).map(line => JSON.parse(line));
const sum = (list, key) => list.reduce((all, one) => all + Number(one[key]), 0);
const near = (a, b) => assert(Math.abs(a - b) <= 1e-6 * Math.max(1, Math.abs(b)), `${a} is not ${b}`);
const insert = file => session.query(
	`INSERT INTO otel_profiles SELECT * FROM file('${process.cwd()}/${file}', JSONEachRow)`);

session.query(execFileSync(bin, ['export', '--format', 'clickhouse', '--ddl'], { encoding: 'utf8' }));
insert(rows);
const lines = readFileSync(rows, 'utf8').trim().split('\n').map(line => JSON.parse(line));
const samples = lines.filter(line => line.SampleType === 'samples');
const count = (list, test = () => true) => list.filter(test).reduce((all, one) => all + one.Values[0], 0);

const containers = ask('containers');
assert.equal(sum(containers, 'ticks'), doc.ticks.total);
near(sum(containers, 'share'), 1);
for (const split of (doc.splits ?? []).filter(one => one.cgroup && one.ticks))
	assert.equal(Number(containers.find(one => one.cgroup === split.cgroup).ticks), split.ticks);

const kernel = ask('kernel-share');
assert.equal(sum(kernel, 'ticks'), doc.ticks.total);
assert.equal(sum(kernel, 'kernel'),
	     count(samples, one => one.SampleAttributes['profile.frame.type'] === 'kernel'));

const hottest = ask('hottest-functions');
assert(hottest.length > 1 && hottest.length <= 50);
for (const one of hottest) {
	assert.equal(Number(one.ticks), count(samples, line => line.FunctionNames[0] === one.function &&
		line.MappingFileNames[0] === one.file &&
		(line.SampleAttributes['process.executable.build_id.gnu'] ?? '') === one.build));
	near(one.share, one.ticks / doc.ticks.total);
}
const [busiest] = containers;
assert.equal(sum(ask('containers', `^${busiest.service.replace(/[^\w]/g, '.')}$`), 'ticks') >= Number(busiest.ticks), true);

const cores = ask('cores-per-function');
for (const one of cores)
	near(one.cores, count(lines, line => line.SampleType === 'cpu' && line.FunctionNames[0] === one.function &&
		line.MappingFileNames[0] === one.file) / 1e9 / (to - from));

// One build of each file has no other to be compared with. A second one, all of whose ticks are in one
// function, takes that function's share to 1.
assert.deepEqual(ask('release-against-release'), []);
const old = hottest.find(one => one.build && one.function !== '[unknown]');
const older = samples.filter(line => line.MappingFileNames[0] === old.file &&
	line.SampleAttributes['process.executable.build_id.gnu'] === old.build);
const newer = structuredClone(older.find(line => line.FunctionNames[0] === old.function));
newer.SampleAttributes['process.executable.build_id.gnu'] = 'ffff';
newer.Timestamp = `${start + 60}.000000000`;
writeFileSync('newer.jsonl', `${JSON.stringify(newer)}\n`);
insert('newer.jsonl');
const change = ask('release-against-release');
const [of] = change.filter(one => one.function === old.function && one.file === old.file);
near(of.after, 1);
near(of.before, old.ticks / count(older));
assert(change.every(one => one.file === old.file));
if (change.length < 50)
	near(sum(change, 'change'), 0);

const board = JSON.parse(read('fleet.json'));
const asked = board.panels.flatMap(panel => panel.targets ?? []);
const files = readdirSync(folder).filter(name => name.endsWith('.sql'));
assert.deepEqual(asked.filter(one => one.rawSql).map(one => one.rawSql).sort(),
		 files.map(name => read(name).replace(/^.*\n/, '').trim()).sort());
assert.deepEqual(asked.filter(one => one.expr).map(one => one.expr),
		 read('agents.promql').trim().split('\n').filter(line => !line.startsWith('#')));
assert.equal(files.length, 5);
// At perf's clock there is no such metric without CAP_SYS_ADMIN.
for (const panel of board.panels.filter(one => one.targets?.[0].expr?.includes('handler_seconds')))
	assert.match(panel.fieldConfig.defaults.noValue, /CAP_SYS_ADMIN/);
const ids = board.panels.map(panel => panel.id);
assert.equal(new Set(ids).size, ids.length);
