import type { Db } from '../src/platform/db/db.ts';
import { countWrongDays, readEnds, readGaps, readLags, type Lag } from './figures.ts';
import { hitFaults, readHits } from './hits.ts';
import { memoryFigures, type MemoryFigure } from './memory.ts';
import type { Plan } from './plan.ts';
import { isLocal, type Made } from './setup.ts';
import { answerAt, type Siem } from './siem.ts';
import { faultsOf, isCovered, readTimeLines } from './time-lines.ts';
import { dueHits } from './truth.ts';
import { hourAt, hourOf } from './world.ts';
import type { Life } from './workers.ts';

/** A soak that has ended. */
export type Ended = { plan: Plan; made: Made; db: Db; siem: Siem; lives: Life[]; lastHour: number; seconds: number; exits: (number | null)[]; load: number }; // prettier-ignore

export type Findings = {
  plan: Plan;
  /** Everything that is not as it had to be, counted, and the first of it in words. */
  faults: { count: number; first: string[] };
  windows: number;
  lastHour: number;
  seconds: number;
  /** Mean load average of the machine. */
  load: number;
  hits: { due: number; unjudged: number };
  askedAgain: number;
  killed: number;
  /** Processor time of all workers. */
  cpuSeconds: number;
  lags: (Lag & { org: number; detections: number })[];
  ends: Awaited<ReturnType<typeof readEnds>>;
  gaps: Awaited<ReturnType<typeof readGaps>>;
  memory: MemoryFigure[];
};

const firstMax = 30;

/** Holds the database against the truth: time lines, slots, hits, roll-up, memory. */
export async function checkSoak(ended: Ended): Promise<Findings> {
  const { plan, made, db, siem, lives, lastHour } = ended;
  const lines = await readTimeLines(db);
  const hits = await readHits(db);
  const [start, end] = [plan.world.start, hourAt(plan.world, lastHour)];
  const faults: string[] = [...siem.faults];
  let [windows, due, askedAgain] = [0, 0, 0];
  for (const rule of plan.rules) {
    const id = made.ids[rule.index]!;
    const line = lines.get(id);
    const say = (text: string): void => void faults.push(`detection ${rule.index} (${rule.kind}): ${text}`);
    faultsOf(line, start, end).forEach(say);
    const covered = Array.from({ length: lastHour }, (_, hour) => line !== undefined && isCovered(line, hourAt(plan.world, hour))); // prettier-ignore
    windows += covered.filter(Boolean).length;
    const demanded = dueHits(plan.world, rule, (hour) => covered[hour] ?? false);
    due += demanded.filter(({ harmless }) => !harmless).length;
    hitFaults(demanded, hits.get(id) ?? [], (at) => hourOf(plan.world, at)).forEach(say);
    if (isLocal(plan, rule.org)) continue;
    const answers = covered.map((_, hour) => siem.answers[answerAt(plan, rule.index, hour)]!);
    covered.forEach((is, hour) => is && answers[hour] === 0 && say(`hour ${hour} is covered and was never asked for`));
    askedAgain += answers.filter((n) => n > 1).length;
  }
  const memory = memoryFigures(lives);
  const wrongDays = await countWrongDays(db);
  if (wrongDays > 0) faults.push(`the roll-up of ${wrongDays} days is not what a recount gives`);
  const ends = await readEnds(db);
  for (const { how } of ends) if (/^(queued|running)/.test(how)) faults.push(`runs are left ${how}`);
  for (const one of memory.filter(({ isFlat }) => !isFlat)) faults.push(`worker ${one.worker} grows: ${JSON.stringify(one)}`); // prettier-ignore
  if (ended.exits.some((code) => code !== 0)) faults.push(`workers ended with ${ended.exits.join()}`);
  const detections = (org: number): number => plan.rules.filter((rule) => rule.org === org).length;
  const lags = (await readLags(db)).map((lag) => {
    const org = made.orgIds.findIndex((id) => id === lag.orgId);
    return { ...lag, org, detections: detections(org) };
  });
  return {
    plan,
    faults: { count: faults.length, first: faults.slice(0, firstMax) },
    windows,
    lastHour,
    seconds: ended.seconds,
    load: ended.load,
    hits: { due, unjudged: [...hits.values()].flat().filter(({ judged }) => !judged).length },
    askedAgain,
    killed: lives.filter(({ isKilled }) => isKilled).length,
    cpuSeconds: lives.reduce((sum, { cpuMs }) => sum + cpuMs, 0) / 1000,
    lags,
    ends,
    gaps: await readGaps(db),
    memory,
  };
}
