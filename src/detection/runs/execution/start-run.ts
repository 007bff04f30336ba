import { builtInAliases, type Models } from '../../../platform/models/models.ts';
import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { lookbackMs, minLookbackMs } from '../../../platform/lib/time/cron.ts';
import { computeGeneration } from '../../analysis/category-tuning.ts';
import type { ConnectionFor } from '../../connections/open-connection.ts';
import type { Definition } from '../../detections/record/detection-record.ts';
import { listPendingWindows } from '../../scheduling/coverage.store.ts';
import { listMatchedWindows } from '../../continuous/matched-windows.store.ts';
import { expireWindows } from '../../scheduling/gaps.store.ts';
import type { RunClaim } from '../../scheduling/run-claim.ts';
import { subtractMs, type SlotWindow } from '../../scheduling/timeline.ts';
import type { SiemConnection } from '../../siem/connector.ts';
import { emptyVerdictStats } from '../../verdicts/investigation/score.ts';
import { listBackfillWindows } from './backfill-windows.store.ts';
import { toAnalysisDefinition, type ActiveRun } from '../run-model/active-run.ts';
import type { WindowTask } from '../run-model/search-window.ts';
import {
  addWarning,
  noneSuppressed,
  type ExaminedWindow,
  type RunProgress,
  type SuppressedCounts,
} from '../run-model/run-progress.ts';
import { markOnEventTime, markRunning, pendingWindowLimit, windowsMax, type StartedRunRow } from './start-run.store.ts';

export type StartRunDeps = { db: Db; clock: Clock; connectionFor: ConnectionFor; models?: Models };

/** Why a run is cancelled instead of executed. */
export type CancelReason = 'requested' | 'deleted' | 'disabled' | 'superseded';

export type StartedRun = {
  run: ActiveRun;
  /** Up to `windowsMax` windows to examine, and one more if others are left. */
  pending: WindowTask[];
  hasPendingCandidates: boolean;
  hasRaisedCandidates: boolean;
  cancelReason: CancelReason | null;
};

/**
 * Starts an attempt in one fenced transaction. The first pins the definition. Windows beyond the look-back become gaps. A run that waited to be
 * judged has no windows left, and is judged even if its detection has become inactive.
 */
export async function startRun(deps: StartRunDeps, claim: RunClaim): Promise<StartedRun> {
  const now = deps.clock();
  return inOrg(deps.db, claim.orgId, async (tx) => {
    const row = await markRunning(tx, claim, { now, names: deps.models?.names ?? {} });
    const definition = JSON.parse(row.definition) as Definition;
    const connection = await deps.connectionFor(claim.orgId, definition, tx);
    if (connection.clock === 'event' && !row.onEventTime) await markOnEventTime(tx, claim);
    const run = toActiveRun(deps, claim, { row, definition, connection });
    const { hasPendingCandidates, hasRaisedCandidates } = row;
    const started: StartedRun = { run, pending: [], hasPendingCandidates, hasRaisedCandidates, cancelReason: null };
    if (row.cancelRequested) return { ...started, cancelReason: 'requested' };
    if (claim.phase === 'judge') return started;
    const inactiveReason = findInactiveReason(row, definition);
    // A run that examined windows before its detection became inactive ends normally with these results.
    const hasResults = run.progress.windows.length > 0;
    if (inactiveReason && !hasResults) return { ...started, cancelReason: inactiveReason };
    const pending = inactiveReason ? [] : await listWindowTasks(tx, run, { row, now });
    const hasWork = pending.length > 0 || hasPendingCandidates || hasResults;
    const isSuperseded = row.trigger === 'schedule' && claim.resumed && !hasWork;
    return { ...started, pending, cancelReason: isSuperseded ? 'superseded' : null };
  });
}

function findInactiveReason(row: StartedRunRow, { continuous }: Definition): CancelReason | null {
  if (row.deleted) return 'deleted';
  if (row.trigger === 'continuous' && continuous !== true) return 'disabled';
  return ['schedule', 'continuous'].includes(row.trigger) && !row.active ? 'disabled' : null;
}

async function listWindowTasks(
  tx: Tx,
  run: ActiveRun,
  { row, now }: { row: StartedRunRow; now: Date },
): Promise<WindowTask[]> {
  switch (run.trigger) {
    case 'schedule':
      return listReachableWindows(tx, run, { row, now });
    case 'backfill':
      return listBackfillWindows(tx, run, now, windowsMax + 1);
    case 'response':
    case 'request':
      return [];
    case 'manual': {
      const { windowFrom: from, windowTo: to } = run;
      const isExamined = run.progress.windows.length > 0;
      return isExamined || !from || !to ? [] : [{ from, to }];
    }
    case 'continuous':
      return listMatchedWindows(tx, run, windowsMax + 1);
  }
}

async function listReachableWindows(
  tx: Tx,
  run: ActiveRun,
  { row, now }: { row: StartedRunRow; now: Date },
): Promise<SlotWindow[]> {
  const pending = row.pending.map(({ from, to, slotAt }) => ({
    from: new Date(from),
    to: new Date(to),
    slotAt: new Date(slotAt),
  }));
  if (!pending[0] || pending[0].slotAt >= subtractMs(now, minLookbackMs(row.lookbackMinutes))) return pending;
  const before = subtractMs(now, lookbackMs(run.definition.cronSchedule, row.lookbackMinutes));
  await expireWindows(tx, [{ organizationId: run.orgId, detectionId: run.detectionId, before }], now);
  return listPendingWindows(tx, run, pendingWindowLimit(run.claim));
}

/** Returns a claimed run with its definition and the progress of earlier attempts. */
export function toActiveRun(
  { models }: Pick<StartRunDeps, 'models'>,
  claim: RunClaim,
  { row, definition, connection }: { row: StartedRunRow; definition: Definition; connection: SiemConnection },
): ActiveRun {
  const analysis = toAnalysisDefinition(definition, connection);
  const { orgId, detectionId } = claim;
  const alias = definition.modelAlias;
  const model = models?.names[alias] ?? (builtInAliases.includes(alias) ? 'analyst' : alias);
  const progress = parseProgress(row);
  if (model === 'analyst' && row.customInstructions !== null)
    addWarning(progress, 'instructions_unused', 'The built-in analyst ignores custom instructions.');
  const { trigger, slotAt, startedAt, windowFrom, windowTo, customInstructions, elapsedMs, tokens, costUsd } = row;
  return {
    claim,
    orgId,
    id: claim.runId,
    detectionId,
    trigger,
    slotAt,
    startedAt,
    windowFrom,
    windowTo,
    clock: row.onEventTime ? 'event' : connection.clock,
    coverageFrom: row.coverageFrom,
    groupsEvents: false,
    connection,
    definition,
    analysis,
    scope: { orgId, detectionId, generation: computeGeneration(analysis) },
    model,
    customInstructions,
    event: row.event === null ? null : (JSON.parse(row.event) as ActiveRun['event']),
    propose: null,
    spent: { tokens, costUsd },
    elapsedMs,
    progress,
  };
}

function parseProgress(row: StartedRunRow): RunProgress {
  return {
    windows: JSON.parse(row.windows) as ExaminedWindow[],
    entities: JSON.parse(row.entities) as RunProgress['entities'],
    warnings: JSON.parse(row.warnings) as RunProgress['warnings'],
    phases: JSON.parse(row.phases) as RunProgress['phases'],
    judging: { ...emptyVerdictStats, ...(JSON.parse(row.judging) as Partial<RunProgress['judging']>) },
    suppressed: { ...noneSuppressed, ...(JSON.parse(row.suppressed) as Partial<SuppressedCounts>) },
  };
}
