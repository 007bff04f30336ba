import { afterAll, describe, expect, test } from 'vitest';
import { createTestFolder, failureOf } from '../../../../test/support/detection/log-store.ts';
import { createEngine } from '../process/engine.ts';

const folder = createTestFolder();
const engine = createEngine({ directoryOf: () => folder });
afterAll(() => engine.close());

const inspectFailure = (sql: string) => failureOf(engine.inspect('org', sql));

const tables = async (sql: string): Promise<string[]> => (await engine.inspect('org', sql)).tables;

const segment = '/data/logs/org/**/*.tsv';

const hostile = [
  `WITH RECURSIVE "${segment}" AS (SELECT * FROM "${segment}" UNION ALL SELECT * FROM "${segment}") FROM "${segment}"`,
  `WITH "${segment}" AS (SELECT 1) SELECT * FROM "${segment}"`,
  `WITH a AS (SELECT 1), "${segment}" AS (SELECT * FROM "${segment}") FROM a`,
  'WITH RECURSIVE pg_settings AS (FROM pg_settings UNION ALL FROM pg_settings) FROM pg_settings',
  'WITH RECURSIVE "Duckdb_Tables" AS (FROM duckdb_tables UNION FROM "Duckdb_Tables") FROM duckdb_tables',
  'WITH sqlite_master AS (SELECT 1) FROM sqlite_master',
  'SELECT * FROM "\u212Aeys"',
  'WITH "auth\u0130" AS (SELECT 1) FROM "auth\u0130.csv"',
  'WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT * FROM recurring.r) FROM r',
  "SELECT * FROM read_csv('/etc/passwd')",
  "SELECT * FROM read_text('/etc/passwd')",
  "SELECT * FROM read_blob('/etc/passwd')",
  "SELECT * FROM read_json('x.json')",
  "SELECT * FROM read_parquet('x.parquet')",
  "SELECT * FROM parquet_metadata('x.parquet')",
  "SELECT * FROM sniff_csv('x')",
  "SELECT * FROM glob('/*')",
  "FROM '/etc/passwd'",
  "FROM 'x.json'",
  'FROM "https://example.org/x.parquet"',
  'FROM "/etc/passwd"',
  "SELECT * FROM query('SELECT 1')",
  "SELECT * FROM query_table('auth')",
  "SELECT * FROM json_execute_serialized_sql('{}')",
  "SELECT * FROM enable_logging('QueryLog')",
  "CALL enable_logging('QueryLog')",
  'SELECT * FROM enable_profiling()',
  'SELECT * FROM duckdb_settings()',
  'SELECT * FROM duckdb_secrets()',
  'SELECT * FROM duckdb_logs()',
  "SELECT * FROM pragma_table_info('auth')",
  'SELECT * FROM checkpoint()',
  "SELECT * FROM which_secret('x', 'y')",
  "SELECT * FROM sql_auto_complete('SEL')",
  'SELECT * FROM repeat_row(1, num_rows = 10)',
  "SELECT * FROM json_each('{}')",
  'SELECT * FROM seq_scan(auth)',
  'SELECT * FROM test_all_types()',
  'FROM main.auth',
  'FROM memory.main.auth',
  'FROM system.main.duckdb_tables',
  'FROM information_schema.tables',
  'FROM pg_catalog.pg_tables',
  "FROM auth AT (TIMESTAMP => TIMESTAMP '2024-01-01')",
  'FROM auth AT (VERSION => 1)',
  'FROM auth TABLESAMPLE bernoulli(50%)',
  'FROM auth USING SAMPLE 50 PERCENT (system, 377)',
  'FROM auth USING SAMPLE reservoir(10 ROWS) REPEATABLE (100)',
  'SELECT * FROM (SELECT * FROM auth) AS a TABLESAMPLE 10',
  'SELECT * FROM range(100) AS r(x) TABLESAMPLE 10%',
  'SELECT count(*) FROM auth WHERE a IN (SELECT a FROM vpn USING SAMPLE 5%)',
  'FROM auth POSITIONAL JOIN vpn',
  'SELECT a FROM auth ORDER BY random()',
  'SELECT sum(a) EXPORT_STATE FROM auth',
  "SELECT getenv('HOME')",
  "SELECT current_setting('threads')",
  "SELECT getvariable('x')",
  'SELECT current_user, current_database()',
  'SELECT current_schemas(true)',
  'SELECT current_query()',
  "SELECT nextval('s')",
  "SELECT currval('s')",
  'SELECT version()',
  'SELECT txid_current()',
  "SELECT write_log('x')",
  'SELECT sleep_ms(100000)',
  'SELECT pg_sleep(100)',
  "SELECT error('x')",
  'SELECT random()',
  'SELECT setseed(0.5)',
  'SELECT uuid()',
  'SELECT gen_random_uuid()',
  'SELECT now()',
  'SELECT current_timestamp',
  'SELECT CURRENT_DATE',
  'SELECT today()',
  "SELECT age(TIMESTAMP '2024-01-01')",
  "SELECT json_serialize_sql('SELECT 1')",
  "SELECT json_deserialize_sql('{}')",
  "SELECT json_serialize_plan('SELECT 1')",
  "SELECT system.main.getenv('HOME')",
  'SELECT x.upper() FROM auth',
  'SELECT "getenv"(\'HOME\')',
  "SELECT GETENV('HOME')",
  "SELECT list_transform([1], x -> getenv('HOME'))",
  "SELECT (SELECT getenv('HOME'))",
  "SELECT * FROM auth WHERE EXISTS (SELECT 1 FROM read_text('/etc/passwd'))",
  "SELECT * FROM auth ORDER BY (SELECT content FROM read_text('/etc/passwd'))",
  "SELECT sum(a) FILTER (WHERE getenv('X') = 'y') FROM auth",
  "SELECT sum(a ORDER BY getenv('X')) FROM auth",
  "SELECT sum(a) OVER (PARTITION BY getenv('X')) FROM auth",
  "SELECT row_number() OVER (ORDER BY getenv('X')) FROM auth",
  "SELECT CASE WHEN getenv('X') = '' THEN 1 END",
  "SELECT * FROM auth LIMIT (SELECT count(*) FROM read_text('/etc/passwd'))",
  "SELECT * REPLACE (getenv('X') AS a) FROM auth",
  "SELECT COLUMNS(c -> getenv('X') = c) FROM auth",
  "VALUES (getenv('X'))",
  "SELECT * FROM range((SELECT count(*) FROM read_text('/etc/passwd')))",
  "SELECT * FROM unnest([getenv('X')])",
  "WITH a AS (SELECT * FROM read_text('/etc/passwd')) SELECT * FROM a",
  "WITH RECURSIVE a AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM a, read_text('/etc/passwd')) SELECT * FROM a",
  "SELECT 1 UNION ALL SELECT length(content) FROM read_text('/etc/passwd')",
  "SELECT * FROM auth a JOIN read_text('/etc/passwd') b ON true",
  "SELECT * FROM auth a JOIN auth b ON getenv('X') = a.x",
  "SELECT DISTINCT ON (getenv('X')) a FROM auth",
  "SELECT a FROM auth GROUP BY a HAVING getenv('X') = ''",
  "SELECT a FROM auth QUALIFY getenv('X') = ''",
  'FROM (DESCRIBE auth)',
  'FROM (SHOW TABLES)',
  'FROM (SUMMARIZE auth)',
  "SELECT * FROM (PIVOT auth ON a IN ('x') USING count(*))",
  'SELECT * FROM (UNPIVOT auth ON a, b)',
  'PIVOT auth ON a USING count(*)',
  'DESCRIBE auth',
  'SHOW TABLES',
  'SUMMARIZE auth',
  'EXPLAIN SELECT 1',
  "COPY auth TO 'x.csv'",
  "COPY (SELECT 1) TO 'x.csv'",
  "ATTACH 'x.db'",
  'PRAGMA database_list',
  'PRAGMA threads=4',
  'SET threads = 4',
  'SET VARIABLE x = 1',
  'RESET threads',
  'INSTALL httpfs',
  'LOAD httpfs',
  'CREATE TABLE x AS SELECT 1',
  'CREATE MACRO f(x) AS x',
  'DROP VIEW auth',
  'INSERT INTO auth VALUES (1)',
  'DELETE FROM auth',
  'UPDATE auth SET a = 1',
  'CHECKPOINT',
  "EXPORT DATABASE 'x'",
  'BEGIN',
  'VACUUM',
  'PREPARE p AS SELECT 1',
  'EXECUTE p',
  'SELECT 1; SELECT 2',
  "SELECT 1; COPY (SELECT 1) TO 'x'",
  'SELECT ?',
  'SELECT $1',
  'SELECT $other',
  '',
  ';',
];

