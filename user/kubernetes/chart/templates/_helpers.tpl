{{- /* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */ -}}

{{- /* The release's name is every object's. */ -}}
{{- define "agent.labels" -}}
app.kubernetes.io/name: bpfprofil-agent
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* agent.conf: what is here may change while the agents run. */ -}}
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
{{- with .Values.config }}
{{ . | trim }}
{{- end }}
{{- end }}

{{- define "agent.secrets" -}}
{{- range $name := list "token" "headers" "ca" "cert" "key" }}
{{- if (index $.Values.secrets $name).name }}{{ $name }} {{ end }}
{{- end }}
{{- end }}
