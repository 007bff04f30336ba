import { type Db, inOrg, queryRow, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { annotateSpan } from '../../platform/lib/logging/spans.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { requireScopes } from '../../platform/orgs/credentials.ts';
import { auditAgent } from '../detections/read-detections.ts';
import { type ModelAliases, requireModelAlias } from '../detections/record/build-detection.ts';
import { type AgentInputs, readInputValues } from '../detections/record/input-values.ts';
import { findHit } from '../hits/read-hits.store.ts';
import { lockResponseAgent } from '../response-agents/response-agents.ts';
import { lockQueueEntry, requestCancellation } from '../scheduling/run-queue.store.ts';
import {
  findBoundaryBefore,
  listWindowsBefore,
  subtractMs,
  type TimeRange,
  type WindowGrid,
} from '../scheduling/timeline.ts';
import { finishRun, type RunKey } from './execution/finish-run.ts';
import { toRunRecord } from './run-model/run-record.ts';
import type { ResponseRequest, Run, RunRequest, RunStarted } from './run-model/runs.schema.ts';
import { findRun, insertRequestedRun, lockDetectionForRun, type RunRow } from './run-model/runs.store.ts';
import { insertResponseRuns } from './triggers/start-responses.store.ts';

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

export type RequestResponseDeps = { db: Db; clock: Clock; models?: ModelAliases };

/**
 * Queues a run of a response agent, on a hit if the request has one. Throws 404 for an unknown agent, 400 for inputs that it does not declare and for an
 * unknown hit, and 409 if the agent has no model.
 */
export async function requestResponse(
  { db, clock, models }: RequestResponseDeps,
  caller: Caller,
  agentId: string,
  { hitId: requestedHit, question, inputs: given = {} }: ResponseRequest,
): Promise<RunStarted> {
  const { orgId } = caller;
  const now = clock();
  const runId = uuidv7(now);
  const hitId = requestedHit ?? null;
  // The verdict shows rows of the hit.
  if (hitId !== null) requireScopes(caller, ['hits:read']);
  await inOrg(db, orgId, async (tx) => {
    const agent = await lockResponseAgent(tx, { orgId, now }, agentId);
    requireModelAlias(models, agent.model_alias);
    const inputs = readInputValues(JSON.parse(agent.inputs) as AgentInputs, given);
    if (hitId !== null && !(await findHit(tx, orgId, hitId)))
      throw fieldError('/hitId', 'unknown_hit', `There is no hit ${hitId}.`);
    const event = { source: 'manual' as const, triggerId: null, hitId, inputs };
    await insertResponseRuns(tx, { orgId, agentId, kind: 'request', now }, [{ runId, event, question }], caller);
    await auditAgent(tx, caller, agent, { action: 'run.requested', before: null, after: { runId, hitId } });
  });
  return { runId };
}
