import { createHash } from 'node:crypto';
import type { DigestInput } from '../fetch-session.ts';
import { isObject, parseJsonBytes, asText, type JsonObject } from '../../../platform/lib/json/json-values.ts';
import { areStandalone, readObjectLinks, type ObjectLinks } from './standalone-objects.ts';

/** A page of a collection: its objects as the inside of a JSON list, and where it says that there is more. */
export type TaxiiPageDigest = {
  more: boolean;
  next: string | undefined;
  count: number;
  bytes: Uint8Array;
  hash: string;
  /** What `standAlone` goes by. */
  ties: ObjectLinks;
};

/** Pages one behind the other, as one document. */
export type JoinedPages = {
  count: number;
  hash: string;
  /** The objects belong to nothing that is not among them. */ alone: boolean;
  bytes: Buffer;
};

/** Throws an Error for a page that is none of TAXII. */
export function digestTaxiiPage({ bytes }: DigestInput): TaxiiPageDigest {
  const envelope = envelopeOf(bytes);
  const objects = (envelope['objects'] as unknown[] | undefined) ?? [];
  const text = textOfAll(objects).slice(1, -1);
  return {
    more: envelope['more'] === true,
    next: asText(envelope['next']),
    count: objects.length,
    bytes: Buffer.from(text),
    hash: sha256(text),
    ties: readObjectLinks(objects),
  };
}

/** Each page was read once; nothing of it is read again. */
export function joinPages(pages: TaxiiPageDigest[]): JoinedPages {
  const full = pages.filter(({ count }) => count > 0);
  const pieces = full.flatMap(({ bytes }, index) => (index === 0 ? [bytes] : [Buffer.from(','), bytes]));
  return {
    count: full.reduce((sum, { count }) => sum + count, 0),
    hash: sha256(full.map(({ hash }) => hash).join(' ')),
    alone: areStandalone(full.map(({ ties }) => ties)),
    bytes: Buffer.concat([Buffer.from('{"objects":['), ...pieces, Buffer.from(']}')]),
  };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function envelopeOf(bytes: Buffer): JsonObject {
  const body = parseJsonBytes(bytes);
  if (!isObject(body)) throw new Error('the answer is no TAXII answer');
  if (body['objects'] !== undefined && !Array.isArray(body['objects']))
    throw new Error('the answer is no TAXII envelope');
  return body;
}

// Reading JSON knows no depth, writing it does.
function textOfAll(objects: unknown[]): string {
  try {
    return JSON.stringify(objects);
  } catch (error) {
    if (error instanceof RangeError) throw new Error('the answer is nested too deep', { cause: error });
    throw error;
  }
}
