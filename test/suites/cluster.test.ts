import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { removeOrphanedFiles } from '../../src/detection/log-compaction/clean-segments.ts';
import { createSegmentStore } from '../../src/detection/log-store/files/create-segment-store.ts';
import { createLogger } from '../../src/platform/lib/logging/logger.ts';
import { parseLogsUrl, type BucketAddress } from '../../src/platform/lib/storage/logs-url.ts';
import { startCluster, type Cluster } from '../support/cluster/cluster.ts';
import { selectIn } from '../support/select-rows.ts';
import { testDatabase } from '../support/database.ts';
import { createOrganizationWithKey } from '../support/api-client.ts';
import { speedUpLeases } from '../support/cluster/fast-leases.ts';
import { s3Credentials, startS3Server } from '../support/detection/s3-server.ts';
import { newDataDir } from '../support/harness.ts';
import { listProcesses, root, until, type ProcessRow } from '../support/program.ts';

/*
 * Two machines, each with two processes and a data directory of its own, share one database and one bucket. 100 detections run over 8 hourly
 * slots while processes are killed with kill -9: single ones at random moments, and all at once while runs are in progress. Slot time advances
 * whether or not the runs keep up.
 */
const slots = 8;
const perOrg = 50;
const machines = [newDataDir(), newDataDir()];
const processes = 2 * machines.length;
const kills = 4;
const start = new Date('2026-03-02T00:30:00Z');
const hour = (n: number): Date => new Date(Date.UTC(2026, 2, 2, n));

const { db, url } = await testDatabase();
const s3 = await startS3Server();
const orgs = await Promise.all(
  ['one', 'two'].map((name) => createOrganizationWithKey({ db, clock: () => start }, name)),
);

type Event = { id: string; timestamp: string; user: string; action: string; rule: number };

/** Every fourth detection looks for a value that is new to its user, the others for any row. */
const isFirstOccurrence = (rule: number): boolean => rule % 4 === 0;
const learned = 5;

/** Returns the events of an hour: noise, values that the first-occurrence detections already know, and planted events. */
function eventsOf(n: number): { events: Event[]; planted: Event[] } {
  const timestamp = new Date(hour(n).getTime() + 60_000).toISOString();
  const event = (id: string, user: string, action: string, rule: number): Event => ({
    id,
    timestamp,
    user,
    action,
    rule,
  });
  const noise = Array.from({ length: 20 }, (_, i) => event(`event-of-noise-${n}-${i}`, `u${i}`, 'read', -1));
  const known = Array.from({ length: Math.ceil(perOrg / 4) }, (_, i) =>
    event(`event-well-known-${n}-${i}`, `known${i * 4}`, 'sign-in', i * 4),
  );
  const planted = Array.from({ length: perOrg }, (_, rule) => rule)
    .filter((rule) => (rule * 7 + n * 13) % 13 === 0 && (!isFirstOccurrence(rule) || n >= learned))
    .map((rule) => {
      const id = `event-planted-${n}-${rule}`;
      return isFirstOccurrence(rule)
        ? event(id, `known${rule}`, `new-${n}`, rule)
        : event(id, `planted-${n}-${rule}`, 'delete', rule);
    });
  return { events: [...noise, ...known, ...planted], planted };
}

const later = JSON.stringify({
  name: 'later',
  detectionCategory: 'custom',
  systemPrompt: 'p',
  detectionQuery: 'SELECT 1 AS n',
});

async function createDetections(cluster: Cluster, key: string): Promise<string[]> {
  const ids: string[] = [];
  for (let rule = 0; rule < perOrg; rule += 1) {
    const body = JSON.stringify({
      name: `rule ${rule}`,
      detectionCategory: ['first_occurrence', 'privilege_escalation', 'custom', 'privilege_escalation'][rule % 4],
      systemPrompt: 'Judge it.',
      detectionQuery: `SELECT _id, _time, "user", action FROM auth WHERE rule = ${rule}`,
      entityField: 'user',
      detectionCadence: 'hourly',
      suppressionMinutes: 0,
      // Prevents a slow machine from turning windows into gaps.
      lookbackMinutes: 100_000,
    });
    ids.push(((await cluster.ask('POST', '/api/detections', { key, body })) as { id: string }).id);
  }
  return ids;
}

