import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataDir } from '../../../../test/support/data.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { inOrg, queryRows } from '../../../platform/db/db.ts';
import { emptyResult } from '../../ingestion/pull-plan.ts';
import { fileSource, kevCatalogue, kevRow, kevRows, readGzip } from '../../../../test/support/feed/kev-source.ts';

const app = await startApp();

async function newSource() {
  const org = await app.newOrg();
  return { org, source: await fileSource(app, org, { kind: 'kev' }) };
}

const statusOf = async (org: TestOrg, status: string): Promise<number> =>
  (await org.call('GET', `/items?status=${status}`)).body.total;

describe('good pulls', () => {
  test('adds rows as items, corrects a changed row, and changes nothing on a repeated pull', async () => {
    const { org, source } = await newSource();
    expect(await source.pull(kevCatalogue(1, kevRows(30)))).toEqual({ ...emptyResult, added: 30 });
    const changed = kevRows(30).with(4, kevRow(5, { knownRansomwareCampaignUse: 'Known' }));
    expect(await source.pull(kevCatalogue(2, changed))).toMatchObject({ added: 0, corrected: 1, unchanged: 29 });
    expect(await source.pull(kevCatalogue(2, changed))).toEqual({ ...emptyResult, unchanged: 30 });
    const { body } = await org.call('GET', '/items?status=corrected');
    expect(body.total).toBe(1);
    const [item] = body.items;
    expect(item).toMatchObject({
      version: 2,
      canonicalKey: 'cve:CVE-2024-0005',
      externalId: 'CVE-2024-0005',
      event: { status: 'corrected', severity: 'critical' },
      source: { publisher: 'CISA', publishTime: '2024-05-01T00:00:00.000Z' },
      affectedProducts: [{ vendor: 'Acme', product: 'Windows Gadget', versions: [] }],
      tenantOverrides: null,
    });
    expect(item.lastUpdated > item.addedToFeedAt).toBe(true);
    const detail = await org.call('GET', `/items/${item.id}`);
    expect(detail.body.versions).toMatchObject([
      { version: 2, cause: 'source', changed: ['severity', 'storedText'] },
      { version: 1, cause: 'added' },
    ]);
  });

  test('compares no later catalog with an impossible release date', async () => {
    const { source } = await newSource();
    await source.pull({ ...kevCatalogue(1, kevRows(2)), dateReleased: '2099-01-01T00:00:00.000Z' });
    expect(await source.pull(kevCatalogue(2, kevRows(3)))).toMatchObject({ added: 1, unchanged: 2 });
  });

  test('retracts a row that is absent from two good pulls, and adds a new item when it returns', async () => {
    const { org, source } = await newSource();
    const all = kevRows(40);
    await source.pull(kevCatalogue(1, all));
    expect(await source.pull(kevCatalogue(2, all.slice(1)))).toMatchObject({ retracted: 0, unchanged: 39 });
    expect(await statusOf(org, 'retracted')).toBe(0);
    // A pull of the same bytes counts as another absence.
    expect(await source.pull(kevCatalogue(2, all.slice(1)))).toMatchObject({ retracted: 1, unchanged: 39 });
    expect(await statusOf(org, 'retracted')).toBe(1);
    expect(await source.pull(kevCatalogue(3, all.slice(1)))).toMatchObject({ retracted: 0, unchanged: 39 });
    expect(await source.pull(kevCatalogue(4, all))).toMatchObject({ added: 1, retracted: 0, unchanged: 39 });
    const tombstone = (await org.call('GET', '/items?status=retracted')).body.items[0];
    expect(tombstone).toMatchObject({ version: 2, canonicalKey: 'cve:CVE-2024-0001' });
    const again = (await org.call('GET', '/items?perPage=1')).body.items[0];
    expect(again).toMatchObject({ version: 1, canonicalKey: 'cve:CVE-2024-0001', event: { status: 'active' } });
    expect((await org.call('GET', `/items/${again.id}`)).body.related).toEqual([tombstone.id]);
    expect((await org.call('GET', `/items/${tombstone.id}`)).body.related).toEqual([again.id]);
  });

  test('resets the count of absences when a row returns', async () => {
    const { org, source } = await newSource();
    const all = kevRows(40);
    const days = [all, all.slice(1), all, all.slice(1), all];
    for (const [index, list] of days.entries())
      expect(await source.pull(kevCatalogue(index + 1, list))).toMatchObject({ retracted: 0 });
    expect(await statusOf(org, 'retracted')).toBe(0);
  });

  test('ignores invalid CWE ids and truncates a long title', async () => {
    const { org, source } = await newSource();
    const odd = kevRow(1, { cwes: ['CWE-79', 'cwe-80', 'n/a', ' CWE-79 '], vulnerabilityName: 'x'.repeat(2_000) });
    expect(await source.pull(kevCatalogue(1, [odd]))).toMatchObject({ added: 1 });
    const [item] = (await org.call('GET', '/items')).body.items;
    expect(item.classification.mappings.map(({ id }: { id: string }) => id)).toEqual(['CVE-2024-0001', 'CWE-79']);
    expect(item.event.title).toHaveLength(500);
  });

  test('skips an invalid row with the reason and reads the others', async () => {
    const { source } = await newSource();
    const list = [...kevRows(3), kevRow(2), kevRow(9, { cveID: 'no such id' })];
    const skipped = [
      { entry: 'CVE-2024-0002', reason: 'occurs in the catalog more than once' },
      { entry: 'no such id', reason: 'no valid cveID' },
    ];
    expect(await source.pull(kevCatalogue(1, list))).toEqual({ ...emptyResult, added: 3, skipped });
  });
});

