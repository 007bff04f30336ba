import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../db/db.ts';
import { roleScopes, type Role } from '../../http/caller.ts';
import { uuidv7 } from '../../lib/ids.ts';
import type { OrgId } from '../../lib/org-id.ts';
import type { PageRequest } from '../../lib/page-request.ts';
import type { BoundedWorth } from '../credentials.ts';

export type PersonRow = {
  id: string;
  name: string;
  /** Null for a person from single sign-on, whose groups gave `scopes`. */
  role: Role | null;
  scopes: string[] | null;
  issuer: string | null;
  created_at: Date;
  updated_at: Date;
  signed_in_at: Date | null;
  disabled_at: Date | null;
  /** When the link that nobody opened expires. Null if there is none. */
  link_until: Date | null;
};

/** The current name of the author of an entry `e`, if the author is a person. */
export const currentActor = sql`coalesce((select p.name from persons p where p.organization_id = e.organization_id and p.id = e.person_id), e.actor)`;

/** Returns what a person may do. */
export const scopesOf = ({ role, scopes }: Pick<PersonRow, 'role' | 'scopes'>): string[] =>
  role === null ? (scopes ?? []) : [...roleScopes[role]];

const columns = sql`p.id, p.name, p.role, p.scopes, p.issuer, p.created_at, p.updated_at, p.signed_in_at, p.disabled_at,
  (select max(l.expires_at) from sign_in_links l
    where l.organization_id = p.organization_id and l.person_id = p.id and l.expires_at > now()) as link_until`;
const later = (now: Date): RawBuilder<Date> => sql`greatest(${now}, p.updated_at + interval '1 millisecond')`;

/** Lists `limit` + 1 persons, newest first. */
export function listPersonRows(tx: Tx, orgId: OrgId, { limit, after }: PageRequest): Promise<PersonRow[]> {
  return queryRows<PersonRow>(tx)`
      select ${columns} from persons p where p.organization_id = ${orgId}
        ${after ? sql`and (p.created_at, p.id) < (${after.at}, ${after.id}::uuid)` : sql``}
      order by p.created_at desc, p.id desc limit ${limit + 1}`;
}

export async function countPersons(tx: Tx, orgId: OrgId): Promise<number> {
  const found = await queryRow<{ n: number }>(tx)`select count(*) as n from persons where organization_id = ${orgId}`;
  return found!.n;
}

/** Finds a person and locks the row, so that nobody signs in while what the person may do changes. */
export function lockPerson(tx: Tx, orgId: OrgId, id: string): Promise<PersonRow | undefined> {
  return queryRow<PersonRow>(tx)`
      select ${columns} from persons p where p.organization_id = ${orgId} and p.id = ${id} for update of p`;
}

/** Finds a person by name, in any case. Of several, the one who can sign in and came last. */
export function findPersonByName(
  tx: Tx,
  orgId: OrgId,
  name: string,
): Promise<{ id: string; name: string } | undefined> {
  return queryRow<{ id: string; name: string }>(tx)`
      select id, name from persons where organization_id = ${orgId} and lower(name) = lower(${name})
      order by disabled_at is not null, created_at desc, id desc limit 1`;
}

/**
 * Lists people who can sign in and have one of the names, which are in lower case. The part of an e-mail address before its `@` is a
 * name as well.
 */
export async function listMentionedPersons(
  tx: Tx,
  orgId: OrgId,
  names: readonly string[],
): Promise<{ id: string; name: string }[]> {
  if (names.length === 0) return [];
  return queryRows<{ id: string; name: string }>(tx)`
      select id, name from persons where organization_id = ${orgId} and disabled_at is null
        and (lower(name) = any(${names}) or split_part(lower(name), '@', 1) = any(${names})) order by id limit 100`;
}

/** Inserts an invited person with a role whose scopes the inviter has. */
export async function insertPerson(
  tx: Tx,
  { orgId }: BoundedWorth,
  { id, name, role, now }: { id: string; name: string; role: Role; now: Date },
): Promise<void> {
  await sql`
    insert into persons (organization_id, id, name, role, created_at, updated_at)
    values (${orgId}, ${id}, ${name}, ${role}, ${now}, ${now})`.execute(tx);
}

/** Stores the role of an invited person and whether the person is disabled. */
export async function updatePerson(
  tx: Tx,
  orgId: OrgId,
  { id, role, disabled_at }: Pick<PersonRow, 'id' | 'role' | 'disabled_at'>,
  now: Date,
): Promise<void> {
  await sql`
    update persons p set role = ${role}, disabled_at = ${disabled_at}, updated_at = ${later(now)}
    where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

type ProvidedPerson = { name: string; provider: { issuer: string; subject: string }; scopes: string[]; now: Date };

/** Stores a person whom the identity provider confirms with what the groups give now, and locks the row. */
export async function storeProvidedPerson(
  tx: Tx,
  orgId: OrgId,
  { name, provider, scopes, now }: ProvidedPerson,
): Promise<PersonRow> {
  const row = await queryRow<PersonRow>(tx)`
      insert into persons as p (organization_id, id, name, scopes, issuer, issuer_subject, created_at, updated_at, signed_in_at)
      values (${orgId}, ${uuidv7(now)}, ${name}, ${scopes}, ${provider.issuer}, ${provider.subject}, ${now}, ${now}, ${now})
      on conflict (organization_id, issuer, issuer_subject) do update
        set name = excluded.name, scopes = excluded.scopes, signed_in_at = excluded.signed_in_at, updated_at = ${later(now)}
      returning ${columns}`;
  return row!;
}

/** Records that an invited person signs in, and locks the row. Undefined if the person is disabled. */
export function markSignedIn(tx: Tx, orgId: OrgId, id: string, now: Date): Promise<PersonRow | undefined> {
  return queryRow<PersonRow>(tx)`
      update persons p set signed_in_at = ${now} where organization_id = ${orgId} and id = ${id} and disabled_at is null returning ${columns}`;
}
