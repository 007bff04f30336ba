import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { epssScores } from '../../../../test/support/feed/epss-documents.ts';
import { fileSource, kevCatalogue, kevRows } from '../../../../test/support/feed/kev-source.ts';
import { emptyResult } from '../../ingestion/pull-plan.ts';
import { epss } from '../../formats/epss.ts';

const app = await startApp();

/** Creates a vulnerability, and returns a function that reads its predictions as an organization sees them. */
async function newVulnerability(org: TestOrg) {
  await (await fileSource(app, org, { kind: 'kev', visibility: 'shared' })).pull(kevCatalogue(1, kevRows(1)));
  const { id, event } = (await org.call('GET', '/items')).body.items[0];
  return {
    severity: event.severity as string,
    read: async (reader: TestOrg) => (await reader.call('GET', `/items/${id}`)).body,
  };
}

test('shows the newest prediction with an item of the CVE, and changes no severity', async () => {
  const org = await app.newOrg();
  const { severity, read } = await newVulnerability(org);
  expect(await read(org)).not.toHaveProperty('predictions');
  const source = await fileSource(app, org, { kind: 'epss' });
  const [first, other] = [
    ['CVE-2024-0001', 0.00043, 0.1],
    ['CVE-2024-0002', 0.5, 0.9],
  ] as const;
  const scores = gzipSync(epssScores('2026-03-01', [...first], [...other]));
  expect(await source.pull(scores)).toEqual({ ...emptyResult, added: 2 });
  const scoredAt = '2026-03-01T12:55:00.000Z';
  expect(await read(org)).toMatchObject({
    event: { severity },
    predictions: [{ cve: 'CVE-2024-0001', probability: 0.00043, percentile: 0.1, scoredAt }],
  });
  // The scores of another day before are not newer.
  expect(await source.pull(epssScores('2026-02-01', ['CVE-2024-0001', 0.2, 0.2]))).toEqual(emptyResult);
  const later = epssScores('2026-03-02', ['CVE-2024-0001', 0.97, 1], ['CVE-2024-0003', 0.5, 0.9]);
  expect(await source.pull(later)).toEqual({ ...emptyResult, added: 1, corrected: 1 });
  expect((await read(org)).predictions).toMatchObject([{ probability: 0.97, percentile: 1 }]);
});

test('shows the predictions of a private source to its organization alone', async () => {
  const [owner, stranger] = [await app.newOrg(), await app.newOrg()];
  const { read } = await newVulnerability(owner);
  const before = (await read(stranger)).predictions;
  const source = await fileSource(app, owner, { kind: 'epss', visibility: 'private' });
  await source.pull(epssScores('2026-09-01', ['CVE-2024-0001', 0.111, 0.2]));
  expect((await read(owner)).predictions).toMatchObject([{ probability: 0.111 }]);
  expect((await read(stranger)).predictions).toEqual(before);
});

test('refuses other documents, and skips rows without a CVE or with impossible scores', () => {
  const parse = (text: string) => epss.parse([{ name: 'a.csv', bytes: Buffer.from(text) }], { reliability: 0.9 });
  expect(() => parse('cve,epss,percentile\nCVE-2024-0001,0.1,0.1\n')).toThrow('score_date');
  const { skipped, predictions } = parse(
    epssScores(
      '2026-03-01',
      ['CVE-2024-0001', 0.1, 0.1],
      ['CVE-2024-0001', 0.2, 0.2],
      ['x', 0.1, 0.1],
      ['CVE-2024-0002', 2, 0],
    ),
  );
  expect(skipped).toEqual([{ entry: '2 rows', reason: 'have no valid CVE and scores' }]);
  expect(predictions!.batches).toEqual(['[["CVE-2024-0001",0.2,0.2]]']);
});
