import { decodeUtf8 } from '../../../platform/lib/json/json-values.ts';
import type { SourceDocument } from '../source-document.ts';
import { readStixDocument } from './stix-document.ts';
import { toSingleObject } from './stix-objects.ts';

/** A larger document is a bundle. */
const objectMaxBytes = 1024 * 1024;

/** Joins documents with one object each, as a file system store of STIX has them, because their objects refer to each other. */
export function joinObjects(parts: SourceDocument[]): SourceDocument[] {
  if (parts.length < 2) return parts;
  const singles = new Set(parts.filter(isSingle));
  if (singles.size < 2) return parts;
  const bytes = Buffer.from(`[${[...singles].map((part) => decodeUtf8(part.bytes)).join(',')}]`);
  return [{ name: 'objects', bytes }, ...parts.filter((part) => !singles.has(part))];
}

function isSingle({ bytes }: SourceDocument): boolean {
  if (bytes.length > objectMaxBytes) return false;
  try {
    return toSingleObject(readStixDocument(bytes)) !== undefined;
  } catch {
    return false;
  }
}
