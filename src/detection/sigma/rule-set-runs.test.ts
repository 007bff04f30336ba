import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { acrossOrgs, type Tx } from '../../platform/db/db.ts';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { withClient } from '../../../test/support/program-environment.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { SiemError } from '../siem/connector.ts';
import { createLogger } from '../../platform/lib/logging/logger.ts';
import { executeDueRuns } from '../runs/workers/run-loops.ts';

const midnight = Date.parse('2026-03-02T00:00:00Z');
let now = new Date(midnight);
const { deps, newOrg, url } = await startApp({ clock: () => now });
const rule = (n: number): string => `title: Rule ${n}
id: 00000000-0000-4000-8000-00000000000${n}
author: Ana Author
level: high
logsource: {product: acme, service: auth}
detection: {s: {command|contains: tool-${n}}, condition: s}
`;

/** Imports four rules, sends events, and executes the slot. Returns what was stored. */
async function runSlot(org: TestOrg, query: (text: string) => string) {
  now = new Date(midnight);
  await callOk(org, 'POST', '/api/logs/acme_auth', [{ time: now, command: 'none', user: 'ann' }]);
  await importRules(org, [1, 2, 3, 4].map(rule));
  for (const { id, detectionQuery } of (await callOk(org, 'GET', '/api/detections')).detections)
    // What the built-in analyst would find out about other hits depends on the order of the runs.
    await callOk(org, 'PUT', `/api/detections/${id}`, { detectionQuery: query(detectionQuery), planningMode: 'never' });
  now = new Date(midnight + 1_800_000);
  const events = ['Tool-1 x', 'run TOOL-2', 'tool-2 and tool-3', 'nothing'].map((command) => ({ time: now, command }));
  await callOk(org, 'POST', '/api/logs/acme_auth', events);
  now = new Date(midnight + 3_600_000);
  await executeDueRuns(deps, now, { concurrency: 4 });
  const { hits } = await callOk(org, 'GET', '/api/hits');
  for (const { detection } of hits)
    expect(detection.rule).toEqual({ id: expect.stringMatching(/^0{8}-/), author: 'Ana Author', license: null });
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

/** Leaves out what differs between organizations: the batch in event IDs, and the IDs of candidates. */
const withoutBatch = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(/[0-9a-f-]{36}:(?=\d)/g, 'batch:')
      .replaceAll(/"candidateId":"[0-9a-f-]{36}"/g, '"candidateId":""'),
  );

/** Imports rules into an organization. */
const importRules = (org: TestOrg, rules: readonly string[], options: object = { enable: true }) =>
  callOk(org, 'POST', '/api/detections/import?format=sigma', { rules: rules.join('---\n'), ...options });

const startsOf = new Map<string, number>();
/** Counts the sets that the engine matches for each organization. */
const setsOf = new Map<string, number>();
const { match } = deps.engine;
deps.engine.match = (orgId, ...input) => {
  setsOf.set(orgId, (setsOf.get(orgId) ?? 0) + 1);
  return match(orgId, ...input);
};
/** Organizations whose runs are executed one by one. */
const alone = new Set<string>();
const { connectionFor } = deps;
deps.connectionFor = async (orgId, ...input) => {
  startsOf.set(orgId, (startsOf.get(orgId) ?? 0) + 1);
  const { searchTogether, ...connection } = await connectionFor(orgId, ...input);
  return searchTogether && !alone.has(orgId) ? { ...connection, searchTogether } : connection;
};

async function newOrgAlone(): Promise<TestOrg> {
  const org = await newOrg();
  alone.add(org.id);
  return org;
}

test('a slot of imported rules reads the events once, with the runs and hits of the rules as queries', async () => {
  const { engine } = deps;
  const calls = { sets: 0, batches: 0, queries: 0 };
  const [match, batch, query] = [engine.match, engine.batch, engine.query];
  engine.match = (...input) => ((calls.sets += 1), match(...input));
  engine.batch = (...input) => ((calls.batches += 1), batch(...input));
  engine.query = (...input) => ((calls.queries += 1), query(...input));
  const asSet = await runSlot(await newOrg(), (text) => text);
  expect(calls).toEqual({ sets: 1, batches: 0, queries: 0 });
  // An edited query is no longer the one of the rule, so that it is no part of the set.
  const asBatch = await runSlot(await newOrg(), (text) => `${text} -- edited`);
  expect(calls).toEqual({ sets: 1, batches: 1, queries: 0 });
  const asQueries = await runSlot(await newOrgAlone(), (text) => `${text} -- edited`);
  expect(calls).toEqual({ sets: 1, batches: 1, queries: 4 });
  expect(asSet.hits).toHaveLength(4);
  expect(withoutBatch(asSet)).toEqual(withoutBatch(asQueries));
  expect(withoutBatch(asBatch)).toEqual(withoutBatch(asQueries));
});

