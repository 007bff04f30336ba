import { decodeUtf8, isObject, parseJsonText, splitJsonLines } from '../../../platform/lib/json/json-values.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';

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
