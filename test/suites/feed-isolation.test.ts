import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { acrossOrgs } from '../../src/platform/db/db.ts';
import { syncSweepsAcrossOrgs } from '../../src/agents/sightings/sightings.store.ts';
import { sweepDue } from '../../src/agents/sightings/sweep.ts';
import { domains, stixReport } from '../support/feed/grouped-reports.ts';
import { scoreNextBatch } from '../../src/feed/relevance/score-items.ts';
import { fileSource, kevCatalogue, kevRow, kevRows } from '../support/feed/kev-source.ts';
import { stixBundle } from '../support/feed/stix-documents.ts';
import { registeredRoutes } from '../support/registered-routes.ts';
import { scopes } from '../../src/platform/http/caller.ts';
import { startApp, type TestApp, type TestOrg } from '../support/harness.ts';

// Two organizations with a shared source: compares everything that one can read before and after a private action of the other.
let app: TestApp;
let [alice, bob] = [] as unknown as [TestOrg, TestOrg];
// The shared items: one without duplicates, and two of which the second repeats the first.
let [sharedId, rootId, memberId] = ['', '', ''];
const reportedDomains = domains(1, 6);
let now = new Date('2026-03-10T12:00:00.000Z');

const values = ['common.example', 'secret.example', 'evil-host.top'];
const reads = (path: string): string[] => {
  if (path === '/items')
    return [
      '',
      '?duplicates=hide',
      '?relevancyMode=relevant',
      '?q=secret',
      '?q=made-up',
      '?cve=CVE-2024-0001',
      '?source=Secret%20source',
      '?updatedSince=2020-01-01T00:00:00Z',
      ...values.map((value) => `?indicator=${value}`),
    ].map((query) => path + query);
  if (path.startsWith('/api/indicators')) return values.map((value) => `${path}?value=${value}`);
  if (path.endsWith('/blocklist')) return [`${path}?type=domain,ipv4,url&maxTlp=RED&minConfidence=0`];
  if (path === '/api/feed/export/digests') return [path];
  if (path.startsWith('/api/feed/exports') || path.startsWith('/api/feed/export')) return [path, `${path}?maxTlp=RED`];
  return [path];
};

/** Returns the bodies and version headers of every GET of the feed. */
async function look(org: TestOrg): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  const collections = (await org.call('GET', '/taxii2/root/collections/')).body.collections as { alias: string }[];
  const paths = registeredRoutes(app.app)
    .filter(({ method, path }) => method === 'GET' && /^\/(?:items|stats|taxii2|api\/(?:feed|indicators))\b/.test(path))
    .flatMap(({ path }) => {
      if (/\/items\/\{id\}/.test(path)) return [sharedId, rootId, memberId].map((id) => path.replace('{id}', id));
      if (path.includes('/collections/{id}/') && !path.includes('{objectId}'))
        return collections.map(({ alias }) => path.replace('{id}', alias));
      if (path === '/api/feed/digests/{week}') return ['/api/feed/digests/2026-W11'];
      if (path === '/api/feed/entities/{type}/{name}') return [path.replace('{type}/{name}', 'malware/Emotet')];
      return path.includes('{') ? [] : reads(path);
    });
  expect(paths.length).toBeGreaterThan(30);
  for (const path of paths) {
    const { status, body, headers } = await org.call('GET', path);
    const versionHeaders = Object.entries(headers).filter(([name]) =>
      /^(?:etag|last-modified|link|x-taxii)/.test(name),
    );
    // A problem document has the id of its request.
    seen[path] = { status, body: status === 404 ? undefined : body, versionHeaders };
  }
  seen['lookup'] = (await org.call('POST', '/api/indicators/lookup', { values })).body;
  return seen;
}

