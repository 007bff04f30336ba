import { acrossOrgs, inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import { runLoops } from '../../platform/lib/concurrency/loop.ts';
import { ExternalError } from '../../platform/lib/external-error.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { fetchBytes } from '../../platform/lib/outbound-http/fetch.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError, staleError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Author, Caller } from '../../platform/http/caller.ts';
import { listChangesSince, requireMatch } from '../../platform/orgs/record-version.ts';
import { checkQuery } from '../connections/check-connection.ts';
import type { ConnectionFor } from '../connections/open-connection.ts';
import { SiemError } from '../siem/connector.ts';
import { toQueryProblem } from '../siem/siem-errors.ts';
import {
  rowsMax,
  type ListSource,
  type ValueList,
  type ValueListInput,
  type ValueLists,
} from './value-lists.schema.ts';
import { readContent, readCsv, readRows, type ValueListContent } from './value-list-content.ts';
import {
  claimDueListAcrossOrgs,
  deleteValueList,
  findValueList,
  listRoutedBy,
  listValueLists,
  lockValueLists,
  replaceInValueLists,
  storeFetched,
  upsertValueList,
  type DueList,
  type ValueListRow,
} from './value-lists.store.ts';

const listsMax = 100;

export async function getValueLists({ db }: { db: Db }, { orgId }: Caller): Promise<ValueLists> {
  const rows = await inOrg(db, orgId, (tx) => listValueLists(tx, orgId));
  return { lists: rows.map(toSummary) };
}

/** Throws 404. */
export async function getValueList({ db }: { db: Db }, { orgId }: Caller, name: string): Promise<ValueList> {
  const row = await inOrg(db, orgId, (tx) => findValueList(tx, orgId, name));
  if (!row) throw toNotFound(name);
  return toSummary(row);
}

export type PutValueListDeps = { db: Db; clock: Clock; connectionFor: ConnectionFor };

/**
 * Creates or replaces a list. Throws 409 above 100 lists, and 409 or 412 if it is not the version that the caller saw. For a query, throws 403
 * if the caller cannot search logs, 422 if it cannot run, and 503 if its SIEM does not respond.
 */
export async function putValueList(
  { db, clock, connectionFor }: PutValueListDeps,
  caller: Caller,
  name: string,
  { expectedRevision, ifMatch, ...input }: ValueListInput & { ifMatch?: string | undefined },
): Promise<ValueList> {
  const { orgId, keyId, subject: actor = null } = caller;
  const { description, source } = input;
  const content = readContent(input);
  if (source && 'query' in source) await requireQuery({ connectionFor }, caller, source);
  return inOrg(db, orgId, async (tx) => {
    await lockValueLists(tx, orgId);
    const before = await findValueList(tx, orgId, name);
    await checkVersion(tx, orgId, { name, before }, { ifMatch, expectedRevision });
    if (!before && (await listValueLists(tx, orgId)).length >= listsMax)
      throw appError('conflict', `An organization can have at most ${listsMax} value lists.`);
    const now = clock();
    const list = { name, description, ...content, ...toColumns(source), keyId, actor, updatedAt: now };
    await upsertValueList(tx, orgId, { ...list, id: uuidv7(now) });
    const stored = (await findValueList(tx, orgId, name))!;
    await insertAudit(tx, caller, {
      action: before ? 'value_list.changed' : 'value_list.created',
      resourceType: 'value_list',
      resourceId: orgId,
      before: before ? summarize(before) : null,
      after: summarize(stored),
    });
    return toSummary(stored);
  });
}

type QuerySource = Extract<ListSource, { query: string }>;

type SourceColumns = Pick<ValueListRow, 'source' | 'sourceQuery'>;

function toColumns(source: ListSource | undefined): SourceColumns {
  if (source === undefined) return { source: null, sourceQuery: null };
  const { query = null, ...rest } = { query: undefined, ...source };
  return { source: JSON.stringify(rest), sourceQuery: query };
}

/** Returns null if the rows were sent. */
const readSource = ({ source, sourceQuery: query }: SourceColumns): ListSource | null =>
  source === null ? null : { ...JSON.parse(source), ...(query === null ? {} : { query }) };

