import { toXmlText } from '../../platform/lib/text/storable-text.ts';
import { Feed } from 'feed';
import {
  keepAssigned,
  readNameFilters,
  keepAssignedObjects,
  readExportPage,
  readExportSnapshot,
  type ExportDeps,
  type ExportPage,
} from './export-page.ts';
import type { EventQuery, ExportQuery } from './exports-query.ts';
import { listOverrideHistory, readItemVersions } from './exports.store.ts';
import { renderCsv } from './indicator-lists.ts';
import { addLiveObjects } from './live-objects.ts';
import { renderMispEvent, renderMispManifest, toItemId } from './misp-event.ts';
import { mergeStixItems, toStixItem } from './stix/stix-item.ts';
import type { UnsupportedFields } from './stix/stix-patterns.ts';
import { getItem } from '../items/get-item.ts';
import { applyDatedOverride } from '../items/snapshot/apply-overrides.ts';
import type { DatedSnapshot } from '../items/snapshot/snapshot.ts';
import type { FeedItem } from '../model/item.schema.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { toWeakEtag } from '../../platform/http/responses/cached-pages.ts';
import { mapInSlices, stringifyInSlices } from '../../platform/lib/concurrency/slices.ts';

export type ExportFormat = 'stix' | 'misp' | 'rss' | 'json' | 'csv';
/** `unsupported` counts the values that the format cannot represent, by field. */
export type ExportFile = { type: string; text: string; unsupported: UnsupportedFields };
/** `unassigned` counts the values that a filter by name left out. */
type ExportFilePage = ExportFile & { next: string | undefined; unassigned: number };

/** By default, formats that carry TLP markings contain everything that the caller sees. The others contain CLEAR and GREEN. */
export const effectiveTlpMax = (format: ExportFormat | 'blocklist', maxTlp: Tlp | undefined): Tlp =>
  maxTlp ?? (format === 'stix' || format === 'misp' ? 'RED' : 'GREEN');

/**
 * Returns the ETag of a page of the feed in a format, and a function that reads the page. The tag is known before anything is read: equal
 * snapshots, hours and queries produce equal bytes.
 */
export async function openExport(
  deps: ExportDeps,
  caller: Caller,
  format: ExportFormat,
  query: ExportQuery,
): Promise<{ etag: string; read: () => Promise<ExportFilePage> }> {
  const dated = await readExportSnapshot(deps, caller);
  const etag = toWeakEtag(JSON.stringify([dated.snapshot.tag, dated.hour, format, query]));
  const read = async (): Promise<ExportFilePage> => {
    if (format === 'misp') return readMispManifest(deps, caller, { ...dated, query });
    const tlpMax = effectiveTlpMax(format, query.maxTlp);
    const page = await readExportPage(deps, caller, { ...dated, query, tlpMax });
    return { ...(await render(deps, caller, format, { page, query })), next: page.next, unassigned: page.unassigned };
  };
  return { etag, read };
}

const itemsPerRead = 500;

/** Reads up to 10,000 items: a client of a MISP feed reads one manifest and follows no further pages. */
async function readMispManifest(
  deps: ExportDeps,
  caller: Caller,
  { query, ...dated }: DatedSnapshot & { query: ExportQuery },
): Promise<ExportFilePage> {
  const tlpMax = effectiveTlpMax('misp', query.maxTlp);
  const manifest: Record<string, object> = {};
  let next = query.after;
  let unassigned = 0;
  for (let remaining = Number(query.limit); remaining > 0; remaining -= itemsPerRead) {
    const limit = String(Math.min(remaining, itemsPerRead));
    const page = await readExportPage(deps, caller, { ...dated, tlpMax, query: { ...query, limit, after: next } });
    // A client gets whole events, so that one with other values is left out.
    Object.assign(manifest, renderMispManifest(page.items.filter(({ id }) => !page.partialIds.has(id))));
    unassigned += page.unassigned;
    next = page.next;
    if (next === undefined) break;
  }
  return { type: 'application/json', text: JSON.stringify(manifest), unsupported: {}, next, unassigned };
}