const isRunning = async (): Promise<boolean> => {
  const [running] = await selectIn(db)<{ n: number }>`select count(*)::int as n from run_queue where state = 'running'`;
  return running!.n > 0;
};

const isDone = async (): Promise<boolean> => {
  const [left] = await selectIn(db)<{
    n: number;
  }>`select (select count(*) from pending_windows) + (select count(*) from run_queue) +
      (select count(*) from schedules where next_slot_at <= ${hour(slots)}) as n`;
  return left!.n === 0;
};

test(
  `${processes} processes on two machines, killed ${kills} times one by one and once all together: every slot once, every hit once, no acknowledged write lost`,
  { timeout: 900_000 },
  async () => {
    // Leases outlast their renewal, so a slow machine loses no lease of a process that was not killed.
    await speedUpLeases(url, 3);
    const env = {
      DATABASE_URL: url,
      ...s3Credentials,
      TOCSIN_LOGS_URL: s3.url,
      TOCSIN_SPREAD_SECONDS: '0',
      TOCSIN_RUNS_AT_ONCE: '4',
      TOCSIN_LOG_LEVEL: 'error',
    };
    const cluster = await startCluster(
      Array.from({ length: processes }, (_, index) => ({
        ...env,
        TOCSIN_DATA_DIR: machines[index % machines.length]!,
      })),
      start,
    );
    const acknowledged: string[] = [];
    try {
      const detections = await Promise.all(orgs.map(({ key }) => createDetections(cluster, key)));
      const killAt = new Set(
        Array.from({ length: kills }, (_, i) => Math.floor((i * slots) / kills) + randomInt(Math.floor(slots / kills))),
      );
      for (let n = 1; n <= slots; n += 1) {
        cluster.setTime(hour(n));
        if (killAt.has(n - 1)) setTimeout(() => cluster.killOne(randomInt(processes)), randomInt(800));
        if (n === slots / 2) await cluster.killAllDuringRun(isRunning);
        if (n === slots) break;
        const body = eventsOf(n)
          .events.map((event) => JSON.stringify(event))
          .join('\n');
        for (const { key } of orgs) {
          const headers = { 'content-type': 'application/x-ndjson' };
          await cluster.ask('POST', '/api/logs/auth', { key, body, headers });
          const { id } = (await cluster.ask('POST', '/api/detections', { key, body: later })) as { id: string };
          acknowledged.push(id);
        }
        await sleep(700);
      }
      await until(isDone, cluster.stderr, () => false, 400_000);
      expect(await cluster.stop()).toEqual(Array.from({ length: processes }, () => 0));
      for (const [index, org] of orgs.entries()) await check(org.id, detections[index]!, acknowledged);
      for (const dataDir of machines) {
        expect(existsSync(join(dataDir, 'logs')), 'a process stored logs outside the bucket').toBe(false);
        expect(listCopies(dataDir), 'no process of this machine has copies of segments').not.toEqual([]);
      }
      await checkOrphans();
    } finally {
      await cluster.stop();
    }
    const isOurs = ({ command }: ProcessRow): boolean =>
      (command.includes('cluster-worker') && command.includes(root)) ||
      (command.includes('engine/process/child') && machines.some((dataDir) => command.includes(dataDir)));
    await expect.poll(() => listProcesses().filter(isOurs)).toEqual([]);
  },
);

