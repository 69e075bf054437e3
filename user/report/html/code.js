// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// A function's instructions with their ticks, and the source beside them; where there is no code,
// its bins.
'use strict';

const CODE_FOLD = 8; // rows without ticks that stay on either side of one with some
const CODE_BINS = 4096; // rows without code

const TAB = '    ';

// The blanks before a line that all have but those that begin and end a function.
function indentOf(lines) {
	const depths = lines.map(([, text]) => text && text.replace(/\t/g, TAB).search(/\S/))
		.filter((depth) => depth >= 0 && depth !== null && depth !== 0);

	return new RegExp(`^ {0,${depths.length ? Math.min(...depths) : 0}}`);
}

class Code {
	constructor(model) {
		this.model = model;
		this.box = byId('code');
		this.cache = new Map();
		this.box.addEventListener('click', (event) => {
			const fold = event.target.closest('button[data-fold]'), jump = event.target.closest('button[data-jump]');

			if (fold)
				this.unfold(fold);
			else if (jump)
				this.goTo(Number(jump.dataset.jump));
		});
	}

	read(id) {
		if (!this.cache.has(id)) {
			const code = readJson(`code-${id}`);

			if (code) {
				code.indent = indentOf(code.lines || []);
				code.rows = (code.rows || []).map(([nr, offset, size, shares, line, jump, text, target, arrows, inlined]) =>
					({ nr, offset: code.offset + offset, size, shares, line: line - 1, jump: jump - 1, text, target, arrows, inlined }));
			}
			this.cache.set(id, code);
		}
		return this.cache.get(id);
	}

	clear() {
		this.hot = [];
		this.box.replaceChildren();
	}

	show(of, view) {
		const code = this.read(of.id);
		const bins = this.model.binsOf(of.object).filter((bin) => bin.owner === of.id);

		this.of = of;
		this.code = code;
		this.total = bins.reduce((sum, bin) => sum + bin.ticks, 0);
		this.at = -1;
		this.box.replaceChildren();
		this.box.scrollTop = 0;
		for (const note of code ? code.notes : [this.missing()])
			this.box.append(make('p', 'note', short(note, 1000)));
		if (!code || !code.rows.length)
			this.showBins(bins);
		else if (view === 'lines' && code.lines.length)
			this.showLines(this.spread(bins));
		else
			this.showRows(this.spread(bins));
	}

	missing() {
		const { kind } = this.model.objects[this.of.object];

		if (kind === 'jit' || kind === 'memory')
			return 'No instructions: this code was made as the program ran, and is in no file.';
		return 'No instructions: only those of the hottest functions are in the page; report --html --limit N puts in more.';
	}

	// A pc is where an instruction begins: a bin's ticks are of those that begin in it, and of the
	// first where it is not known which. As report --annotate counts them.
	spread(bins) {
		const { rows } = this.code, ticks = new Float64Array(rows.length);
		const from = (offset) => {
			let low = 0, high = rows.length;

			while (low < high) {
				const middle = (low + high) >> 1;

				if (rows[middle].offset < offset)
					low = middle + 1;
				else
					high = middle;
			}
			return low;
		};

		for (const bin of bins) {
			let first = from(bin.offset);

			if (from(bin.offset + bin.size) <= first)
				first = Math.max(0, first - 1);
			ticks[Math.max(0, first - rows[first].shares)] += bin.ticks;
		}
		return ticks;
	}

	table(name, headings) {
		const table = make('table', `code ${name}`), row = make('tr');

		for (const [kind, text] of headings) {
			const cell = make('th', kind, text);

			cell.scope = 'col';
			row.append(cell);
		}
		table.createTHead().append(row);
		table.setAttribute('aria-label', `Code of ${short(this.of.name, 100)}`);
		return table;
	}

	// Rows of which some have ticks; the others are folded where they are many. make(i) is a row.
	fill(table, ticks, most, line) {
		const near = new Uint8Array(ticks.length), body = table.createTBody();
		const headingColumns = table.tHead.rows[0].cells.length;

		this.lineOf = line;
		ticks.forEach((n, i) => {
			if (n)
				near.fill(1, Math.max(0, i - CODE_FOLD), i + CODE_FOLD + 1);
		});
		for (let i = 0; i < ticks.length; i++) {
			let end = i;

			while (end < ticks.length && !near[end])
				end++;
			if (end - i > 2 * CODE_FOLD || (end > i && this.isGap(i, end))) {
				body.append(this.fold(i, end, headingColumns));
				i = end - 1;
			} else {
				body.append(line(i));
			}
		}
		this.hot = [...ticks.keys()].filter((i) => ticks[i]).sort((a, b) => ticks[b] - ticks[a]);
		this.most = most;
	}

	// Some of the rows are not even in the page.
	isGap(from, end) {
		const { rows } = this.code;

		return rows.length < this.code.of && end < rows.length && from > 0 && rows[end].nr - rows[from - 1].nr > end - from + 1;
	}

	fold(from, end, columns) {
		const row = make('tr', 'fold'), cell = make('td'), { rows } = this.code;
		const left = this.view === 'rows' && from && end < rows.length ? rows[end].nr - rows[from - 1].nr - 1 - (end - from) : 0;
		const button = make('button', '', `${count(end - from + left)} ${this.view === 'rows' ? 'instructions' : 'lines'} without ticks`);

		button.type = 'button';
		button.dataset.fold = `${from} ${end}`;
		cell.colSpan = columns;
		cell.append(button);
		row.append(cell);
		return row;
	}

