import { inOrg, type Tx } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { pageOf, pageRequest, type PageQuery } from '../../../platform/lib/page-request.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import type { DetectionException, ExceptionList, NewException, Snooze } from './exceptions.schema.ts';
import {
  countExceptions,
  deleteException,
  insertException,
  listExceptions,
  type ExceptionRow,
} from './exceptions.store.ts';
import { detectionOr404 } from '../update-detection.ts';
import { findAgent } from '../detection-views.store.ts';

type ExceptionDeps = Pick<Deps, 'db' | 'clock'>;
type Given = Pick<ExceptionRow, 'kind' | 'entity' | 'field' | 'value' | 'reason' | 'expiresAt'>;

const exceptionsMax = 1000;

/** Keeps what a detection is not to raise, apart from its query. 400 for an end that has passed. */
export function createException(
  deps: ExceptionDeps,
  caller: Caller,
  detectionId: string,
  { entity = undefined, field, value, reason, expiresAt }: NewException,
): Promise<DetectionException> {
  return store(deps, caller, detectionId, {
    kind: 'exception',
    entity: entity ?? null,
    field: field ?? null,
    value: value ?? null,
    reason,
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
  });
}

/** Quiets a detection, or one entity of it, until a time. What it finds meanwhile makes no hit. */
export function snooze(
  deps: ExceptionDeps,
  caller: Caller,
  detectionId: string,
  { until, entity, reason }: Snooze,
): Promise<DetectionException> {
  const rest = { field: null, value: null, reason: reason ?? '', expiresAt: new Date(until) };
  return store(deps, caller, detectionId, { kind: 'snooze', entity: entity ?? null, ...rest });
}

async function store(
  deps: ExceptionDeps,
  caller: Caller,
  detectionId: string,
  given: Given,
): Promise<DetectionException> {
  const now = deps.clock();
  const ref = { orgId: caller.orgId, detectionId };
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await checkDetection(tx, caller, detectionId, now);
    if (given.expiresAt && given.expiresAt <= now)
      throw given.kind === 'snooze'
        ? fieldError('/until', 'out_of_range', 'until must lie in the future.')
        : fieldError('/expiresAt', 'out_of_range', 'expiresAt must lie in the future.');
    if ((await countExceptions(tx, ref)) >= exceptionsMax)
      throw appError('conflict', `A detection has at most ${exceptionsMax} exceptions; delete those that have ended.`);
    const made: ExceptionRow = { ...given, id: uuidv7(now), keyId: caller.keyId, createdAt: now };
    await insertException(tx, ref, made);
    const after = toException(made, now);
    await audit(tx, caller, { action: 'exception.created', detectionId, before: null, after });
    return after;
  });
}

export async function getExceptions(
  { db, clock }: ExceptionDeps,
  caller: Caller,
  detectionId: string,
  query: PageQuery,
): Promise<ExceptionList> {
  const request = pageRequest(query);
  const now = clock();
  const found = await inOrg(db, caller.orgId, async (tx) => {
    await checkDetection(tx, caller, detectionId, now);
    return listExceptions(tx, { orgId: caller.orgId, detectionId }, request);
  });
  const { page, nextCursor } = pageOf(found, request.limit, (one) => ({ at: one.createdAt, id: one.id }));
  return { exceptions: page.map((one) => toException(one, now)), nextCursor };
}

/** Ends an exception or a snooze; what it kept quiet until now stays so. */
export async function removeException(
  { db, clock }: ExceptionDeps,
  caller: Caller,
  detectionId: string,
  id: string,
): Promise<DetectionException> {
  return inOrg(db, caller.orgId, async (tx) => {
    const gone = await deleteException(tx, { orgId: caller.orgId, detectionId }, id);
    if (!gone) throw appError('not_found', `Exception ${id} of detection ${detectionId} not found.`);
    const before = toException(gone, clock());
    await audit(tx, caller, { action: 'exception.deleted', detectionId, before, after: null });
    return { ...before, active: false };
  });
}

async function checkDetection(tx: Tx, { orgId }: Caller, id: string, now: Date): Promise<void> {
  detectionOr404(await findAgent(tx, { orgId, now }, id), id);
}

/** Whom it is about can be erased, an audit can not: it names the exception alone. */
function auditable(exception: DetectionException | null): unknown {
  return (
    exception && { id: exception.id, kind: exception.kind, field: exception.field, expiresAt: exception.expiresAt }
  );
}

function audit(
  tx: Tx,
  caller: Caller,
  {
    detectionId,
    ...change
  }: { action: string; detectionId: string; before: DetectionException | null; after: DetectionException | null },
): Promise<void> {
  const before = auditable(change.before);
  const after = auditable(change.after);
  return insertAudit(tx, caller, {
    action: change.action,
    resourceType: 'detection',
    resourceId: detectionId,
    before,
    after,
  });
}

function toException(row: ExceptionRow, now: Date): DetectionException {
  return {
    ...row,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    active: row.expiresAt === null || row.expiresAt > now,
  };
}
