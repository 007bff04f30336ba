/** Names that a query may use for datasets and CTEs. Several collide when their case is ignored. */
export const plainNames = [
  'auth',
  'vpn',
  'auth_history',
  'a',
  'b',
  'c',
  'Auth',
  '"AUTH"',
  '"a"',
  'B',
  '"order"',
  'recurring',
];

/** Names that only a CTE may have. */
export const oddNames = ['"two words"', 'ünder', '"Ünder"', '"1"', '"a-b"'];

/** Returns names that must never reach the engine: files below a folder, views and tables of the engine, and look-alikes of plain names. */
export function trapNames(folder: string): string[] {
  const files = ['trap.tsv', 'trap.csv', 'trap.parquet', 'trap.json', '*.tsv', '**/*.csv', 'TRAP.CSV'];
  const paths = files.flatMap((file) => [`"${folder}/${file}"`, `'${folder}/${file}'`, `"file://${folder}/${file}"`]);
  return [
    ...paths,
    '"trap.csv"',
    "'trap.json'",
    'pg_settings',
    '"PG_Tables"',
    'duckdb_tables',
    'duckdb_settings()',
    'sqlite_master',
    'pragma_database_list',
    'information_schema.tables',
    'pg_catalog.pg_class',
    'main.auth',
    'memory.main.a',
    'system.main.duckdb_views',
    'recurring.a',
    'recurring.auth',
    '"\u212A"',
    '"auth "',
    '"auth\u0130"',
    `read_csv('${folder}/trap.csv')`,
    `read_text('${folder}/*')`,
    `glob('${folder}/*')`,
    "query('FROM pg_settings')",
    "query_table('auth')",
    'seq_scan(auth)',
    "json_each('{}')",
  ];
}

/** Tokens that a mutation inserts. */
export const strayTokens = [
  'WITH', 'RECURSIVE', 'AS', 'MATERIALIZED', 'NOT MATERIALIZED', 'SELECT', 'FROM', 'UNION ALL', 'UNION BY NAME', 'EXCEPT', 'INTERSECT', 'LATERAL',
  '(', ')', ',', '.', '*', '"', "'", '$$', '--', '/*', '*/', ';', 'U&"a"', 'E\'\\x61\'', 'USING KEY (x)', 'AT (VERSION => 1)', 'TABLE auth',
  'PIVOT', 'DESCRIBE', 'SHOW', 'SUMMARIZE', 'VALUES (1)', 'CROSS JOIN', 'NATURAL JOIN', 'POSITIONAL JOIN', 'ASOF JOIN', 'ON true', 'TABLESAMPLE 1',
  '::regclass', 'COLUMNS(*)', "getenv('HOME')", 'getvariable(\'x\')', 'main.', 'system.', 'ONLY', 'UNPIVOT', 'QUALIFY', '$window_start', '$1', '?',
]; // prettier-ignore
