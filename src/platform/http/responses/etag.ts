import { appError } from '../../lib/errors.ts';

/** Returns the ETag of a record. `updatedAt` increases with every visible change, except for run statistics, so it identifies the version. Null: never changed. */
export function recordEtag({ updatedAt }: { updatedAt: string | null }): string {
  return `"${new Date(updatedAt ?? 0).getTime().toString(36)}"`;
}

/** Throws 412 unless If-Match contains the ETag (RFC 9110, 13.1.1). Weak tags match too, since compressing proxies weaken them. */
export function checkIfMatch(header: string | undefined, etag: string): void {
  if (header === undefined || header.trim() === '*') return;
  const expected = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (!expected.includes(etag))
    throw appError('precondition_failed', `If-Match does not match: the record's ETag is now ${etag}.`);
}
