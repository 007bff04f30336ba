import { describe, expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { fileSource } from '../../../test/support/feed/kev-source.ts';
import { stixReport } from '../../../test/support/feed/grouped-reports.ts';
import { readLastObjects, type TaxiiObject } from '../../../test/support/feed/taxii-objects.ts';

const app = await startApp();

const at = (month: number): string => `2024-0${month}-01T00:00:00.000Z`;
type Report = { number: number; values: string[]; month?: number };
/** Returns a report of values whose indicators have the same version in every report. */
const report = ({ number, values, month = 2 }: Report): object => {
  const { objects } = stixReport(number, values, { modified: at(month) }) as { objects: TaxiiObject[] };
  return {
    type: 'bundle',
    objects: objects.map((one) => (one.type === 'indicator' ? { ...one, modified: at(1) } : one)),
  };
};

/** Creates shared sources, each with a report, and reads them into the collections of their owner and of another organization. */
async function sharedReports(...reports: Report[]) {
  const [owner, reader] = [await app.newOrg(), await app.newOrg()];
  const sources: Awaited<ReturnType<typeof fileSource>>[] = [];
  for (const one of reports) {
    const source = await fileSource(app, owner, { kind: 'stix', visibility: 'shared', tlp: 'CLEAR' });
    await source.pull(report(one));
    sources.push(source);
    await Promise.all([readLastObjects(owner), readLastObjects(reader)]);
  }
  const restrict = async (index: number): Promise<void> => {
    const { source } = sources[index]!;
    const body = { tlp: 'RED', enabled: false };
    expect((await owner.call('PUT', `/api/feed/sources/${source.id}`, body)).status).toBe(200);
  };
  /** Returns whether an object is revoked, for each organization: an empty list if it is not offered. */
  const readRevoked = async (id: string): Promise<unknown[]> =>
    Promise.all(
      [owner, reader].map(async (org) =>
        (await readLastObjects(org)).filter((one) => one.id === id).map(({ revoked = false }) => revoked),
      ),
    );
  return { owner, reader, sources, restrict, readRevoked };
}

describe('an item that a stricter marking takes from an organization', () => {
  test('is revoked there with its indicators, and stays valid for its owner', async () => {
    const { restrict, readRevoked } = await sharedReports({ number: 951, values: ['erased-951.top'] });
    await restrict(0);
    const id = 'report--00000000-0000-4000-8000-000000000951';
    expect([await readRevoked(id), await readRevoked('indicator--erased-951.top')]).toEqual([
      [[false], [true]],
      [[false], [true]],
    ]);
  });

  test('leaves indicators that another item contains, until that is taken away as well', async () => {
    const shared = 'shared-952.top';
    const { restrict, readRevoked } = await sharedReports(
      { number: 952, values: [shared] },
      { number: 953, values: [shared, 'own-953.top'] },
    );
    await restrict(0);
    expect(await readRevoked(`indicator--${shared}`)).toEqual([[false], [false]]);
    await restrict(1);
    expect(await readRevoked(`indicator--${shared}`)).toEqual([[false], [true]]);
  });

  test('takes along an indicator that another item contained first and dropped', async () => {
    const shared = 'shared-954.top';
    const { sources, restrict, readRevoked } = await sharedReports(
      { number: 954, values: [shared, 'own-954.top'] },
      { number: 955, values: [shared] },
    );
    await sources[0]!.pull(report({ number: 954, values: ['own-954.top'], month: 3 }));
    expect(await readRevoked(`indicator--${shared}`)).toEqual([[false], [false]]);
    await restrict(1);
    expect(await readRevoked(`indicator--${shared}`)).toEqual([[false], [true]]);
  });
});
