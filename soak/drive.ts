import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '../src/app/deps.ts';
import { deleteDetection, restoreDetection } from '../src/detection/detections/life-cycle.ts';
import { updateDetection } from '../src/detection/detections/update-detection.ts';
import { receiveLogs } from '../src/detection/logs/ingestion/receive-logs.ts';
import type { SoakModel } from './model.ts';
import type { Plan } from './plan.ts';
import { isLocal, type Made } from './setup.ts';
import type { Siem } from './siem.ts';
import { isAllDone, isHourDone, whatIsLeft } from './state.ts';
import type { Workers } from './workers.ts';
import { eventsOf, hourAt } from './world.ts';

export type Cast = {
  plan: Plan;
  made: Made;
  deps: Deps;
  leap: (to: Date) => void;
  siem: Siem;
  model: SoakModel;
  workers: Workers;
  say: (text: string) => void;
};

const pollMs = 100;
/** Hours that may follow the last planned one until nothing is left to do; each has its work done before the next comes. */
const codaHours = 120;
const codaWaitMs = 1_800_000;

/** Lets the hours go by, each as soon as the work of the one before is done or was waited for long enough. Answers the last hour, and the mean load of the machine. */
export async function driveHours(cast: Cast): Promise<{ lastHour: number; load: number }> {
  const { plan, deps } = cast;
  let loads = 0;
  const { hours } = plan.world;
  await sendLogs(cast, 0);
  for (let hour = 1; hour <= hours + codaHours; hour += 1) {
    await beginHour(cast, hour);
    await waitForHour(cast, hour >= hours ? codaWaitMs : plan.options.waitMs);
    if (hour % 24 === 0) cast.say(`day ${hour / 24}: ${JSON.stringify(await whatIsLeft(deps.db, deps.clock()))}`);
    loads += loadavg()[0] ?? 0;
    if (hour >= hours && (await isOver(cast))) return { lastHour: hour, load: loads / hour };
  }
  throw new Error(`The work is not done ${codaHours} hours after the last planned one.\n${cast.workers.stderr()}`);
}

async function beginHour(cast: Cast, hour: number): Promise<void> {
  const { plan, siem, model, workers } = cast;
  const now = hourAt(plan.world, hour);
  Object.assign(siem, { hour });
  Object.assign(model, { hour });
  cast.leap(now);
  workers.leap(now, hour);
  for (const { worker } of plan.kills.filter((kill) => kill.hour === hour))
    setTimeout(() => workers.kill(worker), (hour * 37) % 500);
  for (const change of plan.changes.filter((one) => one.hour === hour)) await makeChange(cast, change);
  await sendLogs(cast, hour);
}

async function makeChange({ plan, made, deps }: Cast, { rule, what }: Plan['changes'][number]): Promise<void> {
  const [caller, id] = [made.caller(plan.rules[rule]!.org), made.ids[rule]!];
  if (what === 'enable') await updateDetection(deps, caller, { id, input: { enabled: true } });
  else await (what === 'delete' ? deleteDetection : restoreDetection)(deps, caller, id);
}

/** What happens in this hour, to those organizations whose logs are kept here. */
async function sendLogs({ plan, made, deps }: Cast, hour: number): Promise<void> {
  for (const [org, orgId] of made.orgIds.entries()) {
    if (!isLocal(plan, org)) continue;
    const rules = plan.rules.filter((rule) => rule.org === org);
    const lines = rules.flatMap((rule) => eventsOf(plan.world, rule, hour)).map((event) => JSON.stringify(event));
    if (lines.length > 0) await receiveLogs(deps, orgId, { dataset: 'soak', body: Buffer.from(lines.join('\n')) });
  }
}

async function waitForHour({ deps }: Cast, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline) {
    if (isHourDone(await whatIsLeft(deps.db, deps.clock()))) return;
    await sleep(pollMs);
  }
}

/** Nothing is left at all; what pauses after a failed attempt has some time for it. */
async function isOver({ deps, plan }: Cast): Promise<boolean> {
  const deadline = performance.now() + plan.options.waitMs;
  for (;;) {
    const left = await whatIsLeft(deps.db, deps.clock());
    if (isAllDone(left)) return true;
    if (left.waiting === 0 || performance.now() >= deadline) return false;
    await sleep(pollMs);
  }
}
