import { acrossOrgs } from '../platform/db/db.ts';
import { systemClock } from '../platform/lib/clock.ts';
import { listOrgsAcrossOrgs } from '../platform/orgs/orgs.store.ts';
import { resumeOrganization, suspendOrganization } from '../platform/orgs/suspend-organization.ts';
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
  const list = orgs.map(({ id, name, created_at, suspended_at }) => ({
    id,
    name,
    createdAt: created_at.toISOString(),
    suspendedAt: suspended_at?.toISOString() ?? null,
  }));
  const lines = list.map((org) => `${org.id}  ${org.createdAt}  ${org.name}${org.suspendedAt ? '  suspended' : ''}`);
  return printResult(json, list, lines.join('\n'));
}

export async function suspendOrg(name: string, { json }: JsonOption): Promise<number> {
  const org = await withDatabase((db) => suspendOrganization(db, name));
  const text = `Organization ${org.name} is suspended. Running servers refuse its requests within 5 s.`;
  return printResult(json, org, text);
}

export async function resumeOrg(name: string, { json }: JsonOption): Promise<number> {
  const org = await withDatabase((db) => resumeOrganization(db, name));
  return printResult(json, org, `Organization ${org.name} is not suspended. What was due meanwhile runs now.`);
}
