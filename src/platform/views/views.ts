import { inOrg, type Db, type Tx } from '../db/db.ts';
import { type Clock, withIsoTimes } from '../lib/time/clock.ts';
import { appError, fieldError } from '../lib/errors.ts';
import { uuidv7 } from '../lib/ids.ts';
import type { OrgId } from '../lib/org-id.ts';
import { readPageRequest, toPage } from '../lib/page-request.ts';
import { auditRecord } from '../orgs/audit.store.ts';
import type { Caller } from '../http/caller.ts';
import { requireMatch } from '../orgs/record-version.ts';
import type { View, ViewInput, ViewList, ViewQuery } from './views.schema.ts';
import { countViews, deleteView, findView, listViewRows, lockViews, upsertView, type ViewRow } from './views.store.ts';

const viewsMax = 500;

export type ViewDeps = { db: Db; clock: Clock };

/** Returns a page of the views that the organization saved, newest first. */
export async function listViews({ db }: ViewDeps, { orgId }: Caller, query: ViewQuery): Promise<ViewList> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, orgId, (tx) => listViewRows(tx, orgId, query.page, request));
  const { page, nextCursor } = toPage(rows, request.limit, ({ createdAt, id }) => ({ at: createdAt, id }));
  return { views: page.map(toView), nextCursor };
}

/** Saves a view for everyone in the organization. Throws 409 at the limit, and 400 if a view of the page has the name. */
export function createView(deps: ViewDeps, caller: Caller, input: ViewInput): Promise<View> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await lockViews(tx, caller.orgId);
    if ((await countViews(tx, caller.orgId)) >= viewsMax)
      throw appError('conflict', `An organization can have at most ${viewsMax} views. Delete some first.`);
    const view = await storeView(tx, deps, caller, { id: uuidv7(deps.clock()), ...input });
    await auditView(tx, caller, 'view.created', { before: null, after: view });
    return view;
  });
}

/** Replaces a view. Throws 412 if `ifMatch` is not its ETag. */
export function changeView(
  deps: ViewDeps,
  caller: Caller,
  id: string,
  { ifMatch, ...input }: ViewInput & { ifMatch?: string | undefined },
): Promise<View> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    await lockViews(tx, caller.orgId);
    const before = await requireView(tx, caller.orgId, id);
    await requireMatch(tx, ifMatch, before, { resourceType: 'view', resourceId: id });
    const after = await storeView(tx, deps, caller, { id, ...input });
    await auditView(tx, caller, 'view.changed', { before, after });
    return after;
  });
}

export function removeView({ db }: ViewDeps, caller: Caller, id: string): Promise<View> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const view = await requireView(tx, orgId, id);
    await deleteView(tx, orgId, id);
    await auditView(tx, caller, 'view.deleted', { before: view, after: null });
    return view;
  });
}

async function requireView(tx: Tx, orgId: OrgId, id: string): Promise<View> {
  const row = await findView(tx, orgId, id);
  if (!row) throw appError('not_found', `View ${id} not found.`);
  return toView(row);
}

/** The audit log does not repeat the filter, which may name people. */
const toAudited = (view: View | null) => view && { ...view, query: undefined };

const auditView = (
  tx: Tx,
  caller: Caller,
  action: `view.${string}`,
  { before, after }: { before: View | null; after: View | null },
): Promise<void> => auditRecord(tx, caller, action, { before: toAudited(before), after: toAudited(after) });

async function storeView(tx: Tx, { clock }: ViewDeps, caller: Caller, view: ViewInput & { id: string }): Promise<View> {
  const row = await upsertView(tx, caller.orgId, view, { author: caller, now: clock() });
  if (!row) throw fieldError('/name', 'not_unique', `The page ${view.page} has a view named ${view.name} already.`);
  return toView(row);
}

const toView = ({ ...row }: ViewRow): View => ({
  ...withIsoTimes(row),
});
