import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, expect, test } from 'vitest';
import { queryCorpus } from '../../../../fuzz/query-corpus.ts';
import { createGrammar } from '../../../../fuzz/query-grammar.ts';
import { createRandom } from '../../../../fuzz/random.ts';
import { serializeTree } from '../parse-tree.ts';
import { checkShapes } from './tree-shapes.ts';

type Node = Record<string, unknown>;

const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

const readTree = async (sql: string): Promise<Node> => JSON.parse(await serializeTree(connection, sql)) as Node;

/** Returns every object of a tree that is part of a query, so not the values of literals. */
function listObjects(value: unknown): Node[] {
  if (Array.isArray(value)) return value.flatMap(listObjects);
  if (value === null || typeof value !== 'object') return [];
  const entries = Object.entries(value as Node).filter(([key]) => !('is_null' in value && key === 'value'));
  return [value as Node, ...entries.flatMap(([, child]) => listObjects(child))];
}

const isAccepted = (tree: Node): boolean => {
  try {
    checkShapes(tree);
    return true;
  } catch {
    return false;
  }
};

test('refuses an unknown field with a value anywhere in a statement, and accepts one with its default', async () => {
  const { statement } = createGrammar(createRandom(23), '/trap');
  const trees: Node[] = [];
  for (const sql of [...queryCorpus, ...Array.from({ length: 80 }, statement)]) trees.push(await readTree(sql));
  const accepted = trees.filter((tree) => tree['error'] === false && isAccepted(tree));
  expect(accepted.length).toBeGreaterThan(50);
  for (const tree of accepted) {
    for (const node of listObjects(tree)) {
      for (const value of [null, false, 0, '', [], {}]) {
        node['planted'] = value;
        expect(isAccepted(tree)).toBe(true);
        if (tree !== accepted[0]) break;
      }
      for (const value of [true, 1, -1, 'x', ['x'], { x: null }]) {
        node['planted'] = value;
        expect(isAccepted(tree)).toBe(false);
        if (tree !== accepted[0]) break;
      }
      delete node['planted'];
    }
  }
});

test('refuses values that a closed set does not have', async () => {
  const tree = await readTree(
    'SELECT sum(x) OVER (ORDER BY x ROWS UNBOUNDED PRECEDING EXCLUDE TIES) AS s, x = 1 AS e FROM a JOIN b USING (x)',
  );
  const closed = {
    join_type: 'MARK',
    ref_type: 'DEPENDENT',
    exclude_clause: 'SOME',
    aggregate_handling: 'NO',
    end: 'NOW',
  };
  for (const node of listObjects(tree)) {
    for (const [name, value] of Object.entries(closed)) {
      if (!(name in node)) continue;
      const before = node[name];
      node[name] = value;
      expect(() => checkShapes(tree)).toThrow(value);
      node[name] = before;
    }
  }
  expect(() => checkShapes(tree)).not.toThrow();
});

test.each(queryCorpus)('accepts %s', async (sql) => {
  const tree = await readTree(sql);
  expect(() => checkShapes(tree)).not.toThrow();
});
