// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// The page of a profile: what is chosen, and who is told.
'use strict';

const NAMES_OF_ROWS = { functions: 'functions', inlined: 'with inlined', objects: 'objects', comm: 'comm', cgroup: 'cgroups' };

const LEGEND_OBJECTS = 4;

const LINK_AFTER = 300; // ms

function linkedName() {
	try {
		return decodeURIComponent(location.hash.slice(1));
	} catch {
		return '';
	}
}

class Page {
	constructor(profile, callers) {
		this.model = new Model(profile, callers);
		this.by = 'functions';
		this.object = null; // in the map
		this.skip = 0; // the hottest functions of it that the map leaves out
		this.of = null; // the function in the text
		this.textObject = null;
		this.query = '';
		this.codeView = 'rows';
		this.map = new TreeMap(this.model, { open: (id) => this.openFunction(id, false, true), zoom: (id, skip) => this.zoom(id, skip) });
		this.time = new TimeMap(this.model, { open: (id) => this.openFunction(id, false, true) });
		this.flame = new Flame({ tell: (place, of) => this.tellCalls(place, of), paint: (place, frame) => this.paintCalls(frame),
			open: (frame, go) => this.openFrame(frame, go), look: (frame) => this.look(frame) });
		this.objectsOfCpu = this.model.rows.objects;
		this.centre = null; // whose callers and callees are shown: a frame
		this.mapView = this.model.calls ? 'flame' : this.time.parts.length ? 'time' : 'functions';
		this.table = new Table(byId('table'), { label: 'Ticks', columns: this.columns(),
			open: (row, go) => this.openRow(row, go) });
		this.strip = new Strip(this.model, { open: (id, stay) => this.openFunction(id, stay) });
		this.code = new Code(this.model);
		showHead(profile);
		this.filters = new Filters(this.model, () => this.changed());
		this.open(this.model.rows.functions[0]);
		this.openLink();
		this.changed();
		window.addEventListener('hashchange', () => this.followLink());
		byId('search').addEventListener('input', (event) => this.search(event.target.value));
		byId('filters').addEventListener('submit', (event) => event.preventDefault());
		document.addEventListener('keydown', (event) => this.key(event));
		for (const of of document.querySelectorAll('#keys .of-calls'))
			of.hidden = !callers;
		for (const of of document.querySelectorAll('#keys .of-waits'))
			of.hidden = !this.model.hasWaits;
		byId('table').classList.toggle('of-calls', Boolean(callers));
		byId('text-calls').addEventListener('click', () => this.look(this.of.id));
		byId('help').addEventListener('click', () => byId('keys').showModal());
		themeSwitch(() => {
			this.strip.draw();
			this.time.draw();
			this.flame.draw();
			this.showObjects();
		});
	}

	// #FUNCTION or #OBJECT:FUNCTION, and #OBJECT, name what is shown.
	openLink() {
		const name = linkedName(), { functions, objects } = this.model.rows;
		const object = (row) => basename(this.model.objects[row.of.object].path);
		const row = name && (functions.find((of) => of.of.name === name) ||
			functions.find((of) => `${object(of)}:${of.of.name}` === name));
		const whole = name && !row && objects.find((of) => basename(of.of.path) === name);

		if (row)
			this.open(row);
		else if (whole)
			this.open({ of: null, object: whole.id });
		return Boolean(row || whole);
	}

	followLink() {
		if (this.openLink()) {
			this.changed();
			this.goToText();
		}
	}

	// The address line names what is shown, to be kept or sent. Browsers count how often it changes, and
	// some throw: who walks through the table stops before it does.
	link() {
		clearTimeout(this.linking);
		this.linking = setTimeout(() => this.linkNow(), LINK_AFTER);
	}

	linkNow() {
		const { of, model } = this, object = basename(model.objects[this.textObject].path);
		const alone = of && model.rows.functions.find((row) => row.of.name === of.name)?.id === of.id;

		history.replaceState(null, '', `#${encodeURIComponent(!of ? object : alone ? of.name : `${object}:${of.name}`)}`);
	}

	open(row) {
		if (row && !row.of) {
			this.of = null;
			this.textObject = row.object;
		} else if (row) {
			this.of = row.of;
			this.textObject = row.of.object;
			this.centre = row.of.id;
		}
	}

	// --- the table ----------------------------------------------------------------------------------

