import { acrossOrgs } from '../platform/db/db.ts';
import { systemClock } from '../platform/lib/clock.ts';
import { listOrgsAcrossOrgs } from '../platform/orgs/orgs.store.ts';
import { createOrganization } from '../app/bootstrap.ts';
import { printResult, UsageError } from './usage-error.ts';
import { withDatabase } from './with-database.ts';

type JsonOption = { json?: boolean | undefined };
const nameMax = 255;

export async function createOrg(name: string, { json }: JsonOption): Promise<number> {
  if (name === '' || name.length > nameMax) throw new UsageError(`NAME must have 1 to ${nameMax} characters.`);
  const org = await withDatabase((db) => createOrganization({ db, clock: systemClock }, name));
  const next = `tocsin key create --org ${org.name} --name NAME`;
  return printResult(json, org, `Created organization ${org.name} (${org.id}). Next: ${next}`);
}

export async function listOrgs({ json }: JsonOption): Promise<number> {
  const orgs = await withDatabase((db) => acrossOrgs(db, listOrgsAcrossOrgs));
  const list = orgs.map(({ id, name, created_at }) => ({ id, name, createdAt: created_at.toISOString() }));
  return printResult(json, list, list.map((org) => `${org.id}  ${org.createdAt}  ${org.name}`).join('\n'));
}
