import { inOrg, type Db } from '../../platform/db/db.ts';
import { type Clock, withIsoTimes } from '../../platform/lib/time/clock.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { startOfHour, updateDocumentExpiry } from '../model/expiry.ts';
import type { FeedItem, FeedItemDetail, ItemText } from '../model/item.schema.ts';
import { readSeverityBasis } from '../model/source-record.ts';
import { findItem, findText, listDuplicates, listPredictions, listSharingCve, listVersions } from './items.store.ts';
import { withTenantOverrides } from './override-documents.ts';
import { listOwnRows } from './snapshot/override-rows.store.ts';
import { readOrgState } from './snapshot/org-state.store.ts';

/** Returns one item with its group and its history. Throws `not_found` if it does not exist or the organization does not see it. */
export async function getItem(
  { db, clock }: { db: Db; clock: Clock },
  caller: Caller,
  id: string,
): Promise<FeedItemDetail> {
  return inOrg(db, caller.orgId, async (tx) => {
    const found = await findItem(tx, id);
    if (!found) throw appError('not_found', `Item ${id} not found`);
    const hour = startOfHour(clock());
    const expires = found.next_expiry_at !== null && found.next_expiry_at.getTime() <= hour;
    const item = JSON.parse(expires ? updateDocumentExpiry(found.doc, hour) : found.doc) as FeedItem;
    const ownRows = (await listOwnRows(tx, [id], await readOrgState(tx))).get(id);
    const versions = await listVersions(tx, id);
    const duplicates = await listDuplicates(tx, id);
    const group = new Set(duplicates);
    const related = [...found.related, ...(await listSharingCve(tx, id))].filter((other) => !group.has(other));
    const severityBasis = readSeverityBasis(found.severityText);
    const cves = item.classification.mappings.filter(({ framework }) => framework === 'cve').map(({ id: cve }) => cve);
    const predictions = await listPredictions(tx, cves);
    return {
      ...(ownRows ? withTenantOverrides(item, ownRows) : item),
      ...(severityBasis ? { severityBasis } : {}),
      ...(predictions.length > 0 ? { predictions } : {}),
      duplicates,
      related: [...new Set(related)],
      versions: versions.map(({ note, ...version }) => ({
        ...withIsoTimes(version),
        ...(note === null ? {} : { note }),
      })),
    };
  });
}

/** Returns the text of a version of an item, or of the newest version. It is empty if the organization may no longer see the item's content. */
export async function getItemText(
  { db }: { db: Db },
  caller: Caller,
  id: string,
  version: number | undefined,
): Promise<ItemText> {
  const found = await inOrg(db, caller.orgId, (tx) => findText(tx, id, version));
  const missing = version === undefined ? 'not found' : `has no version ${version}`;
  if (!found) throw appError('not_found', `Item ${id} ${missing}`);
  return { id, version: found.version, text: found.stored_text, at: found.at.toISOString() };
}
