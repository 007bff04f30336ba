import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError, staleError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Author, Caller } from '../../platform/http/caller.ts';
import { listChangesSince, requireMatch } from '../../platform/orgs/record-version.ts';
import type { ValueList, ValueListInput, ValueLists } from './value-lists.schema.ts';
import {
  deleteValueList,
  findValueList,
  listValueLists,
  lockValueLists,
  replaceInValueLists,
  upsertValueList,
  type ValueListRow,
} from './value-lists.store.ts';

const listsMax = 100;

export async function getValueLists({ db }: { db: Db }, { orgId }: Caller): Promise<ValueLists> {
  const rows = await inOrg(db, orgId, (tx) => listValueLists(tx, orgId));
  return { lists: rows.map(toRevised) };
}

/** Throws 404. */
export async function getValueList({ db }: { db: Db }, { orgId }: Caller, name: string): Promise<ValueList> {
  const row = await inOrg(db, orgId, (tx) => findValueList(tx, orgId, name));
  if (!row) throw toNotFound(name);
  return toValueList(row);
}

/** Creates or replaces a list. Throws 409 above 100 lists, and 409 or 412 if it is not the version that the caller saw. */
export function putValueList(
  { db, clock }: { db: Db; clock: Clock },
  caller: Caller,
  name: string,
  { description, values, expectedRevision, ifMatch }: ValueListInput & { ifMatch?: string | undefined },
): Promise<ValueList> {
  const { orgId, keyId, subject: actor = null } = caller;
  return inOrg(db, orgId, async (tx) => {
    await lockValueLists(tx, orgId);
    const before = await findValueList(tx, orgId, name);
    await checkVersion(tx, orgId, { name, before }, { ifMatch, expectedRevision });
    if (!before && (await listValueLists(tx, orgId)).length >= listsMax)
      throw appError('conflict', `An organization can have at most ${listsMax} value lists.`);
    const now = clock();
    const list = { name, description, values: [...new Set(values)], keyId, actor, updatedAt: now };
    await upsertValueList(tx, orgId, { ...list, id: uuidv7(now) });
    const stored = (await findValueList(tx, orgId, name))!;
    await insertAudit(tx, caller, {
      action: before ? 'value_list.changed' : 'value_list.created',
      resourceType: 'value_list',
      resourceId: orgId,
      before: before ? summarize(before) : null,
      after: summarize(stored),
    });
    return toValueList(stored);
  });
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
    if (row.usedBy.length > 0)
      throw appError(
        'conflict',
        `Value list ${name} is used by \`tuning.allowLists\` of ${row.usedBy.length} detections: ${row.usedBy.slice(0, 5).join(', ')}. Remove it there first.`,
      );
    await deleteValueList(tx, orgId, name);
    await insertAudit(tx, caller, {
      action: 'value_list.deleted',
      resourceType: 'value_list',
      resourceId: orgId,
      before: summarize(row),
      after: null,
    });
    return toValueList(row);
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

const toRevised = <R extends { updatedAt: Date }>(row: R) => ({
  ...row,
  updatedAt: row.updatedAt.toISOString(),
  revision: row.updatedAt.getTime(),
});

const toValueList = (row: ValueListRow): ValueList => toRevised(row);

/** The audit log does not repeat the values, which may name people. */
const summarize = ({ name, description, valuesTotal, updatedAt }: Omit<ValueListRow, 'values'>) => ({
  name,
  description,
  valuesTotal,
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