beforeAll(async () => {
  app = await startApp({ clock: () => now });
  const owner = await app.newOrg();
  // Not feed administrators, so their decisions on a shared item apply to themselves alone.
  const mine = scopes.filter((scope) => scope !== 'feed:admin');
  [alice, bob] = [await app.newOrg(mine), await app.newOrg(mine)];
  const event = { timestamp: '2026-03-10T11:00:00Z', dns: { question: { name: reportedDomains[0] } }, user: 'secret' };
  const type = { 'content-type': 'application/x-ndjson' };
  expect((await alice.call('POST', '/api/logs/dns', JSON.stringify(event), type)).status).toBe(200);
  await sweepLogsOf(alice);
  // Items that have just arrived are not searchable yet.
  now = new Date(now.getTime() + 60_000);
  const share = async (publisher: string, content: object): Promise<string> => {
    const source = await fileSource(app, owner, { kind: 'stix', visibility: 'shared', name: publisher, publisher });
    expect(await source.pull(content)).toMatchObject({ added: 1 });
    return (await bob.call('GET', '/items')).body.items[0].id;
  };
  sharedId = await share('Common', stixBundle(['common.example']));
  // Recent times, because expired indicators are not searched in logs.
  const published = '2026-03-09T00:00:00Z';
  rootId = await share('One', stixReport(1, reportedDomains, { published }));
  memberId = await share('Two', stixReport(2, reportedDomains, { published }));
  expect((await bob.call('GET', `/items/${memberId}`)).body.duplicateOf).toBe(rootId);
  await bob.call('PUT', '/api/feed/profile', { keywords: ['made-up'] });
  await scoreNextBatch(app.deps);
});

/** Runs the sweep of one organization for the items that arrived since its last sweep. */
async function sweepLogsOf({ id }: TestOrg): Promise<void> {
  await syncSweepsAcrossOrgs(app.deps.db);
  await acrossOrgs(app.deps.db, (tx) =>
    sql`update feed_sweeps set due_at = case when organization_id = ${id} then now() else 'infinity' end`.execute(tx),
  );
  while (await sweepDue(app.deps, new AbortController().signal));
}

const decide = async (itemId: string, what: string, body?: object): Promise<void> => {
  const { status, body: answer } = await alice.call('POST', `/api/feed/items/${itemId}/${what}`, body);
  expect(status, JSON.stringify(answer)).toBe(200);
};