describe('bad pulls change no item', () => {
  const good = kevCatalogue(10, kevRows(40));
  const cases: [string, unknown, RegExp][] = [
    ['cut off', JSON.stringify(good).slice(0, -50), /not valid JSON/],
    ['empty file', '', /not valid JSON/],
    ['empty catalogue', kevCatalogue(11, []), /lacks 5 %/],
    ['halved', kevCatalogue(11, kevRows(20)), /lacks 5 %/],
    ['halved, declared whole', { ...kevCatalogue(11, kevRows(20)), count: 40 }, /declares 40 rows but has 20/],
    ['stale', kevCatalogue(9, kevRows(40).with(0, kevRow(1, { notes: 'older' }))), /older than the newest/],
    ['something else', { hello: 'world' }, /no list/],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0xfe]), /not UTF-8/],
  ];
  test.each(cases)('%s', async (_name, content, reason) => {
    const { org, source } = await newSource();
    await source.pull(good);
    const before = await org.call('GET', '/items?perPage=100');
    for (const attempt of [1, 2, 3]) {
      const result = await source.pull(content);
      expect(result, `attempt ${attempt}`).toMatchObject({ added: 0, corrected: 0, retracted: 0, unchanged: 0 });
      expect(result.error).toMatch(reason);
      expect(result.skipped).toHaveLength(1);
    }
    const after = await org.call('GET', '/items?perPage=100');
    expect(after.body).toEqual(before.body);
    expect(after.headers['etag']).toBe(before.headers['etag']);
    const held = (await org.call('GET', `/api/feed/sources/${source.source.id}`)).body;
    expect(held.lastError).toMatch(reason);
    expect(held.failures).toBe(3);
    // A later good pull continues from the last good one.
    expect(await source.pull(good)).toMatchObject({ unchanged: 40 });
    const recovered = (await org.call('GET', `/api/feed/sources/${source.source.id}`)).body;
    expect(recovered).toMatchObject({ lastError: null, failures: 0 });
  });
});

type Step = {
  file: string;
  count: number;
  added: string[];
  removed: string[];
  changed: { cveID: string; fields: Record<string, unknown> }[];
};

describe('the recorded catalogue', () => {
  const data = dataDir();
  test.skipIf(!data)(
    // `npm run quality -- corrections` replays all 55 versions.
    'replaying 11 of its versions gives exactly the added and corrected items, and again nothing',
    async () => {
      const folder = resolve(data!, 'feed/kev');
      const truth = JSON.parse(readFileSync(resolve(folder, 'truth.json'), 'utf8')) as {
        steps: Step[];
      };
      const steps = truth.steps.slice(19, 30);
      const org = await app.newOrg();
      const source = await fileSource(app, org, { kind: 'kev' });
      let corrected = 0;
      for (const [index, step] of steps.entries()) {
        const result = await source.pull(readGzip(resolve(folder, step.file)));
        const added = index === 0 ? step.count : step.added.length;
        const changed = index === 0 ? [] : step.changed;
        const corrections = changed.length;
        const unchanged = step.count - added - corrections;
        expect(result, step.file).toEqual({ ...emptyResult, added, corrected: corrections, unchanged });
        corrected += corrections;
        const changes = await changedFields(org.id, result.corrected);
        expect(changes, step.file).toEqual(
          new Map(changed.map(({ cveID, fields }) => [cveID, Object.keys(fields).toSorted()])),
        );
        if (step.file === 'kev-2025-02-25-2.json.gz') {
          const cut = await source.pull(readGzip(resolve(folder, 'kev-2025-02-25.truncated.gz')));
          const error = expect.stringMatching(/not valid JSON/);
          expect(cut).toMatchObject({ added: 0, corrected: 0, retracted: 0, error });
        }
      }
      expect(corrected).toBeGreaterThan(20);
      const last = steps.at(-1)!;
      const before = await org.call('GET', '/stats');
      expect(before.body.totalItems).toBe(last.count);
      for (const step of [steps[0]!, last]) {
        const again = await source.pull(readGzip(resolve(folder, step.file)));
        expect(again).toMatchObject({ added: 0, corrected: 0, retracted: 0 });
      }
      const after = await org.call('GET', '/stats');
      expect(after.body).toEqual(before.body);
      expect(after.headers['etag']).toBe(before.headers['etag']);
    },
    180_000,
  );

  /** Returns the field names that differ between the last two versions of the most recently changed items, by CVE. */
  async function changedFields(orgId: Parameters<typeof inOrg>[1], count: number): Promise<Map<string, string[]>> {
    if (count === 0) return new Map();
    const found = await inOrg(app.deps.db, orgId, async (tx) => {
      const items = await queryRows<{ id: string; record_id: string; version: number }>(tx)`
          select id, record_id, version from items where last_updated = (select max(last_updated) from items where version > 1)`;
      const texts = await queryRows<{ item_id: string; version: number; stored_text: string }>(tx)`
          select item_id, version, stored_text from item_versions where item_id = any(${items.map(({ id }) => id)}::uuid[])`;
      const textOf = (id: string, version: number): string =>
        texts.find((text) => text.item_id === id && text.version === version)!.stored_text;
      return items
        .filter(({ version }) => version > 1)
        .map(({ id, record_id, version }) => ({ record_id, now: textOf(id, version), old: textOf(id, version - 1) }));
    });
    const lines = (text: string): Map<string, string> =>
      new Map(text.split(/\n(?=[a-zA-Z]+: )/).map((line) => [line.split(':')[0]!, line]));
    return new Map(
      found.map(({ record_id, now, old }) => {
        const [before, after] = [lines(old), lines(now)];
        return [record_id, [...after.keys()].filter((name) => after.get(name) !== before.get(name)).toSorted()];
      }),
    );
  }
});
