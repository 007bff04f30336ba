import {
  readInstallationFiguresAcrossOrgs,
  readLogStoreFiguresAcrossOrgs,
} from '../../src/app/installation-figures.store.ts';
import { createRetentionSteps } from '../../src/app/worker/worker-loops.ts';
import { claimSweepAcrossOrgs } from '../../src/agents/sightings/sightings.store.ts';
import { enqueueDueRunsAcrossOrgs } from '../../src/detection/scheduling/enqueue-runs.ts';
import { claimRunsAcrossOrgs } from '../../src/detection/scheduling/claim-runs.store.ts';
import { reapLostRunsAcrossOrgs } from '../../src/detection/scheduling/run-queue.store.ts';
import { claimDueSourceAcrossOrgs } from '../../src/feed/sources/sources.store.ts';
import { applyRetention } from '../../src/platform/retention/retention.ts';
import { claimDeliveriesAcrossOrgs } from '../../src/platform/notifications/deliveries.store.ts';
import { uuidv7 } from '../../src/platform/lib/ids.ts';
import type { InProcessProgram } from '../../test/support/program-environment.ts';
import { median, measureMs } from '../benchmark.ts';
import { queueRuns, slot } from './fill-organizations.ts';

/** Milliseconds of each statement that every process repeats, in an installation where nothing is due, and of claims where something is. */
export type DatabaseCosts = Record<keyof typeof costLabels, number>;

export const costLabels = {
  schedule: 'look for due slots, none due (every second)',
  claimNothing: 'claim runs, none queued (twice a second)',
  claimFew: 'claim runs, queued in 10 organizations',
  claimMany: 'claim 8 runs, queued in every organization',
  claimLater: 'claim runs, due in 10 organizations and queued for later in every one',
  enqueue: 'enqueue a due slot',
  reap: 'look for lost runs (every five seconds)',
  deliver: 'look for due deliveries, a destination each (every second)',
  pull: 'look for due sources (every second)',
  sweep: 'look for due sweeps (every five seconds)',
  figures: 'figures of `/metrics` (every ten seconds)',
  retention: 'a pass of retention, nothing expired (every hour)',
} as const;

const calls = 15;
const passes = 20;
const enqueuedPerPass = 500;
const keep = { rowsDays: 30, hitsDays: 365, runsDays: 400, logsDays: 90, outboxDays: 7, auditDays: 3_650 };
const before = new Date(slot.getTime() - 1);

export async function measureDatabaseCosts(program: InProcessProgram, orgs: number): Promise<DatabaseCosts> {
  const { db, url } = program;
  const claim = () => claimRunsAcrossOrgs(db, slot, 8);
  const retention = createRetentionSteps(keep);
  await queueRuns(url, { orgs: 0, perOrg: 0 });
  const idle = {
    schedule: await medianMs(() => enqueueDueRunsAcrossOrgs(db, { now: before, spreadMs: 0, limit: enqueuedPerPass })),
    claimNothing: await medianMs(claim),
    reap: await medianMs(() => reapLostRunsAcrossOrgs(db, 100)),
    deliver: await medianMs(() => claimDeliveriesAcrossOrgs(db, 32, new Map())),
    pull: await medianMs(() => claimDueSourceAcrossOrgs(db, slot, uuidv7())),
    sweep: await medianMs(() => claimSweepAcrossOrgs(db)),
    figures: await medianMs(async () => {
      await readInstallationFiguresAcrossOrgs(db);
      await readLogStoreFiguresAcrossOrgs(db);
    }, 5),
    retention: await medianMs(() => applyRetention({ db, clock: () => slot }, retention), 3),
  };
  await queueRuns(url, { orgs: 10, perOrg: 100 });
  const claimFew = await medianMs(claim);
  await queueRuns(url, { orgs, perOrg: 10 });
  const claimMany = await medianMs(claim);
  await queueRuns(url, { orgs, perOrg: 10, dueIn: 10 });
  const claimLater = await medianMs(claim);
  await queueRuns(url, { orgs: 0, perOrg: 0 });
  return { ...idle, claimFew, claimMany, claimLater, enqueue: await measureEnqueue(program) };
}

/** Returns the milliseconds for each of the next due slots. */
async function measureEnqueue({ db }: InProcessProgram): Promise<number> {
  let queued = 0;
  const ms = await measureMs(async () => {
    for (let pass = 0; pass < passes; pass += 1)
      queued += (await enqueueDueRunsAcrossOrgs(db, { now: slot, spreadMs: 0, limit: enqueuedPerPass })).queued;
  });
  return ms / queued;
}

async function medianMs(work: () => Promise<unknown>, rounds = calls): Promise<number> {
  await work();
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await measureMs(work));
  return median(times);
}
