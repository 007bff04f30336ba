import { inOrg, type Db, type Tx } from '../../db/db.ts';
import { roles, roleScopes, type Caller, type Role } from '../../http/caller.ts';
import { appError, fieldError } from '../../lib/errors.ts';
import { uuidv7 } from '../../lib/ids.ts';
import { toPublicLink } from '../../lib/outbound-http/addresses.ts';
import { readPageRequest, toPage, type PageQuery } from '../../lib/page-request.ts';
import { auditRecord } from '../audit.store.ts';
import { boundCredential, generateToken, type BoundedWorth } from '../credentials.ts';
import type { ChangePerson, InvitedPerson, NewPerson, Person, PersonList } from './sessions.schema.ts';
import {
  countPersons,
  findPersonByName,
  insertPerson,
  listPersonRows,
  lockPerson,
  scopesOf,
  updatePerson,
  type PersonRow,
} from './persons.store.ts';
import type { SessionAuthenticator } from './session-authenticator.ts';
import { endSessionsOfPerson, replaceLinkOfPerson, setScopesOfPerson } from './sessions.store.ts';

export type PersonsDeps = { db: Db; sessions: SessionAuthenticator; config: { publicUrl: string | null } };

const linkMs = 3 * 86_400_000;
const personsMax = 10_000;

export async function listPersons({ db }: { db: Db }, { orgId }: Caller, query: PageQuery): Promise<PersonList> {
  const request = readPageRequest(query);
  const rows = await inOrg(db, orgId, (tx) => listPersonRows(tx, orgId, request));
  const { page, nextCursor } = toPage(rows, request.limit, (row) => ({ at: row.created_at, id: row.id }));
  return { persons: page.map(toPerson), nextCursor };
}

/**
 * Creates a person with a role and a link that signs in as that person. Throws 403 for a role with scopes that the caller lacks, 400 if another
 * person has the name, and 409 if the organization has as many as it may.
 */
export async function invitePerson(
  deps: PersonsDeps,
  caller: Caller,
  { name, role }: NewPerson,
): Promise<InvitedPerson> {
  const { orgId } = caller;
  const worth = worthOf(caller, roleScopes[role]);
  return inOrg(deps.db, orgId, async (tx) => {
    if (await findPersonByName(tx, orgId, name))
      throw fieldError('/name', 'not_unique', `A person named "${name}" already exists.`);
    if ((await countPersons(tx, orgId)) >= personsMax)
      throw appError('conflict', `The organization has ${personsMax} persons, as many as it may have.`);
    const now = new Date();
    const id = uuidv7(now);
    await insertPerson(tx, worth, { id, name, role, now });
    const invited = await linkPerson(tx, deps, worth, id);
    const { link: _, ...person } = invited;
    await auditRecord(tx, caller, 'person.invited', { before: null, after: person });
    return invited;
  });
}

/** Creates another link for an invited person, whose earlier one ends. Throws 404, 409 and 403 like `changePerson`. */
export function renewLink(deps: PersonsDeps, caller: Caller, id: string): Promise<InvitedPerson> {
  return inOrg(deps.db, caller.orgId, async (tx) => {
    const before = await lockKnown(tx, caller, id);
    if (before.issuer !== null)
      throw appError('conflict', 'This person signs in with the identity provider and needs no link.');
    if (before.disabled_at) throw appError('conflict', 'This person is disabled. Enable the person first.');
    const invited = await linkPerson(tx, deps, worthOf(caller, scopesOf(before)), id);
    const { link: _, ...after } = invited;
    await auditRecord(tx, caller, 'person.linked', { before: toPerson(before), after });
    return invited;
  });
}

/**
 * Changes the role of an invited person, and disables or enables any person. Open sessions get the new role, and those of a disabled person end.
 * Throws 404, 409 for the role of a person whose groups decide, and 403 if the caller lacks a scope that the person gets.
 */
export async function changePerson(
  { db, sessions }: PersonsDeps,
  caller: Caller,
  id: string,
  { role, disabled }: ChangePerson,
): Promise<Person> {
  const { orgId } = caller;
  const now = new Date();
  const person = await inOrg(db, orgId, async (tx) => {
    const before = await lockKnown(tx, caller, id);
    if (role !== undefined && before.issuer !== null)
      throw appError('conflict', 'The groups of this person at the identity provider decide the role.');
    const next: PersonRow = {
      ...before,
      role: role ?? before.role,
      disabled_at: disabled === undefined ? before.disabled_at : disabled ? (before.disabled_at ?? now) : null,
    };
    if (next.role === before.role && next.disabled_at === before.disabled_at) return toPerson(before);
    // Disabling gives nobody a power, and must not wait for somebody with all scopes of the person.
    const isGrant = next.role !== before.role || (before.disabled_at !== null && next.disabled_at === null);
    if (isGrant) await setScopesOfPerson(tx, worthOf(caller, scopesOf(next)), id);
    await updatePerson(tx, orgId, next, now);
    if (next.disabled_at && !before.disabled_at) await endSessionsOfPerson(tx, orgId, id, now);
    const after = toPerson((await lockPerson(tx, orgId, id))!);
    await auditRecord(tx, caller, 'person.changed', { before: toPerson(before), after });
    return after;
  });
  sessions.forgetPerson(id);
  return person;
}

/** Bounds what a person may do by the caller. A person has no end, so the caller's credential must have none either. */
const worthOf = (caller: Caller, scopes: readonly string[]): BoundedWorth =>
  boundCredential(caller, { scopes, expiresAt: null });

async function lockKnown(tx: Tx, { orgId }: Caller, id: string): Promise<PersonRow> {
  const row = await lockPerson(tx, orgId, id);
  if (!row) throw appError('not_found', `Person ${id} not found.`);
  return row;
}

async function linkPerson(
  tx: Tx,
  { config }: PersonsDeps,
  worth: BoundedWorth,
  personId: string,
): Promise<InvitedPerson> {
  const { text, hash } = generateToken();
  await replaceLinkOfPerson(tx, { ...worth, expiresAt: new Date(Date.now() + linkMs) }, { personId, tokenHash: hash });
  const person = toPerson((await lockPerson(tx, worth.orgId, personId))!);
  const path = `/console/sign-in#${text}`;
  return { ...person, link: toPublicLink(config.publicUrl, path) ?? path };
}

const toPerson = (row: PersonRow): Person => {
  const scopes = scopesOf(row).toSorted();
  return {
    id: row.id,
    name: row.name,
    role: row.role ?? findRole(scopes),
    scopes,
    issuer: row.issuer,
    disabled: row.disabled_at !== null,
    signedInAt: row.signed_in_at?.toISOString() ?? null,
    invitedUntil: row.link_until?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
};

/** Returns the role that has exactly these scopes, which are sorted. */
const findRole = (scopes: readonly string[]): Role | null =>
  roles.find((role) => roleScopes[role].toSorted().join() === scopes.join()) ?? null;
