-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- The hottest functions of the fleet, by build id: a row is one function of one build, on all hosts.
SELECT
    FunctionNames[1] AS function,
    MappingFileNames[1] AS file,
    SampleAttributes['process.executable.build_id.gnu'] AS build,
    sum(arraySum(Values)) AS ticks,
    ticks / sum(ticks) OVER () AS share,
    uniqExact(ResourceAttributes['host.name']) AS hosts
FROM otel_profiles
WHERE SampleType = 'samples' AND $__timeFilter(Timestamp) AND match(ServiceName, '$service')
GROUP BY function, file, build
ORDER BY ticks DESC, function, file, build
LIMIT 50