	columns() {
		const { model } = this, figures = [
			{ title: 'Share', name: 'share', down: true, value: (row) => row.time,
			  fill: (cell, row) => fillShare(cell, model.share(row)) },
			{ title: 'Ticks', name: 'ticks', down: true, value: (row) => row.ticks,
			  fill: (cell, row) => cell.append(count(row.ticks)) },
			{ title: 'Seconds', name: 'seconds', down: true, value: (row) => row.time,
			  fill: (cell, row) => cell.append(model.seconds(row).toFixed(3)) },
		];
		if (model.countsTime())
			figures.splice(1, 1);
		const path = (row) => model.objects[this.by === 'objects' ? row.id : row.of.object].path;
		const named = (title, name, full, value = full) => ({ title, name, value, text: value,
			fill: (cell, row) => fillName(cell, value(row), full(row)) });

		if (this.by === 'functions' && model.calls)
			figures.splice(1, 0, { title: 'Inclusive', name: 'inclusive', down: true, value: (row) => row.inclusiveTime,
				fill: (cell, row) => {
					fillShare(cell, model.share({ time: row.inclusiveTime }));
					cell.title = `with all that it called: ${ticksOf(row.inclusiveTicks)}, ${(row.inclusiveTime / 1e9).toFixed(3)} s`;
				} });
		if (this.isOfFunctions())
			return [...figures, named('Function', 'name', (row) => row.of.address ? `${row.of.name}, at ${row.of.address}` : row.of.name, (row) => row.of.name),
				named('Object', 'object', path, (row) => basename(path(row)))];
		if (this.by === 'objects')
			return [...figures, { title: 'Kind', name: 'kind', value: (row) => row.of.kind, fill: (cell, row) => cell.append(row.of.kind) },
				{ title: 'Object', name: 'name', value: path, fill: (cell, row) => fillPath(cell, path(row)) }];
		return [...figures, named(model.nouns[this.by], 'name', (row) => row.name)];
	}

	isOfFunctions() {
		return this.by === 'functions' || this.by === 'inlined';
	}

	matches(row) {
		if (!this.query)
			return true;
		const path = row.of ? row.of.path || this.model.objects[row.of.object].path : '';

		return `${row.name || row.of.name || ''}\n${row.of?.address || ''}\n${path}`.toLowerCase().includes(this.query);
	}

	showTable() {
		const rows = this.model.rows[this.by];
		// Where the map leaves out the hottest of its object, so does the table.
		const inMap = this.object === null || !this.isOfFunctions() ? rows :
			rows.filter((row) => row.of.object === this.object).slice(this.by === 'functions' ? this.skip : 0);
		const found = inMap.filter((row) => this.matches(row));
		const words = ['functions', ...(this.model.rows.inlined.length ? ['inlined'] : []), 'objects', ...['process', 'comm', 'cgroup'].filter((kind) => this.model.isSplit[kind])];

		choice(byId('by'), words.map((word) => [word, NAMES_OF_ROWS[word] || this.model.nouns.processes]), this.by, (word) => this.showBy(word));
		this.table.setRows(found);
		const sum = found.reduce((all, row) => all + row.time, 0);

		byId('list-count').textContent = found.length < rows.length ?
			`${count(found.length)} of ${count(rows.length)}, ${percent(this.model.share({ time: sum }))}` :
			`${count(rows.length)}, ${percent(this.model.share({ time: sum }))}`;
		this.table.markRow(this.by === 'functions' ? this.of?.id : this.by === 'objects' ? this.textObject : this.model.filter[this.by]);
	}

	showBy(word) {
		this.by = word;
		this.table.setColumns(this.columns());
		this.showTable();
	}

	openRow(row, go) {
		if (this.by === 'functions')
			this.openFunction(row.id, false, go);
		else if (this.by === 'inlined')
			this.openFunction(this.model.ownerOf(row.id), false, go);
		else if (this.by === 'objects')
			this.openObject(row.id, go);
		else if (go)
			this.filters.choose({ [this.by]: this.model.filter[this.by] === row.id ? null : row.id });
	}

	// --- what is shown ------------------------------------------------------------------------------

	changed() {
		this.skip = 0;
		showAccount(this.model);
		if (this.kind !== this.model.filter.kind)
			this.table.setColumns(this.columns());
		this.kind = this.model.filter.kind;
		this.showMap();
		this.showTable();
		this.showText();
	}

	mapViews() {
		return [...(this.model.calls ? [['flame', 'flame graph'], ['function', 'callers and callees']] : []), ['functions', 'functions'],
			...(this.time.parts.length ? [['time', 'over time']] : [])];
	}

