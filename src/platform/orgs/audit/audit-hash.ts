import { createHash } from 'node:crypto';

/** An audit entry as the hash covers it. `atMicros` is microseconds since 1970, as text. */
export type HashedEntry = {
  organization_id: string;
  sequence: string;
  id: string;
  atMicros: string;
  key_id: string | null;
  actor: string | null;
  action: string;
  resource_type: string;
  resource_id: string;
  before: string | null;
  after: string | null;
};

/** Returns the hash of an entry after the hash of the entry before it. `tocsin_audit_hash` computes the same in the database. */
export function hashAuditEntry(previous: Buffer, entry: HashedEntry): Buffer {
  const fields = [
    entry.organization_id,
    entry.sequence,
    entry.id,
    entry.atMicros,
    entry.key_id,
    entry.actor,
    entry.action,
    entry.resource_type,
    entry.resource_id,
    entry.before,
    entry.after,
  ];
  const text = fields.map((field) => (field === null ? '-' : `${Buffer.byteLength(field)}:${field}`)).join(',');
  return createHash('sha256').update(previous).update(text).digest();
}
