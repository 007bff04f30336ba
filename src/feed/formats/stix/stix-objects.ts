import {
  asObject,
  asObjects,
  asText,
  isObject,
  type JsonObject,
  decodeUtf8,
  parseJsonText,
  splitJsonLines,
} from '../../../platform/lib/json/json-values.ts';
import { parseInstant, type SkippedEntry } from '../../model/source-record.ts';
import type { SourceDocument } from '../fetch-session.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

/** A STIX object as its source wrote it. */
export type StixSourceObject = JsonObject & { type: string; id: string };

/** The objects of one document by id. Only the last modified version of an object is kept. */
export type StixBundle = {
  name: string;
  id: string | undefined;
  objects: Map<string, StixSourceObject>;
  /** The last sighting of each object in the document as ISO text. */
  lastSightings: Map<string, string>;
  /** Ids of the identities and locations that a `targets` relationship of the document refers to. */
  targeted: ReadonlySet<string>;
  skipped: SkippedEntry[];
};

const objectsMax = 1_000_000;

/** Reads a bundle (STIX 2.0 or 2.1), a TAXII envelope, a bare list of objects, an object per line or one object. Throws an Error for anything else. */
export function readBundle(part: SourceDocument): StixBundle {
  const document = readStixDocument(part.bytes);
  const { objects: listed, type, id } = asObject(document);
  const list = Array.isArray(document) ? document : toSingleObject(document) ? [document] : listed;
  // An empty bundle omits the list.
  if (!Array.isArray(list) && !(type === 'bundle' && list === undefined))
    throw new ExternalError('the document is not a STIX bundle');
  const entries: unknown[] = list ?? [];
  if (entries.length > objectsMax) throw new ExternalError(`the bundle has more than ${objectsMax} objects`);
  const objects = new Map<string, StixSourceObject>();
  const skipped: SkippedEntry[] = [];
  for (const [index, entry] of entries.entries()) {
    const object = toStixObject(entry);
    if (!object)
      skipped.push({ entry: `${part.name}: objects/${index}`, reason: 'not a STIX object with valid type and id' });
    else {
      const known = objects.get(object.id);
      if (known && isOtherObject(object, known))
        skipped.push({ entry: object.id, reason: 'another object of the document has the same id and time' });
      else if (!isOlder(object, known)) objects.set(object.id, object);
    }
  }
  return {
    name: part.name,
    id: asText(id),
    objects,
    lastSightings: findLastSightings(objects.values()),
    targeted: findTargeted(objects.values()),
    skipped,
  };
}

function findLastSightings(objects: Iterable<StixSourceObject>): Map<string, string> {
  const sightings = new Map<string, string>();
  for (const object of objects) {
    const ref = object.type === 'sighting' && !isRevoked(object) ? readTextField(object, 'sighting_of_ref') : '';
    const last = parseInstant(object['last_seen']);
    if (ref && last && last > (sightings.get(ref) ?? '')) sightings.set(ref, last);
  }
  return sightings;
}

function findTargeted(objects: Iterable<StixSourceObject>): Set<string> {
  const targeted = new Set<string>();
  for (const object of objects)
    if (object['relationship_type'] === 'targets' && !isRevoked(object))
      targeted.add(readTextField(object, 'target_ref'));
  return targeted;
}

/** Returns a document that is itself an object, such as an indicator, instead of a bundle of objects. */
export const toSingleObject = (document: unknown): StixSourceObject | undefined => {
  const object = toStixObject(document);
  return object?.type === 'bundle' ? undefined : object;
};

function toStixObject(entry: unknown): StixSourceObject | undefined {
  if (!isObject(entry)) return undefined;
  const { type, id } = entry;
  if (typeof type !== 'string' || typeof id !== 'string' || !/^[\x21-\x7e]{1,300}$/.test(id)) return undefined;
  return /^[a-z0-9-]{2,250}$/.test(type) && id.startsWith(`${type}--`) ? (entry as StixSourceObject) : undefined;
}

