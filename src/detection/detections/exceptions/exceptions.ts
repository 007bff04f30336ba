import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { toPage, readPageRequest, type PageQuery } from '../../../platform/lib/page-request.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import {
  type ExceptionSubject,
  compileExceptions,
  type Exception,
  type ListTest,
  compilePattern,
} from '../../analysis/exceptions.ts';
import { readListTests } from '../../value-lists/value-lists.store.ts';
import type {
  DetectionException,
  ExceptionList,
  NewException,
  Snooze,
  ExceptionPreview,
  PreviewException,
} from './exceptions.schema.ts';
import {
  countExceptions,
  deleteException,
  insertException,
  listExceptions,
  listLatestFindings,
  type ExceptionRow,
  listHitsSince,
} from './exceptions.store.ts';
import { auditDetection, readDetection } from '../read-detections.ts';
import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';

export type ExceptionDeps = { db: Db; clock: Clock };

const exceptionsMax = 1000;
/** Findings that an exception is compared with, to warn if it matches none. */
const findingsMax = 100;

/** Stores an exception, so that the detection raises no hits for it. Throws 400 if `expiresAt` is in the past. */
export function createException(
  deps: ExceptionDeps,
  caller: Caller,
  detectionId: string,
  { entity, field, value, list, reason, expiresAt }: NewException,
): Promise<DetectionException> {
  return storeException(deps, caller, detectionId, {
    kind: 'exception',
    entity: entity ?? null,
    field: field ?? null,
    value: value ?? null,
    list: list ?? null,
    reason,
    expiresAt: expiresAt === undefined ? null : new Date(expiresAt),
  });
}

/** Snoozes a detection, or one of its entities. Findings until then raise no hit. */
export function snooze(
  deps: ExceptionDeps,
  caller: Caller,
  detectionId: string,
  { until, entity, reason }: Snooze,
): Promise<DetectionException> {
  const rest = { field: null, value: null, list: null, reason: reason ?? '', expiresAt: new Date(until) };
  return storeException(deps, caller, detectionId, { kind: 'snooze', entity: entity ?? null, ...rest });
}

async function storeException(
  deps: ExceptionDeps,
  caller: Caller,
  detectionId: string,
  fields: Omit<ExceptionRow, 'id' | 'keyId' | 'actor' | 'createdAt' | 'matches' | 'lastMatchedAt'>,
): Promise<DetectionException> {
  const now = deps.clock();
  const key = { orgId: caller.orgId, detectionId };
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await readDetection(tx, { orgId: caller.orgId, now }, detectionId);
    const name = fields.kind === 'snooze' ? 'until' : 'expiresAt';
    if (fields.expiresAt && fields.expiresAt <= now)
      throw fieldError(`/${name}`, 'out_of_range', `${name} must be in the future.`);
    const lists = await readListTests(tx, caller.orgId, fields.list === null ? [] : [fields.list]);
    if (fields.list !== null && !lists.has(fields.list))
      throw fieldError('/list', 'unknown', `The value list ${fields.list} does not exist.`);
    if ((await countExceptions(tx, key)) >= exceptionsMax)
      throw appError(
        'conflict',
        `A detection can have at most ${exceptionsMax} exceptions. Delete expired ones first.`,
      );
    const exception: ExceptionRow = {
      ...fields,
      id: uuidv7(now),
      keyId: caller.keyId,
      actor: caller.subject ?? null,
      createdAt: now,
      matches: 0,
      lastMatchedAt: null,
    };
    await insertException(tx, key, exception);
    const findings = await listLatestFindings(tx, key, findingsMax);
    const after = toException(exception, { now, findings, lists });
    const change = { action: 'exception.created', before: null, after: toAuditValue(after) };
    await auditDetection(tx, caller, detectionId, change);
    return after;
  });
}

/** Returns the exceptions and snoozes of a detection, newest first, expired ones included. */
export async function getExceptions(
  { db, clock }: ExceptionDeps,
  caller: Caller,
  detectionId: string,
  query: PageQuery,
): Promise<ExceptionList> {
  const request = readPageRequest(query);
  const now = clock();
  const { found, findings, lists } = await inOrg(db, caller.orgId, async (tx) => {
    await readDetection(tx, { orgId: caller.orgId, now }, detectionId);
    const key = { orgId: caller.orgId, detectionId };
    const rows = await listExceptions(tx, key, request);
    return {
      found: rows,
      lists: await readListTests(
        tx,
        caller.orgId,
        rows.flatMap(({ list }) => list ?? []),
      ),
      findings: await listLatestFindings(tx, key, findingsMax),
    };
  });
  const { page, nextCursor } = toPage(found, request.limit, ({ createdAt, id }) => ({ at: createdAt, id }));
  return { exceptions: page.map((row) => toException(row, { now, findings, lists })), nextCursor };
}

