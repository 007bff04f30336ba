import { isObject, parseJsonBytes, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { parseInstant, type SkippedEntry } from '../../model/source-record.ts';
import type { SourceDocument } from '../source-document.ts';

export type StixSourceObject = JsonObject & { type: string; id: string };

/** The objects of one document by id: of several versions the one modified last. */
export type StixBundle = {
  name: string;
  id: string | undefined;
  objects: Map<string, StixSourceObject>;
  /** When each object was last sighted, as ISO text, as far as the document says. */
  lastSightings: Map<string, string>;
  skipped: SkippedEntry[];
};

const objectsMax = 200_000;

/** Reads a bundle (STIX 2.0 or 2.1), a TAXII envelope or a bare list of objects. Throws an Error for anything else. */
export function readBundle(part: SourceDocument): StixBundle {
  const document = parseJsonBytes(part.bytes);
  const list = Array.isArray(document) ? document : isObject(document) ? document['objects'] : undefined;
  const isBundle = isObject(document) && document['type'] === 'bundle';
  // A bundle may be empty, and says so by leaving the list out.
  if (!Array.isArray(list) && !(isBundle && list === undefined)) throw new Error('the document is no STIX bundle');
  const entries: unknown[] = list ?? [];
  if (entries.length > objectsMax) throw new Error(`the bundle has more than ${objectsMax} objects`);
  const objects = new Map<string, StixSourceObject>();
  const skipped: SkippedEntry[] = [];
  for (const [index, entry] of entries.entries()) {
    const object = asStixObject(entry);
    if (!object) skipped.push({ entry: `${part.name}: objects/${index}`, reason: 'no STIX object with type and id' });
    else if (!isOlder(object, objects.get(object.id))) objects.set(object.id, object);
  }
  const id = isObject(document) ? asText(document['id']) : undefined;
  return { name: part.name, id, objects, lastSightings: sightingsOf(objects.values()), skipped };
}

function sightingsOf(objects: Iterable<StixSourceObject>): Map<string, string> {
  const found = new Map<string, string>();
  for (const object of objects) {
    const ref = object.type === 'sighting' && !isRevoked(object) ? readTextField(object, 'sighting_of_ref') : '';
    const last = parseInstant(object['last_seen']);
    if (ref && last && last > (found.get(ref) ?? '')) found.set(ref, last);
  }
  return found;
}

function asStixObject(entry: unknown): StixSourceObject | undefined {
  if (!isObject(entry)) return undefined;
  const { type, id } = entry;
  if (typeof type !== 'string' || typeof id !== 'string' || !/^[\x21-\x7e]{1,300}$/.test(id)) return undefined;
  return /^[a-z0-9-]{2,250}$/.test(type) && id.startsWith(`${type}--`) ? (entry as StixSourceObject) : undefined;
}

const isOlder = (object: StixSourceObject, known: StixSourceObject | undefined): boolean =>
  known !== undefined && (findModifiedTime(object) ?? '') < (findModifiedTime(known) ?? '');

/** When the object was last changed, as ISO text; observables of 2.1 have no such time. */
export const findModifiedTime = (object: StixSourceObject): string | undefined =>
  parseInstant(object['modified']) ?? parseInstant(object['created']);

export const listRefs = (object: StixSourceObject, name = 'object_refs'): string[] => {
  const refs = object[name];
  return Array.isArray(refs) ? refs.filter((ref) => typeof ref === 'string') : [];
};

/** A text property, empty where the object has none. */
export const readTextField = (object: StixSourceObject, name: string): string => asText(object[name]) ?? '';

export const isRevoked = (object: StixSourceObject): boolean => object['revoked'] === true;

/** The object's own confidence (0-100 in the source) as 0 to 1, or what is trusted of its source. */
export function readConfidence(object: StixSourceObject, reliability: number): number {
  const own = object['confidence'];
  return typeof own === 'number' && own >= 0 && own <= 100 ? own / 100 : reliability;
}

export type ExternalReference = { source: string; id: string | undefined; url: string | undefined };

export function listExternalReferences(object: StixSourceObject): ExternalReference[] {
  const references = object['external_references'];
  if (!Array.isArray(references)) return [];
  return references.filter(isObject).map((reference) => ({
    source: asText(reference['source_name'])?.toLowerCase() ?? '',
    id: asText(reference['external_id'])?.trim(),
    url: asText(reference['url']),
  }));
}
