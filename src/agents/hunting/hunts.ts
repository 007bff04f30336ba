import { checkQuery, type CheckConnectionDeps } from '../../detection/connections/check-connection.ts';
import { attachFindings } from '../../detection/incidents/move-hits.ts';
import type { ChangeIncidentDeps } from '../../detection/incidents/change-incident.ts';
import type { IncidentDetail } from '../../detection/incidents/incidents.schema.ts';
import { toQueryProblem } from '../../detection/siem/siem-errors.ts';
import { findTechnique } from '../../feed/reference-data/attack.ts';
import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { readPageRequest, toPage, type PageQuery } from '../../platform/lib/page-request.ts';
import { type Clock, withIsoTimes } from '../../platform/lib/time/clock.ts';
import { auditRecord, insertAudit } from '../../platform/orgs/audit.store.ts';
import { requireMatch } from '../../platform/orgs/record-version.ts';
import { readIndicators, type AskedQuestion } from './ask-question.ts';
import type {
  ChangeHunt,
  FindingQuery,
  Hunt,
  HuntFinding,
  HuntFindingList,
  HuntInput,
  HuntRun,
  HuntRunList,
  JoinFindings,
} from './hunts.schema.ts';
import {
  findHuntRun,
  listFindings,
  listLastRuns,
  listRunRows,
  queueRun,
  type FindingRow,
  type HuntRunRow,
} from './hunt-runs.store.ts';
import { deleteHunt, listHuntRows, lockHunt, lockHunts, storeHunt, type HuntRow } from './hunts.store.ts';

export type HuntDeps = CheckConnectionDeps;

const huntsMax = 200;

/** Lists the hunts of the organization with their last runs, by name. */
export const getHunts = ({ db }: { db: Db }, { orgId }: Caller): Promise<{ hunts: Hunt[] }> =>
  inOrg(db, orgId, async (tx) => {
    const runs = new Map((await listLastRuns(tx, orgId)).map((run) => [run.huntId, run]));
    return { hunts: (await listHuntRows(tx, orgId)).map((row) => toHunt(row, runs.get(row.id))) };
  });

/** Returns a hunt with its last run. Throws 404. */
export const getHunt = ({ db }: { db: Db }, caller: Caller, id: string): Promise<Hunt> =>
  inOrg(db, caller.orgId, async (tx) => readHunt(tx, caller, await requireHunt(tx, caller, id)));

/** Saves a hunt. Throws 400 for a question that cannot be asked or a name that is taken, and 409 beyond 200 hunts. */
export async function createHunt(deps: HuntDeps, caller: Caller, input: HuntInput): Promise<Hunt> {
  await checkQuestion(deps, caller, input);
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await lockHunts(tx, caller.orgId);
    if ((await listHuntRows(tx, caller.orgId)).length >= huntsMax)
      throw appError('conflict', `An organization can have at most ${huntsMax} hunts. Delete some first.`);
    return saveHunt(tx, deps, caller, { before: null, input: { ...input, id: uuidv7(deps.clock()) } });
  });
}

type Change = { changes: ChangeHunt; ifMatch: string | undefined };

/** Changes a hunt. Throws 404, 400 as `createHunt`, and 412 if it is another version than `ifMatch`. */
export async function changeHunt(
  deps: HuntDeps,
  caller: Caller,
  id: string,
  { changes, ifMatch }: Change,
): Promise<Hunt> {
  const seen = await getHunt(deps, caller, id);
  await checkQuestion(deps, caller, mergeChanges(seen, changes));
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await lockHunts(tx, caller.orgId);
    const before = await readHunt(tx, caller, await requireHunt(tx, caller, id));
    await requireMatch(tx, ifMatch, before, { resourceType: 'hunt', resourceId: id });
    return saveHunt(tx, deps, caller, { before, input: { ...mergeChanges(before, changes), id } });
  });
}

/** Deletes a hunt with its runs. What joined incidents stays there. Throws 404, and 412 if it is another version than `ifMatch`. */
export const removeHunt = ({ db }: HuntDeps, caller: Caller, id: string, ifMatch: string | undefined): Promise<Hunt> =>
  inOrg(db, caller.orgId, async (tx) => {
    const before = await readHunt(tx, caller, await requireHunt(tx, caller, id));
    await requireMatch(tx, ifMatch, before, { resourceType: 'hunt', resourceId: id });
    await deleteHunt(tx, caller.orgId, id);
    await auditRecord(tx, caller, 'hunt.deleted', { before: toAudited(before), after: null });
    return before;
  });

