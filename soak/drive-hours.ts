import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '../src/app/deps.ts';
import { deleteDetection, restoreDetection } from '../src/detection/detections/life-cycle.ts';
import { updateDetection } from '../src/detection/detections/update-detection.ts';
import { receiveLogs } from '../src/detection/log-ingest/receive-logs.ts';
import type { SoakModel } from './scripted-model.ts';
import type { SoakPlan } from './plan.ts';
import { usesLogStore, type SoakSetup } from './create-detections.ts';
import type { ScriptedSiem } from './scripted-siem.ts';
import { isEverythingDone, isHourDone, readRemainingWork } from './remaining-work.ts';
import type { WorkerProcesses } from './worker-processes.ts';
import { driftedEvent, listEvents, hourStart } from './scripted-events.ts';

export type SoakContext = {
  plan: SoakPlan;
  setup: SoakSetup;
  deps: Deps;
  setSlotTime: (to: Date) => void;
  siem: ScriptedSiem;
  model: SoakModel;
  workers: WorkerProcesses;
  report: (text: string) => void;
};

const pollMs = 100;
const changeTriesMax = 20;
/** Extra hours after the last planned one, until no work is left. Each of them waits until its work is done. */
const extraHoursMax = 120;
const extraHourWaitMs = 1_800_000;

/**
 * Runs the soak hour by hour. The next hour starts when the work of the previous one is done, or after the maximum wait. Returns the last hour
 * and the mean load of the machine. Throws if work is left after all extra hours.
 */
export async function driveHours(context: SoakContext): Promise<{ lastHour: number; load: number }> {
  const { plan, deps } = context;
  let loadSum = 0;
  const { hours } = plan.timeline;
  await sendLogs(context, 0);
  for (let hour = 1; hour <= hours + extraHoursMax; hour += 1) {
    await beginHour(context, hour);
    await waitForHour(context, hour >= hours ? extraHourWaitMs : plan.options.waitMs);
    if (hour % 24 === 0)
      context.report(`day ${hour / 24}: ${JSON.stringify(await readRemainingWork(deps.db, deps.clock()))}`);
    loadSum += loadavg()[0] ?? 0;
    if (hour >= hours && (await isOver(context))) return { lastHour: hour, load: loadSum / hour };
  }
  throw new Error(`Work is left ${extraHoursMax} hours after the last planned hour.\n${context.workers.stderr()}`);
}

async function beginHour(context: SoakContext, hour: number): Promise<void> {
  const { plan, siem, model, workers } = context;
  const now = hourStart(plan.timeline, hour);
  Object.assign(siem, { hour });
  Object.assign(model, { hour });
  context.setSlotTime(now);
  workers.setSlotTime(now, hour);
  for (const { worker } of plan.kills.filter((kill) => kill.hour === hour))
    setTimeout(() => workers.kill(worker), (hour * 37) % 500);
  for (const change of plan.changes.filter((one) => one.hour === hour)) await makeChange(context, change);
  await sendLogs(context, hour);
}

async function makeChange(
  { plan, setup, deps }: SoakContext,
  { rule, what }: SoakPlan['changes'][number],
): Promise<void> {
  const [caller, id] = [setup.callerOf(plan.rules[rule]!.org), setup.ids[rule]!];
  await tryAgain(async () => {
    if (what === 'enable') await updateDetection(deps, caller, { id, input: { enabled: true } });
    else if (what === 'delete') await deleteDetection(deps, caller, id);
    else await restoreDetection(deps, caller, id);
  });
}

/** Repeats a change that waited too long for a lock (55P03), as a user does after the 503 that the API answers then. */
async function tryAgain(change: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change();
    } catch (error) {
      if (tries === changeTriesMax || (error as { code?: string }).code !== '55P03') throw error;
    }
  }
}

/** Sends the hour's events to the embedded log store, for the organizations that use it. */
async function sendLogs({ plan, setup, deps }: SoakContext, hour: number): Promise<void> {
  for (const [org, orgId] of setup.orgIds.entries()) {
    if (!usesLogStore(plan, org)) continue;
    const rules = plan.rules.filter((rule) => rule.org === org);
    const events: object[] = listSentHours(plan, hour).flatMap((sent) =>
      rules.flatMap((rule) => listEvents(plan.timeline, rule, sent)),
    );
    events.push(driftedEvent(plan.timeline, hour));
    const lines = events.map((event) => JSON.stringify(event));
    if (lines.length > 0) await receiveLogs(deps, orgId, { dataset: 'soak', body: Buffer.from(lines.join('\n')) });
  }
}

/** Returns the hours whose events are sent at the start of `hour`: usually its own. */
function listSentHours({ catchUps }: SoakPlan, hour: number): number[] {
  const isHeld = catchUps.some(({ from, to }) => hour >= from && hour < to);
  const released = catchUps.filter(({ until }) => until === hour);
  const late = released.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, n) => from + n));
  return isHeld ? late : [...late, hour];
}

async function waitForHour({ deps }: SoakContext, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline) {
    if (isHourDone(await readRemainingWork(deps.db, deps.clock()))) return;
    await sleep(pollMs);
  }
}

/** Returns whether no work is left at all. Waits for runs that are paused after a failed attempt. */
async function isOver({ deps, plan }: SoakContext): Promise<boolean> {
  const deadline = performance.now() + plan.options.waitMs;
  for (;;) {
    const work = await readRemainingWork(deps.db, deps.clock());
    if (isEverythingDone(work)) return true;
    if (work.waiting === 0 || performance.now() >= deadline) return false;
    await sleep(pollMs);
  }
}
