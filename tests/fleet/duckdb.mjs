// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// duckdb.mjs PROFILE.json ROWS: whether DuckDB counts what the profile says, and still from Parquet.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { DuckDBInstance } = createRequire(`${process.cwd()}/`)('@duckdb/node-api');
const [profile, rows] = process.argv.slice(2);
const doc = JSON.parse(readFileSync(profile, 'utf8'));
const connection = await (await DuckDBInstance.create()).connect();
const ask = async query => (await connection.runAndReadAll(query)).getRows();

await connection.run(`CREATE TABLE lines AS SELECT * FROM read_json('${rows}', columns = {
	SampleType: 'VARCHAR', ResourceAttributes: 'MAP(VARCHAR, VARCHAR)', FunctionNames: 'VARCHAR[]',
	Values: 'BIGINT[]'})`);
await connection.run(`COPY lines TO '${rows}.parquet' (FORMAT parquet)`);
for (const table of ['lines', `'${rows}.parquet'`]) {
	const sum = async kind => Number((await ask(
		`SELECT coalesce(sum(list_sum(Values)), 0)::BIGINT FROM ${table} WHERE SampleType = '${kind}'`))[0][0]);
	assert.equal(await sum('samples'), doc.ticks.total);
	assert.equal(await sum('cpu'), doc.targets.reduce((ns, target) => ns + target.cpu_ns, 0));
	const groups = new Map((await ask(`SELECT coalesce(ResourceAttributes['process.linux.cgroup'], ''),
		sum(list_sum(Values))::BIGINT FROM ${table} WHERE SampleType = 'samples' GROUP BY 1`))
		.map(([cgroup, ticks]) => [String(cgroup), Number(ticks)]));
	for (const split of doc.splits ?? []) {
		if (split.cgroup)
			assert.equal(groups.get(split.cgroup) ?? 0, split.ticks, split.cgroup);
	}
	assert.equal(Number((await ask(`SELECT count(*) FROM ${table} WHERE len(FunctionNames) = 0`))[0][0]), 0);
}