/** Queues a run of a hunt. Returns the run that waits or is under way if there is one. Throws 404. */
export const runHunt = ({ db, clock }: HuntDeps, caller: Caller, id: string): Promise<HuntRun> =>
  inOrg(db, caller.orgId, async (tx) => {
    await requireHunt(tx, caller, id);
    const runId = await queueRun(tx, caller.orgId, id, clock());
    const change = { action: 'hunt.run', resourceType: 'hunt', resourceId: id };
    await insertAudit(tx, caller, { ...change, before: null, after: { runId } });
    return toHuntRun((await findHuntRun(tx, caller.orgId, runId))!);
  });

/** Returns a page of the runs of a hunt, newest first. Throws 404. */
export async function getHuntRuns(
  { db }: { db: Db },
  caller: Caller,
  id: string,
  query: PageQuery,
): Promise<HuntRunList> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, caller.orgId, async (tx) => {
    await requireHunt(tx, caller, id);
    return listRunRows(tx, caller.orgId, id, request);
  });
  const { page, nextCursor } = toPage(rows, request.limit, ({ createdAt: at, id }) => ({ at, id }));
  return { runs: page.map(toHuntRun), nextCursor };
}

/** Returns a run of a hunt. Throws 404. */
export const getHuntRun = ({ db }: { db: Db }, caller: Caller, id: string): Promise<HuntRun> =>
  inOrg(db, caller.orgId, async (tx) => toHuntRun(await requireRun(tx, caller, id)));

/** Returns a page of the findings of a run, latest first. Throws 404. */
export async function getHuntFindings(
  { db }: { db: Db },
  caller: Caller,
  id: string,
  { change, ...query }: FindingQuery,
): Promise<HuntFindingList> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, caller.orgId, async (tx) => {
    await requireRun(tx, caller, id);
    return listFindings(tx, caller.orgId, { runId: id, change }, request);
  });
  const { page, nextCursor } = toPage(rows, request.limit, ({ sortAt: at, id }) => ({ at, id }));
  return { findings: page.map(toFinding), nextCursor };
}

/** Adds findings of a run to an incident, or opens one from them. Throws 404, 400 for an unknown finding, and 409 or 412 for another revision. */
export async function joinFindings(
  deps: ChangeIncidentDeps,
  caller: Caller,
  id: string,
  { findingIds, ...seen }: JoinFindings,
): Promise<IncidentDetail> {
  const { run, rows } = await inOrg(deps.db, caller.orgId, async (tx) => ({
    run: await requireRun(tx, caller, id),
    rows: await listFindings(
      tx,
      caller.orgId,
      { runId: id, change: undefined, ids: findingIds },
      { limit: findingIds.length, after: null },
    ),
  }));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const findings = findingIds.map((findingId, index) => {
    const row = byId.get(findingId);
    if (!row) throw fieldError(`/findingIds/${index}`, 'not_found', `Finding ${findingId} not found.`);
    return { ...row, query: toFinding(row).query, huntId: run.huntId, huntName: run.huntName };
  });
  return attachFindings(deps, caller, { findings, ...seen });
}

/** Throws 400 or 422 unless the question can be asked. */
async function checkQuestion(deps: HuntDeps, caller: Caller, hunt: HuntInput): Promise<void> {
  const { kind, question, words, rowMeaning, connectionId, span, cadence } = hunt;
  if (cadence !== null && !('days' in span))
    throw fieldError('/cadence', 'not_allowed', 'A hunt with a cadence needs a span of days, such as {"days": 30}.');
  if ('from' in span && new Date(span.from) >= new Date(span.to))
    throw fieldError('/span/to', 'out_of_range', 'span.to must be later than span.from.');
  for (const [name, value] of Object.entries({ words, rowMeaning }))
    if (kind !== 'sql' && value !== null)
      throw fieldError(`/${name}`, 'not_allowed', `${name} is only for hunts of the kind \`sql\`.`);
  if (kind === 'indicators') readIndicators(question);
  else if (kind === 'technique') {
    if (connectionId !== null)
      throw fieldError('/connectionId', 'not_allowed', 'Detections of a technique search their own connections.');
    if (!findTechnique(question))
      throw fieldError('/question', 'invalid', 'question must be the ID of an ATT&CK technique, such as T1078.');
  }
  if (kind !== 'technique') await checkSource(deps, caller, hunt);
}