/** Everything that the runs of an organization leave behind, by detection, without ids and durations. */
async function readStored(org: TestOrg) {
  const tables = [
    'runs',
    'coverage',
    'pending_windows',
    'run_facts',
    'run_days',
    'run_queue',
    'query_warnings',
    'outbox',
  ];
  return acrossOrgs(deps.db, async (tx) => {
    const stored: Record<string, unknown[]> = {};
    for (const table of tables) {
      const { rows } = await sql<
        Record<string, unknown>
      >`select * from ${sql.table(table)} where organization_id = ${org.id}`.execute(tx);
      stored[table] = await Promise.all(rows.map((row) => describeRow(tx, row)));
      stored[table].sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
    }
    return stored;
  });
}

/** Ids of detections become their names, and phases lose their durations. */
async function describeRow(tx: Tx, { id: _id, organization_id: _org, at: _at, ...row }: Record<string, unknown>) {
  const detectionId =
    row['detection_id'] ?? (typeof row['body'] === 'string' ? JSON.parse(row['body']).data.detectionId : null);
  const [agent] = (await sql<{ name: string }>`select name from agents where id = ${detectionId}`.execute(tx)).rows;
  const { body, phases, ...others } = row;
  const event = typeof body === 'string' ? Object.keys(JSON.parse(body).data).toSorted() : undefined;
  const phaseNames =
    typeof phases === 'string' ? JSON.parse(phases).map(({ name }: { name: string }) => name) : undefined;
  return {
    name: agent?.name,
    event,
    phaseNames,
    ...others,
    detection_id: null,
    resource_id: null,
    query: null,
    entities: null,
  };
}

test('runs without rows that are completed together store what each of them stores alone', async () => {
  const slots = async (org: TestOrg, edit: string): Promise<number[]> => {
    now = new Date(midnight);
    await callOk(org, 'POST', '/api/logs/acme_auth', [{ time: now, command: 'none', user: 'ann' }]);
    const rules = [1, 2, 3, 4, 5, 6].map((n) =>
      rule(n).replace('condition: s', n > 4 ? 'f: {missing: x}, condition: s or f' : 'condition: s'),
    );
    await importRules(org, rules);
    await acrossOrgs(deps.db, (tx) =>
      sql`update organizations set listening_until = 'infinity' where id = ${org.id}`.execute(tx),
    );
    for (const { id, detectionQuery } of (await callOk(org, 'GET', '/api/detections')).detections)
      for (const suffix of [' -- draft', edit])
        await callOk(org, 'PUT', `/api/detections/${id}`, { detectionQuery: `${detectionQuery}${suffix}` });
    const starts: number[] = [];
    for (const hour of [1, 2]) {
      now = new Date(midnight + hour * 3_600_000 - 1_800_000);
      await callOk(org, 'POST', '/api/logs/acme_auth', [{ time: now, command: 'tool-2', user: 'bob' }]);
      now = new Date(midnight + hour * 3_600_000);
      startsOf.clear();
      await executeDueRuns(deps, now, { concurrency: 1 });
      starts.push(startsOf.get(org.id)!);
    }
    return starts;
  };
  const [together, batched, single] = [await newOrg(), await newOrg(), await newOrgAlone()];
  // The batch, and the run with a row.
  expect(await slots(together, '')).toEqual([2, 2]);
  expect(setsOf.get(together.id)).toBe(2);
  expect(await slots(batched, ' -- edited')).toEqual([2, 2]);
  expect(await slots(single, ' -- edited')).toEqual([7, 7]);
  const expected = await readStored(single);
  expect(await readStored(together)).toEqual(expected);
  expect(await readStored(batched)).toEqual(expected);
});

/** Imports four rules into a new organization whose only event matches none of them, and moves the clock to the end of the slot. */
async function startQuietSlot(): Promise<TestOrg> {
  const org = await newOrg();
  now = new Date(midnight);
  await callOk(org, 'POST', '/api/logs/acme_auth', [{ time: now, command: 'none' }]);
  await importRules(org, [1, 2, 3, 4].map(rule));
  now = new Date(midnight + 3_600_000);
  return org;
}

