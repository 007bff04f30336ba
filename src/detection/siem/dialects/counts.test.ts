import pg from 'pg';
import { expect, test } from 'vitest';
import { testDatabase } from '../../../../test/support/database.ts';
import { clickhouse } from './clickhouse.ts';
import type { CountsQuery } from './dialect.ts';
import { esql } from './esql.ts';
import { kql } from './kql.ts';
import { postgres } from './postgres.ts';
import { ppl } from './ppl.ts';
import { spl } from './spl.ts';

const ofEve = {
  kind: 'match',
  field: 'user',
  test: { kind: 'text', pattern: [{ text: 'Eve' }], cased: false },
} as const;
const counts = (by: CountsQuery['by'], table = 'logs'): CountsQuery => ({
  table,
  time: 'at',
  where: ofEve,
  by,
  limit: 3,
});

test('PostgreSQL counts by value, by time, and all events', async () => {
  const client = new pg.Client({ connectionString: (await testDatabase()).url });
  await client.connect();
  await client.query('create table logs (at timestamptz, "user" text, ip inet, deep jsonb)');
  const ips = ['10.0.0.1', '10.0.0.2', '10.0.0.2', '10.0.0.3', '10.0.0.4'];
  for (const [n, ip] of ips.entries())
    await client.query('insert into logs values ($1, $2, $3, $4)', [
      `2024-06-01T0${n}:30:00Z`,
      n === 4 ? 'bob' : 'eve',
      ip,
      { city: 'x' },
    ]);
  const run = async (by: CountsQuery['by']) =>
    (await client.query<Record<string, unknown>>(postgres.writeCounts(counts(by)).replace('$window', 'true'))).rows;
  expect(await run({ field: 'ip' })).toMatchObject([
    { counted_value: expect.stringContaining('10.0.0.2'), counted_events: '2' },
    { counted_events: '1' },
    { counted_events: '1' },
  ]);
  expect(await run({ field: 'deep.city' })).toEqual([{ counted_value: 'x', counted_events: '4' }]);
  const start = Date.parse('2024-06-01T00:00:00Z') / 1000;
  expect(await run({ stepSeconds: 7_200 })).toEqual([
    { counted_time: start, counted_events: '2' },
    { counted_time: start + 7_200, counted_events: '2' },
  ]);
  expect(await run(null)).toEqual([{ counted_events: '4' }]);
  await client.end();
});

test('other languages spell the same question', () => {
  const spelled = [clickhouse, esql, kql, ppl].map(({ language, writeCounts }) => [
    language,
    writeCounts(counts({ field: 'ip' })),
    writeCounts(counts({ stepSeconds: 3_600 })),
    writeCounts(counts(null)),
  ]);
  const search = (by: CountsQuery['by']): string => spl.writeCounts(counts(by, 'index=logs'));
  spelled.push([spl.language, search({ field: 'ip' }), search({ stepSeconds: 3_600 }), search(null)]);
  expect(spelled.flat().join('\n\n')).toMatchSnapshot();
});
