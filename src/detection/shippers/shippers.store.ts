import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { LogObject } from './log-folder.ts';

const lease = sql`clock_timestamp() + interval '1 minute'`;

/** Takes the lease of a folder. Returns false if another process has it. */
export async function claimFolder(tx: Tx, orgId: OrgId, name: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into log_folders (organization_id, name, lease_until) values (${orgId}, ${name}, ${lease})
    on conflict (organization_id, name) do update set lease_until = excluded.lease_until
      where log_folders.lease_until is null or log_folders.lease_until < clock_timestamp()`.execute(tx);
  return Number(numAffectedRows ?? 0) > 0;
}

/** Releases the lease. */
export async function releaseFolder(tx: Tx, orgId: OrgId, name: string): Promise<void> {
  await sql`update log_folders set lease_until = null where organization_id = ${orgId} and name = ${name}`.execute(tx);
}

/** Returns those of the objects that have not been read, in their order. */
export async function listUnread(tx: Tx, orgId: OrgId, folder: string, objects: LogObject[]): Promise<LogObject[]> {
  const rows = await queryRows<{ key: string; version: string }>(tx)`
    select object_key as key, version from log_folder_objects
    where organization_id = ${orgId} and folder = ${folder} and object_key = any(${objects.map(({ key }) => key)}::text[])`;
  const versions = new Map(rows.map(({ key, version }) => [key, version]));
  return objects.filter(({ key, version }) => versions.get(key) !== version);
}

/** Records that an object has been read, and renews the lease of its folder. */
export async function recordObject(
  tx: Tx,
  orgId: OrgId,
  { folder, object, problem }: { folder: string; object: LogObject; problem: string | null },
): Promise<void> {
  await sql`
    insert into log_folder_objects (organization_id, folder, object_key, version, modified_at, problem)
    values (${orgId}, ${folder}, ${object.key}, ${object.version}, ${object.modifiedAt}, ${problem})
    on conflict (organization_id, folder, object_key) do update
      set version = excluded.version, modified_at = excluded.modified_at, problem = excluded.problem`.execute(tx);
  await sql`
    update log_folders set lease_until = ${lease} where organization_id = ${orgId} and name = ${folder}`.execute(tx);
}

/** Forgets the objects that were last modified before then. */
export async function deleteOldObjects(tx: Tx, orgId: OrgId, folder: string, before: Date): Promise<void> {
  await sql`
    delete from log_folder_objects
      where organization_id = ${orgId} and folder = ${folder} and modified_at < ${before}`.execute(tx);
}

/** Returns those of the hashes whose events the organization has received within the last 24 hours. */
export async function listKnownIds(tx: Tx, orgId: OrgId, hashes: string[]): Promise<Set<string>> {
  const rows = await queryRows<{ hash: string }>(tx)`
    select id_hash as hash from log_event_ids
    where organization_id = ${orgId} and id_hash = any(${hashes}::uuid[]) and received_at > now() - interval '24 hours'`;
  return new Set(rows.map(({ hash }) => hash));
}

/** Records the IDs of events. Returns false if another request has recorded one of them meanwhile. */
export async function insertEventIds(tx: Tx, orgId: OrgId, hashes: string[]): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into log_event_ids (organization_id, id_hash)
    select ${orgId}, hash from unnest(${hashes.toSorted()}::uuid[]) as listed (hash) order by hash
    on conflict (organization_id, id_hash) do update set received_at = excluded.received_at
      where log_event_ids.received_at <= now() - interval '24 hours'`.execute(tx);
  return Number(numAffectedRows ?? 0) === hashes.length;
}
