import { createHash } from 'node:crypto';
import type { Deps } from '../../app/deps.ts';
import { inOrg } from '../../platform/db/db.ts';
import { getItem } from '../items/get-item.ts';
import type { FeedItem } from '../model/item.schema.ts';
import type { View } from '../items/snapshot/snapshot.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { csvOf } from './indicator-lists.ts';
import { itemIdOf, mispEvent, mispManifest } from './misp-export.ts';
import { asWorded, listOwnWords } from './own-overrides.ts';
import { exportMoment, readExportPage } from './export-page.ts';
import type { ExportQuery } from './exports-query.ts';
import { bundleOf } from './stix/bundle.ts';
import type { Losses } from './stix/unsupported-fields.ts';
import { readVersions } from './exports.store.ts';
import { syndicate } from './syndication.ts';

export type ExportFormat = 'stix' | 'misp' | 'rss' | 'json' | 'csv';
export type Exported = { type: string; text: string; losses: Losses };

/** Formats that say how an item is marked give all that the caller sees; the others what anyone may have, unless asked for more. */
export const tlpMaxOf = (format: ExportFormat | 'blocklist', asked: ExportQuery['maxTlp']): FeedItem['source']['tlp'] =>
  asked ?? (format === 'stix' || format === 'misp' ? 'RED' : 'GREEN');

type ExportedPage = Exported & { next: string | undefined };

/** A page of the feed in a format. `etag` is known before the page is read: equal views, hours and questions have equal bytes. */
export async function exportPage(
  deps: Deps,
  caller: Caller,
  format: ExportFormat,
  query: ExportQuery,
): Promise<{ etag: string; read: () => Promise<ExportedPage> }> {
  const moment = await exportMoment(deps, caller);
  const key = JSON.stringify([moment.view.tag, moment.hour, format, query]);
  const etag = `W/"${createHash('sha256').update(key).digest('base64url').slice(0, 27)}"`;
  const read = async (): Promise<ExportedPage> => {
    if (format === 'misp') return readManifest(deps, caller, { ...moment, query });
    const page = await readExportPage(deps, caller, { ...moment, query, tlpMax: tlpMaxOf(format, query.maxTlp) });
    return { ...(await write(deps, caller, format, page.items)), next: page.next };
  };
  return { etag, read };
}

const headsAtOnce = 500;

/** The heads of many items: who reads a MISP feed knows one index and no next page of it. */
async function readManifest(
  deps: Deps,
  caller: Caller,
  { view, hour, query }: { view: View; hour: number; query: ExportQuery },
): Promise<ExportedPage> {
  const tlpMax = tlpMaxOf('misp', query.maxTlp);
  const heads: Record<string, object> = {};
  let next = query.after;
  for (let left = Number(query.limit); left > 0; left -= headsAtOnce) {
    const limit = String(Math.min(left, headsAtOnce));
    const page = await readExportPage(deps, caller, { view, hour, tlpMax, query: { ...query, limit, after: next } });
    Object.assign(heads, mispManifest(page.items));
    next = page.next;
    if (next === undefined) break;
  }
  return { type: 'application/json', text: JSON.stringify(heads), losses: {}, next };
}

async function write(
  deps: Deps,
  caller: Caller,
  format: Exclude<ExportFormat, 'misp'>,
  items: FeedItem[],
): Promise<Exported> {
  switch (format) {
    case 'stix': {
      const keys = items.map(({ id, version }) => ({ id, version }));
      const versions = await inOrg(deps.db, caller.orgId, (tx) => readVersions(tx, keys));
      const found = keys
        .map(({ id, version }) => versions.get(`${id} ${version}`))
        .filter((item) => item !== undefined);
      const { bundle, losses } = bundleOf(found);
      return { type: 'application/stix+json;version=2.1', text: JSON.stringify(bundle), losses };
    }
    case 'rss':
      return { type: 'application/rss+xml', text: syndicate(items, 'rss'), losses: {} };
    case 'json':
      return { type: 'application/feed+json', text: syndicate(items, 'json'), losses: {} };
    case 'csv':
      return { type: 'text/csv', text: csvOf(items), losses: {} };
  }
}

/** An event of the MISP feed. Throws not_found for one that the organization does not see. */
export async function exportMispEvent(deps: Deps, caller: Caller, eventId: string): Promise<Exported> {
  const item = await getItem(deps, caller, itemIdOf(eventId));
  const words = await inOrg(deps.db, caller.orgId, (tx) => listOwnWords(tx, [item.id]));
  const { event, losses } = mispEvent(asWorded(item, words.get(item.id)?.at(-1)));
  return { type: 'application/json', text: JSON.stringify(event), losses };
}
