import { inOrg, queryRow, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { annotateSpan } from '../../platform/lib/logging/spans.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import {
  findBoundaryBefore,
  listWindowsBefore,
  subtractMs,
  type TimeRange,
  type WindowGrid,
} from '../scheduling/timeline.ts';
import { readInputValues, type AgentInputs } from '../detections/record/input-values.ts';
import { finishRun, type RunKey } from './execution/finish-run.ts';
import { lockDetectionForRun, insertRequestedRun, findRun, type RunRow } from './run-model/runs.store.ts';
import type { RunRequest, RunStarted, Run } from './run-model/runs.schema.ts';
import { lockQueueEntry, requestCancellation } from '../scheduling/run-queue.store.ts';
import { toRunRecord } from './run-model/run-record.ts';

const hourMs = 3_600_000;

/**
 * Queues a manual run over the requested window, on event time. Without one it examines the last complete slot window, or the
 * last complete hour if the detection has no schedule. Throws `in_progress` while a manual run of the detection is queued or
 * running.
 */
export async function requestRun(
  { db, clock }: { db: Db; clock: Clock },
  caller: Caller,
  detectionId: string,
  { customInstructions, inputs: given = {}, ...range }: RunRequest,
): Promise<RunStarted> {
  const requested = parseWindow(range);
  const now = clock();
  const runId = uuidv7(now);
  await inOrg(db, caller.orgId, async (tx) => {
    const detection = await lockDetectionForRun(tx, caller.orgId, detectionId);
    if (detection.suggestion) throw appError('conflict', `Detection ${detectionId} is a suggestion. Accept it first.`);
    const window = requested ?? (await findLastWindow(tx, caller, detectionId, now));
    const onEventTime = requested !== undefined;
    const inputs = readInputValues(JSON.parse(detection.inputs) as AgentInputs, given);
    const run = { detectionId, runId, kind: 'manual' as const, now, window, onEventTime, customInstructions, inputs };
    if (!(await insertRequestedRun(tx, caller, run)))
      throw appError('in_progress', `A manual run of detection ${detectionId} is still in progress.`);
    await insertAudit(tx, caller, {
      action: 'run.requested',
      resourceType: 'detection',
      resourceId: detectionId,
      before: null,
      after: { runId, from: window.from, to: window.to },
    });
  });
  annotateSpan({ 'tocsin.run.id': runId });
  return { runId };
}

function parseWindow({ from, to }: Pick<RunRequest, 'from' | 'to'>): TimeRange | undefined {
  if (from === undefined && to === undefined) return undefined;
  if (from === undefined) throw fieldError('/from', 'required', '`from` is required with `to`.');
  if (to === undefined) throw fieldError('/to', 'required', '`to` is required with `from`.');
  const window = { from: new Date(from), to: new Date(to) };
  if (window.from >= window.to) throw fieldError('/to', 'out_of_range', '`to` must be later than `from`.');
  return window;
}

async function findLastWindow(tx: Tx, { orgId }: Caller, detectionId: string, now: Date): Promise<TimeRange> {
  const grid = await queryRow<WindowGrid>(tx)`
      select cron, delay_ms as "delayMs" from schedules
      where organization_id = ${orgId} and detection_id = ${detectionId} and cron is not null`;
  const end = grid && findBoundaryBefore(subtractMs(now, grid.delayMs), grid);
  const [window] = end ? listWindowsBefore(end, grid, { max: 1 }) : [];
  if (window) return window;
  const hourStartMs = Math.floor(now.getTime() / hourMs) * hourMs;
  return { from: new Date(hourStartMs - hourMs), to: new Date(hourStartMs) };
}

/** Cancels a queued run, or stops a running one at its next step. Throws `conflict` if the run has ended otherwise. */
export async function cancelRun({ db, clock }: { db: Db; clock: Clock }, caller: Caller, id: string): Promise<Run> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const entry = await lockQueueEntry(tx, orgId, id);
    const run = await findRun(tx, orgId, id);
    if (!run) throw appError('not_found', `Run ${id} not found.`);
    if (run.status === 'cancelled' || entry?.cancelRequested) return toRunRecord(run);
    if (!entry) throw appError('conflict', `Run ${id} has already ended with status \`${run.status}\`.`);
    if (entry.state === 'running') await requestCancellation(tx, orgId, id);
    else await finishRun(tx, toRunKey(caller, run), { status: 'cancelled', reason: 'requested' }, clock());
    await insertAudit(tx, caller, {
      action: 'run.cancelled',
      resourceType: 'run',
      resourceId: id,
      before: { status: run.status },
      after: null,
    });
    return toRunRecord((await findRun(tx, orgId, id))!);
  });
}

const toRunKey = ({ orgId }: Caller, { id, detectionId, trigger, dueAt }: RunRow): RunKey => ({
  orgId,
  runId: id,
  detectionId,
  kind: trigger,
  dueAt,
});
