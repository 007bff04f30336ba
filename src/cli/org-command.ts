import { acrossOrgs } from '../platform/db/db.ts';
import { systemClock } from '../platform/lib/clock.ts';
import { listOrgsAcrossOrgs } from '../platform/orgs/orgs.store.ts';
import { createOrganization } from '../app/bootstrap.ts';
import { printResult, readArgs, UsageError } from './read-args.ts';
import { withDatabase } from './with-database.ts';

const usage = 'tocsin org create NAME [--json] | tocsin org list [--json]';

export async function orgCommand(args: string[]): Promise<number> {
  const { values, positionals } = readArgs(args, { json: { type: 'boolean' } }, usage);
  const [verb, name] = positionals;
  if (verb === 'create' && positionals.length === 2 && name && name.length <= 255) {
    const org = await withDatabase((db) => createOrganization({ db, clock: systemClock }, name));
    const next = `tocsin key create --org ${org.name} --name NAME`;
    return printResult(values.json, org, `Created organization ${org.name} (${org.id}). Next: ${next}`);
  }
  if (verb === 'list' && positionals.length === 1) {
    const orgs = await withDatabase((db) => acrossOrgs(db, listOrgsAcrossOrgs));
    const list = orgs.map(({ id, name, created_at }) => ({ id, name, createdAt: created_at.toISOString() }));
    return printResult(values.json, list, list.map((org) => `${org.id}  ${org.createdAt}  ${org.name}`).join('\n'));
  }
  throw new UsageError(`Usage: ${usage}`);
}
