import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { inOrg } from '../db/db.ts';
import { insertAudit } from './audit.store.ts';

const app = await startApp();

test('filters by author, action, target and time', async () => {
  const org = await app.newOrg();
  const change = { resourceType: 'detection', resourceId: 'd1', before: null, after: null };
  await inOrg(app.deps.db, org.id, async (tx) => {
    const by = (keyId: string | null, subject?: string) => ({ orgId: org.id, keyId, ...(subject && { subject }) });
    await insertAudit(tx, by('k1'), { ...change, action: 'detection.created' });
    await insertAudit(tx, by('k1', 'ada@example.com'), { ...change, action: 'detection.updated' });
    await insertAudit(tx, by(null), { ...change, action: 'detection_test.updated', resourceId: 'd2' });
    await insertAudit(tx, by('k2'), { ...change, action: 'source.created', resourceType: 'source', resourceId: 's1' });
  });
  const found = async (query: string): Promise<string[]> => {
    const { entries } = (await org.call('GET', `/api/audit?${query}`)).body;
    const actions = entries.map(({ action }: { action: string }) => action as string);
    return actions.filter((action: string) => /^(?:detection|source)/.test(action)).toReversed();
  };
  const all = ['detection.created', 'detection.updated', 'detection_test.updated', 'source.created'];
  const cases: [query: string, expected: string[]][] = [
    ['', all],
    ['actor=k1', all.slice(0, 2)],
    ['actor=ada%40example.com', [all[1]!]],
    ['action=detection.', all.slice(0, 2)],
    ['action=detection.updated', [all[1]!]],
    ['action=%25', []],
    ['resourceType=source', [all[3]!]],
    ['resourceId=d2', [all[2]!]],
    ['resourceId=d1&action=detection.updated&actor=k2', []],
    ['from=2020-01-01T00%3A00%3A00Z', all],
    ['to=2020-01-01T00%3A00%3A00Z', []],
  ];
  for (const [query, expected] of cases) expect([query, await found(query)]).toEqual([query, expected]);
  expect((await org.call('GET', '/api/audit?from=yesterday')).status).toBe(400);
});

test('continues a filtered list with its cursor', async () => {
  const org = await app.newOrg();
  await inOrg(app.deps.db, org.id, async (tx) => {
    for (let index = 0; index < 6; index += 1) {
      const change = { resourceType: 'x', resourceId: `${index}`, before: null, after: null };
      await insertAudit(tx, { orgId: org.id, keyId: null }, { ...change, action: index % 2 ? 'x.odd' : 'x.even' });
    }
  });
  const first = (await org.call('GET', '/api/audit?action=x.odd&limit=2')).body;
  const second = (await org.call('GET', `/api/audit?action=x.odd&limit=2&cursor=${first.nextCursor}`)).body;
  const ids = [...first.entries, ...second.entries].map(({ resourceId }: { resourceId: string }) => resourceId);
  expect([ids, second.nextCursor]).toEqual([['5', '3', '1'], null]);
});

test('exports every matching entry once, oldest first, across pages', async () => {
  const org = await app.newOrg();
  const change = { action: 'x.made', resourceType: 'x', before: null, after: { n: 1 } };
  await inOrg(app.deps.db, org.id, async (tx) => {
    for (let index = 0; index < 1001; index += 1)
      await insertAudit(tx, { orgId: org.id, keyId: 'k1' }, { ...change, resourceId: `${index}` });
  });
  const { status, headers, body } = await org.call('GET', '/api/audit/export?actor=k1');
  expect([status, headers['content-type']]).toEqual([200, 'application/x-ndjson']);
  const entries = (body as string)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const ids = entries.map(({ resourceId }: { resourceId: string }) => Number(resourceId));
  expect(ids).toEqual(Array.from({ length: 1001 }, (_, index) => index));
  const newest = (await org.call('GET', '/api/audit?limit=1')).body.entries[0];
  expect(entries.at(-1)).toEqual(newest);
  expect((await org.call('GET', '/api/audit/export?resourceId=7')).body.split('\n')).toHaveLength(2);
  expect((await org.call('GET', '/api/audit/export?limit=7')).status).toBe(400);
});
