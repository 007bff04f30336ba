import type { Deps } from '../../app/deps.ts';
import { inOrg } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { findText, listDuplicates, listSharingCve } from './item-detail.store.ts';
import { fullHour, settleDocument } from '../model/expiry.ts';
import { listOwnOf } from './overrides/override-rows.store.ts';
import { overridden } from './overrides/override-documents.ts';
import { findAnswering } from './snapshot/relevance.sql.ts';
import type { FeedItem, FeedItemDetail, ItemText } from '../model/item.schema.ts';
import { findItem, listVersions } from './items.store.ts';

/** One item with its group and its history. Throws not_found for an id that is not there or that the organization does not see. */
export async function getItem(deps: Deps, caller: Caller, id: string): Promise<FeedItemDetail> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const found = await findItem(tx, id);
    if (!found) throw appError('not_found', `Item ${id} not found`);
    const hour = fullHour(deps.clock());
    const expires = found.next_expiry_at !== null && found.next_expiry_at.getTime() <= hour;
    const item = JSON.parse(expires ? settleDocument(found.doc, hour) : found.doc) as FeedItem;
    const own = (await listOwnOf(tx, [id], await findAnswering(tx))).get(id);
    const versions = await listVersions(tx, id);
    const duplicates = await listDuplicates(tx, id);
    const group = new Set(duplicates);
    const related = [...found.related, ...(await listSharingCve(tx, id))].filter((other) => !group.has(other));
    return {
      ...(own ? overridden(item, own) : item),
      duplicates,
      related: [...new Set(related)],
      versions: versions.map(({ note, at, ...version }) => ({
        ...version,
        at: at.toISOString(),
        ...(note === null ? {} : { note }),
      })),
    };
  });
}

/** The text that a version of an item was made from; empty where the audience lost sight of it. `version`: default the newest. */
export async function getItemText(
  deps: Deps,
  caller: Caller,
  id: string,
  version: number | undefined,
): Promise<ItemText> {
  const found = await inOrg(deps.db, caller.orgId, (tx) => findText(tx, id, version));
  if (!found)
    throw appError(
      'not_found',
      version === undefined ? `Item ${id} not found` : `Item ${id} has no version ${version}`,
    );
  return { id, version: found.version, text: found.stored_text, at: found.at.toISOString() };
}
