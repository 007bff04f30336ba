import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { fileSource } from '../../../test/support/feed/kev-source.ts';
import { stixReport } from '../../../test/support/feed/grouped-reports.ts';
import { readLastObjects, type TaxiiObject } from '../../../test/support/feed/taxii-objects.ts';

const app = await startApp();
const readOne = async (org: TestOrg, id: string): Promise<TaxiiObject> =>
  (await readLastObjects(org)).find((object) => object.id === id)!;

const at = (month: number): string => `2024-0${month}-01T00:00:00.000Z`;
type Report = { number: number; values: string[]; month?: number; revoked?: string; name?: string };
/** Returns a report whose objects its source modified in a month. The indicator of `revoked` is revoked. */
function report({ number, values, month = 2, revoked, name = 'A report' }: Report): object {
  const { objects } = stixReport(number, values, { modified: at(month), name }) as { objects: TaxiiObject[] };
  return {
    type: 'bundle',
    objects: objects.map((one) => (one.id === `indicator--${revoked}` ? { ...one, revoked: true } : one)),
  };
}
const firstItemId = async (org: TestOrg): Promise<string> =>
  (await org.call('GET', '/items')).body.items[0].id as string;

test('revokes an indicator that its source revokes after an override of it was removed', async () => {
  const org = await app.newOrg();
  const source = await fileSource(app, org, { kind: 'stix' });
  const [value, other] = ['override-961.top', 'own-961.top'];
  await source.pull(report({ number: 961, values: [value, other] }));
  const path = `/api/feed/items/${await firstItemId(org)}/override`;
  const states: unknown[] = [];
  const readState = async () => states.push((await readOne(org, `indicator--${value}`)).revoked ?? false);
  for (const indicators of [[{ type: 'domain', value, status: 'expired' }], null]) {
    expect((await org.call('PUT', path, { indicators })).status).toBe(200);
    await readState();
  }
  await source.pull(report({ number: 961, values: [value, other], month: 3, revoked: value }));
  await readState();
  expect(states).toEqual([true, false, true]);
});

test('offers the corrections of a report that a person retracted and restored', async () => {
  const org = await app.newOrg();
  const source = await fileSource(app, org, { kind: 'stix' });
  await source.pull(report({ number: 962, values: ['person-962.top'] }));
  const path = `/api/feed/items/${await firstItemId(org)}/retract`;
  await readLastObjects(org);
  expect((await org.call('POST', path, { reason: 'A test' })).status).toBe(200);
  await readLastObjects(org);
  expect((await org.call('DELETE', path)).status).toBe(200);
  const id = 'report--00000000-0000-4000-8000-000000000962';
  const restored = await readOne(org, id);
  await source.pull(report({ number: 962, values: ['person-962.top'], month: 3, name: 'A corrected report' }));
  const corrected = await readOne(org, id);
  expect(corrected).toMatchObject({ name: 'A corrected report' });
  expect(String(corrected['modified']) > String(restored['modified'])).toBe(true);
});

test('offers the next version of an indicator that was offered again, and each version once', async () => {
  const org = await app.newOrg();
  const source = await fileSource(app, org, { kind: 'stix' });
  const [value, other] = ['again-963.top', 'own-963.top'];
  const id = `indicator--${value}`;
  await source.pull(report({ number: 963, values: [value, other] }));
  const first = await readOne(org, id);
  await source.pull(report({ number: 963, values: [other], month: 3 }));
  const dropped = await readOne(org, id);
  expect(dropped).toMatchObject({ revoked: true, created: first['created'], valid_from: first['created'] });
  await source.pull(report({ number: 963, values: [value, other], month: 4 }));
  const again = await readOne(org, id);
  expect(again['revoked'] ?? false).toBe(false);
  expect(
    (await org.call('PUT', `/api/feed/items/${await firstItemId(org)}/override`, { severity: 'low' })).status,
  ).toBe(200);
  expect(await readOne(org, id)).toEqual(again);
  await source.pull(report({ number: 963, values: [value, other], month: 5, revoked: value }));
  const revoked = await readOne(org, id);
  expect(revoked).toMatchObject({ revoked: true, pattern: first['pattern'] });
  const times = [first, dropped, again, revoked].map(({ modified }) => String(modified));
  expect(times).toEqual([...new Set(times)].toSorted());
});

/** Returns how many references of valid objects the objects do not contain. */
function countDangling(objects: TaxiiObject[]): number {
  const ids = new Set(objects.map(({ id }) => id));
  const refs = objects
    .filter(({ revoked }) => !revoked)
    .flatMap((object) => Object.entries(object).flatMap(([key, value]) => (/_refs?$/.test(key) ? value : [])));
  return refs.filter((ref) => !ids.has(ref as string)).length;
}

test('keeps what other items refer to when the first item that contains it is taken away', async () => {
  const [owner, reader] = [await app.newOrg(), await app.newOrg()];
  const shared = { kind: 'csv', visibility: 'shared', tlp: 'CLEAR', publisher: 'A publisher' } as const;
  const sources = [await fileSource(app, owner, shared), await fileSource(app, owner, shared)];
  for (const [number, { pull }] of sources.entries()) {
    await pull(`indicator,comment\nshared-964.top,Number ${number}\nown-964-${number}.top,Number ${number}\n`);
    await readLastObjects(reader);
  }
  const names = async (): Promise<unknown[]> =>
    (await readLastObjects(reader)).flatMap(({ type, value, revoked }) =>
      type === 'domain-name' && !revoked ? [value] : [],
    );
  expect((await names()).toSorted()).toEqual(['own-964-0.top', 'own-964-1.top', 'shared-964.top']);
  const body = { tlp: 'RED', enabled: false };
  expect((await owner.call('PUT', `/api/feed/sources/${sources[0]!.source.id}`, body)).status).toBe(200);
  expect((await names()).toSorted()).toEqual(['own-964-1.top', 'shared-964.top']);
  expect(countDangling(await readLastObjects(reader))).toBe(0);
});

test('keeps an indicator of two reports when the one that a person restored is taken away', async () => {
  const [owner, reader] = [await app.newOrg(), await app.newOrg()];
  const open = async (number: number) => {
    const source = await fileSource(app, owner, { kind: 'stix', visibility: 'shared', tlp: 'CLEAR' });
    await source.pull(report({ number, values: ['shared-965.top', `own-${number}.top`] }));
    return source;
  };
  const source = await open(965);
  const path = `/api/feed/items/${await firstItemId(owner)}/retract`;
  await readLastObjects(reader);
  expect((await owner.call('POST', path, { reason: 'A test' })).status).toBe(200);
  await readLastObjects(reader);
  expect((await owner.call('DELETE', path)).status).toBe(200);
  const before = await readOne(reader, 'indicator--shared-965.top');
  await open(966);
  await readLastObjects(reader);
  const body = { tlp: 'RED', enabled: false };
  expect((await owner.call('PUT', `/api/feed/sources/${source.source.id}`, body)).status).toBe(200);
  const after = await readOne(reader, 'indicator--shared-965.top');
  expect(after).toMatchObject({ pattern: before['pattern'], created: before['created'] });
  expect(after['revoked'] ?? false).toBe(false);
  expect(String(after['modified']) > String(before['modified'])).toBe(true);
});
