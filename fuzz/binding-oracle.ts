import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance, listValue, type DuckDBConnection } from '@duckdb/node-api';
import { inspectTree } from '../src/detection/log-engine/inspection/inspect-tree.ts';
import type { QueryJob } from '../src/detection/log-engine/queries/protocol.ts';
import { prepareQuery } from '../src/detection/log-engine/queries/run-query.ts';
import { duck } from '../src/detection/log-engine/sql/sql-text.ts';

/**
 * The verdict on one statement: refused by the check, bound to the window's tables only, invalid for another reason, unresolved (the engine
 * finds nothing under the name of a CTE, which happens where it binds a subquery apart from the rest), or a deviation. A deviation is also a
 * plan that picks rows at random or by their position.
 */
export type BindingVerdict =
  | { kind: 'refused' | 'bound' | 'invalid' | 'unresolved'; statement: string }
  | { kind: 'deviation'; statement: string; reason: string };

/** Compares what the check accepts with what the engine binds. `folder` contains files that no statement may reach. */
export type BindingOracle = {
  folder: string;
  check: (statements: string[]) => Promise<BindingVerdict[]>;
  /** Returns what a statement binds to besides the tables of the window, whatever the check says about it. */
  findForeignBinding: (sql: string, tables: string[]) => Promise<string | undefined>;
  close: () => void;
};

/** Operators that read rows from somewhere. These three read nothing but their arguments. */
const harmlessLeaves = new Set(['RANGE', 'GENERATE_SERIES', 'UNNEST']);
/** Every table of a window: columns that the generated statements use. */
const tableColumns = duck`SELECT 1 AS x, 't' AS y, [1] AS l, {k: 1} AS s, '{}'::JSON AS _event, TIMESTAMP '2024-01-01' AS _time FROM range(2)`;
/** Errors that show that a name went past the tables of the query. */
const leak = /^(?:Permission|IO|HTTP) Error|No files found|Table Function with name|^Binder Error: Catalog/;

const unresolved = /Table with name .* does not exist/;

type Foreign = 'invalid' | 'unresolved' | { reason: string };

export async function openBindingOracle(): Promise<BindingOracle> {
  const folder = mkdtempSync(join(tmpdir(), 'tocsin-fuzz-'));
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', memory_limit: '256MiB' });
  const connection = await instance.connect();
  for (const name of ['trap.tsv', 'trap.csv']) writeFileSync(join(folder, name), 'x,y\n1,secret\n');
  writeFileSync(join(folder, 'trap.json'), '{"x":1,"y":"secret"}\n');
  await connection.run(`COPY (SELECT 1 AS x) TO '${join(folder, 'trap.parquet')}' (FORMAT parquet)`);
  await connection.run(`SET allowed_directories = ['${folder}/']`);
  for (const setting of ['enable_external_access = false', "explain_output = 'all'"])
    await connection.run(`SET ${setting}`);
  await connection.run('PRAGMA disable_optimizer');

  async function findForeign(sql: string, tables: string[], tree: string): Promise<Foreign | undefined> {
    const { wrap, values } = await prepareQuery(connection, { job: createJob(sql, tables), tree });
    return explainForeign(connection, wrap(duck`*`, duck`LIMIT 0`), values);
  }

  async function checkOne(statement: string, tree: string): Promise<BindingVerdict> {
    let tables: string[];
    try {
      tables = inspectTree(tree).tables;
    } catch {
      return { kind: 'refused', statement };
    }
    const foreign = await findForeign(statement, tables, tree);
    if (foreign === 'invalid' || foreign === 'unresolved') return { kind: foreign, statement };
    return foreign ? { kind: 'deviation', statement, reason: foreign.reason } : { kind: 'bound', statement };
  }

  return {
    folder,
    async check(statements) {
      const trees = await serializeTrees(connection, statements);
      const verdicts: BindingVerdict[] = [];
      for (const [index, statement] of statements.entries()) verdicts.push(await checkOne(statement, trees[index]!));
      return verdicts;
    },
    async findForeignBinding(sql, tables) {
      const head =
        tables.length > 0 ? `WITH ${tables.map((name) => `"${name}" AS (${tableColumns})`).join(', ')} ` : '';
      const found = await explainForeign(connection, `${head}SELECT * FROM (${sql}) AS "_result"`, {});
      return typeof found === 'object' ? found.reason : undefined;
    },
    close() {
      connection.closeSync();
      instance.closeSync();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const createJob = (sql: string, tables: string[]): QueryJob => ({
  sql,
  tables: tables.map((name) => ({ name, sql: tableColumns })),
  bounds: { from: '2024-01-01T00:00:00Z', to: '2024-01-02T00:00:00Z' },
  aggregate: false,
  mode: 'check',
  rowsMax: 1,
  bytesMax: 1,
});

async function serializeTrees(connection: DuckDBConnection, statements: string[]): Promise<string[]> {
  const result = await connection.runAndReadAll(
    'SELECT json_serialize_sql(t) FROM (SELECT unnest($1::VARCHAR[]) AS t)',
    [listValue(statements)],
  );
  return result.getRows().map(([tree]) => String(tree));
}

/** Asks the engine's binder twice: for the names that it cannot resolve inside the statement, and for the plan's sources. */
async function explainForeign(
  connection: DuckDBConnection,
  sql: string,
  values: Record<string, never> | object,
): Promise<Foreign | undefined> {
  const names = connection.getTableNames(sql, true);
  if (names.length > 0) return { reason: `resolves ${names.join(', ')} outside the statement` };
  try {
    const plan = await connection.runAndReadAll(`EXPLAIN (FORMAT JSON) ${sql}`, values as Record<string, never>);
    const nodes = JSON.parse(String(plan.getRows()[0]?.[1])) as PlanNode[];
    const foreign = listLeaves(nodes).find((name) => !harmlessLeaves.has(name));
    if (foreign !== undefined) return { reason: `reads from ${foreign}` };
    const arbitrary = findArbitrary(nodes);
    return arbitrary === undefined ? undefined : { reason: `picks rows with ${arbitrary}` };
  } catch (error) {
    const { message } = error as Error;
    if (leak.test(message)) return { reason: message.slice(0, 300) };
    return unresolved.test(message) ? 'unresolved' : 'invalid';
  }
}

type PlanNode = { name: string; children: PlanNode[] };
const innerSources = new Set([
  'CTE_SCAN',
  'DELIM_GET',
  'DUMMY_SCAN',
  'EXPRESSION_GET',
  'EMPTY_RESULT',
  'CHUNK_GET',
  'COLUMN_DATA_SCAN',
  'REC_CTE_SCAN',
]);

/** Returns an operator that picks rows at random or by their position in the files, if there is one. */
function findArbitrary(nodes: PlanNode[]): string | undefined {
  for (const { name, children } of nodes) {
    const found = /SAMPLE|POSITIONAL/.test(name) ? name : findArbitrary(children);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the operators without children, except those that read from another part of the plan. */
function listLeaves(nodes: PlanNode[]): string[] {
  return nodes.flatMap(({ name, children }) =>
    children.length > 0 ? listLeaves(children) : innerSources.has(name) ? [] : [name],
  );
}
