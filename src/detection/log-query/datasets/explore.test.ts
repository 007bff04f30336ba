import { expect, test } from 'vitest';
import { callOk } from '../../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { chooseStep } from './explore-dataset.ts';

const now = new Date('2026-03-04T10:00:00.000Z');
const { newOrg, newKey } = await startApp({ clock: () => now });

const minutesAgo = (n: number): string => new Date(now.getTime() - n * 60_000).toISOString();
const send = (org: TestOrg, dataset: string, events: object[]) =>
  org.call('POST', `/api/logs/${dataset}`, events.map((event) => JSON.stringify(event)).join('\n'), {
    'content-type': 'application/x-ndjson',
  });

const org = await newOrg();
await send(
  org,
  'auth',
  Array.from({ length: 40 }, (_, n) => ({
    timestamp: minutesAgo(n + 1),
    user: n < 30 ? 'ada' : `user-${n}`,
    ok: n % 4 !== 0,
    device: { os: 'linux', "odd 'name": n },
    ...(n < 10 ? { note: `<script>${n}</script>`, bytes: n } : {}),
  })),
);
const read = (path: string) => callOk(org, 'GET', path);

test('describes each field by the newest events of the window', async () => {
  const stats = await read('/api/logs/auth/fields');
  expect(stats).toMatchObject({ dataset: 'auth', events: 40, sampled: 40, isComplete: true, to: now.toISOString() });
  const field = (name: string) => stats.fields.find((one: { name: string }) => one.name === name);
  expect(field('user')).toMatchObject({ type: 'VARCHAR', present: 1, distinct: 11 });
  expect(field('user').top[0]).toEqual({ value: 'ada', events: 30 });
  expect(field('user').top).toHaveLength(10);
  expect(field('ok').top).toEqual([
    { value: 'true', events: 30 },
    { value: 'false', events: 10 },
  ]);
  expect(field('note')).toMatchObject({ present: 0.25, distinct: 10 });
  expect(field('device.os')).toMatchObject({ distinct: 1, top: [{ value: 'linux', events: 40 }] });
  expect(field("device.odd 'name")).toMatchObject({ present: 1, distinct: 40 });
  expect(field('_id')).toMatchObject({ present: 1, distinct: null, top: [] });
  const some = await read(
    `/api/logs/auth/fields?from=${minutesAgo(20)}&where=${encodeURIComponent("user = 'ada' -- and")}`,
  );
  expect(some).toMatchObject({ events: 20, sampled: 20 });
  expect(await read(`/api/logs/auth/fields?to=${minutesAgo(500)}`)).toMatchObject({ events: 0, sampled: 0 });
});

test('counts events over time, empty buckets included', async () => {
  const histogram = await read(`/api/logs/auth/histogram?from=${minutesAgo(60)}&to=${now.toISOString()}&buckets=12`);
  expect(histogram).toMatchObject({ stepSeconds: 300, total: 40 });
  expect(histogram.buckets.map(({ events }: { events: number }) => events)).toEqual([
    0, 0, 0, 0, 5, 5, 5, 5, 5, 5, 5, 5,
  ]);
  expect(histogram.buckets[0].at).toBe(minutesAgo(60));
  const filtered = await read(`/api/logs/auth/histogram?from=${minutesAgo(60)}&buckets=1&where=ok`);
  expect(filtered).toMatchObject({ total: 30 });
});

test.each([1, 7, 120, 500])('chooses a step of which at most %i buckets touch any window', (buckets) => {
  for (const seconds of [1, 59, 60, 3600, 86_399, 86_400 * 30, 86_400 * 366])
    for (const offset of [0, 1, 3599]) {
      const from = new Date(Date.UTC(2026, 1, 3) + offset * 1000);
      const to = new Date(from.getTime() + seconds * 1000);
      const step = chooseStep(from, to, buckets);
      const touched = Math.ceil(to.getTime() / 1000 / step) - Math.floor(from.getTime() / 1000 / step);
      if (buckets > 1) expect(touched).toBeLessThanOrEqual(buckets);
    }
});

test('returns the rows of a query over a window', async () => {
  const body = {
    query: 'select user, count(*) as n from auth group by user order by n desc, user',
    from: minutesAgo(60),
    to: now.toISOString(),
  };
  const result = await callOk(org, 'POST', '/api/logs/search', { ...body, limit: 2 });
  expect(result).toMatchObject({
    columns: ['user', 'n'],
    aggregate: true,
    truncated: true,
    noData: false,
    warnings: [],
  });
  expect(result.rows).toEqual([
    { user: 'ada', n: 30 },
    { user: 'user-30', n: 1 },
  ]);
  const none = await callOk(org, 'POST', '/api/logs/search', { ...body, to: minutesAgo(59) });
  expect(none).toMatchObject({ rows: [], total: 0, truncated: false });
  expect(
    await callOk(org, 'POST', '/api/logs/search', { ...body, connectionId: org.id, query: 'select * from nothing' }),
  ).toMatchObject({ noData: true, rows: [] });
});

test.each([
  [{ query: 'select 1; select 2' }, 422, '/query'],
  [{ query: "select * from read_csv('/etc/passwd')" }, 422, '/query'],
  [{ query: 'select usr from (select _id from auth)' }, 422, '/query'],
  [{ query: 'select * from auth', to: minutesAgo(70) }, 400, '/to'],
  [{ query: 'select * from auth', limit: 1001 }, 400, '/limit'],
  [{ query: 'select * from auth', connectionId: '00000000-0000-7000-8000-000000000001' }, 422, '/query'],
])('rejects the search %j with %i', async (input, status, pointer) => {
  const answer = await org.call('POST', '/api/logs/search', { from: minutesAgo(60), to: now.toISOString(), ...input });
  expect([answer.status, answer.body.errors[0].pointer]).toEqual([status, pointer]);
});

test.each([
  ['/api/logs/auth/fields?where=usr%3D1', 422, 'query/where'],
  ['/api/logs/auth/histogram?where=1%3D1)%20union%20(select%201', 422, 'query/where'],
  ['/api/logs/auth/histogram?buckets=501', 400, 'query/buckets'],
  ['/api/logs/auth/fields?from=2026-03-05T00:00:00Z', 400, 'query/from'],
  ['/api/logs/Bad/fields', 400, 'path/dataset'],
])('rejects %s with %i', async (path, status, pointer) => {
  const answer = await org.call('GET', path);
  expect([answer.status, answer.body.errors?.[0].pointer]).toEqual([status, pointer]);
});

test('hides datasets of other organizations, and needs the scope of previews', async () => {
  const other = await newOrg();
  expect((await other.call('GET', '/api/logs/auth/fields')).status).toBe(404);
  expect((await other.call('GET', '/api/logs/auth/histogram')).status).toBe(404);
  const reader = await newKey(org, ['detections:read']);
  expect((await reader.call('GET', '/api/logs/auth/fields')).status).toBe(403);
});