const acts: Record<string, () => Promise<unknown>> = {
  'pulls a private source with the same report and one more': async () => {
    const source = await fileSource(app, alice, { kind: 'stix', name: 'Secret source', tlp: 'CLEAR' });
    expect(await source.pull(stixBundle(['common.example', 'secret.example']))).toMatchObject({ added: 1 });
    const [item] = (await alice.call('GET', '/items?indicator=secret.example')).body.items;
    expect(item).toBeDefined();
    return source.pull(stixBundle(['secret.example'], { modified: '2024-02-01T00:00:00.000Z', name: 'Changed' }));
  },
  'pulls, corrects and loses rows of a private catalog': async () => {
    const source = await fileSource(app, alice, { kind: 'kev', name: 'Secret source' });
    await source.pull(kevCatalogue(1, kevRows(30)));
    await source.pull(kevCatalogue(2, kevRows(30).with(0, kevRow(1, { notes: 'new' }))));
    await source.pull(kevCatalogue(3, kevRows(29)));
    expect(await source.pull(kevCatalogue(4, kevRows(29)))).toMatchObject({ retracted: 1 });
  },
  'posts a report and retracts it': async () => {
    const posted = await alice.call('POST', '/api/feed/items', {
      text: 'secret: Emotet contacted evil-host[.]top and common.example.',
      tlp: 'CLEAR',
    });
    expect(posted.status).toBe(200);
    expect((await alice.call('POST', `/api/feed/items/${posted.body.id}/retract`, { reason: 'secret' })).status).toBe(
      200,
    );
  },
  'overrides the shared item': async () => {
    const { status, body } = await alice.call('PUT', `/api/feed/items/${sharedId}/override`, {
      severity: 'critical',
      status: 'retracted',
      tags: ['secret'],
      note: 'secret',
    });
    expect([status, body.tenantOverrides?.severity ?? body.severity]).toEqual([200, 'critical']);
  },
  'splits a group of shared items': async () => {
    await decide(memberId, 'split');
    expect((await alice.call('GET', `/items/${memberId}`)).body.duplicateOf).toBeUndefined();
  },
  'merges shared items, and a private one into them': async () => {
    await decide(rootId, 'merge', { into: sharedId });
    expect((await alice.call('GET', `/items/${rootId}`)).body.duplicateOf).toBe(sharedId);
    const { body } = await alice.call('POST', '/api/feed/items', { text: 'secret: a report about common.example.' });
    await decide(body.id, 'merge', { into: sharedId });
    expect((await alice.call('GET', `/items/${sharedId}`)).body.duplicates).toContain(body.id);
  },
  'retracts the root of a group': async () => {
    await decide(rootId, 'retract', { reason: 'secret' });
  },
  'has an indicator of a shared item in its logs': async () => {
    await sweepLogsOf(alice);
    const { sightings } = (await alice.call('GET', `/api/feed/items/${memberId}/sightings`)).body;
    expect(sightings).toMatchObject([{ value: reportedDomains[0] }]);
  },
  'sets a profile and has its items scored': async () => {
    await alice.call('PUT', '/api/feed/profile', { keywords: ['secret', 'common'], threshold: 0.1 });
    await scoreNextBatch(app.deps);
  },
  'makes a private source of the shared address and deletes it': async () => {
    const source = await fileSource(app, alice, { kind: 'stix', name: 'Secret source' });
    await source.pull(stixBundle(['gone.example']));
    expect((await alice.call('DELETE', `/api/feed/sources/${source.source.id}`)).status).toBe(200);
  },
};

// What each organization saw after the previous action.
let [seenByBob, seenByAlice] = [{}, {}];
beforeAll(async () => {
  [seenByBob, seenByAlice] = [await look(bob), await look(alice)];
});

test.each(Object.entries(acts))('the other organization sees no change when one %s', async (_name, act) => {
  await act();
  expect(await look(bob)).toEqual(seenByBob);
  const own = seenByAlice;
  seenByAlice = await look(alice);
  expect(seenByAlice).not.toEqual(own);
});

test('a snapshot token of one organization does not reveal anything to the other', async () => {
  const asOf = async (org: TestOrg): Promise<string> => (await org.call('GET', '/items')).body.outputs.asOf;
  const [hers, his] = [await asOf(alice), await asOf(bob)];
  expect((await bob.call('GET', `/items?asOf=${encodeURIComponent(hers)}`)).status).toBe(400);
  await alice.call('POST', '/api/feed/items', { text: 'secret: another report on evil-host[.]top.' });
  expect(await asOf(bob)).toBe(his);
  const { body } = await bob.call('GET', `/items?asOf=${encodeURIComponent(his)}`);
  expect(body.total).toBe(3);
});

test('times of added items do not reveal how much the other organization added', async () => {
  const org = await app.newOrg();
  const addedAt = async (text: string): Promise<number> =>
    Date.parse((await org.call('POST', '/api/feed/items', { text })).body.addedToFeedAt);
  const at = (minute: number): void => void (now = new Date(Date.UTC(2026, 2, 10, 13, minute)));
  at(0);
  const quiet = [await addedAt('Emotet contacted one-host[.]top.'), await addedAt('Emotet contacted two-host[.]top.')];
  at(1);
  const first = await addedAt('Emotet contacted three-host[.]top.');
  for (let n = 0; n < 5; n += 1)
    await alice.call('POST', '/api/feed/items', { text: `secret: Emotet contacted host-${n}[.]top.` });
  const second = await addedAt('Emotet contacted four-host[.]top.');
  expect(second - first).toBe(quiet[1]! - quiet[0]!);
});
