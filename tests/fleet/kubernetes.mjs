// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
// kubernetes.mjs FILE...: whether manifests are what Kubernetes' and the operator's own schemas have, and
// name what there is.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const { parseAllDocuments } = createRequire(`${process.cwd()}/`)('yaml');
const model = async ({ apiVersion, kind }) => {
	const operator = apiVersion.startsWith('monitoring.coreos.com/');
	const folder = operator ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models';
	return (await import(pathToFileURL(`node_modules/${folder}/${apiVersion}/${kind}.js`)))[kind];
};
const all = process.argv.slice(2).flatMap(file =>
	parseAllDocuments(readFileSync(file, 'utf8'), { merge: true }).map(document => {
		assert.deepEqual(document.errors, []);
		return document.toJS();
	}));
for (const one of all) {
	const Model = await model(one);
	new Model(one).validate();
}
const find = kind => all.find(one => one.kind === kind);
const set = find('DaemonSet'), pod = set.spec.template;
const [agent] = pod.spec.containers;
assert.deepEqual(set.spec.selector.matchLabels, pod.metadata.labels);
for (const kind of ['NetworkPolicy', 'PodMonitor']) {
	const { spec } = find(kind);
	assert.deepEqual((spec.podSelector ?? spec.selector).matchLabels, pod.metadata.labels);
	assert.equal(find(kind).metadata.namespace, set.metadata.namespace);
}
assert.equal(find('PodMonitor').spec.podMetricsEndpoints[0].port, agent.ports[0].name);
assert.equal(find('NetworkPolicy').spec.ingress[0].ports[0].port, agent.ports[0].name);
assert.equal(pod.spec.volumes[0].configMap.name, find('ConfigMap').metadata.name);
for (const { name } of agent.volumeMounts)
	assert(pod.spec.volumes.some(volume => volume.name === name));
assert.equal(find('Namespace').metadata.name, set.metadata.namespace);
// What no reviewer shall have to look for; schemas let names pass that they do not know.
assert.equal(pod.spec.hostPID, true);
assert.equal(pod.spec.automountServiceAccountToken, false);
assert.equal(agent.securityContext.readOnlyRootFilesystem, true);
assert.equal(agent.securityContext.privileged, false);
assert.equal(agent.securityContext.allowPrivilegeEscalation, false);
assert.deepEqual(agent.securityContext.capabilities.drop, ['ALL']);
assert.deepEqual(agent.volumeMounts.filter(mount => !mount.readOnly).map(mount => mount.name), ['spool']);
// Where profiles go is a choice: who applies the file as it is shall have no backend that refuses.
const config = find('ConfigMap').data['agent.conf'];
assert(!/^(otlp|pyroscope|parca|dir) *=/m.test(config));
assert.equal(config.match(/^spool = (.*)$/m)[1], agent.volumeMounts.find(mount => mount.name === 'spool').mountPath);
// A node of another kind or of the control plane gets no agent that was not asked for.
const [{ matchExpressions }] = pod.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms;
assert.deepEqual(matchExpressions.map(({ key, operator, values }) => [key, operator, ...values]),
	[['kubernetes.io/os', 'In', 'linux'], ['kubernetes.io/arch', 'In', 'amd64']]);
assert.equal(pod.spec.tolerations, undefined);
assert.equal(agent.terminationMessagePolicy, 'FallbackToLogsOnError');
assert(agent.resources.limits.memory && agent.resources.limits.cpu);
assert(!all.some(one => /Role/.test(one.kind)));
