import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../fuzz/random.ts';
import { until } from '../test/support/program.ts';
import { checkOrganization, readRemainingWork, type CheckedCounts } from './check.ts';
import { faultKinds, lanes, type FaultKind } from './fault-kinds.ts';
import type { FaultOptions } from './options.ts';
import { startWorld, type World } from './world.ts';
import { createDetections, hourAt, sendHour } from './workload.ts';

export type FaultFindings = {
  options: FaultOptions;
  seconds: number;
  hours: number;
  rounds: number;
  /** How often each kind was injected. */
  injected: ReadonlyMap<string, number>;
  /** Why kinds could not be injected. */
  skipped: ReadonlyMap<string, string>;
  counts: CheckedCounts;
  /** The seconds after the last fault of each round until all work was done. */
  recoverySeconds: number[];
  deviations: string[];
};

type FaultState = { injected: Map<string, number>; lanes: { kinds: FaultKind[]; random: Random }[] };

const hourMinMs = 1000;
const pauseMaxMs = 1500;
/** Slots are at full hours. */
const minutesMax = 55;
const recoveryHoursMax = 6;
const recoveryMaxMs = 300_000;

/** Injects faults under load in rounds, each of which ends with a check. `dir` is an empty directory, which is removed. */
export async function runFaults(
  dir: string,
  options: FaultOptions,
  report: (text: string) => void,
): Promise<FaultFindings> {
  const startMs = performance.now();
  const world = await startWorld(dir, options);
  const skipped = new Map(
    faultKinds.flatMap(({ name, findObstacle }) => {
      const obstacle = findObstacle?.(world);
      return obstacle === undefined ? [] : [[name, obstacle] as const];
    }),
  );
  const possible = faultKinds.filter(({ name }) => !skipped.has(name));
  const state: FaultState = {
    injected: new Map(),
    lanes: lanes.map((lane, index) => ({
      kinds: possible.filter((kind) => kind.lane === lane),
      random: createRandom(options.seed * lanes.length + index),
    })),
  };
  const later = new Map(world.organizations.map(({ id }) => [id as string, [] as string[]]));
  const found = { deviations: [] as string[], recoverySeconds: [] as number[], rounds: 0 };
  let counts: CheckedCounts = { events: 0, writes: 0, windows: 0, hits: 0 };
  let hours = 0;
  /** The hours whose events were sent. */
  const sent: number[] = [];
  const isOver = (): boolean =>
    countFaults(state) >= options.faultsMax || performance.now() - startMs >= options.secondsMax * 1000;
  try {
    for (const org of world.organizations) org.detections = await createDetections(world.cluster, org.key, options);
    report(`the service works after ${Math.round((performance.now() - startMs) / 1000)} s`);
    while (found.deviations.length === 0 && (found.rounds === 0 || !isOver())) {
      const last = hours + options.hoursPerRound;
      const faults = injectFaults(world, state, isOver);
      while (hours < last) {
        const sending = world.organizations.map(async ({ id, key }) => {
          if (hours > 0) later.get(id)!.push(await sendHour(world.cluster, key, options, hours));
        });
        await Promise.all([...sending, sleep(hourMinMs)]);
        if (hours > 0) sent.push(hours);
        hours += 1;
        world.cluster.setTime(hourAt(hours));
      }
      await faults.stop();
      const healedMs = performance.now();
      hours = await recover(world, hours);
      found.recoverySeconds.push((performance.now() - healedMs) / 1000);
      counts = { events: 0, writes: 0, windows: 0, hits: 0 };
      for (const org of world.organizations) {
        const checked = await checkOrganization(world, org, { slots: hours, sent, later }, options);
        found.deviations.push(...checked.deviations);
        counts = addCounts(counts, checked.counts);
      }
      found.rounds += 1;
      report(`round ${found.rounds}: ${countFaults(state)} faults, ${found.deviations.length} deviations, recovered in ${found.recoverySeconds.at(-1)!.toFixed(1)} s`); // prettier-ignore
    }
  } finally {
    const exits = await world.stop();
    if (exits.some((code) => code !== 0)) found.deviations.push(`processes ended with ${exits.join(', ')}`);
  }
  const seconds = (performance.now() - startMs) / 1000;
  return { options, seconds, hours, injected: state.injected, skipped, counts, ...found };
}

const countFaults = ({ injected }: FaultState): number => [...injected.values()].reduce((sum, n) => sum + n, 0);

const addCounts = (a: CheckedCounts, b: CheckedCounts): CheckedCounts => ({
  events: a.events + b.events,
  writes: a.writes + b.writes,
  windows: a.windows + b.windows,
  hits: a.hits + b.hits,
});

/** Injects faults in all lanes until `stop`, which resolves when the causes of all of them are removed. */
function injectFaults(world: World, state: FaultState, isOver: () => boolean): { stop: () => Promise<void> } {
  const stopped = new AbortController();
  const running = state.lanes.map(async ({ kinds, random }) => {
    while (!stopped.signal.aborted && !isOver()) {
      await sleep(random.int(pauseMaxMs));
      const kind = pickKind(kinds, random);
      if (await kind.inject(world, random)) state.injected.set(kind.name, (state.injected.get(kind.name) ?? 0) + 1);
    }
  });
  // A fault that cannot be injected ends the run, when it is stopped.
  const ended = Promise.allSettled(running);
  return {
    stop: async () => {
      stopped.abort();
      for (const result of await ended) if (result.status === 'rejected') throw result.reason;
    },
  };
}

function pickKind(kinds: readonly FaultKind[], random: Random): FaultKind {
  let rest = random.int(kinds.reduce((sum, { weight }) => sum + weight, 0));
  return kinds.find(({ weight }) => (rest -= weight) < 0)!;
}

/**
 * Waits until all work is done, while the clock goes on. Windows of a failed run wait for the next slot, so that it may take some slots. Returns
 * the hour of the last one. Nobody helps the processes.
 */
async function recover(world: World, lastHour: number): Promise<number> {
  let hour = lastHour;
  let minutes = 0;
  let left = '';
  const look = async (): Promise<boolean> => {
    minutes += 1;
    try {
      const { runs, ...work } = await readRemainingWork(world, hour);
      left = JSON.stringify({ hour, runs, ...work });
      const isIdle = runs === 0 && world.cluster.isComplete();
      if (isIdle && Object.values(work).every((n) => n === 0)) return true;
      if (isIdle && work['slots'] === 0 && minutes > minutesMax && hour < lastHour + recoveryHoursMax) {
        hour += 1;
        minutes = 0;
      }
    } catch (error) {
      left = String(error);
    }
    world.cluster.setTime(new Date(hourAt(hour).getTime() + Math.min(minutes, minutesMax) * 60_000));
    return false;
  };
  const describe = (): string => `not recovered: ${left}\n${world.cluster.stderr()}`;
  await until(look, describe, () => false, recoveryMaxMs);
  return hour;
}
