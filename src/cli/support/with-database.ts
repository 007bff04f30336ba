import { loadConfig, type Config } from '../../config.ts';
import { openDatabase } from '../../app/open-database.ts';
import { acrossOrgs, type Db } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { operatorOf, type Caller } from '../../platform/http/caller.ts';
import { findOrgAcrossOrgs } from '../../platform/orgs/orgs.store.ts';

/** Runs a command on the configured database. Joins the running embedded database, or starts it for the duration of the command. */
export async function withDatabase<T>(work: (db: Db, config: Config) => Promise<T>): Promise<T> {
  const config = loadConfig();
  const database = await openDatabase(config, { exclusive: false, log: () => undefined });
  try {
    return await work(database.db, config);
  } finally {
    await database.stop();
  }
}

/** Returns the operator's caller for an organization. Throws `not_found` if no organization has that name. */
export async function findOperator(db: Db, orgName = 'default'): Promise<Caller> {
  const org = await acrossOrgs(db, (tx) => findOrgAcrossOrgs(tx, { name: orgName }));
  if (!org) throw appError('not_found', `Organization "${orgName}" not found. Create it with: tocsin org create NAME`);
  return operatorOf(org.id);
}