describe('rejects', () => {
  test.each(hostile)('%s', async (sql) => {
    const failure = await inspectFailure(sql);
    expect(failure).toMatchObject({ kind: 'query_not_allowed', blame: 'author' });
  });

  test.each([
    ["SELECT getenv('HOME')", 'getenv'],
    ["SELECT * FROM read_csv('x')", 'read_csv'],
    ["FROM 'x.json'", 'x.json'],
    ['FROM a.b', 'a.b'],
    ['SELECT now()', '$window_end'],
    ['FROM auth TABLESAMPLE 5%', 'TABLESAMPLE'],
    ['FROM auth POSITIONAL JOIN vpn', 'POSITIONAL JOIN'],
    ['SELECT $other', '$other'],
  ])('%s with a message that contains %s', async (sql, name) => {
    expect((await inspectFailure(sql)).message).toContain(name);
  });

  test.each([
    'SELEC 1',
    'SELECT FROM WHERE',
    'SELECT (1',
    'SELECT 1) UNION (SELECT 2',
    "SELECT 'x",
    'SELECT /* 1',
    'SELECT 1e400',
  ])('%s as an error of the author', async (sql) => {
    expect(await inspectFailure(sql)).toMatchObject({ kind: 'query_error', blame: 'author' });
  });
});