	unfold(button) {
		const [from, end] = button.dataset.fold.split(' ').map(Number), rows = [];

		for (let i = from; i < end; i++)
			rows.push(this.lineOf(i));
		button.closest('tr').replaceWith(...rows);
	}

	figures(row, ticks, most) {
		const share = make('td', 'share'), figure = make('td', 'ticks');

		if (ticks) {
			share.textContent = percent(ticks / this.total);
			figure.textContent = amount(ticks);
			share.classList.add(`h${heat(ticks, 1, most)}`);
		}
		row.append(share, figure);
	}

	showRows(ticks) {
		const { rows, lines } = this.code;
		const most = ticks.reduce((a, b) => Math.max(a, b), 0);
		const headings = [['share', 'Share'], ['ticks', amountTitle()], ['address', 'Address'],
			['instruction', 'Instruction']];

		this.view = 'rows';
		if (lines.length)
			headings.push(['source', 'Source']);
		const table = this.table('rows', headings);

		this.fill(table, ticks, most, (i) => this.row(i, ticks, most));
		this.box.append(table);
	}

	row(i, ticks, most) {
		const { rows, lines } = this.code, of = rows[i], row = make('tr');
		const instruction = make('td', 'instruction');

		row.id = `row-${i}`;
		row.dataset.offset = of.offset;
		row.dataset.ticks = ticks[i];
		this.figures(row, ticks[i], most);
		if (of.shares)
			row.classList.add('shares');
		row.append(make('td', 'address', this.model.address(this.of.object, of.offset)));
		if (of.arrows)
			instruction.append(make('span', 'arrows', of.arrows));
		instruction.append(this.instruction(of));
		instruction.title = `${visible(of.text)}${of.target ? ` ${short(of.target, 1000)}` : ''}`;
		row.append(instruction);
		if (lines.length)
			row.append(this.source(of, i && rows[i - 1]));
		return row;
	}

	instruction(of) {
		const words = make('span', 'words', visible(of.text));
		const to = of.jump >= 0 ? this.code.rows.findIndex((row) => row.nr === of.jump) : -1;

		if (of.target)
			words.append(make('span', 'target', ` ${short(of.target, 120)}`));
		if (to < 0)
			return words;
		const jump = make('button', 'jump', visible(of.text));

		jump.type = 'button';
		jump.dataset.jump = to;
		jump.title = 'Go to where it jumps';
		return jump;
	}

	file(line) {
		while (line >= 0 && this.code.lines[line][2] === undefined)
			line--;
		return this.code.lines[line]?.[2] || '';
	}

	source(of, before) {
		const cell = make('td', 'source');

		if (of.line < 0)
			return cell;
		const [number, text] = this.code.lines[of.line], same = before && before.line === of.line;

		cell.classList.toggle('same', Boolean(same));
		if (same)
			return cell;
		const place = make('span', 'place', `${short(basename(this.file(of.line)), 40)}:${number}`);

		place.title = short(this.file(of.line), 1000);
		cell.append(place);
		if (text)
			cell.append(make('code', '', visible(text.replace(/\t/g, TAB).replace(this.code.indent, ''))));
		if (of.inlined)
			cell.append(make('span', 'target', ` [${short(of.inlined, 80)}]`));
		return cell;
	}

	showLines(ofRows) {
		const { rows, lines } = this.code, ticks = new Float64Array(lines.length);
		const table = this.table('lines', [['share', 'Share'], ['ticks', amountTitle()], ['source', 'Source']]);

		this.view = 'lines';
		rows.forEach((row, i) => {
			if (row.line >= 0)
				ticks[row.line] += ofRows[i];
		});
		const most = ticks.reduce((a, b) => Math.max(a, b), 0);

		this.fill(table, ticks, most, (i) => {
			const row = make('tr');

			row.id = `row-${i}`;
			this.figures(row, ticks[i], most);
			row.append(this.source({ line: i }, null));
			return row;
		});
		this.box.append(table);
	}

	showBins(bins) {
		const table = this.table('bins', [['share', 'Share'], ['ticks', amountTitle()], ['address', 'Address'], ['instruction', 'Bytes']]);
		const most = bins.reduce((a, bin) => Math.max(a, bin.ticks), 0), body = table.createTBody();

		bins.slice(0, CODE_BINS).forEach((bin, i) => {
			const row = make('tr');

			row.id = `row-${i}`;
			row.dataset.ticks = bin.ticks;
			this.figures(row, bin.ticks, most);
			row.append(make('td', 'address', this.model.address(this.of.object, bin.offset)),
				make('td', 'instruction', count(bin.size)));
			body.append(row);
		});
		this.hot = [...bins.keys()].sort((a, b) => bins[b].ticks - bins[a].ticks).filter((i) => i < CODE_BINS);
		this.box.append(table);
		if (bins.length > CODE_BINS)
			this.box.append(make('p', 'note', `The first ${count(CODE_BINS)} of ${count(bins.length)} bins.`));
	}

	goTo(i) {
		for (const button of this.box.querySelectorAll('button[data-fold]')) {
			const [from, end] = button.dataset.fold.split(' ').map(Number);

			if (i >= from && i < end)
				this.unfold(button);
		}
		const row = byId(`row-${i}`);

		this.box.querySelector('tr.at')?.classList.remove('at');
		row?.classList.add('at');
		row?.scrollIntoView({ block: 'center' });
	}

	// The next hottest instruction, or the one before.
	step(by) {
		if (!this.hot || !this.hot.length)
			return;
		this.at = Math.max(0, Math.min(this.hot.length - 1, this.at + by));
		this.goTo(this.hot[this.at]);
	}
}
