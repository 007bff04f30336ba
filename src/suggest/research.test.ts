import { expect, test } from 'vitest';
import { whileServing } from '../../test/fill.ts';
import { startApp, type TestOrg } from '../../test/harness.ts';
import { demoFeed } from '../demo/feed.ts';
import { builtinDetections, type BuiltinId } from '../detections/builtin/registry.ts';
import type { FeedItem } from '../feed/schema.ts';
import { fromIndicators } from './indicators.ts';
import { research, researchDue } from './research.ts';

let now = new Date();
const { deps, newOrg } = await startApp({ clock: () => now, env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const report = demoFeed(now).find(({ kind }) => kind === 'stix')!;

async function readReport(org: TestOrg): Promise<void> {
  await whileServing(report.text, async (url) => {
    const { body } = await org.call('POST', '/api/feed/sources', { kind: 'stix', name: 'Reports', url });
    expect((await org.call('POST', `/api/feed/sources/${body.id}/pull`)).body.added).toBeGreaterThan(0);
  });
}

/** Events of a shipped detection's own proof, as they would arrive. */
async function sendLogs(org: TestOrg, id: BuiltinId): Promise<void> {
  const { match } = builtinDetections[id].sample;
  for (const dataset of new Set(match.map((one) => one.dataset))) {
    const lines = match.filter((one) => one.dataset === dataset).map(({ event }) => JSON.stringify(event));
    const sent = await org.call('POST', `/api/logs/${dataset}?history=true`, lines.join('\n'), {
      'content-type': 'application/x-ndjson',
    });
    expect(sent.body.accepted, JSON.stringify(sent.body)).toBe(lines.length);
  }
}

const suggestionsOf = async (org: TestOrg) => (await org.call('GET', '/api/detections/suggestions')).body.suggestions;

test('a report becomes suggestions that run on the logs there are, with technique, passage and source; each once', async () => {
  const org = await newOrg();
  await readReport(org);
  expect(await research(deps, org.id)).toBe(0);
  await sendLogs(org, 'recovery-inhibited');
  expect(await research(deps, org.id)).toBe(1);
  const [suggestion] = await suggestionsOf(org);
  const shipped = builtinDetections['recovery-inhibited'];
  expect(suggestion).toMatchObject({ name: shipped.name, detectionQuery: shipped.query, isSuggestion: true });
  expect(suggestion.rationale).toContain('T1490');
  expect(suggestion.rationale).toMatch(/It says: “.+”/);
  const proof = await org.call('POST', `/api/detections/${suggestion.id}/tests/run`);
  expect(proof.body).toMatchObject({ passed: true, queryTested: true });
  const source = await org.call('GET', `/items/${suggestion.sourceItemIds[0]}`);
  expect(suggestion.rationale).toContain(source.body.event.title);
  expect(await research(deps, org.id)).toBe(0);
  // Accepted or dismissed, it does not come again; a dismissal is forgotten after 90 days, when the report is, too.
  await org.call('POST', `/api/detections/${suggestion.id}/dismiss`, { reason: 'noisy' });
  expect(await research(deps, org.id)).toBe(0);
  expect((await org.call('POST', `/api/detections/${suggestion.id}/restore`)).status).toBe(200);
  expect((await org.call('POST', `/api/detections/${suggestion.id}/accept`)).body.enabled).toBe(true);
  expect(await research(deps, org.id)).toBe(0);
});

test('another organization gets nothing from a report it does not see', async () => {
  const [reader, other] = [await newOrg(), await newOrg()];
  await readReport(reader);
  for (const org of [reader, other]) await sendLogs(org, 'recovery-inhibited');
  expect(await research(deps, other.id)).toBe(0);
  expect(await research(deps, reader.id)).toBe(1);
});

test('one run suggests no more than a person reads', async () => {
  const org = await newOrg();
  await readReport(org);
  for (const id of ['aws-cloudtrail-disabled', 'recovery-inhibited', 'password-spray', 'upload-to-new-domain'] as const)
    await sendLogs(org, id);
  expect(await research(deps, org.id)).toBe(5);
  await research(deps, org.id);
  const suggestions = await suggestionsOf(org);
  expect(suggestions.length).toBeGreaterThan(5);
  expect(new Set(suggestions.map((one: { detectionQuery: string }) => one.detectionQuery)).size).toBe(
    suggestions.length,
  );
});

test('the built-in agent runs at its slots once it has a schedule, in one of several processes', async () => {
  const org = await newOrg();
  await readReport(org);
  await sendLogs(org, 'recovery-inhibited');
  expect(await researchDue(deps)).toBe(0);
  const { agents } = (await org.call('GET', '/api/agents')).body;
  const agent = agents.find((one: { builtInAgentType: string }) => one.builtInAgentType === 'threat-research');
  await org.call('PUT', `/api/agents/${agent.id}`, { detectionCadence: 'hourly' });
  const ran = await Promise.all([researchDue(deps), researchDue(deps), researchDue(deps)]);
  expect(ran.reduce((a, b) => a + b, 0)).toBe(1);
  expect(await suggestionsOf(org)).toHaveLength(1);
  expect((await org.call('GET', `/api/agents/${agent.id}`)).body.lastDetectionRunAt).toBe(now.toISOString());
  expect(await researchDue(deps)).toBe(0);
  now = new Date(now.getTime() + 3_600_000);
  expect(await researchDue(deps)).toBe(1);
});

test('indicators become a query that finds them and nothing else, whatever they are made of', async () => {
  const org = await newOrg();
  const events = [
    { '@timestamp': now.toISOString(), user: { name: 'ada' }, url: { domain: "BAD.example'x" } },
    { '@timestamp': now.toISOString(), user: { name: 'ben' }, url: { domain: 'good.example' } },
  ];
  await org.call('POST', '/api/logs/web', events.map((event) => JSON.stringify(event)).join('\n'), {
    'content-type': 'application/x-ndjson',
  });
  const indicator = (normalizedValue: string, more: object = {}) => ({
    type: 'domain',
    value: normalizedValue,
    normalizedValue,
    status: 'active',
    confidence: 0.9,
    ttlDays: 30,
    ...more,
  });
  const none = { ipv4: [], urls: [], hashes: [] };
  const item = {
    id: 'item',
    event: { title: 'Report' },
    source: { publisher: 'P' },
    iocs: {
      ...none,
      domains: [
        indicator("bad.example'x"),
        indicator('good.example', { status: 'expired' }),
        indicator('good.example', { confidence: 0.2 }),
      ],
    },
  } as unknown as FeedItem;
  const [proposal, ...more] = fromIndicators(item, [
    { name: 'web', columns: [{ name: 'url.domain' }, { name: 'user.name' }] },
    { name: 'other', columns: [{ name: 'x' }] },
  ]);
  expect(more).toEqual([]);
  const window = {
    from: new Date(now.getTime() - 3_600_000),
    to: new Date(now.getTime() + 3_600_000),
    clock: 'event',
  } as const;
  const limits = { rowsMax: 10, groupsMax: 10, timeoutMs: 10_000 };
  const connection = await deps.connectionFor(org.id, { connectionId: null, siemType: null });
  const { rows } = await connection.search(proposal!.detectionQuery, window, limits, new AbortController().signal);
  expect(rows).toMatchObject([{ entity: 'ada', indicator: "bad.example'x" }]);
});
