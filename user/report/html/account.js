// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// What was sampled, and what became of every tick.
'use strict';

const ACCOUNT_PARTS = ['binned', 'overflow', 'outside', 'filtered', 'lost'];

function lostOf(account) {
	return Object.values(account.lost).reduce((sum, ticks) => sum + ticks, 0);
}

function showHead(profile) {
	const { host, sampling } = profile;
	const command = profile.command.join(' ');
	const name = command || profile.targets.map((of) => of.name).join(', ') || 'profile';
	const model = [
		host.hosts > 1 ? `${host.hosts} hosts` : [host.name, host.cpus && `${host.cpus} CPUs`,
			host.kernel && `Linux ${host.kernel}`, host.arch].filter(Boolean).join(', '),
		profile.started && profile.started.replace('T', ' ').replace(/\.\d+/, ''),
		`${Number(sampling.requested_hz.toPrecision(6))} Hz`,
		`in ${(profile.duration_ns / 1e9).toFixed(3)} s`,
		`mode ${sampling.mode}`,
	].filter(Boolean);

	document.title = `${short(name, 80)} · bpfprofil`;
	byId('title').textContent = short(name, 200);
	byId('title').title = short(name, 2000);
	byId('facts').textContent = visible(model.join(' · '));
}

function showBar(account) {
	const parts = ACCOUNT_PARTS.map((part) => [part, part === 'lost' ? lostOf(account) : account[part]]);
	const bar = byId('account-bar'), sum = byId('account-sum');

	bar.replaceChildren(...parts.filter(([, ticks]) => ticks).map(([part, ticks]) => {
		const piece = make('i', `part-${part}`);

		piece.style.flexGrow = String(ticks / account.total);
		piece.title = `${part}: ${ticksOf(ticks)}, ${percent(ticks / account.total)}`;
		return piece;
	}));
	sum.replaceChildren(make('b', '', ticksOf(account.total)), ' = ');
	parts.forEach(([part, ticks], i) => {
		const term = make('span', `part part-${part}${ticks ? '' : ' zero'}`);

		term.dataset.part = part;
		term.dataset.ticks = ticks;
		term.append(make('i'), `${count(ticks)} ${part}`);
		sum.append(i ? ' + ' : '', term);
	});
}

const CLASSES_SHOWN = 6;

// Time as the sum of CPU time and of classes of waits.
function showTime(model) {
	const classes = model.classTimes(), rest = classes.slice(CLASSES_SHOWN).reduce((sum, [, time]) => sum + time, 0);
	const waits = classes.reduce((sum, [, time]) => sum + time, 0);
	const parts = [['CPU', model.time - waits], ...classes.slice(0, CLASSES_SHOWN), ['other', rest]].filter(([, time]) => time > 0.5);
	const bar = byId('account-bar'), sum = byId('account-sum');

	bar.replaceChildren();
	sum.replaceChildren(make('b', '', ticksOf(model.time)), ' = ');
	parts.forEach(([name, time], i) => {
		const kind = name === 'CPU' && !i ? 'cpu' : i % CLASSES_SHOWN, piece = make('i', `part-wait-${kind}`), term = make('span', `part part-wait-${kind}`);

		piece.style.flexGrow = String(time / model.time);
		piece.title = `${visible(name)}: ${ticksOf(time)}, ${percent(time / model.time)}`;
		bar.append(piece);
		term.dataset.class = name;
		term.dataset.time = time;
		term.append(make('i'), `${ticksOf(time)} ${visible(name)}`);
		sum.append(i ? ' + ' : '', term);
	});
}

function showAccount(model) {
	const { profile, account, time } = model;
	const list = byId('notes');
	const seconds = make('span', 'seconds', ` · ${(time / 1e9).toFixed(3)} s of CPU time`);

	if (model.countsTime()) {
		showTime(model);
	} else {
		showBar(account);
		byId('account-sum').append(seconds);
	}
	list.replaceChildren();
	for (const [cause, ticks] of Object.entries(account.lost))
		if (ticks && !model.countsTime()) {
			const item = make('li', 'lost', `${ticksOf(ticks)} lost by ${visible(cause)}: ${profile.causes[cause] || 'not known here'}`);

			item.dataset.cause = cause;
			item.dataset.ticks = ticks;
			list.append(item);
		}
	if (!profile.complete)
		list.append(make('li', '', 'The profile is incomplete: its writer was stopped.'));
	if (profile.wall && model.filter.target === null)
		list.append(make('li', '', `wall time: ${visible(profile.wall)}`));
	if (model.walks && model.filter.target === null)
		list.append(make('li', '', `callers: ${visible(model.walks)}`));
	for (const note of [...profile.notes, ...(profile.inlined_notes || [])])
		list.append(make('li', '', short(note, 1000)));
}
