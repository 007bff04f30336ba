import { inOrg, type Tx } from '../../../platform/db/db.ts';
import type { Definition } from '../../detections/record/definition.ts';
import { findDefinition } from '../../detections/history/revisions.store.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { backfillWindowsMax, listFillable, takeGaps, type Cut } from '../../scheduling/gap-windows.store.ts';
import { cutWindows } from '../../scheduling/timeline.ts';
import { rehearsedRun } from '../execution/analysis-definition.ts';
import { examineWindow } from '../execution/examine-window.ts';
import { findDetectionState, findJudgingCost } from '../read-runs.store.ts';
import { insertBackfillRun } from '../requests/request-backfill.store.ts';
import type { SiemConnection } from '../../siem/connector.ts';
import type { RunDeps } from '../run-types.ts';
import type { Backfill, BackfillRequest } from '../runs.schema.ts';

const samplesMax = 5;
const costDaysMs = 30 * 86_400_000;
const estimateMsMax = 60_000;

type Stretch = { from: Date; to: Date };
type Plan = { asked: Stretch; cut: Cut; definition: Definition; connection: SiemConnection };

/** Queues a run that fills the open gaps of a stretch, window by window. 409 without a gap there, or while another backfill of the detection goes on. */
export async function requestBackfill(
  deps: RunDeps,
  caller: Caller,
  detectionId: string,
  input: BackfillRequest,
): Promise<Backfill> {
  const now = deps.clock();
  const runId = uuidv7(now);
  const ref = { orgId: caller.orgId, detectionId };
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const { asked, cut } = await planOf(tx, deps, ref, input);
    const windows = windowsOf(await listFillable(tx, ref, asked, cut), cut);
    const gaps = await takeGaps(tx, ref, { asked, cut, runId, now });
    if (!(await insertBackfillRun(tx, caller, { detectionId, runId, now, windows })))
      throw appError('in_progress', `A backfill of detection ${detectionId} is still going on.`);
    const answer = { runId, gaps: gaps.map(toText), windows: windows.length, estimate: null };
    await insertAudit(tx, caller, {
      action: 'backfill.requested',
      resourceType: 'detection',
      resourceId: detectionId,
      before: null,
      after: answer,
    });
    return answer;
  });
}

/** What a backfill would take, by the query over a few of its windows. Stores nothing. */
export async function estimateBackfill(
  deps: RunDeps,
  caller: Caller,
  detectionId: string,
  input: BackfillRequest,
): Promise<Backfill> {
  const at = deps.clock();
  const ref = { orgId: caller.orgId, detectionId };
  const { gaps, windows, definition, connection, each } = await inOrg(deps.db, caller.orgId, async (tx) => {
    const { asked, cut, definition, connection } = await planOf(tx, deps, ref, input);
    const gaps = await listFillable(tx, ref, asked, cut);
    const each = await findJudgingCost(tx, ref, new Date(at.getTime() - costDaysMs));
    return { gaps, windows: windowsOf(gaps, cut), definition, connection, each };
  });
  const run = rehearsedRun({ ...ref, definition }, { connection, clock: connection.clock, model: '', at });
  const samples = windows.filter((_, n) => n % Math.ceil(windows.length / samplesMax) === 0);
  const signal = AbortSignal.timeout(estimateMsMax);
  let [rows, candidates] = [0, 0];
  for (const window of samples) {
    const { examined } = await examineWindow(deps, run, window, signal);
    rows += examined.rowsTotal;
    candidates += examined.candidates;
  }
  const share = samples.length === 0 ? 0 : windows.length / samples.length;
  const estimate = {
    sampledWindows: samples.length,
    rows: Math.round(rows * share),
    candidates: Math.round(candidates * share),
    costUsd: Math.round(candidates * share * each * 1e6) / 1e6,
  };
  return { runId: null, gaps: gaps.map(toText), windows: windows.length, estimate };
}

async function planOf(
  tx: Tx,
  deps: RunDeps,
  { orgId, detectionId }: { orgId: Caller['orgId']; detectionId: string },
  { from, to }: BackfillRequest,
): Promise<Plan> {
  const asked = { from: new Date(from), to: new Date(to) };
  if (asked.from >= asked.to) throw fieldError('/to', 'out_of_range', 'to must be later than from.');
  const detection = await findDetectionState(tx, orgId, detectionId, true);
  if (!detection) throw appError('not_found', `Detection ${detectionId} not found.`);
  if (detection.deleted) throw appError('conflict', `Detection ${detectionId} is deleted; restore it first.`);
  const definition = await findDefinition(tx, orgId, detectionId);
  if (!definition || definition.cronSchedule === null)
    throw appError('conflict', `Detection ${detectionId} has no schedule, so it has no gaps to fill.`);
  const connection = await deps.connectionFor(orgId, definition, tx);
  return { asked, cut: { cron: definition.cronSchedule, delayMs: connection.delayMs }, definition, connection };
}

function windowsOf(gaps: Stretch[], cut: Cut): Stretch[] {
  const windows = gaps.flatMap((gap) => cutWindows(gap, cut, backfillWindowsMax + 1));
  if (windows.length === 0) throw appError('conflict', 'There is no open gap between from and to.');
  if (windows.length > backfillWindowsMax)
    throw fieldError('/to', 'out_of_range', `A backfill fills at most ${backfillWindowsMax} windows; ask for less.`);
  return windows;
}

const toText = ({ from, to }: Stretch) => ({ from: from.toISOString(), to: to.toISOString() });