/** Returns whether two objects with one ID are different objects. Several versions of one object differ in time. */
const isOtherObject = (object: StixSourceObject, known: StixSourceObject): boolean =>
  findModifiedTime(object) === findModifiedTime(known) && JSON.stringify(object) !== JSON.stringify(known);

const isOlder = (object: StixSourceObject, known: StixSourceObject | undefined): boolean =>
  known !== undefined && (findModifiedTime(object) ?? '') < (findModifiedTime(known) ?? '');

/** Returns the time of the last change as ISO text. STIX 2.1 observables have none. */
export const findModifiedTime = (object: StixSourceObject): string | undefined =>
  parseInstant(object['modified']) ?? parseInstant(object['created']);

export const listRefs = (object: StixSourceObject, name = 'object_refs'): string[] => {
  const refs = object[name];
  return Array.isArray(refs) ? refs.filter((ref) => typeof ref === 'string') : [];
};

/** Returns a text property, or the empty string. */
export const readTextField = (object: StixSourceObject, name: string): string => asText(object[name]) ?? '';

export const isRevoked = (object: StixSourceObject): boolean => object['revoked'] === true;

/** Returns the object's own confidence (0 to 100 in the source) as 0 to 1, or the reliability of its source. */
export function readConfidence(object: StixSourceObject, reliability: number): number {
  const confidence = object['confidence'];
  return typeof confidence === 'number' && confidence >= 0 && confidence <= 100 ? confidence / 100 : reliability;
}

/** `name` is the name of the source as written, `source` in lower case. */
type ExternalReference = { name: string; source: string; id: string | undefined; url: string | undefined };

export const listExternalReferences = (object: StixSourceObject): ExternalReference[] =>
  asObjects(object['external_references']).map((reference) => ({
    name: asText(reference['source_name'])?.trim() ?? '',
    source: asText(reference['source_name'])?.toLowerCase() ?? '',
    id: asText(reference['external_id'])?.trim(),
    url: asText(reference['url']),
  }));

/** References to the creator and to markings, which are not part of the content. */
const metadataRefs = new Set(['created_by_ref', 'object_marking_refs']);

/** Returns the values of all reference properties that describe the content of an object. */
export const listContentRefs = (object: JsonObject): unknown[] =>
  Object.entries(object).flatMap(([name, value]) => (/_refs?$/.test(name) && !metadataRefs.has(name) ? value : []));

/** Parses a JSON document or JSON Lines, whose lines become a list. Throws an Error that names STIX 1, which is XML. */
export function readStixDocument(bytes: Buffer): unknown {
  const text = decodeUtf8(bytes);
  if (/^\s*</.test(text))
    throw new ExternalError(
      /stix\.mitre\.org|docs\.oasis-open\.org\/cti\/ns\/stix/.test(text.slice(0, 10_000))
        ? 'the document is STIX 1: only STIX 2.0 and 2.1 are supported'
        : 'the document is XML, not JSON',
    );
  try {
    return parseJsonText(text);
  } catch (error) {
    return readLines(text) ?? raise(error);
  }
}

/** Returns the objects of the lines, of which one may be a bundle, or undefined if the first lines are not JSON objects. */
function readLines(text: string): unknown[] | undefined {
  const lines = splitJsonLines(text);
  if (lines.length < 2) return undefined;
  const objects: unknown[] = [];
  for (const [index, line] of lines.entries()) {
    const value = parseLine(line);
    if (!isObject(value) && index === 0) return undefined;
    if (!isObject(value)) throw new ExternalError(`line ${index + 1} of the document is not a JSON object`);
    objects.push(...(Array.isArray(value['objects']) && value['type'] === 'bundle' ? value['objects'] : [value]));
  }
  return objects;
}

function parseLine(line: string): unknown {
  try {
    return parseJsonText(line);
  } catch {
    return undefined;
  }
}

function raise(error: unknown): never {
  throw error;
}
