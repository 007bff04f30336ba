import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { replaceValue } from '../../platform/db/erasure.store.ts';
import { lockName } from '../../platform/db/lock-name.store.ts';
import type { Author } from '../../platform/http/caller.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { SkillContent, SkillFile } from './skills.schema.ts';

/** A version of a skill of an organization without its content. */
export type SkillVersionRow = {
  name: string;
  version: number;
  description: string;
  bytes: number;
  keyId: string | null;
  actor: string | null;
  createdAt: Date;
  updatedAt: Date;
};
export type SkillRow = SkillVersionRow & { content: SkillContent };

const summary = sql`s.name, s.version, s.description, (octet_length(s.body) + octet_length(s.files))::int as bytes,
  s.key_id as "keyId", s.actor, s.created_at as "createdAt", s.updated_at as "updatedAt"`;
const isCurrent = sql`s.version = (select max(c.version) from skill_versions c
  where c.organization_id = s.organization_id and c.name = s.name)`;

/** Lists the current versions by name. */
export function listSkills(tx: Tx, orgId: OrgId): Promise<SkillVersionRow[]> {
  return queryRows<SkillVersionRow>(tx)`
    select ${summary} from skill_versions s where s.organization_id = ${orgId} and ${isCurrent} order by s.name collate "C"`;
}

/** Lists the versions of a skill, newest first. */
export function listSkillVersions(tx: Tx, orgId: OrgId, name: string): Promise<SkillVersionRow[]> {
  return queryRows<SkillVersionRow>(tx)`
    select ${summary} from skill_versions s where s.organization_id = ${orgId} and s.name = ${name} order by s.version desc`;
}

/** Returns a version of a skill. Default: the current one. */
export async function findSkill(tx: Tx, orgId: OrgId, name: string, version?: number): Promise<SkillRow | undefined> {
  const which = version === undefined ? isCurrent : sql`s.version = ${version}`;
  const row = await queryRow<SkillVersionRow & { details: string; body: string; files: string }>(tx)`
    select ${summary}, s.details, s.body, s.files from skill_versions s
    where s.organization_id = ${orgId} and s.name = ${name} and ${which}`;
  if (!row) return undefined;
  const { details, body, files, ...rest } = row;
  const { license, compatibility, metadata, allowedTools } = JSON.parse(details) as Omit<
    SkillContent,
    'body' | 'files'
  >;
  const parsed = JSON.parse(files) as SkillFile[];
  const content = { description: row.description, license, compatibility, metadata, allowedTools, body, files: parsed };
  return { ...rest, content };
}

type NewVersion = {
  id: string;
  name: string;
  version: number;
  content: SkillContent;
  keyId: string | null;
  actor: string | null;
  createdAt: Date;
};

export async function insertSkillVersion(tx: Tx, orgId: OrgId, row: NewVersion): Promise<void> {
  const { description, body, files, ...details } = row.content;
  await sql`
    insert into skill_versions (organization_id, id, name, version, description, details, body, files, key_id, actor, created_at, updated_at)
    values (${orgId}, ${row.id}, ${row.name}, ${row.version}, ${description}, ${JSON.stringify(details)}, ${body},
      ${JSON.stringify(files)}, ${row.keyId}, ${row.actor}, ${row.createdAt}, ${row.createdAt})`.execute(tx);
}

/** Deletes the versions of a skill up to one. */
export async function deleteSkillVersions(tx: Tx, orgId: OrgId, name: string, upTo: number): Promise<void> {
  await sql`
    delete from skill_versions where organization_id = ${orgId} and name = ${name} and version <= ${upTo}`.execute(tx);
}

/** Returns how many bytes the versions of all skills have. */
export async function sumSkillBytes(tx: Tx, orgId: OrgId): Promise<number> {
  const row = await queryRow<{ bytes: number }>(tx)`
    select coalesce(sum(octet_length(body) + octet_length(files)), 0)::int as bytes from skill_versions where organization_id = ${orgId}`;
  return row!.bytes;
}

/** Returns the IDs of the detections, and open suggestions, by the names of the skills that they use. */
export async function listSkillUsers(tx: Tx, orgId: OrgId): Promise<Map<string, string[]>> {
  const rows = await queryRows<{ name: string; ids: string[] }>(tx)`
    select u.name, array_agg(a.id::text order by a.id) as ids
    from agents a cross join lateral jsonb_array_elements_text(a.skills::jsonb) as u (name)
    where a.organization_id = ${orgId} and a.deleted_at is null and a.skills is not null group by u.name`;
  return new Map(rows.map(({ name, ids }) => [name, ids]));
}

/** Returns which of the names are skills of the organization. */
export async function listSkillNames(tx: Tx, orgId: OrgId, names: readonly string[]): Promise<string[]> {
  const rows = await queryRows<{ name: string }>(tx)`
    select distinct name from skill_versions where organization_id = ${orgId} and name = any(${names}::text[])`;
  return rows.map(({ name }) => name);
}

/** Serializes changes of the skills of an organization until the transaction ends, also of those that do not exist yet. */
export const lockSkills = (tx: Tx, orgId: OrgId): Promise<void> => lockName(tx, `skills ${orgId}`);

/** Replaces a value in versions of skills. Returns the number of versions. */
export function replaceInSkills(tx: Tx, author: Author, value: string): Promise<number> {
  const columns = ['description', 'details', 'body', 'files'];
  return replaceValue(tx, { orgId: author.orgId, table: 'skill_versions', columns, author }, value);
}
