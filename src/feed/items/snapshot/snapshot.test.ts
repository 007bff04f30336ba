import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { sealSnapshotToken, openSnapshotToken, toSnapshot } from './snapshot.ts';
import type { FeedItem, FeedList } from '../../model/item.schema.ts';
import { reportSource, type Report, type ReportSource } from '../../../../test/support/feed/report-source.ts';

let now = new Date('2026-03-02T10:20:30.000Z');
const app = await startApp({ clock: () => now });

const read = async (org: TestOrg, query: string): Promise<FeedList> => {
  const { status, body } = await org.call('GET', `/items?${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as FeedList;
};

/** Reads all pages with the token of the first one. `between` runs before each further page. */
async function walk(
  org: TestOrg,
  query: string,
  between: () => Promise<unknown>,
): Promise<{ items: FeedItem[]; pages: FeedList[] }> {
  const pages = [await read(org, query)];
  const asOf = pages[0]!.outputs!.asOf!;
  while (pages.at(-1)!.hasNext) {
    await between();
    pages.push(await read(org, `${query}&page=${pages.length + 1}&asOf=${asOf}`));
  }
  return { items: pages.flatMap(({ items }) => items), pages };
}

const change = fc.record({
  number: fc.integer({ min: 1, max: 12 }),
  words: fc.constantFrom('critical', 'Windows', 'Linux server', 'nothing', 'ransomware on Windows'),
  revoked: fc.boolean(),
});
const changeLists = fc.array(fc.array(change, { maxLength: 4 }), { minLength: 4, maxLength: 8 });

test('returns the items of one snapshot once each, whatever is written between the pages', async () => {
  await fc.assert(
    fc.asyncProperty(
      changeLists,
      fc.constantFrom('', 'status=retracted&', 'status=corrected&', 'platform=windows&'),
      async (moves, filter) => {
        const org = await app.newOrg();
        const sources = [await reportSource(app, org), await reportSource(app, org)];
        await sources[0]!.write({
          1: {},
          2: { words: 'Windows' },
          3: { revoked: true },
          4: {},
          5: { words: 'Windows' },
        });
        await sources[1]!.write({ 1: { words: 'ransomware on Windows' }, 6: {} });
        await sources[0]!.write({ 1: { words: 'Windows' }, 2: { words: 'Linux server' } });
        const left = [...moves];
        const expected = await read(org, `${filter}perPage=100`);
        const write = async (): Promise<void> => {
          const [index, next] = [left.length % 2, left.shift()];
          if (next)
            await sources[index]!.write(Object.fromEntries(next.map(({ number, ...report }) => [number, report])));
        };
        const { items, pages } = await walk(org, `${filter}perPage=2`, write);
        expect(items).toEqual(expected.items);
        for (const page of pages) expect([page.total, page.outputs]).toEqual([expected.total, expected.outputs]);
        expect(await read(org, `${filter}perPage=100&asOf=${expected.outputs!.asOf}`)).toEqual(expected);
      },
    ),
    { numRuns: 8 },
  );
});

test('shows an item as a root in a snapshot from before its merge', async () => {
  const org = await app.newOrg();
  await (await reportSource(app, org)).write({ 1: {}, 2: {} });
  const before = await read(org, 'duplicates=hide');
  const [one, two] = before.items.map(({ id }) => id);
  expect((await org.call('POST', `/api/feed/items/${one}/merge`, { into: two })).status).toBe(200);
  expect((await read(org, 'duplicates=hide')).total).toBe(1);
  // A different page size bypasses the cache.
  const then = await read(org, `duplicates=hide&perPage=9&asOf=${before.outputs!.asOf}`);
  expect([then.total, then.items]).toEqual([2, before.items]);
});

test('returns complete and stable pages of a snapshot while sources write to several pools', async () => {
  const [org, other] = [await app.newOrg(), await app.newOrg()];
  const sources = await Promise.all([
    reportSource(app, org),
    reportSource(app, org),
    reportSource(app, other, { visibility: 'shared' }),
    reportSource(app, other, { visibility: 'shared', assignedTo: [org.id] }),
  ]);
  await Promise.all(sources.map((source) => source.write({ 1: {}, 2: {}, 3: {}, 4: {} })));
  const state = { writing: true };
  const writer = async (source: ReportSource, lane: number): Promise<void> => {
    for (let round = 1; round <= 10; round += 1) {
      const report: Report = { words: `round ${round}`, revoked: round % 4 === lane };
      await source.write({ [round % 5]: report, [10 + round]: {} });
    }
  };
  let walks = 0;
  const reader = async (): Promise<void> => {
    while (state.writing) {
      const { items, pages } = await walk(org, 'perPage=3', async () => undefined);
      const { total, outputs } = pages[0]!;
      expect(items).toHaveLength(total);
      expect(new Set(items.map(({ id }) => id)).size).toBe(total);
      const order = items.map(({ addedToFeedAt, id }) => `${addedToFeedAt} ${id}`);
      expect(order).toEqual(order.toSorted().toReversed());
      for (const page of pages) expect([page.total, page.outputs]).toEqual([total, outputs]);
      expect((await read(org, `perPage=100&asOf=${outputs!.asOf}`)).items).toEqual(items.slice(0, 100));
      walks += 1;
    }
  };
  const readers = [reader(), reader()];
  await Promise.all(sources.map(writer));
  state.writing = false;
  await Promise.all(readers);
  expect(walks).toBeGreaterThan(2);
});

describe('token', () => {
  const newToken = async (owner: TestOrg): Promise<string> => {
    await (await reportSource(app, owner)).write({ 1: {} });
    return (await read(owner, '')).outputs!.asOf!;
  };
  let org: TestOrg;
  let [own, foreign] = ['', ''];
  // The tests above write to the public pool, which is a part of every token.
  beforeAll(async () => {
    org = await app.newOrg();
    [own, foreign] = [await newToken(org), await newToken(await app.newOrg())];
  });

  const readError = async (query: string): Promise<unknown> => {
    const { status, body } = await org.call('GET', `/items?${query}`);
    return [status, body.code, body.errors[0].pointer];
  };

  test('returns 400 with a pointer for a token that is invented, changed, foreign, empty or repeated', async () => {
    const flipped = `${own.slice(0, 30)}${own[30] === 'A' ? 'B' : 'A'}${own.slice(31)}`;
    for (const text of ['x', 'a'.repeat(100), own.slice(0, -4), flipped, `${own}=`, foreign, '', '%00'])
      expect(await readError(`asOf=${text}`), text).toEqual([400, 'validation_failed', 'query/asOf']);
    expect(await readError(`asOf=${own}&asOf=${own}`)).toEqual([400, 'validation_failed', 'query/asOf']);
  });

  test('is equal for equal snapshots only, and reveals no pool', async () => {
    expect((await read(org, 'page=3')).outputs!.asOf).toBe(own);
    expect(foreign).not.toBe(own);
    expect(Buffer.from(own, 'base64url').toString('latin1')).not.toContain('0000');
    await (await reportSource(app, org)).write({ 9: {} });
    expect((await read(org, '')).outputs!.asOf).not.toBe(own);
  });

  test('is valid for at least one hour, then returns as_of_expired', async () => {
    const before = now;
    now = new Date('2026-03-02T11:59:59.000Z');
    expect((await read(org, `asOf=${own}`)).outputs!.asOf).toBe(own);
    now = new Date('2026-03-02T12:00:00.000Z');
    expect(await readError(`asOf=${own}`)).toEqual([400, 'as_of_expired', 'query/asOf']);
    now = before;
  });

  test('encodes any pools and sequence numbers', () => {
    const key = Buffer.alloc(32, 7);
    const pools = fc.uniqueArray(fc.tuple(fc.uuid(), fc.integer({ min: 0, max: 2 ** 47 })), {
      maxLength: 30,
      selector: ([id]) => id,
    });
    fc.assert(
      fc.property(pools, fc.integer({ min: 0, max: 1e6 }), (list, hours) => {
        const dated = { snapshot: toSnapshot(list), hour: hours * 3_600_000 };
        const current = toSnapshot([...list.map(([id]): [string, number] => [id, 1]), ['a newer pool', 5]]);
        const token = sealSnapshotToken(key, dated)!;
        expect(openSnapshotToken(key, token, { snapshot: current, now: new Date(dated.hour) })).toEqual(dated);
      }),
    );
  });
});

test('does not show the content of an item withdrawn since the snapshot', async () => {
  const [owner, other] = [await app.newOrg(), await app.newOrg()];
  const source = await reportSource(app, owner, { visibility: 'shared', assignedTo: [other.id] });
  await source.write({ 1: { words: 'secret' }, 2: {} });
  const before = await read(other, '');
  expect(JSON.stringify(before)).toContain('secret');
  await source.write({ 1: { words: 'secret', tlp: 'red' } });
  const { items, total } = await read(other, `perPage=90&asOf=${before.outputs!.asOf}`);
  expect(items.map(({ id }) => id)).toEqual(before.items.map(({ id }) => id));
  expect(total).toBe(before.total);
  expect(JSON.stringify(items)).not.toContain('secret');
});
