import { expect, test } from 'vitest';
import type { Row, SiemConnection } from '../../detection/siem/connector.ts';
import { askAll } from './run-queries.ts';
import { listsOf, type Target } from './sweep-targets.ts';

const target = (value: string): Target => ({ itemId: 'item', kind: 'domain', type: 'domain', value });
const targets = ['common.example', 'other.example', 'rare.example'].map(target);
const rowOf = (value: string, index: number): Row => ({ _id: `${value} ${index}`, _event: { domain: value } });
const rows = ['common.example', 'other.example'].flatMap((value) =>
  Array.from({ length: 600 }, (_, index) => rowOf(value, index)),
);

/** Answers with the first rows that hold one of the values in the query, as many as are asked for. */
const connection: SiemConnection = {
  clock: 'ingest',
  delayMs: 0,
  search: async (query, _window, { rowsMax }) => {
    const found = [...rows, rowOf('rare.example', 0)].filter(({ _id }) => query.includes(String(_id).split(' ')[0]!));
    const truncated = found.length > rowsMax;
    return { rows: found.slice(0, rowsMax), total: found.length, truncated, aggregate: false, noData: false, ms: 1 };
  },
  check: async () => undefined,
  fields: async () => [{ dataset: 'dns', fields: [{ name: 'domain', type: 'text' }] }],
  ping: async () => undefined,
};

test('the rows of a common indicator hide no other one', async () => {
  const { found, queries, isWhole } = await askAll(connection, {
    kind: 'local',
    lists: listsOf(targets),
    targets,
    queriesMax: 10,
    now: new Date('2026-03-02T00:00:00Z'),
    signal: new AbortController().signal,
  });
  expect([...new Set(found.map(({ value }) => value))]).toEqual(targets.map(({ value }) => value));
  expect([queries, isWhole]).toEqual([3, true]);
});
