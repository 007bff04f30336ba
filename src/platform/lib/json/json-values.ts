import { gunzipSync } from 'node:zlib';

export type JsonObject = Record<string, unknown>;

/** What a gzipped part may grow to. */
const unpackedMaxBytes = 64 * 1024 * 1024;

/** Parses JSON in UTF-8, gzipped or not. Throws an Error that says what is wrong with it. */
export const parseJsonBytes = (bytes: Buffer): unknown => parseJsonText(decodeUtf8(bytes));

/** The text of bytes in UTF-8, gzipped or not, without a byte order mark. */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(unpack(bytes));
  } catch (error) {
    if (error instanceof TypeError && 'code' in error && error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA')
      throw new Error('the document is not UTF-8', { cause: error });
    throw new Error('the document cannot be unpacked', { cause: error });
  }
}

export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error('the document is not valid JSON', { cause: error });
  }
}

function unpack(bytes: Buffer): Buffer {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return isGzip ? gunzipSync(bytes, { maxOutputLength: unpackedMaxBytes }) : bytes;
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A text that is not blank, with what PostgreSQL cannot hold taken out, or undefined. */
export function textOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  return value.toWellFormed().replaceAll('\u0000', '\uFFFD');
}

/** A text or a number as text, empty for anything else: what a document holds in that place may be an object that no text can be made of. */
export const scalarText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

export const objectsOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(textOf).filter((text) => text !== undefined) : [];
