import type { Db } from '../../src/platform/db/db.ts';
import {
  countWrongStatisticDays,
  readRunOutcomes,
  readGaps,
  readStartDelays,
  type StartDelay,
} from './run-statistics.ts';
import { findHitDeviations, readHits } from './check-hits.ts';
import { measureMemoryGrowth, type MemoryGrowth } from './memory-growth.ts';
import type { SoakPlan } from '../plan.ts';
import { usesLogStore, type SoakSetup } from '../create-detections.ts';
import { answerIndex, type ScriptedSiem } from '../scripted-siem.ts';
import { findTimeLineDeviations, isCovered, readTimeLines } from './check-time-lines.ts';
import { listExpectedHits } from './expected-hits.ts';
import { buildHourRecord, readLearnedWindows } from './hour-record.ts';
import { hourStart, hourNumber } from '../scripted-events.ts';
import type { WorkerLife } from '../worker-processes.ts';

/** The state of a soak after its last hour, before the checks. */
export type FinishedSoak = { plan: SoakPlan; setup: SoakSetup; db: Db; siem: ScriptedSiem; lives: WorkerLife[]; lastHour: number; seconds: number; exits: (number | null)[]; load: number }; // prettier-ignore

export type SoakFindings = {
  plan: SoakPlan;
  /** The number of deviations, and a description of the first 30. */
  deviations: { count: number; first: string[] };
  windows: number;
  lastHour: number;
  seconds: number;
  /** The mean load average of the machine. */
  load: number;
  hits: { expected: number; unjudged: number };
  repeatedQueries: number;
  killed: number;
  /** The processor time of all workers. */
  cpuSeconds: number;
  startDelays: (StartDelay & { org: number; detections: number })[];
  outcomes: Awaited<ReturnType<typeof readRunOutcomes>>;
  gaps: Awaited<ReturnType<typeof readGaps>>;
  memory: MemoryGrowth[];
};

const describedMax = 30;

/** Compares the database with the scripted events: time lines, slots, hits, daily statistics, and the workers' memory. */
export async function checkSoak(soak: FinishedSoak): Promise<SoakFindings> {
  const { plan, setup, db, siem, lives, lastHour } = soak;
  const lines = await readTimeLines(db);
  const hits = await readHits(db);
  const learned = await readLearnedWindows(db);
  const [start, end] = [plan.timeline.start, hourStart(plan.timeline, lastHour)];
  const deviations: string[] = [...siem.deviations];
  let [windows, expectedHits, repeatedQueries] = [0, 0, 0];
  for (const rule of plan.rules) {
    const id = setup.ids[rule.index]!;
    const line = lines.get(id);
    const add = (text: string): void => void deviations.push(`detection ${rule.index} (${rule.kind}): ${text}`);
    findTimeLineDeviations(line, start, end).forEach(add);
    if (!line) continue;
    const covered = Array.from({ length: lastHour }, (_, hour) => isCovered(line, hourStart(plan.timeline, hour)));
    windows += covered.filter(Boolean).length;
    const isLocal = usesLogStore(plan, rule.org);
    const record = buildHourRecord({ plan, rule, isLocal }, line, learned.get(id) ?? []);
    record.deviations.forEach(add);
    const expected = listExpectedHits(plan.timeline, rule, record);
    expectedHits += expected.filter(({ isHarmless }) => !isHarmless).length;
    findHitDeviations(expected, hits.get(id) ?? [], (time) => hourNumber(plan.timeline, time)).forEach(add);
    if (isLocal) continue;
    const queryCounts = covered.map((_, hour) => siem.answerCounts[answerIndex(plan, rule.index, hour)]!);
    for (const [hour, isHourCovered] of covered.entries())
      if (isHourCovered && queryCounts[hour] === 0) add(`hour ${hour} is covered but was never queried`);
    repeatedQueries += queryCounts.filter((n) => n > 1).length;
  }
  const memory = measureMemoryGrowth(lives);
  const wrongDays = await countWrongStatisticDays(db);
  if (wrongDays > 0) deviations.push(`the daily statistics of ${wrongDays} days differ from a recount`);
  const outcomes = await readRunOutcomes(db);
  for (const { outcome } of outcomes)
    if (/^(queued|running)/.test(outcome)) deviations.push(`unfinished runs: ${outcome}`);
  for (const one of memory)
    if (!one.isFlat) deviations.push(`the memory of worker ${one.worker} grows: ${JSON.stringify(one)}`);
  if (soak.exits.some((code) => code !== 0)) deviations.push(`worker exit codes: ${soak.exits.join()}`);
  const startDelays = (await readStartDelays(db)).map((delay) => {
    const org = setup.orgIds.findIndex((id) => id === delay.orgId);
    return { ...delay, org, detections: plan.rules.filter((rule) => rule.org === org).length };
  });
  return {
    plan,
    deviations: { count: deviations.length, first: deviations.slice(0, describedMax) },
    windows,
    lastHour,
    seconds: soak.seconds,
    load: soak.load,
    hits: { expected: expectedHits, unjudged: [...hits.values()].flat().filter(({ judged }) => !judged).length },
    repeatedQueries,
    killed: lives.filter(({ isKilled }) => isKilled).length,
    cpuSeconds: lives.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 1000,
    startDelays,
    outcomes,
    gaps: await readGaps(db),
    memory,
  };
}
