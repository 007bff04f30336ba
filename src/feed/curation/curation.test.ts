import { describe, expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { processArrivals } from '../deduplication/recompute-pools.ts';
import { domains, listVisibleItems, pullOnce, stixReport } from '../../../test/support/feed/grouped-reports.ts';

const app = await startApp();

let next = 1;
/** Creates reports with the same indicators. Returns their ids in the order of arrival. */
async function reports(org: TestOrg, count: number, more: { visibility?: 'shared'; tlp?: 'CLEAR' } = {}) {
  const first = next;
  next += count;
  const numbers = Array.from({ length: count }, (_, index) => first + index);
  const sources = [];
  for (const number of numbers) {
    const content = stixReport(number, domains(first * 100, 6));
    sources.push(await pullOnce(app, org, { kind: 'stix', content, ...more }));
  }
  const items = await listVisibleItems(app, org);
  const ids = numbers.map((number) => items.find(({ title }) => title === `Report ${number}`)!.id);
  return { numbers, sources, ids };
}

const shared = { visibility: 'shared', tlp: 'CLEAR' } as const;
const at = (id: string, action: string): string => `/api/feed/items/${id}/${action}`;

/** Returns the root of each item as the organization sees it, and checks that the list and the single items agree. */
async function rootsOf(org: TestOrg, ids: string[]): Promise<(string | undefined)[]> {
  const list = (await org.call('GET', '/items?perPage=100')).body.items as { id: string; duplicateOf?: string }[];
  return Promise.all(
    ids.map(async (id) => {
      const { duplicateOf } = (await org.call('GET', `/items/${id}`)).body;
      expect(list.find((item) => item.id === id)!.duplicateOf).toBe(duplicateOf);
      return duplicateOf;
    }),
  );
}

describe('own items', () => {
  test('splits an item permanently, and merges it again', async () => {
    const org = await app.newOrg();
    const { ids, sources, numbers } = await reports(org, 3);
    const [a, b, c] = ids as [string, string, string];
    expect(await rootsOf(org, ids)).toEqual([undefined, a, a]);
    expect((await org.call('GET', `/items/${b}`)).body.duplicates).toEqual([a, c]);
    const before = (await org.call('GET', `/items/${b}`)).body;
    const { status, body } = await org.call('POST', at(b, 'split'));
    expect([status, body.duplicateOf, body.duplicates]).toEqual([200, undefined, []]);
    expect(body.lastUpdated > before.lastUpdated).toBe(true);
    expect(await rootsOf(org, ids)).toEqual([undefined, undefined, a]);
    expect((await org.call('POST', at(b, 'split'))).status).toBe(409);
    // A change of the source does not undo the decision.
    const [first] = numbers;
    const change = { modified: '2024-03-01T00:00:00.000Z', name: `Report ${numbers[1]}` };
    await sources[1]!.pull(stixReport(numbers[1]!, domains(first! * 100, 6), change));
    expect(await rootsOf(org, ids)).toEqual([undefined, undefined, a]);
    expect((await org.call('POST', at(b, 'merge'), { into: c })).body.duplicateOf).toBe(a);
    expect(await rootsOf(org, ids)).toEqual([undefined, a, a]);
  });

  test('makes the next item the root when the root is split off', async () => {
    const org = await app.newOrg();
    const { ids } = await reports(org, 3);
    await org.call('POST', at(ids[0]!, 'split'));
    expect(await rootsOf(org, ids)).toEqual([undefined, undefined, ids[1]]);
  });

  test('merges a whole group into another group and keeps its root', async () => {
    const org = await app.newOrg();
    const old = await reports(org, 2);
    const young = await reports(org, 2);
    const ids = [...old.ids, ...young.ids];
    const [, , root] = ids;
    expect((await org.call('POST', at(old.ids[0]!, 'merge'), { into: young.ids[1] })).body.duplicateOf).toBe(root);
    expect(await rootsOf(org, ids)).toEqual([root, root, undefined, root]);
    expect((await org.call('GET', `/items/${root}`)).body.event.confidence).toBe(0.6);
  });

  test('keeps a retraction against the source until the person takes it back', async () => {
    const org = await app.newOrg();
    const { ids, sources, numbers } = await reports(org, 2);
    const [a, b] = ids as [string, string];
    const retracted = await org.call('POST', at(a, 'retract'), { reason: ' not ours ' });
    expect(retracted.body).toMatchObject({ version: 2, event: { status: 'retracted' } });
    expect(retracted.body.versions[0]).toMatchObject({ cause: 'person', note: 'not ours', changed: ['status'] });
    expect(retracted.body.iocs.domains.every(({ status }: { status: string }) => status === 'revoked')).toBe(true);
    expect(await rootsOf(org, ids)).toEqual([undefined, undefined]);
    expect((await org.call('GET', '/items?status=retracted')).body.total).toBe(1);
    expect((await org.call('POST', at(a, 'retract'), { reason: 'again' })).status).toBe(409);
    expect((await org.call('POST', at(a, 'merge'), { into: b })).status).toBe(409);
    const values = [...domains(numbers[0]! * 100, 6), 'more.example'];
    const changed = stixReport(numbers[0]!, values, { modified: '2024-03-01T00:00:00.000Z' });
    expect(await sources[0]!.pull(changed)).toMatchObject({ added: 0, corrected: 0, retracted: 0, unchanged: 1 });
    const restored = await org.call('DELETE', at(a, 'retract'));
    expect(restored.body).toMatchObject({ version: 3, event: { status: 'active' } });
    expect(await rootsOf(org, ids)).toEqual([undefined, a]);
    expect(restored.body.iocs.domains.some(({ status }: { status: string }) => status === 'revoked')).toBe(false);
    expect((await org.call('GET', '/items?status=retracted')).body.total).toBe(0);
    expect((await org.call('DELETE', at(a, 'retract'))).status).toBe(409);
    expect((await org.call('POST', at(b, 'retract'))).body.versions[0]).not.toHaveProperty('note');
    // The next pull applies what the source changed meanwhile.
    expect(await sources[0]!.pull(changed)).toMatchObject({ corrected: 1 });
  });

  test('returns the invalid field', async () => {
    const [org, other] = [await app.newOrg(), await app.newOrg()];
    const { ids } = await reports(org, 1);
    const foreign = await reports(other, 1);
    const pointers = async (body: unknown) => {
      const answer = await org.call('POST', at(ids[0]!, 'merge'), body);
      return [answer.status, answer.body.errors?.[0]?.pointer];
    };
    expect(await pointers({ into: ids[0] })).toEqual([400, '/into']);
    expect(await pointers({ into: 'x' })).toEqual([400, '/into']);
    expect(await pointers({ into: foreign.ids[0] })).toEqual([400, '/into']);
    expect((await org.call('POST', at(ids[0]!, 'retract'), { reason: ' ' })).body.errors[0].pointer).toBe('/reason');
    expect((await org.call('POST', at(ids[0]!, 'split'))).status).toBe(409);
    for (const [method, action, body] of [
      ['POST', 'split', undefined],
      ['POST', 'merge', { into: foreign.ids[0] }],
      ['POST', 'retract', { reason: 'x' }],
      ['DELETE', 'retract', undefined],
    ] as const)
      expect((await other.call(method, at(ids[0]!, action), body)).status, action).toBe(404);
  });
});

describe('shared items', () => {
  const writer = ['feed:read', 'feed:write'] as const;
  const setUp = async (count: number) => {
    const [owner, plain, other] = [await app.newOrg(), await app.newOrg(writer), await app.newOrg(writer)];
    return { owner, plain, other, ...(await reports(owner, count, shared)) };
  };
  const look = async (org: TestOrg) => {
    const items = await org.call('GET', '/items?perPage=100');
    const stats = await org.call('GET', '/stats');
    return [items.body, items.headers['etag'], stats.body, stats.headers['etag']];
  };

  test('retracts, splits and merges for one organization alone', async () => {
    const { plain, other, owner, ids } = await setUp(3);
    const [a, b, c] = ids as [string, string, string];
    const before = [await look(other), await look(owner)];
    const tag = (await plain.call('GET', '/items')).headers['etag'];
    const mine = await plain.call('POST', at(a, 'retract'), { reason: 'known here' });
    expect(mine.body).toMatchObject({
      version: 1,
      event: { status: 'active' },
      tenantOverrides: { status: 'retracted', note: 'known here' },
    });
    expect((await plain.call('GET', '/items')).headers['etag']).not.toBe(tag);
    expect(await rootsOf(plain, ids)).toEqual([undefined, undefined, b]);
    const retracted = (await plain.call('GET', '/items?status=retracted')).body;
    expect([retracted.total, retracted.items.map(({ id }: { id: string }) => id)]).toEqual([1, [a]]);
    const active = (await plain.call('GET', '/items?status=active&perPage=100')).body;
    expect(active.items).toHaveLength(active.total);
    expect(active.items.map(({ id }: { id: string }) => id)).not.toContain(a);
    expect((await plain.call('POST', at(c, 'split'))).body.duplicateOf).toBeUndefined();
    expect(await rootsOf(plain, ids)).toEqual([undefined, undefined, undefined]);
    expect((await plain.call('POST', at(b, 'merge'), { into: c })).body.duplicateOf).toBe(c);
    expect((await plain.call('DELETE', at(a, 'retract'))).body.tenantOverrides).toBeNull();
    expect(await rootsOf(plain, ids)).toEqual([c, c, undefined]);
    expect((await plain.call('GET', '/items?status=retracted')).body.total).toBe(0);
    expect([await look(other), await look(owner)]).toEqual(before);
  });

  test('keeps decisions and correct totals when the items change', async () => {
    const { plain, ids, sources, numbers } = await setUp(3);
    const [a, b, c] = ids as [string, string, string];
    await plain.call('POST', at(c, 'retract'), { reason: 'x' });
    await plain.call('POST', at(b, 'split'));
    const values = domains(numbers[0]! * 100, 6);
    const change = { modified: '2024-03-01T00:00:00.000Z' };
    await sources[2]!.pull(stixReport(numbers[2]!, values, { ...change, labels: ['severity:high'] }));
    const sum = async (): Promise<void> => {
      const all = (await plain.call('GET', '/items?perPage=100')).body;
      for (const status of ['active', 'corrected', 'retracted']) {
        const part = (await plain.call('GET', `/items?status=${status}&perPage=100`)).body;
        expect(part.items, status).toHaveLength(part.total);
      }
      expect(all.items).toHaveLength(all.total);
      const { severityBreakdown, totalItems } = (await plain.call('GET', '/stats')).body;
      expect(Object.values<number>(severityBreakdown).reduce((one, two) => one + two)).toBe(totalItems);
      expect(totalItems).toBe(all.total);
    };
    await sum();
    expect(await rootsOf(plain, ids)).toEqual([undefined, undefined, undefined]);
    // The root is retracted for everyone, so b becomes the root, except for the organization that split it off.
    await sources[0]!.pull(stixReport(numbers[0]!, values, { ...change, revoked: true }));
    await sum();
    expect(await rootsOf(plain, ids)).toEqual([undefined, undefined, undefined]);
    // Retracted for everyone, the item counts once.
    await sources[2]!.pull(stixReport(numbers[2]!, values, { modified: '2024-04-01T00:00:00.000Z', revoked: true }));
    await sum();
    expect(
      (await plain.call('GET', '/items?status=retracted&perPage=100')).body.items.map(({ id }: { id: string }) => id),
    ).toEqual(expect.arrayContaining([a, c]));
  });

  test('applies decisions of the owner and of an administrator for everyone', async () => {
    const { owner, other, ids } = await setUp(2);
    const admin = await app.newOrg(['feed:read', 'feed:write', 'feed:admin']);
    await owner.call('POST', at(ids[1]!, 'split'));
    expect(await rootsOf(other, ids)).toEqual([undefined, undefined]);
    await admin.call('POST', at(ids[1]!, 'retract'), { reason: 'wrong' });
    expect((await other.call('GET', `/items/${ids[1]}`)).body.event.status).toBe('retracted');
    const mine = await reports(owner, 1);
    const refused = await owner.call('POST', at(ids[0]!, 'merge'), { into: mine.ids[0] });
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/into']);
  });

  test('moves an own item with the root that its organization merged', async () => {
    const { plain, ids, numbers } = await setUp(1);
    const second = await reports(await app.newOrg(), 1, shared);
    const own = await pullOnce(app, plain, { kind: 'stix', content: stixReport(5_000, domains(numbers[0]! * 100, 6)) });
    while (await processArrivals(app.deps));
    const item = (await listVisibleItems(app, plain)).find(({ title }) => title === 'Report 5000')!;
    expect([own.source.visibility, item.duplicate_of]).toEqual(['private', ids[0]]);
    await plain.call('POST', at(ids[0]!, 'merge'), { into: second.ids[0] });
    expect(await rootsOf(plain, [ids[0]!, item.id])).toEqual([second.ids[0], second.ids[0]]);
  });
});

test('returns old versions with their text at GET /items/{id}/text', async () => {
  const org = await app.newOrg();
  const { ids, sources, numbers } = await reports(org, 1);
  await sources[0]!.pull(stixReport(numbers[0]!, ['changed.example'], { modified: '2024-03-01T00:00:00.000Z' }));
  const text = async (query: string) => (await org.call('GET', `/items/${ids[0]}/text${query}`)).body;
  expect((await text('')).text).toContain('changed.example');
  expect(await text('?version=2')).toEqual(await text(''));
  expect(await text('?version=1')).toMatchObject({ id: ids[0], version: 1 });
  expect((await text('?version=1')).text).not.toContain('changed.example');
  expect((await org.call('GET', `/items/${ids[0]}/text?version=9`)).status).toBe(404);
  for (const wrong of ['0', '1.0', '', 'x', '1&version=2'])
    expect((await org.call('GET', `/items/${ids[0]}/text?version=${wrong}`)).status, wrong).toBe(400);
  expect((await (await app.newOrg()).call('GET', `/items/${ids[0]}/text`)).status).toBe(404);
});