	showMap() {
		const overTime = this.mapView === 'time', view = byId('map-view'), words = this.mapViews();
		const ofCalls = this.mapView === 'flame' || this.mapView === 'function';

		view.hidden = words.length < 2;
		choice(view, words, this.mapView, (word) => {
			this.mapView = word;
			this.showMap();
		});
		byId('map-cells').hidden = overTime || ofCalls;
		byId('map-path').hidden = overTime || ofCalls;
		byId('map-legend').hidden = ofCalls;
		byId('calls').hidden = !ofCalls;
		byId('calls-legend').hidden = !ofCalls;
		document.querySelector('main').classList.toggle('of-calls', ofCalls);
		if (ofCalls)
			this.showCalls();
		byId('legend-unit').textContent = overTime ? 'more CPU time' : 'more ticks per byte';
		this.time.show({ shown: overTime, matches: (row) => this.matches(row), chosen: this.of?.id });
		this.map.show({ object: this.object, skip: this.skip, matches: (row) => this.matches(row), chosen: this.of?.id });
	}

	// --- calls --------------------------------------------------------------------------------------

	showCalls() {
		const { model } = this, { calls, own, tree, apart, frames } = model;

		this.showObjects();
		this.flame.show({ calls, own, tree, apart, frames, width: Model.widthOf }, this.mapView === 'flame' ? null : this.centre ?? -1,
			this.query && ((frame) => isNamed(frame, this.query)));
	}

	// The objects with the most time have colours of their own; what is in no object, and all others, is grey.
	showObjects() {
		// Waits are in their classes. Their callers keep the colours that they have for CPU time.
		const more = this.kind === 'waits' ? this.objectsOfCpu : [];
		const rows = [...this.model.rows.objects, ...more].slice(0, FLAME_HUES.length);

		this.hues = new Map(rows.map((row, i) => [row.id, FLAME_HUES[i]]));
		byId('calls-legend').replaceChildren(...rows.slice(0, LEGEND_OBJECTS).flatMap((row) => {
			const swatch = make('i');

			swatch.style.background = this.paintCalls({ object: row.id });
			return [swatch, make('span', '', short(basename(row.of.path), 24))];
		}));
	}

	paintCalls(frame) {
		const hue = this.hues.get(frame?.object);

		if (hue === undefined)
			return isDark() ? 'hsl(220 6% 30%)' : 'hsl(220 8% 87%)';
		return isDark() ? `hsl(${hue} 34% 32%)` : `hsl(${hue} 58% 80%)`;
	}

	// of: the tree of the one function whose calls are shown, or null
	tellCalls({ tree, node }, of) {
		const { model } = this, [ticks, time] = tree.sums, words = [ticksOf(ticks[node]), percent(model.share({ time: time[node] }))];

		if (of && node)
			words.push(`${percent(time[node] / of.sums[1][0])} of it`);
		words.push(`${(time[node] / 1e9).toFixed(3)} s`);
		if (tree.self[node] && tree !== this.flame.up)
			words.push(`itself ${ticksOf(tree.self[node])}`);
		return [...new Set(words)].join(' · ');
	}

	openFrame(frame, go) {
		if (frame < this.model.functions.length)
			this.openFunction(frame, false, go);
	}

	// Shows who called a frame, and what it called.
	look(frame) {
		if (!this.model.calls || frame >= this.model.calls.nrFrames)
			return;
		this.mapView = 'function';
		this.centre = frame;
		if (frame < this.model.functions.length)
			this.openFunction(frame);
		else
			this.showMap();
		this.flame.canvas.focus();
	}

	showFlame() {
		if (!this.model.calls)
			return;
		this.mapView = 'flame';
		this.showMap();
		this.flame.canvas.focus();
	}

	search(text) {
		this.query = text.trim().toLowerCase();
		this.showMap();
		this.showTable();
	}

	// What was typed as it is called, else what begins so, else the first row that has it.
	openFound() {
		const rows = this.table.rows, name = (row) => (row.name || row.of.name || basename(row.of.path)).toLowerCase();
		const found = rows.find((row) => name(row) === this.query) || rows.find((row) => name(row).startsWith(this.query)) || rows[0];

		if (!found || !this.query)
			return;
		this.table.markRow(found.id);
		byId('table').focus();
		this.openRow(found, true);
	}

