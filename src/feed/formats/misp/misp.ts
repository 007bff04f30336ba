import { FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import { fetchEntries, fetchList } from '../fetch-entries.ts';
import type { FetchSession, FetchSessionResult, DigestInput, SourceDocument } from '../fetch-session.ts';
import {
  asObject,
  isObject,
  parseJsonBytes,
  asScalarText,
  asText,
  type JsonObject,
  asObjects,
} from '../../../platform/lib/json/json-values.ts';
import { countUnreadable, listAttributes, readAttributeValue } from './misp-attributes.ts';
import { findEventTimes, findReportUrl, toEventRecord } from './misp-event.ts';
import { toPartRecord, toPartRecordId, countItems, pickItem } from '../split-record.ts';
import { mispSightings } from '../send-sightings.ts';
import { isBelievable } from '../../model/source-record.ts';
import type { DraftResult, ParseContext, RecordDraft, SourceFormat } from '../source-format.ts';
import { buildDrafts, draftParts } from '../read-parts.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

const uuidPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const eventsMax = 50_000;
const attributesMax = 1_000_000;

/** A MISP feed (manifest.json with one file per event), one event, a list of events, or a directory of them. */
export const misp: SourceFormat = {
  label: 'MISP feed',
  defaults: { reliability: 0.6, schedule: '0 * * * *' },
  fetch: (session) => (isFeedAddress(session.url) ? fetchFeed(session) : undefined),
  digest: ([manifest]) => readManifest(manifest!),
  parse: (parts, context) => buildDrafts(draftEvents(parts, context)),
  draft: draftEvents,
  sightings: mispSightings,
};

function draftEvents(parts: SourceDocument[], context: ParseContext): DraftResult {
  const events = parts.length > 1 ? parts.filter(({ name }) => !/(?:^|\/)manifest\.json(?:\.gz)?$/.test(name)) : parts;
  return draftParts(events, (part) => draftPart(part, context));
}

const folderAddress = /\/(?:manifest\.json)?$/;

/**
 * Returns whether an address is that of a feed. Addresses without a file name are folders, as in MISP. `/events/view/1` is an event of a
 * MISP server.
 */
function isFeedAddress(url: string): boolean {
  const { pathname } = new URL(url);
  return /\/(?:manifest\.json|[^/.]*)$/.test(pathname) && !/\/events\//.test(pathname);
}

/**
 * Fetches the events of a manifest. An event that is no longer in the manifest is not withdrawn. Returns undefined for the address of a single
 * event, which has no file name and no manifest in its folder.
 */
async function fetchFeed(session: FetchSession): Promise<FetchSessionResult | undefined> {
  const url = new URL(session.url);
  const isFolder = folderAddress.test(url.pathname);
  if (!url.pathname.endsWith('.json')) url.pathname = `${url.pathname.replace(/\/$/, '')}/manifest.json`;
  const address = url.href;
  const manifest = await fetchList(session, address, { accept: 'application/json' }).catch((error: unknown) => {
    const isMissing = error instanceof FetchStatusError && error.status === 404;
    if (isMissing && !isFolder) return 'missing' as const;
    throw error;
  });
  if (manifest === 'missing') return undefined;
  const { rows, invalidIds } = manifest
    ? ((await session.digest([manifest])) as Manifest)
    : { rows: [], invalidIds: [] };
  const entries = rows.map(({ id, version }) => ({ id, url: new URL(`./${id}.json`, address).href, version }));
  const fetched = await fetchEntries(session, { entries, lists: { [address]: manifest } });
  const invalid = invalidIds.map((id) => ({ entry: id, reason: 'not an event with a valid uuid in the manifest' }));
  return { ...fetched, skipped: [...(fetched.skipped ?? []), ...invalid] };
}

/** The events of a manifest with their timestamps, the newest first, and the names of entries that are not events. */
type Manifest = { rows: { id: string; version: string | undefined }[]; invalidIds: string[] };

function readManifest({ bytes }: DigestInput): Manifest {
  const manifest = parseJsonBytes(bytes);
  if (!isObject(manifest)) throw new ExternalError('the manifest is not a list of events');
  const rows = Object.entries(manifest).filter(([id, row]) => uuidPattern.test(id) && isObject(row));
  if (rows.length === 0 && Object.keys(manifest).length > 0)
    throw new ExternalError('the manifest is not a list of events');
  if (rows.length > eventsMax) throw new ExternalError(`the manifest has more than ${eventsMax} events`);
  const newest = rows.toSorted(([, a], [, b]) => readTimestamp(b) - readTimestamp(a));
  const valid = new Set(rows.map(([id]) => id));
  return {
    rows: newest.map(([id, row]) => ({ id, version: asScalarText((row as JsonObject)['timestamp']) })),
    invalidIds: Object.keys(manifest).filter((id) => !valid.has(id)),
  };
}

const readTimestamp = (row: unknown): number => Number(asScalarText((row as JsonObject)['timestamp'])) || 0;

function draftPart(part: SourceDocument, context: ParseContext): DraftResult {
  const document = parseJsonBytes(part.bytes);
  const events = unwrapEvents(document);
  if (!events) throw new ExternalError('the document is not a MISP event');
  const parsed: DraftResult = { drafts: [], skipped: [] };
  for (const [index, event] of events.entries()) {
    const id = asText(event['uuid'])?.trim().toLowerCase();
    const count = [event['Attribute'], event['Object']].reduce(
      (sum: number, list) => sum + (Array.isArray(list) ? list.length : 0),
      0,
    );
    if (!id || !uuidPattern.test(id))
      parsed.skipped.push({ entry: `${part.name}[${index}]`, reason: 'the event has no valid uuid' });
    else if (count > attributesMax) parsed.skipped.push({ entry: id, reason: `more than ${attributesMax} attributes` });
    else {
      parsed.drafts.push(...draftEvent(id, event, { url: part.url, ...context }));
      const unreadable = countUnreadable(event);
      if (unreadable > 0)
        parsed.skipped.push({ entry: `${unreadable} attributes of ${id}`, reason: 'have no valid type and value' });
    }
  }
  if (events.length === 1 && parsed.drafts.length === 0) throw new ExternalError(parsed.skipped[0]!.reason);
  return parsed;
}

/** Returns the records of the parts of an event, with the address of its published report in each. */
function draftEvent(id: string, event: JsonObject, context: ParseContext & { url: string | undefined }): RecordDraft[] {
  const parts = splitEvent(event);
  const url = parts.map((part) => findReportUrl(listAttributes(part.event))).find((found) => found !== undefined);
  const publishTime = findEventTimes(event).find((time) => !context.now || isBelievable(time, context.now));
  return parts.map(({ part, count, event: partEvent }) => ({
    recordId: toPartRecordId(id, part),
    publishTime,
    build: () => ({ ...toPartRecord(toEventRecord(id, partEvent, context), part, count), url }),
  }));
}

/** Unwraps `{Event}`, `{response: {Event}}`, `{response: [{Event}, …]}` or a list of `{Event}` or of events. */
function unwrapEvents(document: unknown): JsonObject[] | undefined {
  const outer = isObject(document) && 'response' in document ? document['response'] : document;
  const list: unknown[] = Array.isArray(outer) ? outer : [outer];
  const events = list.map((entry) => asObject(entry)['Event'] ?? (isEvent(entry) ? entry : undefined)).filter(isObject);
  return events.length === list.length && events.length > 0 ? events : undefined;
}

/** Returns whether an entry is an event without its wrapper, which some exporters omit. */
const isEvent = (entry: unknown): boolean =>
  isObject(entry) && typeof entry['info'] === 'string' && typeof entry['uuid'] === 'string' && !('type' in entry);

/** Fields of an event that only its first part has. */
const firstPartOnly = ['EventReport', 'RelatedEvent', 'ShadowAttribute'];

/**
 * Splits an event with more attributes than an item holds. Every part has the fields of the event, and the first part its reports as well. An
 * object stays whole. Parts without attributes are absent, except for the first.
 */
function splitEvent(event: JsonObject): { part: number; count: number; event: JsonObject }[] {
  const [attributes, objects] = [asObjects(event['Attribute']), asObjects(event['Object'])];
  const inObjects = objects.reduce((sum, object) => sum + asObjects(object['Attribute']).length, 0);
  const count = countItems(attributes.length + inObjects);
  if (count === 1) return [{ part: 0, count, event }];
  const parts = Array.from({ length: count }, () => ({ Attribute: [] as JsonObject[], Object: [] as JsonObject[] }));
  for (const attribute of attributes) parts[pickItem(readValue(attribute), count)]!.Attribute.push(attribute);
  for (const object of objects) {
    const [first] = asObjects(object['Attribute']);
    parts[pickItem(first ? readValue(first) : '', count)]!.Object.push(object);
  }
  const rest = Object.fromEntries(Object.entries(event).filter(([name]) => !firstPartOnly.includes(name)));
  return parts.flatMap((members, part) => {
    const isEmpty = members.Attribute.length + members.Object.length === 0;
    return isEmpty && part > 0 ? [] : [{ part, count, event: { ...(part === 0 ? event : rest), ...members } }];
  });
}

const readValue = (attribute: JsonObject): string => readAttributeValue(attribute) ?? '';