/** Deletes an exception or a snooze. Findings that it suppressed stay suppressed. */
export async function removeException(
  { db, clock }: ExceptionDeps,
  caller: Caller,
  detectionId: string,
  id: string,
): Promise<DetectionException> {
  return inOrg(db, caller.orgId, async (tx) => {
    const deleted = await deleteException(tx, { orgId: caller.orgId, detectionId }, id);
    if (!deleted) throw appError('not_found', `Exception ${id} of detection ${detectionId} not found.`);
    const before = toException(deleted, { now: clock(), findings: [], lists: new Map() });
    const change = { action: 'exception.deleted', before: toAuditValue(before), after: null };
    await auditDetection(tx, caller, detectionId, change);
    return { ...before, active: false };
  });
}

/** Returns the part of an exception that the audit records. Entity and value may be subject to erasure, and audit rows cannot be erased. */
const toAuditValue = ({ id, kind, field, list, expiresAt }: DetectionException): unknown => ({
  id,
  kind,
  field,
  list,
  expiresAt,
});

type Compared = { now: Date; findings: readonly ExceptionSubject[]; lists: ReadonlyMap<string, ListTest> };

function toException(row: ExceptionRow, { now, findings, lists }: Compared): DetectionException {
  const active = row.expiresAt === null || row.expiresAt > now;
  const warnings = active && row.matches === 0 ? findExceptionWarnings(row, findings, lists) : [];
  return {
    ...row,
    createdAt: row.createdAt.toISOString(),
    expiresAt: row.expiresAt?.toISOString() ?? null,
    lastMatchedAt: row.lastMatchedAt?.toISOString() ?? null,
    active,
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

const days = 30;
const readMax = 1000;
const listedMax = 50;

/** Returns which hits of the last 30 days an exception would have hidden. Stores nothing. */
export async function previewException(
  { db, clock }: ExceptionDeps,
  { orgId }: Caller,
  detectionId: string,
  { entity, field, value, list }: PreviewException,
): Promise<ExceptionPreview> {
  const now = clock();
  const from = new Date(now.getTime() - days * 86_400_000);
  const { hits, lists } = await inOrg(db, orgId, async (tx) => {
    await readDetection(tx, { orgId, now }, detectionId);
    return {
      hits: await listHitsSince(tx, { orgId, detectionId }, from, readMax + 1),
      lists: await readListTests(tx, orgId, list === undefined ? [] : [list]),
    };
  });
  const isComplete = hits.length <= readMax;
  const examined = hits.slice(0, readMax);
  const subject = { entity: entity ?? null, field: field ?? null, value: value ?? null, list: list ?? null };
  const matches = compileExceptions([subject], lists);
  const hidden = examined.filter((hit) =>
    matches({ entity: hit.entity, rows: JSON.parse(hit.rows), facts: JSON.parse(hit.facts) }),
  );
  return {
    from: from.toISOString(),
    examined: examined.length,
    isComplete,
    hidden: hidden.length,
    hiddenByStatus: Object.fromEntries(
      [...Map.groupBy(hidden, ({ status }) => status)].map(([status, list]) => [status, list.length]),
    ),
    hits: hidden.slice(0, listedMax).map(({ id, entity, headline, severity, status, createdAt }) => ({
      id,
      entity,
      headline,
      severity,
      status,
      createdAt: createdAt.toISOString(),
    })),
  };
}

type ExceptionWarning = { code: string; field: string; detail: string };

/**
 * Returns why an exception matches none of the detection's latest findings, with the nearest name. Returns nothing if it matches one, or if
 * there are no findings to compare with.
 */
export function findExceptionWarnings(
  exception: Omit<Exception, 'id' | 'kind'>,
  findings: readonly ExceptionSubject[],
  lists: Compared['lists'] = new Map(),
): ExceptionWarning[] {
  if (findings.length === 0 || findings.some(compileExceptions([exception], lists))) return [];
  const { entity, field, value, list } = exception;
  const scope = `of the ${findings.length} latest findings`;
  const entities = new Set(findings.map((finding) => finding.entity));
  if (entity !== null && ![...entities].some(compilePattern(entity)))
    return [warning('entity', `None ${scope} is about ${entity}${didYouMean(entity, entities)}`)];
  const rows = findings.flatMap((finding) => finding.rows);
  const names = new Set(rows.flatMap(({ fields }) => Object.keys(fields)));
  if (field !== null && ![...names].some((name) => name.toLowerCase() === field.toLowerCase()))
    return [warning('field', `No row ${scope} has the field ${field}${didYouMean(field, names)}`)];
  return [
    warning(
      field === null ? 'entity' : 'value',
      `The exception would mute none ${scope}. With a field, every row of a finding must have ${list === null ? `the value ${value ?? ''}` : `a value of the list ${list}`}.`,
    ),
  ];
}

const warning = (field: string, detail: string): ExceptionWarning => ({ code: 'matches_nothing', field, detail });