	zoom(object, skip = 0) {
		this.object = object;
		this.skip = skip;
		if (object !== null && (!this.of || this.of.object !== object))
			this.openObject(object);
		this.showMap();
		this.showTable();
	}

	// stay: the strip keeps its window, for it was there that the function was pointed at.
	openFunction(id, stay, go) {
		id = this.model.sameAs[id] ?? id;
		this.open({ of: this.model.functions[id] });
		this.showMap();
		if (this.by === 'functions')
			this.table.markRow(id);
		this.showText(stay);
		this.link();
		if (go)
			this.goToText();
	}

	openObject(id, go) {
		this.of = null;
		this.textObject = id;
		this.showMap();
		this.showText();
		this.link();
		if (go)
			this.goToText();
	}

	// On a phone it is below the table.
	goToText() {
		byId('text').scrollIntoView();
	}

	showText(stay) {
		const { of, model } = this, nav = byId('text-path');

		this.strip.show(this.textObject, of, stay);
		byId('text-calls').hidden = !of || !model.calls;
		if (this.textObject === null) {
			nav.replaceChildren();
			this.code.clear();
			return;
		}
		const object = model.objects[this.textObject], whole = make('button', '', short(basename(object.path), 100) || '""');

		whole.type = 'button';
		whole.title = short(object.path, 1000);
		whole.addEventListener('click', () => this.openObject(this.textObject));
		nav.title = of ? short(of.name, 1000) : '';
		nav.replaceChildren(...(of ? [whole, ' › ', make('b', '', short(of.name, 300) || '""')] :
			[make('b', '', short(object.path))]));
		this.showFacts();
		if (of)
			this.code.show(of, this.codeView);
		else
			this.code.clear();
	}

	showFacts() {
		const { of, model } = this, object = model.objects[this.textObject];
		const row = model.rows[of ? 'functions' : 'objects'].find((r) => r.id === (of ? of.id : this.textObject));
		const facts = byId('text-facts'), words = [];

		words.push(...(row ? [ticksOf(row.ticks), percent(model.share(row)), `${model.seconds(row).toFixed(3)} s`] :
			[model.countsTime() ? 'it does not wait itself' : 'no tick that the filters let in']));
		if (of)
			words.push(`${model.address(of.object, of.offset)}, ${bytes(of.size)}`);
		words.push(object.kind, object.build_id ? `build id ${short(object.build_id, 12)}` : '');
		facts.replaceChildren([...new Set(words.filter(Boolean))].join(' · '));
		const code = of && this.code.read(of.id);

		if (code && code.rows.length && code.lines.length) {
			const views = make('span', 'choice');

			choice(views, [['rows', 'instructions'], ['lines', 'lines']], this.codeView, (view) => {
				this.codeView = view;
				this.showFacts();
				this.code.show(of, view);
			});
			facts.append(views);
		}
	}

	// --- keys ---------------------------------------------------------------------------------------

	escape(target) {
		const search = byId('search');

		if (search.value) {
			search.value = '';
			this.search('');
		} else if (target === search || target.tagName === 'SELECT') {
			byId('table').focus();
		} else if (target === this.flame.canvas) {
			if (!this.flame.zoomOut())
				this.showFlame();
		} else if (!this.strip.isWhole() && target === this.strip.canvas) {
			this.strip.act('whole');
		} else if (this.object !== null) {
			this.zoom(this.skip ? this.object : null);
		}
	}

	key(event) {
		const { target, key } = event, typing = target.matches('input, select');

		if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || byId('keys').open)
			return;
		if (key === 'Escape')
			this.escape(target);
		else if (key === 'Enter' && target.id === 'search')
			this.openFound();
		else if (typing && !(key === 'ArrowDown' && target.id === 'search'))
			return;
		else if (key === 'ArrowDown' && target.id === 'search')
			byId('table').focus();
		else if (key === '/')
			byId('search').focus();
		else if (key === '?')
			byId('keys').showModal();
		else if (key === 'f')
			this.showFlame();
		else if (key === 'c' && this.of)
			this.look(this.of.id);
		else if (key === 'w')
			this.filters.turn();
		else if (key === 't')
			byId('theme').click();
		else if (key === 'n' || key === 'p')
			this.code.step(key === 'n' ? 1 : -1);
		else if (key === '+' || key === '-' || key === '0')
			this.strip.act({ '+': 'in', '-': 'out', 0: 'whole' }[key]);
		else
			return;
		event.preventDefault();
	}
}

new Page(readJson('profile'), readJson('callers'));
