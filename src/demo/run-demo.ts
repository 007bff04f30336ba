import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Deps } from '../app/deps.ts';
import { builtInDetections } from '../detection/built-in/registry.ts';
import type { BuiltInDetection } from '../detection/built-in/built-in-detection.ts';
import { toBuiltInBody, toBuiltInTests } from '../detection/built-in/export-built-in.ts';
import { executeDueRuns } from '../detection/runs/workers/execute-due-runs.ts';
import { findNextSlotAcrossOrgs } from '../detection/scheduling/enqueue-runs.ts';
import type { DemoClient } from './client.ts';
import type { StepClock } from './step-clock.ts';
import { buildDemoFeed } from './demo-feed.ts';
import { splitByDay, sendEvents } from './send-events.ts';
import type { LogEvent } from './company/shapes.ts';
import { readOutcome, type DemoDetection, type DetectionOutcome } from './demo-summary.ts';

const hourMs = 3_600_000;
/** Hours at the end that scheduled windows examine; what lies before is history. */
const liveHours = 36;

export type DemoContext = {
  deps: Deps;
  call: DemoClient;
  time: StepClock;
  dataDir: string;
  print: (line: string) => void;
};

/** When the schedule of the demo begins, for data that ends at `end`. */
export function computeScheduleStart(end: Date): Date {
  return new Date(floorToHour(end).getTime() - liveHours * hourMs);
}

export function floorToHour(at: Date): Date {
  return new Date(Math.floor(at.getTime() / hourMs) * hourMs);
}

/** Loads the past, makes the detections and steps slot time from due slot to due slot up to `end`, through the real scheduler. */
export async function runDetections(
  scene: DemoContext,
  events: LogEvent[],
  given: { end: Date; detections: BuiltInDetection[] },
): Promise<DetectionOutcome[]> {
  const { deps, call, time, print: say } = scene;
  const start = computeScheduleStart(given.end);
  const past = events.filter(({ at }) => at < start);
  // The memory of a first run reads what was there before its window.
  time.set(new Date(start.getTime() - hourMs));
  for (const day of splitByDay(past)) await sendEvents(call, day, true);
  say(`Loaded ${past.length} events of the past.`);
  time.set(start);
  const detected: DemoDetection[] = [];
  for (const shipped of given.detections) detected.push(await create(call, shipped));
  say(`Made ${detected.length} detections; running them slot by slot over the last ${liveHours} hours.`);
  let live = events.slice(past.length);
  for (
    let slot = await findNextSlotAcrossOrgs(deps.db);
    slot && slot <= given.end;
    slot = await findNextSlotAcrossOrgs(deps.db)
  ) {
    // Events of an hour arrive within it: what is published at the slot itself belongs to the next window.
    time.set(new Date(slot.getTime() - 1));
    const due = live.findIndex(({ at }) => at >= slot!);
    await sendEvents(call, live.splice(0, due === -1 ? live.length : due), false);
    time.set(slot);
    await executeDueRuns(deps, slot, { concurrency: deps.config.runsAtOnce });
    const hoursDone = Math.round((slot.getTime() - start.getTime()) / hourMs);
    if (hoursDone % 6 === 0) say(`  ${slot.toISOString().slice(0, 16)}Z  ${hoursDone} of ${liveHours} hours`);
  }
  time.set(given.end);
  await sendEvents(call, live, false);
  live = [];
  const outcomes: DetectionOutcome[] = [];
  for (const one of detected) outcomes.push(await readOutcome(call, one));
  return outcomes;
}

async function create(call: DemoClient, shipped: BuiltInDetection): Promise<DemoDetection> {
  const { id } = await call<{ id: string }>('POST', '/api/detections', toBuiltInBody(shipped));
  await call('PUT', `/api/detections/${id}/tests`, toBuiltInTests(shipped));
  return { id, shippedId: shipped.id, name: shipped.name, category: shipped.category };
}

/** Writes the demo's feed files and fills the feed from them. */
export async function loadFeed({ call, dataDir, print: say }: DemoContext, end: Date): Promise<void> {
  for (const { kind, name, publisher, fileName, text } of buildDemoFeed(end)) {
    const path = join(dataDir, fileName);
    writeFileSync(path, text);
    const source = await call<{ id: string }>('POST', '/api/feed/sources', {
      kind,
      name,
      publisher,
      url: `file://${path}`,
      tlp: 'CLEAR',
    });
    const { added } = await call<{ added: number }>('POST', `/api/feed/sources/${source.id}/pull`);
    say(`Feed source "${name}": ${added} items.`);
  }
}

/** The shipped detections that read one of these datasets. */
export function selectDetections(datasets: Set<string>): BuiltInDetection[] {
  return Object.values(builtInDetections).filter((shipped: BuiltInDetection) =>
    [shipped.dataset, ...(shipped.alsoReads ?? [])].every((name) => datasets.has(name)),
  );
}