/** Throws 422 unless the connection exists and a query can run there, and 503 if it does not respond. */
async function checkSource(
  deps: HuntDeps,
  { orgId }: Caller,
  { kind, question, connectionId }: HuntInput,
): Promise<void> {
  const selector = { connectionId, siemType: null };
  try {
    if (kind === 'sql') await checkQuery(deps, orgId, { selector, query: question });
    else await deps.connectionFor(orgId, selector);
  } catch (error) {
    throw toQueryProblem(error, kind === 'sql' ? '/question' : '/connectionId');
  }
}

async function requireHunt(tx: Tx, { orgId }: Caller, id: string): Promise<HuntRow> {
  const row = await lockHunt(tx, orgId, id);
  if (!row) throw appError('not_found', `Hunt ${id} not found.`);
  return row;
}

async function requireRun(tx: Tx, { orgId }: Caller, id: string): Promise<HuntRunRow & { huntName: string }> {
  const row = await findHuntRun(tx, orgId, id);
  if (!row) throw appError('not_found', `Hunt run ${id} not found.`);
  return row;
}

const readHunt = async (tx: Tx, { orgId }: Caller, row: HuntRow): Promise<Hunt> =>
  toHunt(row, (await listRunRows(tx, orgId, row.id, { limit: 1, after: null }))[0]);

function mergeChanges(hunt: Hunt, changes: ChangeHunt): HuntInput {
  const { name = hunt.name, kind = hunt.kind, question = hunt.question, span = hunt.span } = changes;
  const { connectionId = hunt.connectionId, cadence = hunt.cadence } = changes;
  const kept = kind === 'sql' ? hunt : { words: null, rowMeaning: null };
  const { words = kept.words, rowMeaning = kept.rowMeaning } = changes;
  return { name, kind, question, words, rowMeaning, span, connectionId, cadence };
}

type Saved = { before: Hunt | null; input: HuntInput & { id: string } };

async function saveHunt(tx: Tx, { clock }: { clock: Clock }, caller: Caller, { before, input }: Saved): Promise<Hunt> {
  const { orgId } = caller;
  if ((await listHuntRows(tx, orgId)).some(({ id, name }) => id !== input.id && name === input.name))
    throw fieldError('/name', 'not_unique', `There is a hunt "${input.name}" already.`);
  await storeHunt(tx, orgId, input, clock());
  const after = await readHunt(tx, caller, (await lockHunt(tx, orgId, input.id))!);
  const action = before ? 'hunt.changed' : 'hunt.created';
  await auditRecord(tx, caller, action, { before: before && toAudited(before), after: toAudited(after) });
  return after;
}

/** The audit log does not repeat the question, which may contain personal data that has to be erased. */
const toAudited = ({ question: _question, words: _words, rowMeaning: _rowMeaning, lastRun: _lastRun, ...hunt }: Hunt) =>
  hunt;

function toHunt({ spanDays, fromAt, toAt, ...row }: HuntRow, run?: HuntRunRow): Hunt {
  return {
    ...withIsoTimes(row),
    span: spanDays === null ? { from: fromAt!.toISOString(), to: toAt!.toISOString() } : { days: spanDays },
    lastRun: run ? toHuntRun(run) : null,
  };
}

export function toHuntRun(row: HuntRunRow): HuntRun {
  const { asked, fromAt, toAt, queries, warnings, ...rest } = row;
  const { kind, question } = JSON.parse(asked) as AskedQuestion;
  return {
    ...withIsoTimes(rest),
    kind,
    question,
    from: fromAt.toISOString(),
    to: toAt.toISOString(),
    queries: JSON.parse(queries) as HuntRun['queries'],
    warnings: JSON.parse(warnings) as string[],
  };
}

const toFinding = ({ key: _key, sortAt: _sortAt, queries, queryIndex, fields, ...row }: FindingRow): HuntFinding => ({
  ...withIsoTimes(row),
  fields: JSON.parse(fields) as HuntFinding['fields'],
  query: (JSON.parse(queries) as HuntRun['queries'])[queryIndex]?.query ?? '',
});
