import { appError } from '../../lib/errors.ts';

/** Returns the ETag of a record. `updatedAt` increases with every visible change, except for run statistics, so it identifies the version. Null: never changed. */
export function recordEtag({ updatedAt }: { updatedAt: string | null }): string {
  return `"${new Date(updatedAt ?? 0).getTime().toString(36)}"`;
}

/**
 * Returns whether If-Match contains the ETag of a record, or its `updatedAt` in quotes, which lists contain (RFC 9110, 13.1.1). Weak tags match
 * too, since compressing proxies weaken them.
 */
export function matchesRecord(header: string | undefined, record: { updatedAt: string | null }): boolean {
  if (header === undefined || header.trim() === '*') return true;
  const expected = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return expected.includes(recordEtag(record)) || expected.includes(`"${record.updatedAt}"`);
}

/** Throws 412 unless If-Match matches a record. */
export function checkIfMatch(header: string | undefined, record: { updatedAt: string | null }): void {
  if (!matchesRecord(header, record))
    throw appError('precondition_failed', `If-Match does not match: the record's ETag is now ${recordEtag(record)}.`);
}
