import { acrossOrgs, inOrg, type Db } from '../platform/db/db.ts';
import { appError } from '../platform/lib/errors.ts';
import { createAuthenticate } from '../platform/orgs/authenticate.ts';
import { scopes, type Caller } from '../platform/orgs/caller.ts';
import { createKey, endKey, toKey } from '../platform/orgs/keys.ts';
import { CreateKey } from '../platform/orgs/orgs.schema.ts';
import { findKeyAcrossOrgs, findOrgAcrossOrgs, listKeys } from '../platform/orgs/orgs.store.ts';
import type { OrgId } from '../platform/lib/org-id.ts';
import { readArgs, UsageError } from './read-args.ts';
import { withDatabase } from './with-database.ts';

const usage =
  'tocsin key create --org NAME --name N [--scope S ...] [--expires DATE] [--json] | tocsin key list [--org NAME] [--json] | tocsin key revoke ID [--json]';

const options = {
  org: { type: 'string' },
  name: { type: 'string' },
  scope: { type: 'string', multiple: true },
  expires: { type: 'string' },
  json: { type: 'boolean' },
} as const;

export async function keyCommand(args: string[]): Promise<number> {
  const { values, words } = readArgs(args, options, usage);
  const [verb, id] = words;
  if (verb === 'create' && words.length === 1 && values.org && values.name) {
    const input = readInput(values.name, values.scope, values.expires);
    const made = await withDatabase(async (db) => createKey({ db }, await administrator(db, values.org!), input));
    console.log(
      values.json
        ? JSON.stringify({ id: made.id, key: made.key })
        : `Key ${made.id} of ${values.org}, shown this once:\n${made.key}`,
    );
    return 0;
  }
  if (verb === 'list' && words.length === 1) {
    const keys = await withDatabase((db) => allKeys(db, values.org));
    console.log(
      values.json
        ? JSON.stringify(keys)
        : keys
            .map((key) => `${key.id}  ${key.revokedAt ? 'revoked' : 'valid  '}  ${key.name}  ${key.scopes.join(' ')}`)
            .join('\n'),
    );
    return 0;
  }
  if (verb === 'revoke' && words.length === 2 && id) {
    const ended = await withDatabase((db) => revoke(db, id));
    console.log(
      values.json
        ? JSON.stringify({ id: ended.id, revokedAt: ended.revokedAt })
        : `Key ${ended.id} is revoked; a running server forgets it within 30 s.`,
    );
    return 0;
  }
  throw new UsageError(`Usage: ${usage}`);
}

function readInput(name: string, scope: string[] | undefined, expires: string | undefined): CreateKey {
  const expiresAt = expires === undefined ? undefined : new Date(expires);
  if (expiresAt && Number.isNaN(expiresAt.getTime()))
    throw new UsageError('--expires takes a date such as 2027-01-31.');
  const input = CreateKey.safeParse({
    name,
    ...(scope ? { scopes: scope } : {}),
    ...(expiresAt ? { expiresAt: expiresAt.toISOString() } : {}),
  });
  if (!input.success)
    throw new UsageError(
      input.error.issues
        .map((issue) => `--${issue.path[0] === 'scopes' ? 'scope' : String(issue.path[0])}: ${issue.message}`)
        .join('\n'),
    );
  return input.data;
}

/** The command line acts for whoever runs the installation, so it may grant every scope. */
async function administrator(db: Db, orgName: string): Promise<Caller> {
  const org = await acrossOrgs(db, (tx) => findOrgAcrossOrgs(tx, orgName));
  if (!org) throw appError('not_found', `There is no organization "${orgName}"; tocsin org create makes one.`);
  return { orgId: org.id, keyId: null, scopes: new Set(scopes) };
}

const listMax = 10_000;

async function allKeys(db: Db, orgName = 'default') {
  const { orgId } = await administrator(db, orgName);
  return (await inOrg(db, orgId, (tx) => listKeys(tx, orgId, listMax, null))).map(toKey);
}

async function revoke(db: Db, id: string) {
  const key = await findKeyAcrossOrgs(db, id);
  if (!key) throw appError('not_found', `There is no key ${id}.`);
  const caller: Caller = { orgId: key.organization_id as OrgId, keyId: null, scopes: new Set(scopes) };
  return endKey({ db, auth: createAuthenticate(db) }, caller, id);
}
