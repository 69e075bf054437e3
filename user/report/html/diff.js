// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The page of a comparison: one table.
'use strict';

function points(change) {
	return `${change >= 0 ? '+' : '−'}${Math.abs(change).toFixed(2)}`;
}

class DiffPage {
	constructor(diff) {
		this.diff = diff;
		this.rows = diff.rows.map((row, id) => ({ ...row, id, rank: diff.rows.length - id }));
		this.table = new Table(byId('table'), { label: 'Changes', columns: this.columns(), open: () => {} });
		byId('facts').textContent = [`old ${ticksOf(diff.old.ticks)}`, `new ${ticksOf(diff.new.ticks)}`,
			`${count(diff.significant)} of ${count(diff.of)} ${diff.by} changed beyond noise, at ${100 * diff.level} % for all together`].join(' · ');
		byId('search').addEventListener('input', () => this.show());
		byId('beyond').addEventListener('change', () => this.show());
		byId('filters').addEventListener('submit', (event) => event.preventDefault());
		document.addEventListener('keydown', (event) => this.key(event));
		themeSwitch(() => {});
		this.show();
	}

	columns() {
		const side = (title, name) => ({ title, name: `side ${name}`, down: true,
			value: (row) => row[name].percent,
			fill: (cell, row) => {
				cell.textContent = percent(row[name].percent / 100);
				cell.title = ticksOf(row[name].ticks);
			} });
		const named = (title, name, full, value = full) => ({ title, name, value,
			fill: (cell, row) => fillName(cell, value(row), full(row)) });
		const columns = [
			{ title: 'Change', name: 'change', down: true, value: (row) => row.rank,
			  fill: (cell, row) => {
				  cell.textContent = points(row.change);
				  if (row.significant)
					  cell.classList.add(row.change > 0 ? 'more' : 'less');
			  } },
			side('Old', 'old'), side('New', 'new'),
			{ title: 'P', name: 'p', value: (row) => row.probability,
			  fill: (cell, row) => {
				  cell.textContent = !row.significant ? 'noise' :
					  row.probability < 1e-4 ? '<0.0001' : row.probability.toFixed(4);
			  } },
		];

		if (this.diff.by === 'lines')
			columns.push(named('Line', 'name', (row) => (row.file ? `${row.file}:${row.line}` : ''),
				(row) => (row.file ? `${basename(row.file)}:${row.line}` : '')));
		if (this.diff.by !== 'objects')
			columns.push(named('Function', 'name', (row) => row.function ?? '(no symbol)'));
		columns.push(named('Object', this.diff.by === 'objects' ? 'name' : 'object', (row) => row.object,
			(row) => (this.diff.by === 'objects' ? row.object : basename(row.object))));
		return columns;
	}

	show() {
		const query = byId('search').value.trim().toLowerCase(), beyond = byId('beyond').checked;
		const rows = this.rows.filter((row) => (!beyond || row.significant) &&
			`${row.function || ''}\n${row.object}\n${row.file || ''}`.toLowerCase().includes(query));

		this.table.setRows(rows);
		byId('chosen').textContent = rows.length < this.rows.length ? `${count(rows.length)} of ${count(this.rows.length)}` : '';
	}

	key(event) {
		const { target, key } = event, search = byId('search');

		if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (key === 'Escape' && search.value) {
			search.value = '';
			this.show();
		} else if ((key === 'Escape' || key === 'ArrowDown') && target === search) {
			byId('table').focus();
		} else if (target.matches('input[type=search]')) {
			return;
		} else if (key === '/') {
			search.focus();
		} else if (key === 't') {
			byId('theme').click();
		} else {
			return;
		}
		event.preventDefault();
	}
}

new DiffPage(readJson('diff'));
