import type { Tx } from '../db/db.ts';
import { listTags, matchesRecord, recordEtag, type RecordVersion } from '../http/etag.ts';
import { appError, type RecordChange } from '../lib/errors.ts';
import type { OrgId } from '../lib/org-id.ts';
import { truncateText } from '../lib/text/canonical-text.ts';
import { listAuditRows, type AuditRow } from './audit.store.ts';

const rowsMax = 50;
const textMax = 500;

/**
 * How the audit log identifies a record. Its actions start with `action`. `fields` are values that only this record has among those with the
 * same resource ID. Without both, the audited record has the ID of the resource.
 */
export type AuditedResource = {
  /** Needed in a transaction across organizations. */
  orgId?: OrgId;
  resourceType: string;
  resourceId: string;
  action?: string;
  fields?: Record<string, unknown>;
};

/** Throws 412 with what changed unless If-Match matches a record. Call it with the record locked, so that it cannot change before the write. */
export async function requireMatch(
  tx: Tx,
  header: string | undefined,
  version: RecordVersion,
  resource: AuditedResource,
): Promise<void> {
  if (header === undefined || matchesRecord(header, version)) return;
  const current = recordEtag(version);
  const changes = await listChangesSince(tx, 'etag' in version ? listTags(header) : readSeenAt(header), resource);
  const detail = `If-Match does not match: the record changed and its ETag is now ${current}. \`stale\` lists what changed.`;
  throw appError('precondition_failed', detail, { stale: { current, changes } });
}

/** Returns the `updatedAt` that an If-Match header encodes, in milliseconds. NaN if it has another form. */
function readSeenAt(header: string): number {
  const tag = (listTags(header)[0] ?? '').replaceAll('"', '');
  return tag.includes('T') ? Date.parse(tag) : Number.parseInt(tag, 36);
}

/**
 * Lists the changes of a record since a version, from the audit log, latest first. `seen` is the time of the version, or possible ETags of its
 * content.
 */
export async function listChangesSince(
  tx: Tx,
  seen: number | readonly string[],
  { fields, ...resource }: AuditedResource,
): Promise<RecordChange[]> {
  const wanted = Object.entries(fields ?? (resource.action === undefined ? { id: resource.resourceId } : {}));
  const rows = (await listAuditRows(tx, resource, { limit: rowsMax, after: null }))
    .map((row) => ({ row, before: parse(row.before), after: parse(row.after) }))
    // Other rows concern parts of the record with a version of their own or none, or its use.
    .filter(({ before, after }) => isVersioned(after ?? before))
    .filter(({ before, after }) => wanted.every(([name, value]) => (after ?? before)?.[name] === value));
  const first = rows.findIndex(({ before, after }) =>
    typeof seen === 'number' ? timeOf(before) < seen : seen.includes(String(after?.['etag'])),
  );
  const since = first === -1 ? rows : rows.slice(0, first);
  return since.map(({ row, before, after }) => toChange(row, before, after));
}

type Json = Record<string, unknown> | null;
const parse = (text: string | null): Json => (text === null ? null : (JSON.parse(text) as Json));

/** The fields of an audited record that are its version. */
const versionFields = ['updatedAt', 'etag'];
const isVersioned = (record: Json): boolean => record !== null && versionFields.some((name) => name in record);
const timeOf = (record: Json): number => new Date((record?.['updatedAt'] as string | null | undefined) ?? 0).getTime();

function toChange({ at, key_id: keyId, actor, action }: AuditRow, before: Json, after: Json): RecordChange {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const fields = names
    .filter(
      (name) =>
        ![...versionFields, 'revision'].includes(name) &&
        JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]),
    )
    .map((field) => ({ field, before: shorten(before?.[field]), after: shorten(after?.[field]) }));
  return { at: at.toISOString(), keyId, actor, action, subject: null, fields };
}

/** Returns a value as it is, or the beginning of a long one as text. */
function shorten(value: unknown = null): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > textMax ? truncateText(text, textMax) : value;
}
