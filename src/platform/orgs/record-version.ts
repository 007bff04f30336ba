import type { Tx } from '../db/db.ts';
import { matchesRecord, recordEtag } from '../http/responses/etag.ts';
import { appError, type RecordChange } from '../lib/errors.ts';
import { truncateText } from '../lib/text/canonical-text.ts';
import { listAuditRows, type AuditRow } from './audit.store.ts';

const rowsMax = 50;
const textMax = 500;

/** A record as the audit log knows it. `action` and `name` tell records apart that share a resource ID. */
export type AuditedResource = { resourceType: string; resourceId: string; action?: string; name?: string };
type VersionedRecord = { updatedAt: string | null };

/** Throws 412 with what changed unless If-Match matches a record. Call it with the record locked, so that it cannot change before the write. */
export async function requireMatch(
  tx: Tx,
  header: string | undefined,
  record: VersionedRecord,
  resource: AuditedResource,
): Promise<void> {
  if (matchesRecord(header, record)) return;
  const current = recordEtag(record);
  const changes = await listChangesSince(tx, readSeenAt(header!), resource);
  const detail = `If-Match does not match: the record changed and its ETag is now ${current}. \`stale\` lists what changed.`;
  throw appError('precondition_failed', detail, { stale: { current, changes } });
}

/** Returns the `updatedAt` that an If-Match header stands for, in milliseconds. NaN if it is of another form. */
function readSeenAt(header: string): number {
  const tag = header.trim().replace(/^W\//, '').replaceAll('"', '');
  return tag.includes('T') ? Date.parse(tag) : Number.parseInt(tag, 36);
}

/** Lists the changes of a record whose former state was not older than `seenAt`, from the audit log, latest first. */
export async function listChangesSince(
  tx: Tx,
  seenAt: number,
  { name, ...resource }: AuditedResource,
): Promise<RecordChange[]> {
  const rows = (await listAuditRows(tx, resource, { limit: rowsMax, after: null }))
    .map((row) => ({ row, before: parse(row.before), after: parse(row.after) }))
    // Other rows are about parts of the record that have no version of their own, or about its use.
    .filter(({ before, after }) => isVersioned(before ?? after))
    .filter(({ before, after }) => name === undefined || (after ?? before)?.['name'] === name);
  const first = rows.findIndex(({ before }) => (before === null ? 0 : versionOf(before)) < seenAt);
  const since = first === -1 ? rows : rows.slice(0, first);
  return since.map(({ row, before, after }) => toChange(row, before, after));
}

type Json = Record<string, unknown> | null;
const versionOf = (record: Json): number => Date.parse(String(record?.['updatedAt']));
const isVersioned = (record: Json): boolean => !Number.isNaN(versionOf(record));
const parse = (text: string | null): Json => (text === null ? null : (JSON.parse(text) as Json));

function toChange({ at, key_id: keyId, actor, action }: AuditRow, before: Json, after: Json): RecordChange {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const fields = names
    .filter((name) => name !== 'updatedAt' && JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]))
    .map((field) => ({ field, before: shorten(before?.[field]), after: shorten(after?.[field]) }));
  return { at: at.toISOString(), keyId, actor, action, subject: null, fields };
}

/** Returns a value as it is, or the beginning of a long one as text. */
function shorten(value: unknown = null): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > textMax ? truncateText(text, textMax) : value;
}
