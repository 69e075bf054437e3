# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""pods.py OUT CGROUP WHAT...: manifests of what is profiled, as JSON for `kubectl apply -f -`.

WHAT is "services", or NAME=MILLISECONDSxCOUNT for a Job of so many pods, which are deleted as soon as they
have ended. Each container runs pod.c, and leaves its last words in the folder OUT.
"""
import json
import sys

out, cgroup, *wanted = sys.argv[1:]


def container(name, *args):
    fields = {"NAMESPACE": "metadata.namespace", "POD": "metadata.name"}
    env = [{"name": key, "valueFrom": {"fieldRef": {"fieldPath": path}}} for key, path in fields.items()]
    env += [{"name": "CONTAINER", "value": name}, {"name": "OUT", "value": "/out"}, {"name": "CGROUP", "value": "/cgroup"}]
    return {"name": name, "image": "localhost/pod:1", "args": list(args), "env": env,
            "volumeMounts": [{"name": "out", "mountPath": "/out"}, {"name": "cgroup", "mountPath": "/cgroup"}]}


def spec(*containers, **more):
    volumes = [{"name": "out", "hostPath": {"path": out}}, {"name": "cgroup", "hostPath": {"path": cgroup}}]
    return {"containers": list(containers), "volumes": volumes, "terminationGracePeriodSeconds": 10,
            "automountServiceAccountToken": False, "enableServiceLinks": False} | more


def manifest(kind, version, name, of):
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "shop"}, "spec": of}


def services():
    """Several containers with one before them; and one that ends again and again, in another group each time."""
    labels = {"app": "web", "app.kubernetes.io/version": "1.4"}
    web = spec(container("web", "200", "x"), container("envoy", "50", "x"),
               initContainers=[container("prepare", "400")])
    yield manifest("Deployment", "apps/v1", "web", {
        "replicas": 2, "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": labels}, "spec": web}})
    yield manifest("Pod", "v1", "restless", spec(container("main", "700")))


def job(text):
    name, _, size = text.partition("=")
    milliseconds, _, count = size.partition("x")
    of = spec(container("task", milliseconds), restartPolicy="Never")
    return manifest("Job", "batch/v1", name, {
        "completions": int(count), "parallelism": 2, "ttlSecondsAfterFinished": 0, "template": {"spec": of}})


items = []
for one in wanted:
    items += services() if one == "services" else [job(one)]
json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout)
