import { createHash } from 'node:crypto';

/**
 * The version of a record: when it changed last, which increases with every visible change except for run statistics, or the ETag of its content if
 * it has no such time. Null: never changed.
 */
export type RecordVersion = { updatedAt: string | null } | { etag: string };

/** Returns the ETag of a record. */
export const recordEtag = (version: RecordVersion): string =>
  'etag' in version ? version.etag : `"${new Date(version.updatedAt ?? 0).getTime().toString(36)}"`;

/** Returns 22 characters that identify a JSON value. */
export const hashContent = (content: unknown): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22);

/** Returns the version of a record that is known by its content. */
export const contentVersion = (content: unknown): { etag: string } => ({ etag: `"${hashContent(content)}"` });

/**
 * Returns whether If-Match contains the ETag of a record, or its `updatedAt` in quotes, which lists contain (RFC 9110, 13.1.1). Weak tags match
 * too, since compressing proxies weaken them.
 */
export function matchesRecord(header: string | undefined, version: RecordVersion): boolean {
  if (header === undefined || header.trim() === '*') return true;
  const expected = listTags(header);
  return (
    expected.includes(recordEtag(version)) || ('updatedAt' in version && expected.includes(`"${version.updatedAt}"`))
  );
}

/** Returns the tags of an If-Match header. */
export const listTags = (header: string): string[] => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
