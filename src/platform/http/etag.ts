import { appError } from '../lib/errors.ts';

/** `updatedAt` moves strictly forward with every visible change, so it names the version. Figures of runs are not part of it. */
export function etagOf(record: { updatedAt: string }): string {
  return `"${new Date(record.updatedAt).getTime().toString(36)}"`;
}

/** RFC 9110 section 13.1.1; weakened tags count too, since proxies that compress weaken them. 412 when none fits. */
export function checkIfMatch(header: string | undefined, etag: string): void {
  if (header === undefined || header.trim() === '*') return;
  const given = header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (!given.includes(etag)) throw appError('precondition_failed', `If-Match does not fit: the record is now ${etag}.`);
}
