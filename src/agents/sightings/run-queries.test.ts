import { expect, test } from 'vitest';
import type { QueryRow, SiemConnection } from '../../detection/siem/connector.ts';
import { runSweepQueries } from './run-queries.ts';
import { toTargetBatches, type SweepTarget } from './sweep-targets.ts';

const target = (value: string): SweepTarget => ({ itemId: 'item', kind: 'domain', type: 'domain', value });
const targets = ['common.example', 'other.example', 'rare.example'].map(target);
const buildRow = (value: string, index: number): QueryRow => ({ _id: `${value} ${index}`, _event: { domain: value } });
const rows = ['common.example', 'other.example'].flatMap((value) =>
  Array.from({ length: 600 }, (_, index) => buildRow(value, index)),
);

/** Returns the first rows that contain one of the query's values, up to `rowsMax`. */
const connection: SiemConnection = {
  clock: 'ingest',
  delayMs: 0,
  search: async (query, _window, { rowsMax }) => {
    const found = [...rows, buildRow('rare.example', 0)].filter(({ _id }) =>
      query.includes(String(_id).split(' ')[0]!),
    );
    const truncated = found.length > rowsMax;
    return { rows: found.slice(0, rowsMax), total: found.length, truncated, aggregate: false, noData: false, ms: 1 };
  },
  check: async () => undefined,
  fields: async () => [],
  ping: async () => undefined,
};

test('finds a rare indicator behind the rows of a frequent one', async () => {
  const { sightings, queries, isComplete } = await runSweepQueries(connection, {
    kind: 'local',
    batches: toTargetBatches(targets),
    targets,
    queriesMax: 10,
    datasets: [{ dataset: 'dns', fields: [{ name: 'domain', kind: 'domain' }] }],
    window: { from: new Date('2026-02-01T00:00:00Z'), to: new Date('2026-03-02T00:00:00Z'), clock: 'ingest' },
    signal: new AbortController().signal,
  });
  expect([...new Set(sightings.map(({ value }) => value))]).toEqual(targets.map(({ value }) => value));
  expect([queries, isComplete]).toEqual([3, true]);
});