async function requireQuery(
  deps: { connectionFor: ConnectionFor },
  { orgId, scopes }: Caller,
  { query, connectionId }: QuerySource,
): Promise<void> {
  if (!scopes.has('detections:run')) throw appError('forbidden', 'The key lacks the scope detections:run.');
  try {
    await checkQuery(deps, orgId, { selector: { connectionId, siemType: null }, query });
  } catch (error) {
    throw toQueryProblem(error, '/source/query');
  }
}

/** Deletes a list and returns it. Throws 404, and 409 if a detection uses the list. */
export function removeValueList(
  { db }: { db: Db },
  caller: Caller,
  name: string,
  ifMatch?: string,
): Promise<ValueList> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    await lockValueLists(tx, orgId);
    const row = await findValueList(tx, orgId, name);
    if (!row) throw toNotFound(name);
    await checkVersion(tx, orgId, { name, before: row }, { ifMatch });
    const [destination] = await listRoutedBy(tx, orgId, name);
    if (destination !== undefined)
      throw appError(
        'conflict',
        `Value list ${name} is used by the destination ${destination}. Remove it there first.`,
      );
    if (row.usedBy.length > 0)
      throw appError(
        'conflict',
        `Value list ${name} is used by the tuning or the exceptions of ${row.usedBy.length} detections: ${row.usedBy.slice(0, 5).join(', ')}. Remove it there first.`,
      );
    await deleteValueList(tx, orgId, name);
    await insertAudit(tx, caller, {
      action: 'value_list.deleted',
      resourceType: 'value_list',
      resourceId: orgId,
      before: summarize(row),
      after: null,
    });
    return toSummary(row);
  });
}

/** Replaces a value in lists. Returns the number of lists. The audit log has no descriptions, which may have contained the value. */
export async function eraseFromValueLists(
  tx: Tx,
  orgId: OrgId,
  value: string,
  author: Author,
): Promise<{ valueLists: number }> {
  await lockValueLists(tx, orgId);
  const before = new Map((await listValueLists(tx, orgId)).map((row) => [row.name, row]));
  const valueLists = await replaceInValueLists(tx, author, value);
  for (const row of valueLists === 0 ? [] : await listValueLists(tx, orgId)) {
    const earlier = before.get(row.name)!;
    if (earlier.updatedAt.getTime() === row.updatedAt.getTime()) continue;
    const [from, to] = [earlier, row].map((one) => ({ ...summarize(one), description: undefined }));
    const change = { action: 'value_list.erased', resourceType: 'value_list', resourceId: orgId };
    await insertAudit(tx, author, { ...change, before: from, after: to });
  }
  return { valueLists };
}

const toNotFound = (name: string) => appError('not_found', `Value list ${name} not found.`);

function toSummary<R extends Omit<ValueListRow, 'values' | 'rows'>>(row: R) {
  const { columns, source: _source, sourceQuery: _sourceQuery, checkedAt, failure, updatedAt, ...rest } = row;
  const source = readSource(row);
  return {
    ...rest,
    columns: JSON.parse(columns) as string[],
    source: source === null ? null : { ...source, checkedAt: checkedAt?.toISOString() ?? null, failure },
    updatedAt: updatedAt.toISOString(),
    revision: updatedAt.getTime(),
  };
}

/** The audit log does not repeat the values and the query, which may name people. */
const summarize = ({
  name,
  description,
  columns,
  valuesTotal,
  source,
  updatedAt,
}: Omit<ValueListRow, 'values' | 'rows'>) => ({
  name,
  description,
  columns: JSON.parse(columns) as string[],
  valuesTotal,
  ...(source === null ? {} : { source: JSON.parse(source) as object }),
  updatedAt: updatedAt.toISOString(),
});

type ExpectedVersion = { ifMatch: string | undefined; expectedRevision?: number | undefined };

/** Throws 412 for If-Match, and 409 for `expectedRevision`, unless a locked list is the version that the caller saw. */
async function checkVersion(
  tx: Tx,
  orgId: OrgId,
  { name, before }: { name: string; before: ValueListRow | undefined },
  { ifMatch, expectedRevision }: ExpectedVersion,
): Promise<void> {
  const resource = { resourceType: 'value_list', resourceId: orgId, fields: { name } };
  await requireMatch(tx, ifMatch, { updatedAt: before?.updatedAt.toISOString() ?? null }, resource);
  const current = before?.updatedAt.getTime() ?? 0;
  if (expectedRevision === undefined || expectedRevision === current) return;
  const changes = await listChangesSince(tx, expectedRevision, resource);
  const detail = `The value list changed since revision ${expectedRevision}. \`stale\` lists what changed.`;
  throw staleError('/expectedRevision', detail, { current, changes });
}

