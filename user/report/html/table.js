// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A table to sort and to walk through by keys. Only the rows in view are in the document, so that a
// hundred thousand of them are no more than thirty.
'use strict';

const ROWS_BEYOND = 12; // above and below what is in view
const FIT_ROWS = 60; // that columns of names are made to fit
const CHARACTER = 7.3, TABLE_GAP = 18; // px

// columns: [{ title, name, value(row), fill(cell, row), down, text(row) }]; down: large ones first. text:
// what a column of names shows. open(row, go): go is false where a key only passes by.
class Table {
	constructor(box, { label, columns, open }) {
		this.box = box;
		this.open = open;
		this.rows = [];
		this.marked = -1;
		this.order = { column: 0, down: true };
		this.table = make('table');
		this.table.setAttribute('aria-label', label);
		this.head = this.table.createTHead();
		this.body = this.table.createTBody();
		box.replaceChildren(this.table);
		box.tabIndex = 0;
		box.addEventListener('scroll', () => this.draw());
		box.addEventListener('keydown', (event) => this.key(event));
		this.body.addEventListener('click', (event) => {
			const row = event.target.closest('tr[data-row]');

			if (row)
				this.mark(Number(row.dataset.row), true, true);
		});
		new ResizeObserver(() => {
			this.fit();
			this.draw();
		}).observe(box);
		this.setColumns(columns);
	}

	setColumns(columns) {
		const row = make('tr');

		this.columns = columns;
		this.order = { column: 0, down: true };
		columns.forEach((column, i) => {
			const cell = make('th', column.name), button = make('button', '', column.title);

			button.type = 'button';
			button.addEventListener('click', () => this.sortBy(i));
			cell.scope = 'col';
			cell.append(button);
			row.append(cell);
		});
		this.head.replaceChildren(row);
	}

	// Of two columns of names the second has what the first leaves, and a third of their room at least.
	fit() {
		const cells = [...this.head.rows[0].cells], names = this.columns.filter((column) => column.text);

		if (names.length < 2 || !this.box.clientWidth)
			return;
		const shown = (cell) => (cell.offsetParent ? cell.offsetWidth : 0);
		const figures = this.columns.reduce((sum, column, i) => sum + (column.text ? 0 : shown(cells[i])), 0);
		const [first, last] = [names[0], names[names.length - 1]].map((column) => TABLE_GAP + CHARACTER *
			this.rows.slice(0, FIT_ROWS).reduce((most, row) => Math.max(most, column.text(row).length), column.title.length + 2));
		const room = this.box.clientWidth - figures;

		cells[this.columns.indexOf(names[names.length - 1])].style.width = `${Math.max(Math.min(last, room / 3), Math.min(last, room - first))}px`;
	}

	sortBy(column) {
		const same = this.order.column === column;

		this.order = { column, down: same ? !this.order.down : Boolean(this.columns[column].down) };
		this.setRows(this.rows);
	}

	setRows(rows) {
		const { column, down } = this.order, { value } = this.columns[column];
		const keys = new Map(rows.map((row) => [row, value(row)]));
		const compare = (a, b) => (a < b ? -1 : Number(a > b));
		const marked = this.rows[this.marked];

		this.rows = [...rows].sort((a, b) => (down ? -1 : 1) * compare(keys.get(a), keys.get(b)));
		this.marked = marked ? this.rows.findIndex((row) => row.id === marked.id) : -1;
		this.table.setAttribute('aria-rowcount', rows.length + 1);
		[...this.head.rows[0].cells].forEach((cell, i) => {
			cell.setAttribute('aria-sort', i !== column ? 'none' : down ? 'descending' : 'ascending');
		});
		this.fit();
		this.draw(true);
	}

	height() {
		return this.rowHeight || 24;
	}

	draw(anew) {
		const room = this.box.clientHeight || 600;
		const first = Math.max(0, Math.floor(this.box.scrollTop / this.height()) - ROWS_BEYOND);
		const last = Math.min(this.rows.length,
			Math.ceil((this.box.scrollTop + room) / this.height()) + ROWS_BEYOND);

		if (!anew && first === this.first && last === this.last)
			return;
		this.first = first;
		this.last = last;
		const shown = this.rows.slice(first, last).map((row, i) => this.line(row, first + i));

		this.body.replaceChildren(this.gap(first), ...shown, this.gap(this.rows.length - last));
		if (shown.length && shown[0].offsetHeight)
			this.rowHeight = shown[0].offsetHeight;
	}

	// Of one cell: more than are shown, where the page is narrow, would make a column of nothing.
	gap(rows) {
		const row = make('tr', 'gap'), cell = make('td');

		row.setAttribute('aria-hidden', 'true');
		cell.style.height = `${rows * this.height()}px`;
		row.hidden = !rows;
		row.append(cell);
		return row;
	}

	line(row, i) {
		const line = make('tr');

		line.dataset.row = i;
		line.setAttribute('aria-rowindex', i + 2);
		line.setAttribute('aria-selected', String(i === this.marked));
		for (const column of this.columns) {
			const cell = make('td', column.name);

			column.fill(cell, row);
			line.append(cell);
		}
		return line;
	}

	// go: not only passed by, but meant
	mark(i, open, go) {
		if (!this.rows.length)
			return;
		this.marked = Math.max(0, Math.min(this.rows.length - 1, i));
		this.show();
		this.draw(true);
		if (open)
			this.open(this.rows[this.marked], go);
	}

	markRow(id) {
		this.marked = this.rows.findIndex((row) => row.id === id);
		if (this.marked >= 0)
			this.show();
		this.draw(true);
	}

	show() {
		const top = this.marked * this.height(), head = this.head.offsetHeight;
		const room = this.box.clientHeight - head;

		if (top < this.box.scrollTop)
			this.box.scrollTop = top;
		else if (top + this.height() > this.box.scrollTop + room)
			this.box.scrollTop = top + this.height() - room;
	}

	key(event) {
		const page = Math.max(1, Math.floor(this.box.clientHeight / this.height()) - 2);
		const moves = { ArrowDown: this.marked + 1, ArrowUp: this.marked - 1,
			PageDown: this.marked + page, PageUp: this.marked - page,
			Home: 0, End: this.rows.length - 1 };

		if (event.target !== this.box || event.ctrlKey || event.metaKey || event.altKey)
			return;
		if (event.key in moves)
			this.mark(moves[event.key], true);
		else if (event.key === 'Enter' && this.marked >= 0)
			this.open(this.rows[this.marked], true);
		else
			return;
		event.preventDefault();
	}
}

// A share with its bar.
function fillShare(cell, share) {
	cell.textContent = percent(share);
	cell.style.setProperty('--share', `${Math.min(100, 100 * share)}%`);
}

function fillName(cell, name, full) {
	cell.textContent = short(name) || '""';
	cell.title = short(full, 1000);
}

// Of a path the end tells most: only the folders are cut.
function fillPath(cell, path) {
	const base = basename(path), box = make('div', 'path');

	box.append(make('span', 'folder', short(path.slice(0, path.length - base.length))), make('span', 'base', short(base) || '""'));
	cell.append(box);
	cell.title = short(path, 1000);
}
