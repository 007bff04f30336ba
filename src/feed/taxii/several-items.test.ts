import { describe, expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { inOrg, queryRows } from '../../platform/db/db.ts';
import { formatVersion } from '../exports/stix/stix-object.ts';
import { fileSource } from '../../../test/support/feed/kev-source.ts';
import { stixReport } from '../../../test/support/feed/grouped-reports.ts';
import { readLastObjects, type TaxiiObject } from '../../../test/support/feed/taxii-objects.ts';

const app = await startApp();

const techniqueId = 'attack-pattern--00000000-0000-4000-8000-000000000001';
const technique = (modified: string) => ({
  type: 'attack-pattern',
  spec_version: '2.1',
  id: techniqueId,
  created: '2020-01-01T00:00:00.000Z',
  modified,
  name: 'Phishing',
});
/** Returns a bundle with a report of one domain and, unless `modified` is undefined, the technique. */
function reportWithTechnique(number: number, modified: string | undefined, more: Record<string, unknown> = {}): object {
  const domain = `several-${number}.top`;
  const refs = [`indicator--${domain}`, ...(modified ? [techniqueId] : [])];
  const { objects } = stixReport(number, [domain], { object_refs: refs, ...more }) as { objects: object[] };
  return { type: 'bundle', objects: [...objects, ...(modified ? [technique(modified)] : [])] };
}
const readTechniques = async (org: TestOrg): Promise<unknown[][]> =>
  (await readLastObjects(org))
    .filter(({ id }) => id === techniqueId)
    .map(({ modified, revoked }) => [modified, revoked]);

test('returns the newest version of an object that several items contain, also if an older one is added later', async () => {
  const org = await app.newOrg();
  for (const [number, modified] of ['2024-02-02T00:00:00.000Z', '2024-01-01T00:00:00.000Z'].entries()) {
    await (await fileSource(app, org, { kind: 'stix' })).pull(reportWithTechnique(900 + number, modified));
    await readLastObjects(org);
  }
  expect(await readTechniques(org)).toEqual([['2024-02-02T00:00:00.000Z', undefined]]);
});

test('revokes a report and its indicators, but not the techniques that other reports have as well', async () => {
  const org = await app.newOrg();
  const [first, second] = [await fileSource(app, org, { kind: 'stix' }), await fileSource(app, org, { kind: 'stix' })];
  const at = '2024-02-02T00:00:00.000Z';
  await first.pull(reportWithTechnique(910, at));
  await second.pull(reportWithTechnique(911, at));
  await readLastObjects(org);
  // A correction drops the technique, then the source withdraws the report.
  const next = { modified: '2024-03-03T00:00:00.000Z' };
  expect(await first.pull(reportWithTechnique(910, undefined, next))).toMatchObject({ corrected: 1 });
  expect(await readTechniques(org)).toEqual([[at, undefined]]);
  const withdrawn = { modified: '2024-04-04T00:00:00.000Z', revoked: true };
  expect(await second.pull(reportWithTechnique(911, at, withdrawn))).toMatchObject({ retracted: 1 });
  expect(await readTechniques(org)).toEqual([[at, undefined]]);
  const revoked = (await readLastObjects(org)).filter((one) => one.revoked).map(({ type }) => type);
  expect(revoked.toSorted()).toEqual(['indicator', 'report']);
});

test('adds every object anew when a release writes objects differently', async () => {
  const org = await app.newOrg();
  const text = 'The dropper was fetched from format-host[.]top, a command and control server.';
  expect((await org.call('POST', '/api/feed/items', { text })).status).toBe(200);
  const before = await readLastObjects(org);
  expect(before.length).toBeGreaterThan(0);
  // An earlier release left other times and other cursors.
  await inOrg(app.deps.db, org.id, async (tx) => {
    await queryRows(tx)`
      update taxii_objects set version = replace(version, ${`${formatVersion}Z`}, '001Z') where organization_id = tocsin_org()`;
    await queryRows(tx)`
      update taxii_cursors set source = replace(source, ${`format ${formatVersion}`}, 'format 001') where organization_id = tocsin_org()`;
  });
  expect((await readLastObjects(org)).map(({ id }) => id).toSorted()).toEqual(before.map(({ id }) => id).toSorted());
});

describe('an indicator that several reports contain', () => {
  const shared = 'indicator--shared.top';
  const at = (month: number): string => `2024-0${month}-01T00:00:00.000Z`;
  type Report = { number: number; has?: boolean; month?: number; revoked?: boolean };
  /** Returns a report with one value of its own and, unless `has` is false, the shared one with its relationship. */
  const report = ({ number, has = true, month = 2, ...more }: Report): Record<string, unknown>[] => {
    const values = [`own-${number}.top`, ...(has ? ['shared.top'] : [])];
    const { objects } = stixReport(number, values, { modified: at(month), ...more }) as {
      objects: Record<string, unknown>[];
    };
    return objects.map((object) => (object['id'] === shared ? { ...object, modified: at(1) } : object));
  };
  const bundle = (...reports: Record<string, unknown>[][]): object => {
    const objects = new Map(reports.flat().map((object) => [object['id'], object]));
    return { type: 'bundle', objects: [...objects.values()] };
  };
  /** Returns whether the shared indicator is revoked, in TAXII and in the export. */
  const readRevoked = async (org: TestOrg): Promise<unknown[]> => {
    const inTaxii = (await readLastObjects(org)).filter(({ id }) => id === shared);
    const { body }: { body: { objects: TaxiiObject[] } } = await org.call('GET', '/api/feed/export/stix');
    const inExport = body.objects.filter(({ id }) => id === shared);
    return [inTaxii, inExport].map((found) => found.map(({ revoked = false }) => revoked));
  };
  const live = [[false], [false]];

  const orders = ['first', 'last'].flatMap((order) => ['one source', 'two sources'].map((where) => [order, where]));
  test.each(orders)('stays valid when the %s report of %s drops it, until the other does', async (order, where) => {
    const org = await app.newOrg();
    const first = await fileSource(app, org, { kind: 'stix' });
    const second = where === 'one source' ? undefined : await fileSource(app, org, { kind: 'stix' });
    const pull = async (one: Report, other: Report): Promise<unknown[]> => {
      await first.pull(second ? bundle(report(one)) : bundle(report(one), report(other)));
      await second?.pull(bundle(report(other)));
      return readRevoked(org);
    };
    const [one, other] = [{ number: 921 }, { number: 922 }];
    const dropped = { has: false, month: 3 };
    expect(await pull(one, other)).toEqual(live);
    const isFirst = order === 'first';
    expect(await pull({ ...one, ...(isFirst && dropped) }, { ...other, ...(!isFirst && dropped) })).toEqual(live);
    expect(await pull({ ...one, ...dropped }, { ...other, ...dropped })).toEqual([[true], []]);
  });

  test('stays valid while the last report that is not withdrawn contains it', async () => {
    const org = await app.newOrg();
    const [first, second] = [
      await fileSource(app, org, { kind: 'stix' }),
      await fileSource(app, org, { kind: 'stix' }),
    ];
    await first.pull(bundle(report({ number: 931 })));
    await second.pull(bundle(report({ number: 932 })));
    expect(await readRevoked(org)).toEqual(live);
    const withdrawn = { month: 3, revoked: true };
    expect(await first.pull(bundle(report({ number: 931, ...withdrawn })))).toMatchObject({ retracted: 1 });
    expect(await readRevoked(org)).toEqual(live);
    const dated = (await readLastObjects(org)).filter(({ id }) => id === shared);
    expect(dated.map(({ modified }) => modified)).toEqual([at(1)]);
    await second.pull(bundle(report({ number: 932, ...withdrawn })));
    expect(await readRevoked(org)).toEqual([[true], [true]]);
    expect((await readLastObjects(org)).filter(({ revoked }) => revoked).map(({ id }) => id)).toContain(
      'indicator--own-931.top',
    );
  });

  test('stays valid when a person retracts one of the reports, and is revoked with the other', async () => {
    const org = await app.newOrg();
    await (await fileSource(app, org, { kind: 'stix' })).pull(bundle(report({ number: 941 }), report({ number: 942 })));
    const { body }: { body: { items: { id: string }[] } } = await org.call('GET', '/items');
    for (const [index, { id }] of body.items.entries()) {
      expect(await readRevoked(org)).toEqual(live);
      expect((await org.call('POST', `/api/feed/items/${id}/retract`, { reason: 'A test' })).status).toBe(200);
      expect(index).toBeLessThan(2);
    }
    expect(await readRevoked(org)).toEqual([[true], [true]]);
  });

  test('is offered again with a later version when a report contains it after it was revoked', async () => {
    const org = await app.newOrg();
    const [first, second] = [
      await fileSource(app, org, { kind: 'stix' }),
      await fileSource(app, org, { kind: 'stix' }),
    ];
    await first.pull(bundle(report({ number: 951 })));
    expect(await readRevoked(org)).toEqual(live);
    await first.pull(bundle(report({ number: 951, has: false, month: 3 })));
    expect(await readRevoked(org)).toEqual([[true], []]);
    const [revoked] = (await readLastObjects(org)).filter(({ id }) => id === shared);
    await second.pull(bundle(report({ number: 952 })));
    expect(await readRevoked(org)).toEqual(live);
    const [restored] = (await readLastObjects(org)).filter(({ id }) => id === shared);
    expect(String(restored!['modified']) > String(revoked!['modified'])).toBe(true);
    expect(restored).toMatchObject({ pattern: "[domain-name:value = 'shared.top']" });
    await second.pull(bundle(report({ number: 952, has: false, month: 3 })));
    expect(await readRevoked(org)).toEqual([[true], []]);
  });
});