type FetchListDeps = PutValueListDeps & { config: { fetchAllow: readonly string[] } };
type FetchListsDeps = FetchListDeps & { log: Logger };

const idleMs = 2_000;
const queryMs = 60_000;
/** Of one process, so that a slow list does not delay those of other organizations. */
const concurrentFetches = 3;
const hourMs = 3_600_000;
const bytesMax = 8 * 1024 * 1024;

/** Fetches the rows of value lists when they are due, until the signal aborts. */
export const valueListsLoop = (deps: FetchListsDeps, signal: AbortSignal): Promise<void> =>
  runLoops(concurrentFetches, { name: 'value lists', idleMs, signal, log: deps.log }, () =>
    fetchNextList(deps, signal),
  );

/** Fetches the list that has been due longest. Returns false if none is due. */
export async function fetchNextList(deps: FetchListDeps, signal: AbortSignal): Promise<boolean> {
  const due = await acrossOrgs(deps.db, (tx) => claimDueListAcrossOrgs(tx, deps.clock()));
  if (!due) return false;
  const found = await fetchList(deps, due, signal);
  await inOrg(deps.db, due.orgId, async (tx) => {
    await lockValueLists(tx, due.orgId);
    const before = await findValueList(tx, due.orgId, due.name);
    await storeFetched(tx, due, found, deps.clock());
    const after = await findValueList(tx, due.orgId, due.name);
    if (!before || !after || before.updatedAt.getTime() === after.updatedAt.getTime()) return;
    const change = { action: 'value_list.fetched', resourceType: 'value_list', resourceId: due.orgId };
    const author = { orgId: due.orgId, keyId: null };
    await insertAudit(tx, author, { ...change, before: summarize(before), after: summarize(after) });
  });
  return true;
}

async function fetchList(
  deps: FetchListDeps,
  { orgId, columns, ...due }: DueList,
  signal: AbortSignal,
): Promise<ValueListContent | { failure: string }> {
  const from = readSource(due)!;
  try {
    return 'query' in from
      ? await fetchRows(deps, orgId, { ...from, columns: JSON.parse(columns) as string[] }, signal)
      : await fetchCsv(deps, from.url, signal);
  } catch (error) {
    if (signal.aborted || !(error instanceof ExternalError || error instanceof SiemError)) throw error;
    return { failure: error.message };
  }
}

async function fetchCsv({ config }: FetchListDeps, url: string, signal: AbortSignal): Promise<ValueListContent> {
  const fetched = await fetchBytes({ url, allow: config.fetchAllow, bytesMax, signal });
  if (fetched.kind === 'not-modified') throw new ExternalError('The address sent no content.');
  return readCsv(fetched.bytes.toString('utf8'), (detail) => new ExternalError(detail));
}

async function fetchRows(
  { clock, connectionFor }: FetchListDeps,
  orgId: OrgId,
  { query, connectionId, spanHours, columns }: QuerySource & { columns: string[] },
  signal: AbortSignal,
): Promise<ValueListContent> {
  const connection = await connectionFor(orgId, { connectionId, siemType: null });
  const now = clock();
  const window = { from: new Date(now.getTime() - spanHours * hourMs), to: now, clock: 'event' as const };
  const limits = { rowsMax, groupsMax: rowsMax, timeoutMs: queryMs };
  const tooSlow = AbortSignal.timeout(queryMs);
  const found = await connection.search(query, window, limits, AbortSignal.any([signal, tooSlow])).catch((error) => {
    throw tooSlow.aborted ? new ExternalError(`The query did not finish within ${queryMs / 1000} s.`) : error;
  });
  // Both would empty or cut the list without anything having changed.
  if (found.noData) throw new ExternalError('A dataset of the query never had an event.');
  if (found.truncated) throw new ExternalError(`The query returned more rows than a list can have, ${rowsMax}.`);
  return readRows(columns, found.rows);
}
