import { expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { fileSource } from '../../../test/support/feed/kev-source.ts';
import { readLastObjects } from '../../../test/support/feed/taxii-objects.ts';

const app = await startApp();

test.each([
  ['name', 'malware', 'Gootloader'],
  ['CVE', 'cve', 'CVE-2026-40001'],
])(
  'keeps the object of a %s while a visible item contains it, whichever item came first',
  async (kind, column, value) => {
    const [maker, reader] = [await app.newOrg(), await app.newOrg()];
    const source = await fileSource(app, maker, { kind: 'csv', visibility: 'shared', tlp: 'CLEAR' });
    const other = await fileSource(app, maker, { kind: 'csv', visibility: 'shared', tlp: 'CLEAR' });
    const rows = (host: string): string =>
      column === 'cve' ? `type,value\ncve,${value}\ndomain,${host}\n` : `indicator,${column}\n${host},${value}\n`;
    await source.pull(rows(`first-${kind}-host.top`));
    await other.pull(rows(`other-${kind}-host.top`));
    const familiesOf = async (): Promise<string[]> =>
      (await readLastObjects(reader)).filter(({ name }) => name === value).map(({ id }) => id);
    const [id, ...others] = await familiesOf();
    expect([typeof id, others]).toEqual(['string', []]);
    const tighten = (one: typeof source) =>
      maker.call('PUT', `/api/feed/sources/${one.source.id}`, { tlp: 'RED', enabled: false });
    expect((await tighten(source)).status).toBe(200);
    expect(await familiesOf()).toEqual([id]);
    await tighten(other);
    expect(await familiesOf()).toEqual([]);
    expect((await readLastObjects(maker)).filter(({ name }) => name === value).length).toBeGreaterThan(0);
  },
);

test('does not revoke the CVE and the technique of a retracted item that another item has', async () => {
  const org = await app.newOrg();
  const texts = ['first', 'second'].map(
    (word) =>
      `The ${word} campaign exploited CVE-2026-40002. The attackers used spearphishing attachments (T1566.001) sent from ${word}-40002[.]top.`,
  );
  const ids: string[] = [];
  for (const text of texts) ids.push((await org.call('POST', '/api/feed/items', { text })).body.id);
  const readSubjects = async () =>
    (await readLastObjects(org))
      .filter(({ type }) => type === 'vulnerability' || type === 'attack-pattern')
      .map(({ name, revoked = false }) => [name, revoked]);
  const before = await readSubjects();
  expect(before).toContainEqual(['CVE-2026-40002', false]);
  expect(before).toContainEqual(['Spearphishing Attachment', false]);
  expect(new Set(before.map(([name]) => name)).size).toBe(before.length);
  expect((await org.call('POST', `/api/feed/items/${ids[0]}/retract`, {})).status).toBe(200);
  expect(await readSubjects()).toEqual(before);
});
