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
		byId('facts').textContent = `${count(diff.significant)} of ${count(diff.of)} ${diff.by} changed beyond noise, at ${100 * diff.level} % for all together`;
		this.showSides();
		byId('search').addEventListener('input', () => this.show());
		byId('beyond').addEventListener('change', () => this.show());
		byId('filters').addEventListener('submit', (event) => event.preventDefault());
		document.addEventListener('keydown', (event) => this.key(event));
		themeSwitch(() => {});
		this.show();
	}

	showSides() {
		const { diff } = this, list = byId('sides');

		document.title = `${[diff.old, diff.new].map((side) => short(basename(side.file || ''), 60)).join(' → ')} · bpfprofil diff`;
		for (const name of ['old', 'new']) {
			const side = diff[name], words = make('dd');
			const seconds = diff.rows.reduce((sum, row) => sum + row[name].seconds, 0);

			words.append(make('b', '', short(side.file || name)), ` ${[short(side.title || '', 200),
				side.started && side.started.replace('T', ' ').replace(/\.\d+/, ''), ticksOf(side.ticks),
				side.cpu_ns === undefined ? `${seconds.toFixed(3)} s in these rows` : `${(side.cpu_ns / 1e9).toFixed(3)} s of CPU time`]
				.filter(Boolean).map(visible).join(' · ')}`);
			list.append(make('dt', '', name), words);
		}
		for (const note of diff.notes)
			byId('notes').append(make('li', '', short(note, 1000)));
	}

	columns() {
		const most = Math.max(...this.rows.map((row) => Math.abs(row.change)), 1e-9);
		const side = (title, name) => ({ title, name: `side ${name}`, down: true,
			value: (row) => row[name].percent,
			fill: (cell, row) => {
				fillShare(cell, row[name].percent / 100);
				cell.title = `${ticksOf(row[name].ticks)}, ${row[name].seconds.toFixed(3)} s`;
			} });
		const seconds = (title, name) => ({ title, name: `seconds ${name}`, down: true,
			value: (row) => row[name].seconds,
			fill: (cell, row) => cell.append(row[name].seconds.toFixed(3)) });
		const named = (title, name, full, value = full) => ({ title, name, value, text: value,
			fill: (cell, row) => fillName(cell, value(row), full(row)) });
		const columns = [
			{ title: 'Change', name: 'change', down: true, value: (row) => row.rank,
			  fill: (cell, row) => {
				  fillShare(cell, Math.abs(row.change) / most);
				  cell.textContent = points(row.change);
				  cell.title = `${points(row.change)} % of the time; ${row.old.seconds.toFixed(3)} s before, ${row.new.seconds.toFixed(3)} s now`;
				  if (row.significant)
					  cell.classList.add(row.change > 0 ? 'more' : 'less');
			  } },
			side('Old', 'old'), side('New', 'new'),
			{ title: 'P', name: 'p', value: (row) => row.probability,
			  fill: (cell, row) => {
				  cell.textContent = !row.significant ? 'noise' :
					  row.probability < 1e-4 ? '<.0001' : row.probability.toFixed(4);
			  } },
			seconds('Old s', 'old'), seconds('New s', 'new'),
		];

		if (this.diff.by === 'objects')
			return [...columns, { title: 'Object', name: 'name', value: (row) => row.object, fill: (cell, row) => fillPath(cell, row.object) }];
		columns.push(named('Function', 'name', (row) => row.function ?? `${basename(row.object)}+0x...`));
		if (this.diff.by === 'lines')
			columns.push({ title: 'Line', name: 'line', value: (row) => (row.file ? `${row.file}:${String(row.line).padStart(9, '0')}` : ''),
				fill: (cell, row) => fillName(cell, row.file ? `${basename(row.file)}:${row.line}` : '-', row.file ? `${row.file}:${row.line}` : '') });
		columns.push(named('Object', 'object', (row) => row.object, (row) => basename(row.object)));
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
