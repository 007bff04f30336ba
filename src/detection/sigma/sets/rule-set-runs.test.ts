import { expect, test } from 'vitest';
import { callOk } from '../../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { executeDueRuns } from '../../runs/workers/execute-due-runs.ts';

const midnight = Date.parse('2026-03-02T00:00:00Z');
let now = new Date(midnight);
const { deps, newOrg } = await startApp({ clock: () => now });
const rule = (n: number): string => `title: Rule ${n}
id: 00000000-0000-4000-8000-00000000000${n}
level: high
logsource: {product: acme, service: auth}
detection: {s: {command|contains: tool-${n}}, condition: s}
`;

/** Imports four rules, sends events, and executes the slot. Returns what was stored. */
async function runSlot(org: TestOrg, query: (text: string) => string) {
  now = new Date(midnight);
  await callOk(org, 'POST', '/api/logs/acme_auth', [{ time: now, command: 'none', user: 'ann' }]);
  const rules = [1, 2, 3, 4].map(rule).join('---\n');
  await callOk(org, 'POST', '/api/detections/import?format=sigma', { rules, enable: true });
  for (const { id, detectionQuery } of (await callOk(org, 'GET', '/api/detections')).detections)
    await callOk(org, 'PUT', `/api/detections/${id}`, { detectionQuery: query(detectionQuery) });
  now = new Date(midnight + 1_800_000);
  const events = ['Tool-1 x', 'run TOOL-2', 'tool-2 and tool-3', 'nothing'].map((command) => ({ time: now, command }));
  await callOk(org, 'POST', '/api/logs/acme_auth', events);
  now = new Date(midnight + 3_600_000);
  await executeDueRuns(deps, now, { concurrency: 4 });
  const { hits } = await callOk(org, 'GET', '/api/hits');
  const { detections } = await callOk(org, 'GET', '/api/detections');
  const runs = [];
  for (const { id, name } of detections as { id: string; name: string }[]) {
    const [run] = (await callOk(org, 'GET', `/api/detections/${id}/runs`)).runs;
    const { status, windows, rowsTotal, triggered, hitCount, warnings, entities } = run;
    runs.push({ name, status, windows, rowsTotal, triggered, hitCount, warnings, entities });
  }
  const nameOf = new Map(detections.map(({ id, name }: { id: string; name: string }) => [id, name]));
  return {
    runs: runs.toSorted((a, b) => a.name.localeCompare(b.name)),
    hits: hits
      .map((hit: Record<string, unknown>) => [
        nameOf.get(hit['detectionId']),
        hit['entity'],
        hit['severity'],
        hit['headline'],
      ])
      .toSorted((a: unknown[], b: unknown[]) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
  };
}

/** Leaves the batch out of event ids, which differs between organizations. */
const withoutBatch = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/[0-9a-f-]{36}:(?=\d)/g, 'batch:'));

test('a slot of imported rules reads the events once, with the runs and hits of the rules as queries', async () => {
  const { engine } = deps;
  const calls = { sets: 0, queries: 0 };
  const [match, query] = [engine.match, engine.query];
  engine.match = (...input) => ((calls.sets += 1), match(...input));
  engine.query = (...input) => ((calls.queries += 1), query(...input));
  const asSet = await runSlot(await newOrg(), (text) => text);
  expect(calls).toEqual({ sets: 1, queries: 0 });
  // An edited query is no longer the one of the rule, so that it runs alone.
  const alone = await runSlot(await newOrg(), (text) => `${text} -- edited`);
  expect(calls).toEqual({ sets: 1, queries: 4 });
  expect(asSet.hits).toHaveLength(4);
  expect(withoutBatch(asSet)).toEqual(withoutBatch(alone));
});