/** Returns the files of segments below the local cache of this data directory. */
const listCopies = (dataDir: string): string[] =>
  readdirSync(join(dataDir, 'log-cache'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.events'),
  );

/** Checks that nothing stays in the bucket but listed segments, after an upload whose process died before it listed the file. */
async function checkOrphans(): Promise<void> {
  const bucket = parseLogsUrl(s3.url) as BucketAddress;
  const storage = { dataDir: newDataDir(), logs: { bucket, cacheBytes: 100_000_000 } };
  const segmentStore = createSegmentStore(storage, { log: createLogger('silent') });
  const upload = 'auth/left-behind.events';
  mkdirSync(join(segmentStore.folderOf(orgs[0]!.id), 'auth'), { recursive: true });
  writeFileSync(join(segmentStore.folderOf(orgs[0]!.id), upload), '{}');
  await segmentStore.put(orgs[0]!.id, upload);
  expect(await removeOrphanedFiles({ db, segmentStore }, 0)).toBeGreaterThan(0);
  const stored: string[] = [];
  for await (const { files } of segmentStore.list()) stored.push(...files.map(({ path }) => path));
  segmentStore.close();
  const listed = await selectIn(db)<{ path: string }>`select path from segments`;
  expect(stored.toSorted()).toEqual(listed.map(({ path }) => path).toSorted());
}

async function check(orgId: (typeof orgs)[number]['id'], detections: string[], acknowledged: string[]): Promise<void> {
  const select = selectIn(db, orgId);
  const present = new Set((await select<{ id: string }>`select id from agents`).map(({ id }) => id));
  expect(detections.filter((id) => !present.has(id))).toEqual([]);
  const others = await selectIn(db)<{ id: string }>`select id from agents where name = 'later'`;
  expect(acknowledged.filter((id) => !others.some((row) => row.id === id))).toEqual([]);

  const hours = Array.from({ length: slots - 1 }, (_, i) => i + 1);
  const sent = hours.flatMap((n) => eventsOf(n).events).length;
  expect(await select`select events from datasets where name = 'auth'`).toEqual([{ events: sent }]);

  const expectedSlots = Array.from({ length: slots }, (_, i) => hour(i + 1).toISOString());
  const runs = await select<{ detection_id: string; slots: Date[]; odd: string[] | null }>`
    select detection_id, array_agg(slot_at order by slot_at) as slots,
      array_agg(concat_ws(' ', slot_at, status, status_reason, failure))
        filter (where not (status = 'completed' or (status = 'cancelled' and status_reason = 'superseded'))) as odd
    from runs where trigger = 'schedule' group by 1`;
  expect(runs.map(({ detection_id }) => detection_id).toSorted()).toEqual(detections.toSorted());
  for (const run of runs) expect([run.odd, run.slots.map((at) => at.toISOString())]).toEqual([null, expectedSlots]);

  const [taken] = await select<{ n: number }>`select count(*)::int as n from runs where attempt > 1`;
  expect(taken?.n, 'no run was taken over, so no process was killed during a run').toBeGreaterThan(0);

  expect(await select`select detection_id from gaps`).toEqual([]);
  const covered = await select<{ covered_from: Date; covered_to: Date }>`select covered_from, covered_to from coverage`;
  expect(covered).toEqual(detections.map(() => ({ covered_from: hour(0), covered_to: hour(slots) })));

  const hits = await select<{
    detection_id: string;
    entity: string;
    evidence: string;
    occurrences: number;
  }>`select detection_id, entity, evidence, occurrences from hits`;
  const found = hits.map(({ detection_id, entity, evidence, occurrences }) => {
    const cited = (JSON.parse(evidence) as { observation: string; rowId: string }[]).filter(
      ({ observation }) => observation === 'rows',
    );
    const named = new Set(cited.map(({ rowId }) => rowId));
    return `${detections.indexOf(detection_id)} ${entity} ${[...named].join()} ${occurrences}`;
  });
  const expected = hours.flatMap((n) => eventsOf(n).planted.map(({ rule, user, id }) => `${rule} ${user} ${id} 1`));
  expect(expected.length).toBeGreaterThan(30);
  expect(found.toSorted()).toEqual(expected.toSorted());
  const once = await select<{ n: number; distinct: number }>`
    select count(*)::int as n, count(distinct (hit_id, window_from))::int as distinct from hit_occurrences`;
  expect(once).toEqual([{ n: expected.length, distinct: expected.length }]);
}
