import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { commandLine, fileSource, kevCatalogue, kevRow } from '../../../test/support/feed/kev-source.ts';
import { startApp } from '../../../test/support/harness.ts';
import { startMailServer, type ReceivedMail } from '../../../test/support/platform/mail-server.ts';
import { acrossOrgs, inOrg } from '../../platform/db/db.ts';
import { days } from '../../platform/lib/schema-parts.ts';
import { deliverDue } from '../../platform/notifications/deliver.ts';
import { scoreNextBatch } from '../relevance/score-items.ts';
import { deliverDigests, listDigests } from './read-digest.ts';
import { findWeek, weekAt, weekBefore } from './digest.schema.ts';

test.each([
  ['2026-W48', 'UTC', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'],
  ['2026-W13', 'Europe/Oslo', '2026-03-22T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
  ['2026-W53', 'America/New_York', '2026-12-28T05:00:00.000Z', '2027-01-04T05:00:00.000Z'],
  ['2025-W01', 'Pacific/Auckland', '2024-12-29T11:00:00.000Z', '2025-01-05T11:00:00.000Z'],
])('week %s in %s begins and ends on Monday at midnight', (id, timeZone, from, to) => {
  const week = findWeek(id, timeZone)!;
  expect([week.from.toISOString(), week.to.toISOString()]).toEqual([from, to]);
  expect(weekAt(new Date(week.to.getTime() - 1), timeZone)).toEqual(week);
  expect(weekBefore(weekAt(week.to, timeZone))).toEqual(week);
});

test('a year without a week 53 has none', () => expect(findWeek('2025-W53', 'UTC')).toBeUndefined());

const app = await startApp({
  env: { TOCSIN_PUBLIC_URL: 'https://tocsin.example', TOCSIN_FETCH_ALLOW: '127.0.0.1' },
});
const mailServer = await startMailServer();
afterAll(() => mailServer.close());
const weekMs = 7 * 86_400_000;

async function scoreAll(): Promise<void> {
  for (let step = 0; step < 100 && (await scoreNextBatch(app.deps)); step += 1);
}

test('has what was relevant in a week, in every format, and sends it once', async () => {
  const [org, neighbor] = [await app.newOrg(), await app.newOrg()];
  const requirement = { name: 'Ransomware in Norway', keywords: ['ransomware'], regions: ['Norway'] };
  await callOk(org, 'PUT', '/api/feed/profile', {
    products: [{ vendor: 'Acme', product: 'Windows Gadget' }],
    requirements: [requirement],
  });
  const source = await fileSource(app, org, { kind: 'kev', visibility: 'private', tlp: 'GREEN' });
  const other = kevRow(2, { vendorProject: 'Other', product: 'Box' });
  await source.pull(kevCatalogue(1, [kevRow(1), other]));
  const advice = 'Hospitals should block bad-cdn[.]top at once.';
  const report = { title: 'Clinics <b>closed</b>', publisher: 'Acme CERT' };
  const text = `Ransomware from bad-cdn[.]top closed clinics in Norway on Monday.\n\n${advice}`;
  const { id } = await callOk(org, 'POST', '/api/feed/items', { ...report, text });
  await callOk(org, 'POST', '/api/feed/items', { title: 'Weather', text: 'It rained on the fjord all day long.' });
  await scoreAll();
  await source.pull(kevCatalogue(2, [kevRow(1, { shortDescription: 'Acme Gadget lets everybody in.' }), other]));
  await scoreAll();
  await inOrg(app.deps.db, org.id, (tx) =>
    sql`insert into feed_sightings (organization_id, item_id, connection_id, dataset, type, value, match, observed, event_key, event, found_at)
      select ${org.id}::uuid, ${id}::uuid, ${org.id}::uuid, 'dns', 'domain', 'bad-cdn.top', 'exact', 'bad-cdn.top', n::text, '{}', clock_timestamp()
      from generate_series(1, 2) n`.execute(tx),
  );

  const digest = await callOk(org, 'GET', '/api/feed/digests/current');
  const gadget = 'Acme Gadget Vulnerability 1';
  expect(digest).toMatchObject({
    timeZone: 'UTC',
    tlp: 'AMBER',
    exploited: [{ title: gadget, cves: ['CVE-2024-0001'], products: [expect.stringContaining('Windows Gadget')] }],
    requirements: [{ name: requirement.name, total: 1, items: [{ itemId: id }] }],
    changes: [{ title: gadget, status: 'corrected' }],
    seen: [{ itemId: id, value: 'bad-cdn.top', datasets: ['dns'], events: 2 }],
  });
  const { list, total } = digest.stories;
  expect([total, list.map(({ title }: { title: string }) => title).toSorted()]).toEqual([2, [gadget, report.title]]);
  expect(list.find((one: { itemId: string }) => one.itemId === id)).toMatchObject({
    publishers: ['Acme CERT'],
    reasons: [{ kind: 'keyword', matched: 'ransomware' }, { kind: 'region' }],
    advice: [{ action: 'block', text: advice }],
  });

  const read = async (path: string): Promise<string> => (await org.call('GET', path)).body;
  expect(await read('/api/feed/digests/current?format=html')).toContain(
    `<a href="https://tocsin.example/console/feed/${id}">Clinics &lt;b&gt;closed&lt;/b&gt;`,
  );
  expect(await read('/api/feed/digests/current?format=markdown')).toContain(String.raw`[Clinics \<b\>closed\</b\>`);
  expect(await callOk(org, 'GET', '/api/feed/digests/last')).toMatchObject({
    week: digest.previousWeek,
    summary: 'Nothing relevant happened.',
  });
  expect(await callOk(neighbor, 'GET', '/api/feed/digests/current')).toMatchObject({ stories: { total: 0 }, seen: [] });
  expect((await org.call('GET', '/api/feed/digests/2025-W53')).status).toBe(404);
  expect((await org.call('GET', '/api/feed/digests/yesterday')).status).toBe(400);
  expect((await read('/api/feed/export/digests')).match(/<item>/g)).toHaveLength(4);

  await callOk(org, 'POST', '/api/destinations', {
    kind: 'email',
    name: 'digest',
    url: mailServer.url,
    settings: mailServer.settings,
    eventTypes: ['feed.digest.ready'],
    // Whatever the hour is, it is not in these. The digest has its own.
    hours: { timeZone: 'UTC', from: '00:00', to: '00:01', days: [days[(new Date().getUTCDay() + 2) % 7]] },
  });
  const nextWeek = { ...app.deps, clock: () => new Date(Date.now() + weekMs) };
  for (let round = 0; round < 2; round += 1) await deliverDigests(nextWeek);
  const [whole] = await listDigests(nextWeek, commandLine(org), 'AMBER');
  const [shared] = await listDigests(nextWeek, commandLine(org), 'GREEN');
  expect(whole).toMatchObject({ week: digest.week, tlp: 'AMBER', stories: { total: 2 }, seen: [{ events: 2 }] });
  expect(shared).toMatchObject({ tlp: 'GREEN', stories: { list: [{ title: gadget, reports: 1 }] }, seen: [] });
  const { rows } = await acrossOrgs(app.deps.db, (tx) =>
    sql<{ body: string }>`select body from outbox where type = 'feed.digest.ready'`.execute(tx),
  );
  const [sent, ...others] = rows.map(({ body }) => JSON.parse(body));
  expect([sent.data.week, others]).toEqual([digest.week, []]);
  expect(sent.data).toMatchObject({ title: digest.title, url: `/console/digest?week=${digest.week}` });
  expect(sent.data.markdown).toContain('## Seen in your logs');
  expect(await deliverDue(app.deps)).toBe(1);
  const [{ email }] = mailServer.received as [ReceivedMail];
  expect(email.subject).toBe(`Weekly digest: ${digest.title}`);
  expect(email.text).toContain(`[Clinics <b>closed</b> (`);
  expect(email.html).toContain(`<a href="https://tocsin.example/console/feed/${id}">Clinics &lt;b&gt;closed&lt;/b&gt;`);
});
