import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dataDir } from '../../../test/support/data.ts';
import { startLogStore } from '../../../test/support/detection/log-store.ts';

const data = dataDir();
const store = await startLogStore();
const readCases = (name: string): string => readFileSync(join(data!, 'cases', name), 'utf8');

test.skipIf(!data)('stores the events inside the envelopes of large sources, all with their time', async () => {
  const org = await store.newOrg();
  const cases = JSON.parse(readCases('envelopes.json')) as Record<string, { body: unknown; events: number }>;
  for (const [name, { body, events }] of Object.entries(cases)) {
    const receipt = await store.send(org, name, JSON.stringify(body, null, 2));
    expect(receipt).toMatchObject({ accepted: events, rejectedTotal: 0, undated: 0, warnings: [] });
  }
});

test.skipIf(!data)('finds the times of common sources without a time field', async () => {
  const org = await store.newOrg();
  for (const line of readCases('times.ndjson').trim().split('\n')) {
    const { source, event, time } = JSON.parse(line) as { source: string; event: object; time: string };
    expect(await store.send(org, source, [event])).toMatchObject({ accepted: 1, undated: 0 });
    const { rows } = await store.search(org, `SELECT date_trunc('milliseconds', _time) AS at FROM ${source}`);
    expect(rows).toEqual([{ at: time }]);
  }
});

test('reports undated events, lists inside events and events without a known field', async () => {
  const org = await store.newOrg();
  const lines = [
    { '@timestamp': '2026-11-28T07:00:00Z', user: 'ana' },
    { user: 'bob', seen: { at: '2026-11-28T07:00:00Z' } },
    { hits: { hits: [{ user: 'ana' }, { user: 'bob' }] } },
    { when: 'yesterday', what: 'x' },
  ];
  const { warnings, undated } = await store.send(org, 'app', lines);
  expect(undated).toBe(3);
  expect(warnings).toEqual([
    { code: 'undated', events: 3, line: 2, detail: expect.stringContaining('?timeField=seen.at') as string },
    {
      code: 'list_in_event',
      events: 1,
      line: 3,
      detail: expect.stringContaining('`hits.hits` has 2 elements') as string,
    },
    { code: 'no_known_field', events: 2, line: 3, detail: expect.stringContaining('`hits`') as string },
  ]);
});
