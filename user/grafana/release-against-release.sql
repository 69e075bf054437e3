-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
-- For each file whose newest two builds ran in this time: the share of its CPU time that each function has in
-- either. It compares shares, because a release is on some hosts first.
-- Time is the scheduler's, from the sample type cpu. If a profile has no such type, it is ticks times their period.
WITH
    places AS (
        SELECT
            MappingFileNames[1] AS file,
            SampleAttributes['process.executable.build_id.gnu'] AS build,
            FunctionNames[1] AS function,
            sum(arraySum(Values) * if(SampleType = 'cpu', 1, Period)) / 1e9 AS seconds,
            min(Timestamp) AS since
        FROM otel_profiles
        WHERE $__timeFilter(Timestamp) AND match(ServiceName, '$service')
            AND (SampleType = 'cpu' OR SampleType = 'samples' AND (ServiceName, ResourceAttributes['host.name'], Timestamp) NOT IN (
                SELECT ServiceName, ResourceAttributes['host.name'], Timestamp FROM otel_profiles
                WHERE SampleType = 'cpu' AND $__timeFilter(Timestamp)))
            AND build != ''
        GROUP BY file, build, function
    ),
    builds AS (
        SELECT
            file,
            build,
            sum(seconds) AS all,
            row_number() OVER (PARTITION BY file ORDER BY min(since) DESC, build) AS age,
            count() OVER (PARTITION BY file) AS nr
        FROM places
        GROUP BY file, build
    )
SELECT
    function,
    file,
    sumIf(seconds / all, age = 2) AS before,
    sumIf(seconds / all, age = 1) AS after,
    after - before AS change
FROM places
INNER JOIN builds USING (file, build)
WHERE age <= 2 AND nr >= 2
GROUP BY function, file
ORDER BY abs(change) DESC, function, file
LIMIT 50