test('runs whose common transaction dies with its connection are completed all the same', async () => {
  const org = await startQuietSlot();
  let deaths = 0;
  const log = createLogger('silent');
  log.error = () => (deaths += 1);
  await withClient(url, async (client) => {
    // The server ends the session before the commit, as it does when a worker is killed.
    await client.query(`create function end_session() returns trigger language plpgsql security definer as $$
      begin
        if (select count(*) from changed where status = 'completed' and organization_id = '${org.id}') > 1 then
          perform pg_terminate_backend(pg_backend_pid());
        end if;
        return null;
      end $$`);
    await client.query(`create trigger end_session after update on runs referencing new table as changed
      for each statement execute function end_session()`);
    try {
      await executeDueRuns({ ...deps, log }, now, { concurrency: 1 });
    } finally {
      await client.query('drop function end_session cascade');
    }
  });
  expect(deaths).toBe(1);
  const { runs, coverage } = await readStored(org);
  expect(runs!.map((run) => (run as { status: string }).status)).toEqual(Array(4).fill('completed'));
  expect(coverage).toHaveLength(4);
  expect(new Set(coverage!.map((one) => JSON.stringify({ ...(one as object), name: null }))).size).toBe(1);
});

test('rules that are enabled or get another schedule share a set in their next slot', async () => {
  const org = await newOrg();
  const runSlotAt = async (minutes: number) => {
    now = new Date(midnight + minutes * 60_000);
    setsOf.clear();
    startsOf.clear();
    await executeDueRuns(deps, now, { concurrency: 1 });
    return [setsOf.get(org.id), startsOf.get(org.id)];
  };
  now = new Date(midnight);
  await callOk(org, 'POST', '/api/logs/acme_auth', [{ time: now, command: 'none' }]);
  const rules = [1, 2, 3, 4, 5, 6].map(rule);
  await importRules(org, rules.slice(0, 3));
  await importRules(org, rules, {});
  expect(await runSlotAt(60)).toEqual([1, 1]);
  // Three rules are enabled after the rules of the organization were read.
  now = new Date(midnight + 119 * 60_000);
  await callOk(org, 'POST', '/api/detections/bulk', { action: 'enable', filter: {} });
  expect(await runSlotAt(120)).toEqual([1, 1]);
  const { detections } = await callOk(org, 'GET', '/api/detections');
  for (const [index, { id }] of detections.entries()) {
    now = new Date(midnight + (121 + index) * 60_000);
    await callOk(org, 'PUT', `/api/detections/${id}`, { customCronSchedule: '30 * * * *' });
  }
  expect(await runSlotAt(150)).toEqual([1, 1]);
  // A change when the slot is due queues the run of this detection by itself, after the others were completed.
  now = new Date(midnight + 210 * 60_000);
  for (const { id } of detections)
    await callOk(org, 'PUT', `/api/detections/${id}`, { detectionCadence: 'daily', customCronSchedule: null });
  expect(await runSlotAt(210)).toEqual([1, 1]);
});

/** Expects that the query of an imported rule reads nothing that is hidden from the model that runs it. */
async function expectHidden(org: TestOrg): Promise<void> {
  const { detections } = await callOk(org, 'GET', '/api/detections');
  const connection = await deps.connectionFor(org.id as OrgId, { connectionId: null, siemType: null });
  const window = { from: new Date(midnight), to: now, clock: 'event' as const };
  const limits = { rowsMax: 10, groupsMax: 10, timeoutMs: 20_000 };
  const search = (fields: string[]) =>
    connection.search(
      detections[0].detectionQuery,
      window,
      { ...limits, hidden: { datasets: [], fields } },
      AbortSignal.timeout(20_000),
    );
  expect((await search([])).kinds).toContain('value');
  await expect(search(['command'])).rejects.toThrow('keeps the field command from models');
}

test('a set whose window has too many events reads the halves of the window, and no query reads what is hidden', async () => {
  const [whole, halves] = [await newOrg(), await newOrg()];
  const { match } = deps.engine;
  const sets: number[] = [];
  deps.engine.match = (orgId, ...input) => {
    if (orgId !== halves.id) return match(orgId, ...input);
    sets.push(1);
    if (sets.length === 1)
      throw new SiemError({ kind: 'query_timeout', blame: 'author', retryable: false, message: 'too long' });
    return match(orgId, ...input);
  };
  const [expected, found] = [await runSlot(whole, (text) => text), await runSlot(halves, (text) => text)];
  expect(sets).toHaveLength(3);
  expect(withoutBatch(found)).toEqual(withoutBatch(expected));
  await expectHidden(whole);
});
