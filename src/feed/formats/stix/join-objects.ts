import type { SourceDocument } from '../source-document.ts';
import { readStixDocument } from './stix-document.ts';
import { toSingleObject } from './stix-objects.ts';

/** A larger document is a bundle. */
const objectMaxBytes = 1024 * 1024;

/** Joins documents with one object each, as a file system store of STIX has them, because their objects refer to each other. */
export function joinObjects(parts: SourceDocument[]): SourceDocument[] {
  if (parts.length < 2) return parts;
  const singles = parts.filter(isSingle);
  if (singles.length < 2) return parts;
  const bytes = Buffer.concat([
    Buffer.from('['),
    ...singles.flatMap((part, index) => [Buffer.from(index === 0 ? '' : ','), withoutMark(part.bytes)]),
    Buffer.from(']'),
  ]);
  return [{ name: 'objects', bytes }, ...parts.filter((part) => !singles.includes(part))];
}

function isSingle({ bytes }: SourceDocument): boolean {
  if (bytes.length > objectMaxBytes) return false;
  try {
    return toSingleObject(readStixDocument(bytes)) !== undefined;
  } catch {
    return false;
  }
}

/** A byte order mark is only valid at the start of a document. */
const withoutMark = (bytes: Buffer): Buffer =>
  bytes.subarray(0, 3).toString('hex') === 'efbbbf' ? bytes.subarray(3) : bytes;
