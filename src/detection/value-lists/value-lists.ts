import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import type { ValueList, ValueListInput, ValueLists } from './value-lists.schema.ts';
import {
  deleteValueList,
  findValueList,
  listValueLists,
  upsertValueList,
  type ValueListRow,
} from './value-lists.store.ts';

const listsMax = 100;

export async function getValueLists({ db }: { db: Db }, { orgId }: Caller): Promise<ValueLists> {
  const rows = await inOrg(db, orgId, (tx) => listValueLists(tx, orgId));
  return { lists: rows.map((row) => ({ ...row, updatedAt: row.updatedAt.toISOString() })) };
}

/** Throws 404. */
export async function getValueList({ db }: { db: Db }, { orgId }: Caller, name: string): Promise<ValueList> {
  const row = await inOrg(db, orgId, (tx) => findValueList(tx, orgId, name));
  if (!row) throw toNotFound(name);
  return toValueList(row);
}

/** Creates or replaces a list. Throws 409 above 100 lists. */
export function putValueList(
  { db, clock }: { db: Db; clock: Clock },
  caller: Caller,
  name: string,
  { description, values }: ValueListInput,
): Promise<ValueList> {
  const { orgId, keyId, subject: actor = null } = caller;
  return inOrg(db, orgId, async (tx) => {
    const before = await findValueList(tx, orgId, name);
    if (!before && (await listValueLists(tx, orgId)).length >= listsMax)
      throw appError('conflict', `An organization can have at most ${listsMax} value lists.`);
    const now = clock();
    const list = { name, description, values: [...new Set(values)], keyId, actor, updatedAt: now };
    await upsertValueList(tx, orgId, { ...list, id: uuidv7(now) });
    await insertAudit(tx, caller, {
      action: before ? 'value_list.changed' : 'value_list.created',
      resourceType: 'value_list',
      resourceId: orgId,
      before: before ? summarize(before) : null,
      after: summarize({ ...list, valuesTotal: list.values.length }),
    });
    return toValueList((await findValueList(tx, orgId, name))!);
  });
}

/** Deletes a list and returns it. Throws 404, and 409 if a detection uses the list. */
export function removeValueList({ db }: { db: Db }, caller: Caller, name: string): Promise<ValueList> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const row = await findValueList(tx, orgId, name);
    if (!row) throw toNotFound(name);
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

const toNotFound = (name: string) => appError('not_found', `Value list ${name} not found.`);

const toValueList = (row: ValueListRow): ValueList => ({ ...row, updatedAt: row.updatedAt.toISOString() });

/** The audit log does not repeat the values, which may name people. */
const summarize = ({ name, description, valuesTotal }: Pick<ValueListRow, 'name' | 'description' | 'valuesTotal'>) => ({
  name,
  description,
  valuesTotal,
});
