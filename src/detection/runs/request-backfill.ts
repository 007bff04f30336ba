import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { annotateSpan } from '../../platform/lib/logging/spans.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import type { ConnectionFor } from '../connections/open-connection.ts';
import { findDefinition } from '../detections/history/history.store.ts';
import type { Definition } from '../detections/record/detection-record.ts';
import { backfillWindowsMax, claimGaps, listFillableRanges } from '../scheduling/fill-gaps.store.ts';
import { type DetectionKey, splitIntoWindows, type TimeRange, type WindowGrid } from '../scheduling/timeline.ts';
import type { SiemConnection } from '../siem/connector.ts';
import { lockDetectionForRun, findJudgingCost, insertRequestedRun } from './run-model/runs.store.ts';
import { examineWindow } from './execution/examine-window.ts';
import { runStep } from './run-model/run-progress.ts';
import { createTrialRun } from './run-model/active-run.ts';
import type { Backfill, BackfillRequest } from './run-model/runs.schema.ts';

export type BackfillDeps = { db: Db; clock: Clock; connectionFor: ConnectionFor };

const samplesMax = 5;
const costPeriodMs = 30 * 86_400_000;
const estimateMsMax = 60_000;

type BackfillPlan = { range: TimeRange; grid: WindowGrid; definition: Definition; connection: SiemConnection };

/**
 * Queues a run that fills the open gaps of a range, window by window. Throws `conflict` if the range has no open gap, and
 * `in_progress` while a backfill of the detection is queued or running.
 */
export async function requestBackfill(
  deps: BackfillDeps,
  caller: Caller,
  detectionId: string,
  request: BackfillRequest,
): Promise<Backfill> {
  const now = deps.clock();
  const runId = uuidv7(now);
  const detection = { orgId: caller.orgId, detectionId };
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const { range, grid } = await planBackfill(tx, deps, detection, request);
    const windows = splitGaps(await listFillableRanges(tx, detection, range, grid), grid);
    const gaps = await claimGaps(tx, detection, { range, grid, runId, now });
    const window = { from: windows[0]!.from, to: windows.at(-1)!.to };
    if (!(await insertRequestedRun(tx, caller, { detectionId, runId, kind: 'backfill', now, window })))
      throw appError('in_progress', `A backfill of detection ${detectionId} is still in progress.`);
    const backfill = { runId, gaps: gaps.map(toText), windows: windows.length, estimate: null };
    await insertAudit(tx, caller, {
      action: 'backfill.requested',
      resourceType: 'detection',
      resourceId: detectionId,
      before: null,
      after: backfill,
    });
    annotateSpan({ 'tocsin.run.id': runId });
    return backfill;
  });
}

/** Estimates the rows, candidates and cost of a backfill by running its query over a sample of its windows. Stores nothing. */
export async function estimateBackfill(
  deps: BackfillDeps,
  caller: Caller,
  detectionId: string,
  request: BackfillRequest,
): Promise<Backfill> {
  const now = deps.clock();
  const detection = { orgId: caller.orgId, detectionId };
  const plan = await inOrg(deps.db, caller.orgId, async (tx) => {
    const { range, grid, definition, connection } = await planBackfill(tx, deps, detection, request);
    const gaps = await listFillableRanges(tx, detection, range, grid);
    const candidateUsd = await findJudgingCost(tx, detection, new Date(now.getTime() - costPeriodMs));
    return { gaps, windows: splitGaps(gaps, grid), definition, connection, candidateUsd };
  });
  const { gaps, windows, definition, connection, candidateUsd } = plan;
  const run = createTrialRun({ ...detection, definition }, { connection, clock: connection.clock, model: '', at: now });
  const samples = windows.filter((_, index) => index % Math.ceil(windows.length / samplesMax) === 0);
  const signal = AbortSignal.timeout(estimateMsMax);
  let rows = 0;
  let candidates = 0;
  for (const window of samples) {
    const { examined } = await runStep(run, examineWindow(deps, run, window, signal));
    rows += examined.rowsTotal;
    candidates += examined.candidates;
  }
  const factor = windows.length / samples.length;
  const estimate = {
    sampledWindows: samples.length,
    rows: Math.round(rows * factor),
    candidates: Math.round(candidates * factor),
    costUsd: candidateUsd === null ? null : Math.round(candidates * factor * candidateUsd * 1e6) / 1e6,
  };
  return { runId: null, gaps: gaps.map(toText), windows: windows.length, estimate };
}

async function planBackfill(
  tx: Tx,
  { connectionFor }: BackfillDeps,
  { orgId, detectionId }: DetectionKey,
  request: BackfillRequest,
): Promise<BackfillPlan> {
  const range = { from: new Date(request.from), to: new Date(request.to) };
  if (range.from >= range.to) throw fieldError('/to', 'out_of_range', '`to` must be later than `from`.');
  await lockDetectionForRun(tx, orgId, detectionId);
  const definition = await findDefinition(tx, orgId, detectionId);
  if (!definition || definition.cronSchedule === null)
    throw appError('conflict', `Detection ${detectionId} has no schedule and therefore no gaps to fill.`);
  const connection = await connectionFor(orgId, definition, tx);
  return { range, grid: { cron: definition.cronSchedule, delayMs: connection.delayMs }, definition, connection };
}

/** Splits gaps into windows. Throws if there is none or if there are more than a backfill may fill. */
function splitGaps(gaps: TimeRange[], grid: WindowGrid): TimeRange[] {
  const windows = gaps.flatMap((gap) => splitIntoWindows(gap, grid, backfillWindowsMax + 1));
  if (windows.length === 0) throw appError('conflict', 'There is no open gap between `from` and `to`.');
  if (windows.length > backfillWindowsMax)
    throw fieldError(
      '/to',
      'out_of_range',
      `A backfill fills at most ${backfillWindowsMax} windows. Request a shorter range.`,
    );
  return windows;
}

const toText = ({ from, to }: TimeRange) => ({ from: from.toISOString(), to: to.toISOString() });