async function render(
  { db }: ExportDeps,
  { orgId }: Caller,
  format: Exclude<ExportFormat, 'misp'>,
  { page: { items, partialIds }, query }: { page: ExportPage; query: ExportQuery },
): Promise<ExportFile> {
  switch (format) {
    case 'stix': {
      const keys = items.map(({ id, version }) => ({ id, version }));
      const found = await inOrg(db, orgId, async (tx) => {
        const versions = await readItemVersions(tx, keys);
        return addLiveObjects(
          tx,
          keys.flatMap((key) => versions.get(`${key.id} ${key.version}`) ?? []),
        );
      });
      const nameFilters = readNameFilters(query);
      const stixItems = await mapInSlices(found, (version) =>
        partialIds.has(version.item.id) ? keepAssignedObjects(version, nameFilters) : toStixItem(version),
      );
      const { bundle, unsupported } = mergeStixItems(stixItems);
      return { type: 'application/stix+json;version=2.1', text: await stringifyInSlices(bundle), unsupported };
    }
    case 'rss':
      return { type: 'application/rss+xml', text: renderSyndication(items, 'rss'), unsupported: {} };
    case 'json':
      return { type: 'application/feed+json', text: renderSyndication(items, 'json'), unsupported: {} };
    case 'csv':
      return { type: 'text/csv', text: await renderCsv(items), unsupported: {} };
  }
}

/**
 * Returns an event of the MISP feed with the values that its item assigns to the names in the query. Throws `not_found` if the organization does not see
 * its item.
 */
export async function exportMispEvent(
  deps: ExportDeps,
  caller: Caller,
  { eventId, query }: { eventId: string; query: EventQuery },
): Promise<ExportFile & { unassigned: number }> {
  const item = await getItem(deps, caller, toItemId(eventId));
  const overrides = await inOrg(deps.db, caller.orgId, (tx) => listOverrideHistory(tx, [item.id]));
  const seen = applyDatedOverride(item, overrides.get(item.id)?.at(-1));
  const { item: kept, unassigned } = keepAssigned(seen, readNameFilters(query));
  const { event, unsupported } = renderMispEvent(kept);
  return { type: 'application/json', text: JSON.stringify(event), unsupported, unassigned };
}

/** Renders items as RSS 2.0 or JSON Feed 1, with title, summary and link. The title of a retracted item begins with `[retracted]`. */
function renderSyndication(items: FeedItem[], format: 'rss' | 'json'): string {
  const [newest] = items;
  const feed = new Feed({
    title: 'Threat feed',
    description: 'Items of the threat feed, newest first.',
    id: 'urn:tocsin:feed',
    link: 'urn:tocsin:feed',
    generator: 'Tocsin',
    // The current time would make every response different.
    updated: new Date(newest?.lastUpdated ?? 0),
  });
  for (const item of items) {
    const { source, event, classification } = item;
    const categories = [
      event.severity,
      ...classification.platforms,
      ...classification.mappings.filter(({ framework }) => framework === 'cve').map(({ id }) => id),
    ];
    feed.addItem({
      title: toXmlText(event.status === 'retracted' ? `[retracted] ${event.title}` : event.title),
      id: `urn:uuid:${item.id}`,
      guid: `urn:uuid:${item.id}`,
      link: source.url && /^https?:/i.test(source.url) ? source.url : `urn:uuid:${item.id}`,
      date: new Date(item.lastUpdated),
      published: new Date(source.publishTime ?? item.addedToFeedAt),
      ...(item.summary ? { description: toXmlText(item.summary) } : {}),
      author: [{ name: toXmlText(source.publisher) }],
      category: categories.map((name) => ({ name })),
    });
  }
  return format === 'rss' ? feed.rss2() : feed.json1();
}
