import { createHash } from 'node:crypto';
import type { Digestible } from '../collect.ts';
import { isObject, parseJsonBytes, textOf, type JsonObject } from '../extract/json.ts';
import { standsAlone } from './alone.ts';

/** Pages of a collection, one behind the other: their objects as one document, and where the last page says that there is more. */
export type PagesDigest = {
  more: boolean;
  next: string | undefined;
  count: number;
  hash: string;
  /** The objects belong to nothing that is not among them. */
  alone: boolean;
  bytes: Uint8Array;
};

/** Throws an Error for a page that is none of TAXII. */
export function digestPages(pages: Digestible[]): PagesDigest {
  const envelopes = pages.map(({ bytes }) => envelopeOf(bytes));
  const last = envelopes.at(-1)!;
  const objects = envelopes.flatMap((envelope) => (envelope['objects'] as unknown[] | undefined) ?? []);
  const text = textOfAll(objects);
  return {
    more: last['more'] === true,
    next: textOf(last['next']),
    count: objects.length,
    hash: createHash('sha256').update(text).digest('hex'),
    alone: standsAlone(objects),
    bytes: Buffer.from(`{"objects":${text}}`),
  };
}

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
