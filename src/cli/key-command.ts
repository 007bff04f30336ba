import { inOrg, type Db } from '../platform/db/db.ts';
import { appError } from '../platform/lib/errors.ts';
import { createKey, revokeKey, toKey } from '../platform/orgs/keys.ts';
import { CreateKeyInput } from '../platform/orgs/orgs.schema.ts';
import { findKeyAcrossOrgs, listKeyRows } from '../platform/orgs/orgs.store.ts';
import { printResult, readArgs, UsageError } from './read-args.ts';
import { findOperator, operatorOf, withDatabase } from './with-database.ts';

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
  const { values, positionals } = readArgs(args, options, usage);
  const [verb, id] = positionals;
  if (verb === 'create' && positionals.length === 1 && values.org && values.name) {
    const input = readInput(values.name, values.scope, values.expires);
    const created = await withDatabase(async (db) => createKey({ db }, await findOperator(db, values.org!), input));
    const text = `Key ${created.id} of organization ${values.org}, shown only once:\n${created.key}`;
    return printResult(values.json, { id: created.id, key: created.key }, text);
  }
  if (verb === 'list' && positionals.length === 1) {
    const keys = await withDatabase((db) => listAllKeys(db, values.org));
    const lines = keys.map(
      (key) => `${key.id}  ${key.revokedAt ? 'revoked' : 'valid  '}  ${key.name}  ${key.scopes.join(' ')}`,
    );
    return printResult(values.json, keys, lines.join('\n'));
  }
  if (verb === 'revoke' && positionals.length === 2 && id) {
    const revoked = await withDatabase((db) => revokeById(db, id));
    const text = `Key ${revoked.id} is revoked. Running servers reject it within 30 s.`;
    return printResult(values.json, { id: revoked.id, revokedAt: revoked.revokedAt }, text);
  }
  throw new UsageError(`Usage: ${usage}`);
}

function readInput(name: string, scope: string[] | undefined, expires: string | undefined): CreateKeyInput {
  const expiresAt = expires === undefined ? undefined : new Date(expires);
  if (expiresAt && Number.isNaN(expiresAt.getTime()))
    throw new UsageError('--expires must be a date such as 2027-01-31.');
  const input = CreateKeyInput.safeParse({
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

const listMax = 10_000;

async function listAllKeys(db: Db, orgName: string | undefined) {
  const { orgId } = await findOperator(db, orgName);
  return (await inOrg(db, orgId, (tx) => listKeyRows(tx, orgId, listMax, null))).map(toKey);
}

async function revokeById(db: Db, id: string) {
  const key = await findKeyAcrossOrgs(db, id);
  if (!key) throw appError('not_found', `Key ${id} not found.`);
  return revokeKey({ db, forgetKey: () => undefined }, operatorOf(key.organization_id), id);
}
