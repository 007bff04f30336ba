import { createHash } from 'node:crypto';
import type { DigestInput } from '../fetch-session.ts';
import { isObject, parseJsonBytes, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { listContentRefs } from '../stix/stix-objects.ts';

/** A page of a collection. `bytes` are its objects as the content of a JSON list. */
export type TaxiiPageDigest = {
  more: boolean;
  next: string | undefined;
  count: number;
  bytes: Uint8Array;
  hash: string;
  /** A short hash of each object. */
  objectHashes: string[];
  links: ObjectLinks;
};

/** The pages of a collection as one document. `isStandalone` is set if no object refers to others. */
export type JoinedPages = {
  count: number;
  hash: string;
  objectHashes: string[];
  isStandalone: boolean;
  bytes: Buffer;
};

/** Throws an Error if the document is not a TAXII page. */
export function digestTaxiiPage({ bytes }: DigestInput): TaxiiPageDigest {
  const envelope = readEnvelope(bytes);
  const objects = (envelope['objects'] as unknown[] | undefined) ?? [];
  const texts = objects.map(serialize);
  const text = texts.join(',');
  return {
    more: envelope['more'] === true,
    next: asText(envelope['next']),
    count: objects.length,
    bytes: Buffer.from(text),
    hash: sha256(text),
    objectHashes: texts.map((object) => sha256(object).slice(0, 16)),
    links: readObjectLinks(objects),
  };
}

export function joinPages(pages: TaxiiPageDigest[]): JoinedPages {
  const full = pages.filter(({ count }) => count > 0);
  const pieces = full.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [Buffer.from(','), bytes]));
  return {
    count: full.reduce((sum, { count }) => sum + count, 0),
    hash: sha256(full.map(({ hash }) => hash).join(' ')),
    objectHashes: full.flatMap(({ objectHashes }) => objectHashes),
    isStandalone: areStandalone(full.map(({ links }) => links)),
    bytes: Buffer.concat([Buffer.from('{"objects":['), ...pieces, Buffer.from(']}')]),
  };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function readEnvelope(bytes: Buffer): JsonObject {
  const body = parseJsonBytes(bytes);
  if (!isObject(body)) throw new ExternalError('the response is not a TAXII response');
  if (body['objects'] !== undefined && !Array.isArray(body['objects']))
    throw new ExternalError('the response is not a TAXII envelope');
  return body;
}

// JSON.parse accepts any depth, JSON.stringify does not.
function serialize(object: unknown): string {
  try {
    return JSON.stringify(object);
  } catch (error) {
    if (error instanceof RangeError) throw new ExternalError('the response is nested too deep', { cause: error });
    throw error;
  }
}

/** The ids and references of objects. `areNew` is set if no object was changed and all references are valid. */
type ObjectLinks = { ids: string[]; refs: string[]; areNew: boolean };

function readObjectLinks(objects: unknown[]): ObjectLinks {
  const all = objects.filter(isObject);
  const refs = all.flatMap(listContentRefs);
  return {
    ids: all.map(({ id }) => id).filter(isText),
    refs: [...new Set(refs.filter(isText))],
    areNew: all.every(isNew) && refs.every(isText),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string';

/**
 * Returns whether objects are new and refer only to each other. A changed object may belong to an item that is not among them, and a
 * reference to another object requires that object.
 */
function areStandalone(pages: ObjectLinks[]): boolean {
  const ids = new Set(pages.flatMap((page) => page.ids));
  return pages.every(({ refs, areNew }) => areNew && refs.every((ref) => ids.has(ref)));
}

const isNew = (object: JsonObject): boolean =>
  object['revoked'] !== true && (object['modified'] === undefined || object['modified'] === object['created']);
