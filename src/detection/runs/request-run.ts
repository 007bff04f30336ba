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
  type DetectionKey,
  splitIntoWindows,
} from '../scheduling/timeline.ts';
import { finishRun, type RunKey } from './execution/finish-run.ts';
import { toRunRecord } from './run-model/run-record.ts';
import type {
  ResponseRequest,
  Run,
  RunRequest,
  RunStarted,
  Backfill,
  BackfillRequest,
} from './run-model/runs.schema.ts';
import {
  findRun,
  insertRequestedRun,
  lockDetectionForRun,
  type RunRow,
  findJudgingCost,
} from './run-model/runs.store.ts';
import { findCaseIncident } from './responses/incident-case.store.ts';
import { insertResponseRuns } from './triggers/start-responses.store.ts';
import type { ConnectionFor } from '../connections/open-connection.ts';
import { findDefinition } from '../detections/history/history.store.ts';
import type { Definition } from '../detections/record/detection-record.ts';
import { backfillWindowsMax, claimGaps, listFillableRanges } from '../scheduling/fill-gaps.store.ts';
import type { SiemConnection } from '../siem/connector.ts';
import { examineWindow } from './execution/examine-window.ts';
import { runStep } from './run-model/run-progress.ts';
import { createTrialRun } from './run-model/active-run.ts';

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
 * Queues a run of a response agent, on a hit or an incident if the request has one. Throws 404 for an unknown agent, 400 for inputs that it does not declare
 * and for an unknown hit or incident, and 409 if the agent has no model.
 */
export async function requestResponse(
  { db, clock, models }: RequestResponseDeps,
  caller: Caller,
  agentId: string,
  { hitId: requestedHit, incidentId, question, inputs: given = {} }: ResponseRequest,
): Promise<RunStarted> {
  const { orgId } = caller;
  const now = clock();
  const runId = uuidv7(now);
  const hitId = requestedHit ?? null;
  if (hitId !== null && incidentId !== undefined)
    throw fieldError('/incidentId', 'not_allowed', 'A run is about a hit or about an incident, not both.');
  // The verdict shows rows of the hits.
  if (hitId !== null || incidentId !== undefined) requireScopes(caller, ['hits:read']);
  await inOrg(db, orgId, async (tx) => {
    const agent = await lockResponseAgent(tx, { orgId, now }, agentId);
    requireModelAlias(models, agent.model_alias);
    const inputs = readInputValues(JSON.parse(agent.inputs) as AgentInputs, given);
    if (hitId !== null && !(await findHit(tx, orgId, hitId)))
      throw fieldError('/hitId', 'unknown_hit', `There is no hit ${hitId}.`);
    if (incidentId !== undefined && !(await findCaseIncident(tx, orgId, incidentId)))
      throw fieldError('/incidentId', 'unknown_incident', `There is no incident ${incidentId}.`);
    const about = { hitId, ...(incidentId !== undefined && { incidentId }) };
    const event = { source: 'manual' as const, triggerId: null, ...about, inputs };
    await insertResponseRuns(tx, { orgId, agentId, kind: 'request', now }, [{ runId, event, question }], caller);
    await auditAgent(tx, caller, agent, { action: 'run.requested', before: null, after: { runId, ...about } });
  });
  return { runId };
}

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

/** Splits gaps into windows. Throws if there are no gaps, or more than a backfill may fill. */
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
