import { forgetAgentRunsAcrossOrgs } from '../../agents/runs/agent-run-retention.store.ts';
import { acrossOrgs, type Tx } from '../db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { forgetHitsAcrossOrgs } from '../../detection/hits/hit-retention.store.ts';
import { loop } from '../lib/loop.ts';
import { forgetLogsAcrossOrgs } from '../../detection/logs/storage/log-retention.store.ts';
import {
  forgetMemoryAcrossOrgs,
  forgetRowsAcrossOrgs,
  forgetRunsAcrossOrgs,
} from '../../detection/runs/run-retention.store.ts';
import { expireGapsAcrossOrgs } from '../../detection/scheduling/gap-windows.store.ts';

type KeepingDeps = Pick<Deps, 'db' | 'clock' | 'config' | 'log'>;

const dayMs = 86_400_000;
const atOnce = 5000;
// Weekly detections look back 26 weeks.
const memoryDays = 190;

/** Removes what is older than its setting, by slot time, once an hour and until nothing is left to remove. */
export function keepingLoop(deps: KeepingDeps, signal: AbortSignal): Promise<void> {
  return loop({ name: 'keeping', idleMs: 3_600_000, signal, log: deps.log }, () => forgetOld(deps));
}

/** One step of it, each kind in a transaction of its own; answers whether there is more. */
export async function forgetOld({ db, clock, config }: KeepingDeps): Promise<boolean> {
  const now = clock();
  const { rowsDays, hitsDays, runsDays, logsDays } = config.keep;
  const before = (days: number): Date => new Date(now.getTime() - days * dayMs);
  const steps: ((tx: Tx) => Promise<number>)[] = [
    (tx) => forgetRowsAcrossOrgs(tx, before(rowsDays), atOnce),
    (tx) => forgetHitsAcrossOrgs(tx, before(hitsDays), atOnce),
    (tx) => forgetRunsAcrossOrgs(tx, before(runsDays), atOnce),
    (tx) => forgetAgentRunsAcrossOrgs(tx, before(runsDays), atOnce),
    (tx) => forgetMemoryAcrossOrgs(tx, before(memoryDays), atOnce),
    (tx) => forgetLogsAcrossOrgs(tx, before(logsDays)).then(() => 0),
    (tx) => expireGapsAcrossOrgs(tx, before(logsDays), now).then(() => 0),
  ];
  let more = false;
  for (const step of steps) if ((await acrossOrgs(db, step)) >= atOnce) more = true;
  return more;
}
