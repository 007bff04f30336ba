import { inOrg, type Db } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { createKey, revokeKey, toKey } from '../../platform/orgs/keys.ts';
import { CreateKeyInput } from '../../platform/orgs/orgs.schema.ts';
import { findKeyAcrossOrgs, listKeyRows } from '../../platform/orgs/orgs.store.ts';
import { printResult } from '../support/output.ts';
import { parseArguments } from '../support/body-arguments.ts';
import { UsageError } from '../support/failures.ts';
import { operatorOf } from '../../platform/http/caller.ts';
import { findOperator, withDatabase } from '../support/with-database.ts';

type JsonOption = { json?: boolean | undefined };
type CreateKeyOptions = JsonOption & {
  org: string;
  name: string;
  scope?: string[] | undefined;
  expires?: string | undefined;
};

export async function createKeyCommand({ org, name, scope, expires, json }: CreateKeyOptions): Promise<number> {
  const input = readInput(name, scope, expires);
  const created = await withDatabase(async (db) => createKey({ db }, await findOperator(db, org), input));
  const text = `Key ${created.id} of organization ${org}, shown only once:\n${created.key}`;
  return printResult(json, { id: created.id, key: created.key }, text);
}

export async function listKeysCommand({ org, json }: JsonOption & { org: string }): Promise<number> {
  const keys = await withDatabase((db) => listAllKeys(db, org));
  const lines = keys.map(
    (key) => `${key.id}  ${key.revokedAt ? 'revoked' : 'valid  '}  ${key.name}  ${key.scopes.join(' ')}`,
  );
  return printResult(json, keys, lines);
}

export async function revokeKeyCommand(id: string, { json }: JsonOption): Promise<number> {
  const revoked = await withDatabase((db) => revokeById(db, id));
  const text = `Key ${revoked.id} is revoked. Running servers reject it within five seconds.`;
  return printResult(json, { id: revoked.id, revokedAt: revoked.revokedAt }, text);
}

function readInput(name: string, scope: string[] | undefined, expires: string | undefined): CreateKeyInput {
  const expiresAt = expires === undefined ? undefined : new Date(expires);
  if (expiresAt && Number.isNaN(expiresAt.getTime()))
    throw new UsageError('--expires must be a date such as 2027-01-31.');
  const body = {
    name,
    ...(scope ? { scopes: scope } : {}),
    ...(expiresAt ? { expiresAt: expiresAt.toISOString() } : {}),
  };
  const nameScope = (index?: string): string => (index === undefined ? '--scope' : `--scope ${scope?.[Number(index)]}`);
  return parseArguments(CreateKeyInput, body, { name: '--name', scopes: nameScope, expiresAt: '--expires' });
}

const listMax = 10_000;

async function listAllKeys(db: Db, orgName: string) {
  const { orgId } = await findOperator(db, orgName);
  return (await inOrg(db, orgId, (tx) => listKeyRows(tx, orgId, listMax, null))).map(toKey);
}

async function revokeById(db: Db, id: string) {
  const key = await findKeyAcrossOrgs(db, id);
  if (!key) throw appError('not_found', `Key ${id} not found.`);
  return revokeKey({ db, forgetKey: () => undefined }, operatorOf(key.organization_id), id);
}
