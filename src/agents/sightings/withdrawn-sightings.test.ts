import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { startModelStandIn } from '../../../test/support/models/model-stand-in.ts';
import { createScriptedModels } from '../../../test/support/models/scripted-models.ts';
import { verdictOn } from '../../../test/support/models/verdict-on.ts';
import { sendEvents } from '../../../test/support/org-requests.ts';
import { selectIn } from '../../../test/support/select-rows.ts';
import { matchWaiting } from '../../detection/continuous/match-loop.ts';
import { openPositionsAcrossOrgs } from '../../detection/continuous/match-positions.store.ts';
import { executeDueRuns } from '../../detection/runs/workers/run-loops.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
import { compareNext, createUnknownValues } from './arriving-sightings.ts';
import { syncSweepsAcrossOrgs } from './sightings.store.ts';
import { sweepDue } from './sweep.ts';

let now = new Date('2024-02-01T10:20:30.000Z');
const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' }, clock: () => now });
const host = 'first-host.top';

/** Searches the logs for changed items. */
async function sweep(): Promise<void> {
  now = new Date(now.getTime() + 60_000);
  await syncSweepsAcrossOrgs(app.deps.db);
  await acrossOrgs(app.deps.db, (tx) => sql`update feed_sweeps set due_at = clock_timestamp()`.execute(tx));
  for (let step = 0; step < 50 && (await sweepDue(app.deps, new AbortController().signal)); step += 1);
}

/** Compares what has arrived with the indicators of the feed. */
async function compareArrived(): Promise<void> {
  await openPositionsAcrossOrgs(app.deps.db, 'indicators');
  while (await compareNext(app.deps, createUnknownValues(), new AbortController().signal));
}

/** Matches what has arrived and executes what is due. */
async function runDetection(): Promise<void> {
  await matchWaiting(app.deps);
  await executeDueRuns(app.deps, now, { skipWaiting: true });
}

/** Creates an organization whose logs have a sighting of a host that an item states. */
async function withSighting(detection: object = {}) {
  const org = await app.newOrg();
  await sweep();
  await callOk(org, 'POST', '/api/detections/library/install', { ids: ['feed-indicator-sighted'] });
  const { detections } = await callOk(org, 'GET', '/api/detections');
  await callOk(org, 'PUT', `/api/detections/${detections[0].id}`, detection);
  await matchWaiting(app.deps);
  const text = `The implants talk to their command and control server ${host.replace('.', '[.]')} every hour.`;
  const { id } = await callOk(org, 'POST', '/api/feed/items', { text, title: 'Control server' });
  const timestamp = new Date(now.getTime() - 60_000).toISOString();
  await sendEvents(org, 'dns', [{ timestamp, dns: { question: { name: host } } }], { isHistory: false });
  await compareArrived();
  return {
    org,
    setStatus: (status: string | null) => callOk(org, 'PUT', `/api/feed/items/${id}/override`, { status }),
  };
}

const hits = async (org: TestOrg): Promise<string[]> =>
  (await callOk(org, 'GET', '/api/hits')).hits.map(({ status }: { status: string }) => status).toSorted();
const candidates = (org: TestOrg) =>
  selectIn(app.deps.db, org.id)<{ state: string }>`select state from candidates order by created_at, id`;

test('a candidate that waits for a model becomes no hit if its sighting is withdrawn meanwhile', async () => {
  const { promise, resolve: respond } = Promise.withResolvers<void>();
  const stand = await startModelStandIn('anthropic', async (request) => {
    await promise;
    return verdictOn(request);
  });
  app.deps.models = createScriptedModels({ slow: stand.url });
  const { org, setStatus } = await withSighting({ modelAlias: 'slow' });
  await matchWaiting(app.deps);
  const judged = executeDueRuns(app.deps, now, { skipWaiting: true });
  await expect.poll(() => stand.asked.length).toBe(1);
  await setStatus('retracted');
  await sweep();
  respond();
  await judged;
  expect([await hits(org), await candidates(org)]).toEqual([[], [{ state: 'outdated' }]]);
});

test('an event whose sighting is withdrawn before it is examined becomes no hit, in the stream and in its slot', async () => {
  const { org, setStatus } = await withSighting();
  await setStatus('retracted');
  await sweep();
  await runDetection();
  now = new Date(now.getTime() + 2 * 3_600_000);
  await runDetection();
  expect([await hits(org), await candidates(org)]).toEqual([[], [{ state: 'outdated' }]]);
});

test('a value that is active again raises the rows that have it again, once', async () => {
  const { org, setStatus } = await withSighting();
  await runDetection();
  expect(await hits(org)).toEqual(['open']);
  for (const former of [['outdated'], ['outdated', 'outdated']]) {
    await setStatus('retracted');
    await sweep();
    await runDetection();
    expect(await hits(org)).toEqual(former);
    await setStatus(null);
    await sweep();
    for (let times = 0; times < 2; times += 1) await runDetection();
    expect(await hits(org)).toEqual(['open', ...former]);
    // A note changes the item as well.
    await sweep();
    now = new Date(now.getTime() + 2 * 3_600_000);
    await runDetection();
    expect(await hits(org)).toEqual(['open', ...former]);
  }
});
