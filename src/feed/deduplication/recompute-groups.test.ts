import { describe, expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { kevCatalogue, kevRow } from '../../../test/support/feed/kev-source.ts';
import {
  domains,
  listVisibleItems,
  listGroups,
  pullOnce,
  stixReport,
} from '../../../test/support/feed/grouped-reports.ts';

const app = await startApp();

describe('items of one pool', () => {
  test('groups items with equal keys under the first item until one leaves', async () => {
    const org = await app.newOrg();
    const row = (more = {}) => kevRow(1, more);
    const input = { kind: 'kev', reliability: 0.5 } as const;
    await pullOnce(app, org, { ...input, content: kevCatalogue(1, [row()]), publisher: 'A' });
    const rows = [row({ knownRansomwareCampaignUse: 'Known', cwes: ['CWE-89'] }), kevRow(2)];
    const second = await pullOnce(app, org, { ...input, content: kevCatalogue(1, rows), publisher: 'B' });
    const [one, two] = (await listVisibleItems(app, org)).filter(({ title }) => title.endsWith('1'));
    expect([one!.duplicate_of, two!.duplicate_of]).toEqual([null, one!.id]);
    const { body: root } = await org.call('GET', `/items/${one!.id}`);
    expect(root).toMatchObject({ event: { severity: 'critical', confidence: 0.75, status: 'active' }, version: 2 });
    expect(root.versions[0]).toMatchObject({ version: 2, cause: 'group', changed: ['severity', 'classification'] });
    const mappings = root.classification.mappings.map(({ id }: { id: string }) => id);
    expect(mappings).toEqual(['CVE-2024-0001', 'CWE-79', 'CWE-89']);
    expect((await org.call('GET', '/stats')).body.severityBreakdown).toMatchObject({ critical: 2, high: 1 });
    expect((await org.call('GET', '/items?severity=critical')).body.total).toBe(2);
    // An equal pull changes nothing.
    const before = await org.call('GET', '/items');
    await second.pull(kevCatalogue(2, rows));
    expect((await org.call('GET', '/items')).headers['etag']).toBe(before.headers['etag']);
    // The member is corrected. The root's figures follow, but the root is not corrected.
    await second.pull(kevCatalogue(3, [row({ cwes: ['CWE-79'] }), kevRow(2)]));
    const { body: after } = await org.call('GET', `/items/${one!.id}`);
    expect(after).toMatchObject({ event: { severity: 'high', confidence: 0.75, status: 'active' }, version: 3 });
    expect((await org.call('GET', '/stats')).body.severityBreakdown).toMatchObject({ critical: 0, high: 3 });
  });

  test('raises the severity of a CVE record to that of the exploited list while it is listed', async () => {
    const org = await app.newOrg();
    const rows = Array.from({ length: 25 }, (_, n) => kevRow(n + 1));
    const kev = await pullOnce(app, org, { kind: 'kev', content: kevCatalogue(1, rows) });
    const osv = { schema_version: '1.6.0', id: 'CVE-2024-0001', modified: '2024-02-01T00:00:00Z', summary: 'A gadget', database_specific: { severity: 'LOW' } }; // prettier-ignore
    await pullOnce(app, org, { kind: 'osv', content: osv });
    const severity = async () => (await listVisibleItems(app, org)).find(({ title }) => title === 'A gadget')!.severity;
    expect(await severity()).toBe('high');
    for (const version of [2, 3]) await kev.pull(kevCatalogue(version, rows.slice(1)));
    expect(await severity()).toBe('low');
  });

  test('groups lists that share enough indicators within the time limit', async () => {
    const org = await app.newOrg();
    const add = (number: number, values: string[], published = '2024-01-01T00:00:00Z') =>
      pullOnce(app, org, { kind: 'stix', content: stixReport(number, values, { published }) });
    await add(1, domains(0, 8));
    await add(2, domains(2, 8));
    await add(3, domains(0, 4));
    await add(4, domains(0, 8), '2024-02-01T00:00:00Z');
    await add(5, [...domains(0, 5), ...domains(100, 10)]);
    expect(await listGroups(app, org)).toEqual([['Report 1', 'Report 2', 'Report 5'], ['Report 3'], ['Report 4']]);
  });

  test('replaces a retracted root, and lets a corrected root leave its group', async () => {
    const org = await app.newOrg();
    const add = (number: number, more = {}) =>
      pullOnce(app, org, { kind: 'stix', content: stixReport(number, domains(0, 6), more) });
    const one = await add(1);
    await add(2);
    const three = await add(3);
    const [a, b, c] = await listVisibleItems(app, org);
    expect([a!.duplicate_of, b!.duplicate_of, c!.duplicate_of]).toEqual([null, a!.id, a!.id]);
    await one.pull(stixReport(1, domains(0, 6), { revoked: true, modified: '2024-02-01T00:00:00.000Z' }));
    const next = await listVisibleItems(app, org);
    expect(next.map(({ duplicate_of }) => duplicate_of)).toEqual([null, null, b!.id]);
    expect(next[0]!.status).toBe('retracted');
    await three.pull(stixReport(3, domains(50, 6), { modified: '2024-02-01T00:00:00.000Z' }));
    expect(await listGroups(app, org)).toEqual([['Report 1'], ['Report 2'], ['Report 3']]);
    expect((await listVisibleItems(app, org))[1]!.doc).not.toContain('duplicateOf');
  });
});
