import { acrossOrgs, inOrg, type Db } from '../../../platform/db/db.ts';
import { type Clock, withIsoTimes } from '../../../platform/lib/time/clock.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { emitEvents } from '../../../platform/notifications/emit-events.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { toPage, readPageRequest, type PageQuery } from '../../../platform/lib/page-request.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import {
  type ExceptionSubject,
  compileExceptions,
  type ExceptionRule,
  namesOfLists,
  type ListTest,
  compilePattern,
  listConditions,
} from '../../analysis/exceptions.ts';
import { readListTests } from '../../value-lists/value-lists.store.ts';
import type { DetectionException, ExceptionList, NewException, Snooze } from './exceptions.schema.ts';
import {
  countExceptions,
  deleteException,
  findUnknownHit,
  insertException,
  listExceptions,
  listLatestFindings,
  markEndingExceptionsAcrossOrgs,
  soonMs,
  type ExceptionRow,
  listMutedExamples,
  type MutedExample,
} from './exceptions.store.ts';
import { toRule } from './preview-exception.ts';
import { auditDetection, readDetection } from '../read-detections.ts';
import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';

export type ExceptionDeps = { db: Db; clock: Clock };

const exceptionsMax = 1000;
const mutedNothing = { matches: 0, mutedRows: 0, lastMatchedAt: null, latestIds: [] };
/** Findings that an exception is compared with, to warn if it matches none. */
const findingsMax = 100;

/** Stores an exception, so that the detection raises no hits for it. Throws 400 if `expiresAt` is in the past. */
export function createException(
  deps: ExceptionDeps,
  caller: Caller,
  detectionId: string,
  { reason, expiresAt, owner, hitIds = [], ...subject }: NewException,
): Promise<DetectionException> {
  return storeException(deps, caller, detectionId, {
    ...toRule(subject),
    kind: 'exception',
    reason,
    owner: owner ?? caller.subject ?? null,
    hitIds: [...new Set(hitIds)],
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
  const rest = { field: null, value: null, list: null, conditions: [], owner: caller.subject ?? null, hitIds: [] };
  return storeException(deps, caller, detectionId, {
    ...rest,
    kind: 'snooze',
    entity: entity ?? null,
    reason: reason ?? '',
    expiresAt: new Date(until),
  });
}

async function storeException(
  deps: ExceptionDeps,
  caller: Caller,
  detectionId: string,
  fields: Omit<ExceptionRow, 'id' | 'keyId' | 'actor' | 'createdAt' | keyof typeof mutedNothing>,
): Promise<DetectionException> {
  const now = deps.clock();
  const key = { orgId: caller.orgId, detectionId };
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await readDetection(tx, { orgId: caller.orgId, now }, detectionId);
    const name = fields.kind === 'snooze' ? 'until' : 'expiresAt';
    if (fields.expiresAt && fields.expiresAt <= now)
      throw fieldError(`/${name}`, 'out_of_range', `${name} must be in the future.`);
    const lists = await readListTests(tx, caller.orgId, namesOfLists(fields));
    for (const [index, list] of [fields.list, ...fields.conditions.map((condition) => condition.list)].entries())
      if (list && !lists.has(list))
        throw fieldError(
          index === 0 ? '/list' : `/conditions/${index - 1}/list`,
          'unknown',
          `The value list ${list} does not exist.`,
        );
    const unknownId = await findUnknownHit(tx, key, fields.hitIds);
    if (unknownId !== undefined) throw fieldError('/hitIds', 'unknown', `The detection has no hit ${unknownId}.`);
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
      ...mutedNothing,
    };
    await insertException(tx, key, exception);
    const findings = await listLatestFindings(tx, key, findingsMax);
    const after = toException(exception, { now, findings, lists, examples: [] });
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
  const { found, findings, lists, examples } = await inOrg(db, caller.orgId, async (tx) => {
    await readDetection(tx, { orgId: caller.orgId, now }, detectionId);
    const key = { orgId: caller.orgId, detectionId };
    const rows = await listExceptions(tx, key, request);
    return {
      found: rows,
      lists: await readListTests(tx, caller.orgId, rows.flatMap(namesOfLists)),
      examples: await listMutedExamples(
        tx,
        caller.orgId,
        rows.flatMap(({ latestIds }) => latestIds),
      ),
      findings: await listLatestFindings(tx, key, findingsMax),
    };
  });
  const { page, nextCursor } = toPage(found, request.limit, ({ createdAt, id }) => ({ at: createdAt, id }));
  return { exceptions: page.map((row) => toException(row, { now, findings, lists, examples })), nextCursor };
}

const announcedMax = 500;

/** Emits `exception.ending`, once for each exception that ends within a week, so that its owner learns of it. Returns whether more may be due. */
export function announceEndingExceptions({ db, clock }: ExceptionDeps): Promise<boolean> {
  return acrossOrgs(db, async (tx) => {
    const due = await markEndingExceptionsAcrossOrgs(tx, clock(), announcedMax);
    const orgIds = due.map(({ orgId }) => orgId);
    await emitEvents(tx, orgIds, ['exception.ending'], () =>
      due.map(({ orgId, id, detectionId, detection, ...rest }) => ({
        orgId,
        type: 'exception.ending',
        resourceId: id,
        revision: 1,
        detectionId,
        data: {
          organizationId: orgId,
          id,
          detectionId,
          name: detection,
          url: `/console/detections/${detectionId}?tab=exceptions`,
          ...rest,
        },
      })),
    );
    return due.length === announcedMax;
  });
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
    const before = toException(deleted, { now: clock(), findings: [], lists: new Map(), examples: [] });
    const change = { action: 'exception.deleted', before: toAuditValue(before), after: null };
    await auditDetection(tx, caller, detectionId, change);
    return { ...before, active: false };
  });
}

