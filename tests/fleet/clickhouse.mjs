// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// clickhouse.mjs BPFPROFIL PROFILE.json ROWS: whether ClickHouse counts what the profile says.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { Session } = createRequire(`${process.cwd()}/`)('chdb');
const [bin, profile, rows] = process.argv.slice(2);
const doc = JSON.parse(readFileSync(profile, 'utf8'));
const session = new Session();
const ask = query => session.query(query).trim();

session.query(execFileSync(bin, ['export', '--format', 'clickhouse', '--ddl'], { encoding: 'utf8' }));
session.query(`INSERT INTO otel_profiles SELECT * FROM file('${process.cwd()}/${rows}', JSONEachRow)`);
const sum = kind => Number(ask(`SELECT sum(arraySum(Values)) FROM otel_profiles WHERE SampleType = '${kind}'`));
assert.equal(sum('samples'), doc.ticks.total);
assert.equal(sum('cpu'), doc.targets.reduce((ns, target) => ns + target.cpu_ns, 0));
for (const split of doc.splits ?? []) {
	if (split.cgroup)
		assert.equal(Number(ask(`SELECT sum(arraySum(Values)) FROM otel_profiles WHERE SampleType = 'samples'
			AND ResourceAttributes['process.linux.cgroup'] = '${split.cgroup}'`)), split.ticks);
}
assert.equal(ask('SELECT count() FROM otel_profiles WHERE length(FunctionNames) = 0'), '0');
assert.equal(Number(ask('SELECT toUnixTimestamp(min(Timestamp)) FROM otel_profiles')),
	     Math.floor(Date.parse(doc.started) / 1000));

// Of stacks, as the pages have the question: each function with all that it called, once however deep it calls itself.
if (doc.callers) {
	const inclusive = new Map(JSON.parse(session.query(`SELECT function, sum(arraySum(Values)) FROM otel_profiles
		ARRAY JOIN arrayDistinct(FunctionNames) AS function WHERE SampleType = 'samples' GROUP BY function`,
		'JSONCompact')).data.map(([name, ticks]) => [name, Number(ticks)]));
	const { rows: reported } = JSON.parse(execFileSync(bin, ['report', '--format', 'json', profile], { encoding: 'utf8' }));
	const named = reported.filter(row => row.function);
	assert(named.some(row => row.function === 'first' && !row.ticks && row.inclusive_ticks));
	for (const row of named)
		assert.equal(inclusive.get(row.function), row.inclusive_ticks, row.function);
}
