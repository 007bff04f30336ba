import { sql } from 'kysely';
import { acrossOrgs, inOrg, queryRows, type Db, type Tx } from '../../src/platform/db/db.ts';
import type { OrgId } from '../../src/platform/lib/org-id.ts';

export type SelectRows = <T = unknown>(text: TemplateStringsArray, ...values: unknown[]) => Promise<T[]>;

/** Returns a template tag that runs a query as one organization, or across all organizations if none is given. */
export const selectIn =
  (db: Db, orgId?: OrgId): SelectRows =>
  <T>(text: TemplateStringsArray, ...values: unknown[]) => {
    const query = (tx: Tx): Promise<T[]> => queryRows(tx, sql<T>(text, ...values));
    return orgId === undefined ? acrossOrgs(db, query) : inOrg(db, orgId, query);
  };
