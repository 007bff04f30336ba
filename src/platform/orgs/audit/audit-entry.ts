import type { AuditRow } from '../audit.store.ts';
import type { AuditEntry } from '../orgs.schema.ts';

/** Returns an audit entry as clients see it. */
export const toAuditEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  at: row.at.toISOString(),
  keyId: row.key_id,
  actor: row.actor,
  action: row.action,
  resourceType: row.resource_type,
  resourceId: row.resource_id,
  before: row.before === null ? null : JSON.parse(row.before),
  after: row.after === null ? null : JSON.parse(row.after),
  sequence: row.sequence,
  hash: row.hash.toString('hex'),
});
