import { gunzipSync } from 'node:zlib';
import { ExternalError } from '../external-error.ts';
import { toStorableText } from '../text/storable-text.ts';

export type JsonObject = Record<string, unknown>;

const unpackedMaxBytes = 64 * 1024 * 1024;

/** Parses UTF-8 JSON, gzipped or not (at most 64 MiB unpacked). Throws an Error that explains the problem. */
export const parseJsonBytes = (bytes: Buffer): unknown => parseJsonText(decodeUtf8(bytes));

/** Decodes UTF-8, gzipped or not, without a byte order mark. */
export function decodeUtf8(bytes: Buffer): string {
  const unpacked = unpackGzip(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(unpacked);
  } catch (error) {
    throw new ExternalError('the document is not UTF-8', { cause: error });
  }
}

export function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const isMarkup = /^\s*</.test(text);
    throw new ExternalError(isMarkup ? 'the document is XML or HTML, not JSON' : 'the document is not valid JSON', {
      cause: error,
    });
  }
}

/** Returns the content of a gzip file (at most 64 MiB) or, for anything else, the bytes themselves. */
export function unpackGzip(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: unpackedMaxBytes });
  } catch (error) {
    throw new ExternalError('the document cannot be unpacked', { cause: error });
  }
}

/** Returns the documents of JSON Lines as texts. They may be indented: each begins with a brace at the start of a line. */
export const splitJsonLines = (text: string): string[] =>
  text.split(/^\s*\{[ \t]*\r?\n/.test(text) ? /\r?\n(?=\{)/ : /\r?\n/).filter((part) => part.trim() !== '');

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a non-blank string as a text that can be stored, or undefined. */
export function asText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  return toStorableText(value);
}

/** Returns a string or number as text and anything else, such as an object, as the empty string. */
export const asScalarText = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** Returns an object, or an empty one for anything else. */
export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const asObjects = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const asTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.map(asText).filter((text) => text !== undefined) : [];

/** Returns a table's value for an untrusted key. Inherited properties (`constructor`, `__proto__`) count as missing. */
export const ownValue = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

/** Parses JSON, but returns integers that a double cannot represent as text. Throws a SyntaxError. */
export function parseExactJson(text: string): unknown {
  return JSON.parse(longInteger.test(text) ? text.replaceAll(stringOrLongInteger, quoteIfUnsafe) : text);
}

// A reviver that reads the source of each value does the same but takes five times as long, and responses are large.
const longInteger = /(?:^|[:,[])\s*-?[1-9]\d{15,}\s*(?:$|[,\]}])/;
// An unclosed string matches up to the end of the text. Retrying from each quote inside it would take quadratic time.
const stringOrLongInteger = /"[^"\\]*(?:\\[^][^"\\]*)*(?:"|\\?$)|(?<![\w.+-])-?[1-9]\d{15,}(?![\w.+-])/g;

const quoteIfUnsafe = (token: string): string =>
  token.startsWith('"') || Number.isSafeInteger(Number(token)) ? token : `"${token}"`;