/** Returns the part of an exception that the audit records. Entity and value may be subject to erasure, and audit rows cannot be erased. */
const toAuditValue = (exception: DetectionException): unknown => {
  const { id, kind, field, list, conditions, expiresAt, hitIds, matches } = exception;
  const fields = conditions.map((condition) => ({ field: condition.field, list: condition.list ?? null }));
  return { id, kind, field, list, conditions: fields, expiresAt, hitIds, matches };
};

type Compared = {
  now: Date;
  findings: readonly ExceptionSubject[];
  lists: ReadonlyMap<string, ListTest>;
  examples: readonly MutedExample[];
};

function toException(
  { latestIds, ...row }: ExceptionRow,
  { now, findings, lists, examples }: Compared,
): DetectionException {
  const active = row.expiresAt === null || row.expiresAt > now;
  const warnings = active && row.matches === 0 ? findExceptionWarnings(row, findings, lists) : [];
  return {
    ...withIsoTimes(row),
    conditions: [...row.conditions],
    active,
    expiresSoon: active && row.expiresAt !== null && row.expiresAt.getTime() - now.getTime() < soonMs,
    examples: latestIds.flatMap((id) => {
      const found = examples.find((example) => example.id === id);
      if (!found) return [];
      const { runId, entity, windowFrom, windowTo } = found;
      return [{ runId, entity, windowFrom: windowFrom.toISOString(), windowTo: windowTo.toISOString() }];
    }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

type ExceptionWarning = { code: string; field: string; detail: string };

/**
 * Returns why an exception matches none of the detection's latest findings, with the nearest name. Returns nothing if it matches one, or if
 * there are no findings to compare with.
 */
export function findExceptionWarnings(
  exception: ExceptionRule,
  findings: readonly ExceptionSubject[],
  lists: Compared['lists'] = new Map(),
): ExceptionWarning[] {
  if (findings.length === 0 || findings.some(compileExceptions([exception], lists))) return [];
  const { entity } = exception;
  const scope = `of the ${findings.length} latest findings`;
  const entities = new Set(findings.map((finding) => finding.entity));
  if (entity !== null && ![...entities].some(compilePattern(entity)))
    return [warning('entity', `None ${scope} is about ${entity}${didYouMean(entity, entities)}`)];
  const rows = findings.flatMap((finding) => finding.rows);
  const names = new Set(rows.flatMap(({ fields }) => Object.keys(fields)));
  const conditions = listConditions(exception);
  const unknown = conditions.find(
    ({ field }) => ![...names].some((name) => name.toLowerCase() === field.toLowerCase()),
  );
  if (unknown)
    return [warning('field', `No row ${scope} has the field ${unknown.field}${didYouMean(unknown.field, names)}`)];
  const needed = conditions.map(({ field, value, list }) =>
    list === undefined ? `the value ${value} in ${field}` : `a value of the list ${list} in ${field}`,
  );
  return [
    warning(
      conditions.length === 0 ? 'entity' : 'value',
      `The exception would mute none ${scope}. ${needed.length === 0 ? '' : `Every row of a finding must have ${needed.join(', and ')}.`}`.trim(),
    ),
  ];
}

const warning = (field: string, detail: string): ExceptionWarning => ({ code: 'matches_nothing', field, detail });
