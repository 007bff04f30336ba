import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { CatalogField } from '../src/detection/log-store/catalog/catalog.ts';
import { findReplacements } from '../src/detection/log-engine/queries/nested-paths.ts';
import type { QueryJob } from '../src/detection/log-engine/queries/protocol.ts';
import { toJson } from '../src/detection/log-engine/queries/result-values.ts';
import { prepareQuery } from '../src/detection/log-engine/queries/run-query.ts';
import { inspectTree } from '../src/detection/log-engine/inspection/inspect-tree.ts';
import { serializeTree } from '../src/detection/log-engine/parse-tree.ts';
import { duck, type SqlText } from '../src/detection/log-engine/sql/sql-text.ts';

/**
 * The verdict on one statement: it returns the same from objects in JSON, read by rewriting the statement, as from structures, which the engine
 * reads by itself; it fails on structures, or what it returns depends on the order of rows; or it deviates.
 */
export type PathVerdict = { kind: 'same' | 'invalid' } | { kind: 'deviation'; reason: string };

export type PathOracle = { check: (statement: string) => Promise<PathVerdict>; close: () => void };

/** Columns for generated statements. All but the first two are paths. */
export const pathColumns = [
  'x', 'y', 's.k', 's.k', 's.k', 's.m.n', '"s".k', 'S.K', 's."k"', 'auth.s.k', 'a.s.m.n', 't.s.k',
]; // prettier-ignore

const structure = duck`{k: 5::BIGINT - x, m: {n: 'n' || x}}`;
const tableSql = (s: SqlText): SqlText =>
  duck`SELECT x, ['t', 'T', 'u'][x] AS y, [x, 1] AS l, ${s} AS s, TIMESTAMP '2024-01-01' + to_hours(x) AS _time
    FROM (SELECT CAST(range + 1 AS INTEGER) AS x FROM range(3))`;
const structures = tableSql(structure);
const reversed = duck`SELECT * FROM (${structures}) ORDER BY x DESC`;
const objects = tableSql(duck`to_json(${structure})`);

const field = (name: string, type: CatalogField['type'], nested: CatalogField[] = []): CatalogField => ({
  name,
  keys: [name],
  type,
  nested,
  open: false,
});
const fields = [
  field('x', 'BIGINT'),
  field('y', 'VARCHAR'),
  field('l', 'BIGINT[]'),
  field('s', 'JSON', [field('k', 'BIGINT'), field('m', 'JSON', [field('n', 'VARCHAR')])]),
];

export async function openPathOracle(): Promise<PathOracle> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '256MiB' });
  const connection = await instance.connect();
  return {
    check: (statement) => check(connection, statement),
    close() {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function check(connection: DuckDBConnection, statement: string): Promise<PathVerdict> {
  const tree = await serializeTree(connection, statement);
  // In `s.k`, the engine prefers the column to the parameter.
  const plain = statement.replaceAll('lambda s: s.k', 'lambda p: p.k');
  const plainTree = await serializeTree(connection, plain);
  let expected: string;
  try {
    expected = await run(connection, plainTree, createJob(plain, plainTree, structures));
  } catch {
    return { kind: 'invalid' };
  }
  try {
    const { replacements } = findReplacements(inspectTree(tree), { fields, unknownHeads: new Set() });
    // A semicolon has the statement written from its tree even if it has no path.
    const job = { ...createJob(`${statement};`, tree, objects), replacements };
    const found = await run(connection, tree, job);
    if (found === expected) return { kind: 'same' };
    return (await run(connection, plainTree, createJob(plain, plainTree, reversed))) === expected
      ? { kind: 'deviation', reason: `${found}\ninstead of\n${expected}` }
      : { kind: 'invalid' };
  } catch (error) {
    return { kind: 'deviation', reason: (error as Error).message };
  }
}

const createJob = (sql: string, tree: string, table: SqlText): QueryJob => ({
  sql,
  tables: inspectTree(tree).tables.map((name) => ({ name, sql: table })),
  bounds: { from: '2024-01-01T00:00:00Z', to: '2024-01-02T00:00:00Z' },
  aggregate: false,
  mode: 'rows',
  rowsMax: 1,
  bytesMax: 1,
});

/** Returns the columns and the sorted rows of a statement as text. */
async function run(connection: DuckDBConnection, tree: string, job: QueryJob): Promise<string> {
  const { wrap, values } = await prepareQuery(connection, { job, tree });
  const result = await connection.runAndReadAll(wrap(duck`*`, duck``), values);
  const types = result.columnTypes();
  const rows = result.getRows().map((row) => JSON.stringify(row.map((value, at) => toJson(value, types[at]))));
  return [JSON.stringify(result.deduplicatedColumnNames()), ...rows.toSorted()].join('\n');
}
