import { noJudging } from '../../verdicts/model/model-score.ts';
import { builtInAliases } from '../../../platform/models/models.ts';
import { generationOf } from '../../analysis/analysis-definition.ts';
import { inOrgByKey, type Tx } from '../../../platform/db/db.ts';
import type { Definition } from '../../detections/record/definition.ts';
import type { Claim } from '../../scheduling/claim-runs.store.ts';
import { lookbackLeastMs, lookbackMs } from '../../../platform/lib/cron/cron-intervals.ts';
import { expireWindows } from '../../scheduling/coverage-reach.store.ts';
import type { SiemConnection } from '../../siem/connector.ts';
import { reachesBackTo, type SlotWindow } from '../../scheduling/timeline.ts';
import { listPendingWindows } from '../../scheduling/coverage.store.ts';
import { analysisOf } from './analysis-definition.ts';
import { markOnEventTime, markRunning, upTo, windowsMax, type Begun } from './begin-run.store.ts';
import type { WindowTask } from './examine-window.ts';
import { listLateWindows } from '../backfill/late-windows.ts';
import {
  noneSuppressed,
  warn,
  type Suppressed,
  type ExaminedWindow,
  type Progress,
  type Run,
  type RunDeps,
} from '../run-types.ts';

/** Why there is nothing to execute: the run is to be cancelled for this reason. */
export type Refusal = 'requested' | 'deleted' | 'disabled' | 'superseded';

export type Beginning = { run: Run; pending: WindowTask[]; leftovers: boolean; refusal: Refusal | null };

/**
 * First step of an attempt, in one fenced transaction: the run shows as running, its first attempt pins the definition's
 * revision, windows beyond the look-back become gaps. `pending`: up to `windowsMax` windows, and one more if more are left.
 */
export async function beginRun(deps: RunDeps, claim: Claim): Promise<Beginning> {
  const now = deps.clock();
  return inOrgByKey(deps.db, claim.orgId, async (tx) => {
    const begun = await markRunning(tx, claim, { now, names: deps.models?.names ?? {} });
    const { cancel } = begun;
    const definition = JSON.parse(begun.definition) as Definition;
    const connection = await deps.connectionFor(claim.orgId, definition, tx);
    if (connection.clock === 'event' && !begun.on_event_time) await markOnEventTime(tx, claim);
    const run = toRun(deps, claim, { begun, definition, connection });
    const gone = goneOf(begun);
    // A run that had begun to examine before its detection went off ends in good order with what it has.
    const hasResults = run.progress.windows.length > 0;
    if (cancel || (gone && !hasResults))
      return { run, pending: [], leftovers: false, refusal: cancel ? 'requested' : gone };
    const pending = gone ? [] : await windowsFor(tx, run, { begun, now });
    const idle = pending.length === 0 && !begun.leftovers && !hasResults;
    const superseded = begun.trigger === 'schedule' && claim.resumed && idle;
    return { run, pending, leftovers: begun.leftovers, refusal: superseded ? 'superseded' : null };
  });
}

function goneOf(begun: Begun): Refusal | null {
  if (begun.deleted) return 'deleted';
  return begun.trigger === 'schedule' && !begun.active ? 'disabled' : null;
}

function windowsFor(tx: Tx, run: Run, at: { begun: Begun; now: Date }): Promise<WindowTask[]> {
  if (run.trigger === 'schedule') return reachableWindows(tx, run, at.begun, at.now);
  if (run.trigger === 'backfill') return listLateWindows(tx, run, at.now, windowsMax + 1);
  return Promise.resolve([]);
}

async function reachableWindows(tx: Tx, run: Run, begun: Begun, now: Date): Promise<SlotWindow[]> {
  const pending = begun.pending.map(({ from, to, slotAt }) => ({
    from: new Date(from),
    to: new Date(to),
    slotAt: new Date(slotAt),
  }));
  if (!pending[0] || pending[0].slotAt >= reachesBackTo(now, lookbackLeastMs(begun.lookback_minutes))) return pending;
  const before = reachesBackTo(now, lookbackMs(run.definition.cronSchedule, begun.lookback_minutes));
  await expireWindows(tx, [{ organizationId: run.orgId, detectionId: run.detectionId, before }], now);
  return listPendingWindows(tx, run, upTo(run.claim));
}

type Found = { begun: Begun; definition: Definition; connection: SiemConnection };

function toRun(deps: RunDeps, claim: Claim, { begun, definition, connection }: Found): Run {
  const analysis = analysisOf(definition, connection);
  const { orgId, detectionId } = claim;
  const alias = definition.modelAlias;
  const model = deps.models?.names[alias] ?? (builtInAliases.includes(alias) ? 'analyst' : alias);
  const progress = progressOf(begun);
  if (model === 'analyst' && begun.custom_instructions !== null)
    warn(progress, 'instructions_unused', 'The built-in analyst reads no instructions.');
  return {
    claim,
    orgId,
    id: claim.runId,
    detectionId,
    trigger: begun.trigger,
    slotAt: begun.slot_at,
    startedAt: begun.started_at,
    windowFrom: begun.window_from,
    windowTo: begun.window_to,
    clock: begun.on_event_time ? 'event' : connection.clock,
    connection,
    definition,
    analysis,
    scope: { orgId, detectionId, generation: generationOf(analysis) },
    model,
    customInstructions: begun.custom_instructions,
    spent: { tokens: begun.tokens, costUsd: begun.cost_usd },
    elapsedMs: begun.elapsed_ms,
    progress,
  };
}

function progressOf(begun: Begun): Progress {
  return {
    windows: JSON.parse(begun.windows) as ExaminedWindow[],
    entities: JSON.parse(begun.entities) as Progress['entities'],
    warnings: JSON.parse(begun.warnings) as Progress['warnings'],
    phases: JSON.parse(begun.phases) as Progress['phases'],
    judging: { ...noJudging, ...(JSON.parse(begun.judging) as Partial<Progress['judging']>) },
    suppressed: { ...noneSuppressed, ...(JSON.parse(begun.suppressed) as Partial<Suppressed>) },
  };
}
