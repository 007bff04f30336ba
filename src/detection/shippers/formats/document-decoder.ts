import { appError } from '../../../platform/lib/errors.ts';
import type { BodyDecoder, DecodedEvent } from './body-decoder.ts';

// A document is parsed in one go, so that it must be small enough not to make the other bodies of the thread wait.
const documentBytesMax = 16 * 1024 * 1024;

/** Creates a decoder that needs the whole body. `decode` throws malformed_json if it is invalid. */
export function createDocumentDecoder(decode: (body: Buffer) => Iterable<DecodedEvent>): BodyDecoder {
  const slices: Buffer[] = [];
  return {
    bytesMax: documentBytesMax,
    push(slice) {
      slices.push(slice);
      return [];
    },
    end: () => decode(Buffer.concat(slices)),
  };
}

/** Parses a whole body as a JSON object. */
export function parseDocument(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below.
  }
  throw appError('malformed_json', 'The body is not a JSON object in UTF-8.');
}