test.each([
  "SELECT 1 FROM auth WHERE a = 1 AND _event->>'$.a' = 'x'",
  "SELECT 1 FROM auth WHERE NOT _event->>'$.a' = 'x'",
  "SELECT 1 FROM auth WHERE a = 1 AND _event->'$.a' IS NULL",
])('explains the weak arrow operator in %s', async (sql) => {
  expect(await inspectFailure(sql)).toMatchObject({
    kind: 'query_error',
    message: expect.stringContaining('parentheses'),
  });
});

test.each([
  "SELECT 1 FROM auth WHERE _event->>'$.a' = 'x'",
  "SELECT 1 FROM auth WHERE a = 1 AND (_event->>'$.a') = 'x' AND NOT (_event->'$.b') IS NULL",
])('accepts %s', async (sql) => {
  expect(await tables(sql)).toEqual(['auth']);
});

describe('reports what a statement reads', () => {
  test.each<[string, string[]]>([
    ['SELECT 1', []],
    ['FROM Auth', ['auth']],
    [
      'SELECT * FROM auth a JOIN vpn v USING (user) WHERE a.x IN (SELECT x FROM dns_history)',
      ['auth', 'vpn', 'dns_history'],
    ],
    ['WITH c AS (SELECT * FROM auth) SELECT * FROM c', ['auth']],
    ['WITH auth AS (SELECT * FROM auth) SELECT * FROM auth', ['auth']],
    ['WITH auth AS (SELECT 1 AS x) SELECT * FROM auth', []],
    ['WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a', ['b']],
    ['WITH a AS (SELECT 1), b AS (SELECT * FROM a) SELECT * FROM b, a', []],
    ['WITH RECURSIVE r AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM r WHERE x < 5) SELECT * FROM r', []],
    ['WITH RECURSIVE r AS (SELECT * FROM r UNION ALL SELECT * FROM r) SELECT * FROM r', ['r']],
    ['WITH RECURSIVE r AS (SELECT (SELECT 1 FROM "R") UNION SELECT 1 FROM R) SELECT * FROM r', ['r']],
    ['WITH RECURSIVE r AS (SELECT 1 UNION ALL (SELECT 1 FROM r UNION ALL SELECT 2)) SELECT * FROM r', []],
    ['WITH RECURSIVE a AS (SELECT * FROM a) SELECT * FROM a', ['a']],
    ['WITH RECURSIVE a AS (SELECT * FROM b UNION ALL SELECT * FROM b), b AS (SELECT 1) FROM a', ['b']],
    ['WITH c AS MATERIALIZED (SELECT 1), d AS NOT MATERIALIZED (FROM c) FROM (SELECT * FROM d, LATERAL (FROM c))', []],
    ['(WITH c AS (SELECT 1) FROM c) UNION ALL FROM c', ['c']],
    ['WITH c AS (SELECT 1) (FROM c) UNION ALL FROM c ORDER BY (SELECT max(1) FROM c)', []],
    ['SELECT * FROM (WITH c AS (SELECT 1) SELECT * FROM c), c', ['c']],
    ['WITH c AS (SELECT 1) SELECT (SELECT count(*) FROM c) FROM auth', ['auth']],
    ['SELECT * FROM duckdb_tables', ['duckdb_tables']],
    ['SELECT * FROM range(3), generate_series(1, 2), unnest([1])', []],
    ['SELECT * FROM auth SEMI JOIN vpn USING (ip) ANTI JOIN dns ON true', ['auth', 'vpn', 'dns']],
    ['(SELECT a FROM x) UNION (SELECT a FROM y) EXCEPT SELECT a FROM z', ['x', 'y', 'z']],
  ])('%s', async (sql, expected) => {
    expect((await tables(sql)).toSorted()).toEqual(expected.toSorted());
  });

  test.each<[string, boolean]>([
    ['SELECT * FROM auth', false],
    ['SELECT upper(a), list_sum([1, 2]) FROM auth', false],
    ['SELECT row_number() OVER (ORDER BY a), sum(a) OVER () FROM auth', false],
    ['SELECT a FROM auth WHERE a > (SELECT avg(a) FROM auth)', false],
    ['SELECT count(*) FROM auth', true],
    ['SELECT a, count(*) FROM auth GROUP BY a', true],
    ['SELECT a FROM auth GROUP BY ALL', true],
    ['SELECT DISTINCT a FROM auth', true],
    ['WITH c AS (SELECT a, count(*) AS n FROM auth GROUP BY a) SELECT * FROM c WHERE n > 5', true],
    ['SELECT a FROM auth UNION ALL SELECT max(a) FROM auth', true],
  ])('%s returns groups: %s', async (sql, expected) => {
    expect((await engine.inspect('org', sql)).aggregate).toBe(expected);
  });

  test.each<[string, boolean]>([
    ['SELECT a FROM auth', false],
    ['SELECT a AS n FROM auth ORDER BY n', false],
    ['SELECT count(*) FROM auth', false],
    ['SELECT * FROM auth', true],
    ['SELECT t.* FROM auth t', true],
    ['SELECT auth FROM auth', true],
    ['SELECT t FROM auth t', true],
    ["SELECT COLUMNS('a.*') FROM auth", true],
    ['SELECT x.a FROM auth AS x(a, b)', true],
    ['SELECT a FROM auth NATURAL JOIN vpn', true],
    ['SELECT #1 FROM auth', true],
  ])('%s may read all columns: %s', async (sql, expected) => {
    expect((await engine.inspect('org', sql)).allColumns).toBe(expected);
  });

  test.each<[string, boolean]>([
    ["SELECT _event->>'$.a' FROM auth", true],
    ["SELECT a._event->'$.a'->>'$.b' FROM auth a", true],
    ["SELECT json_extract_string(_event, '$.a') FROM auth", true],
    ['SELECT _event FROM auth', false],
    ["SELECT _event->>'$.a', typeof(_event) FROM auth", false],
    ['SELECT _event->>CAST(_event AS VARCHAR) FROM auth', false],
  ])('%s reads _event as text only: %s', async (sql, expected) => {
    expect((await engine.inspect('org', sql)).eventAsText).toBe(expected);
  });
});
