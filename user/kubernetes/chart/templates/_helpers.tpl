{{- /* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */ -}}

{{- /* Every object has the release's name. */ -}}
{{- define "agent.labels" -}}
app.kubernetes.io/name: bpfprofil-agent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* agent.conf, which may change while the agents run. */ -}}
{{- define "agent.conf" -}}
{{- range $kind := list "otlp" "pyroscope" "parca" }}
{{- range index $.Values.sinks $kind }}
{{ $kind }} = {{ . }}
{{- end }}
{{- end }}
{{- $files := dict "token" "token-file" "headers" "headers-file" "ca" "ca" "cert" "cert" "key" "key" }}
{{- range $name := list "token" "headers" "ca" "cert" "key" }}
{{- if (index $.Values.secrets $name).name }}
{{ index $files $name }} = /etc/bpfprofil/secrets/{{ $name }}
{{- end }}
{{- end }}
{{- range .Values.include }}
include = {{ . }}
{{- end }}
{{- range .Values.exclude }}
exclude = {{ . }}
{{- end }}
interval = {{ .Values.interval }}
{{- with .Values.duty }}
duty = {{ . }}
{{- end }}
{{- with .Values.budget }}
budget = {{ . }}
{{- end }}
{{- if .Values.callers }}
callers
{{- end }}
{{- with .Values.topFunctions }}
top-functions = {{ . }}
{{- end }}
{{- range $name, $value := .Values.labels }}
label = {{ $name }}={{ $value }}
{{- end }}
{{- if .Values.spool.enabled }}
spool = {{ .Values.spool.path }}
spool-size = {{ .Values.spool.size }}
{{- end }}
{{- range $name, $value := .Values.config }}
{{- if kindIs "bool" $value }}
{{- if $value }}
{{ $name }}
{{- end }}
{{- else }}
{{- range kindIs "slice" $value | ternary $value (list $value) }}
{{ $name }} = {{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Terms are alternatives. Therefore what the image needs is added to each of the user's. */ -}}
{{- define "agent.affinity" -}}
{{- $affinity := deepCopy .Values.affinity }}
{{- $node := $affinity.nodeAffinity | default dict }}
{{- $required := $node.requiredDuringSchedulingIgnoredDuringExecution | default dict }}
{{- $image := list (dict "key" "kubernetes.io/os" "operator" "In" "values" (list "linux"))
    (dict "key" "kubernetes.io/arch" "operator" "In" "values" .Values.image.architectures) }}
{{- $terms := list }}
{{- range $required.nodeSelectorTerms | default (list dict) }}
{{- $terms = append $terms (set . "matchExpressions" (concat (.matchExpressions | default list) $image)) }}
{{- end }}
{{- $_ := set $node "requiredDuringSchedulingIgnoredDuringExecution" (dict "nodeSelectorTerms" $terms) }}
{{- set $affinity "nodeAffinity" $node | toYaml }}
{{- end }}

{{- define "agent.secrets" -}}
{{- range $name := list "token" "headers" "ca" "cert" "key" }}
{{- if (index $.Values.secrets $name).name }}{{ $name }} {{ end }}
{{- end }}
{{- end }}
