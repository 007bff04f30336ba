import { acrossOrgs, type Db } from '../../platform/db/db.ts';
import { verifyAudit, type AuditVerification, type KnownHead } from '../../platform/orgs/audit/read-audit.ts';
import { listOrgsAcrossOrgs } from '../../platform/orgs/orgs.store.ts';
import { printResult } from '../support/output.ts';
import { UsageError } from '../support/failures.ts';
import { findOperator, withDatabase } from '../support/with-database.ts';

type VerifyOptions = { org?: string | undefined; head?: string | undefined; json?: boolean | undefined };
type NamedVerification = AuditVerification & { organization: string };

/** Verifies the audit log of an organization, or of all. Returns exit code 1 if one is broken. */
export async function verifyAuditCommand({ org, head, json }: VerifyOptions): Promise<number> {
  const known = readHead(head);
  if (known && org === undefined) throw new UsageError('--head needs --org: every organization has its own chain.');
  const results = await withDatabase((db) => verifyOrganizations(db, org, known));
  printResult(json, results, results.map(describe));
  return results.every(({ faults }) => faults.length === 0) ? 0 : 1;
}

async function verifyOrganizations(db: Db, name: string | undefined, known?: KnownHead): Promise<NamedVerification[]> {
  const orgs =
    name === undefined
      ? await acrossOrgs(db, listOrgsAcrossOrgs)
      : [{ name, id: (await findOperator(db, name)).orgId }];
  const results: NamedVerification[] = [];
  for (const org of orgs) results.push({ organization: org.name, ...(await verifyAudit(db, org.id, known)) });
  return results;
}

function readHead(text: string | undefined): KnownHead | undefined {
  if (text === undefined) return undefined;
  const [, sequence, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (hash === undefined) throw new UsageError('--head must be SEQUENCE:HASH as an earlier check printed it.');
  return { sequence: Number(sequence), hash };
}

function describe({ organization, entries, head, expiredThrough, faults }: NamedVerification): string {
  const expired = expiredThrough > 0 ? `, ${expiredThrough} deleted by retention` : '';
  const state = faults.length === 0 ? 'intact' : 'BROKEN';
  const lines = faults.map(
    ({ sequence, id, problem }) =>
      `  ${[sequence ?? 'no place', id].filter((part) => part !== null).join('  ')}  ${problem}`,
  );
  return [`${organization}  ${state}  ${entries} entries${expired}  head ${head.sequence}:${head.hash}`, ...lines].join(
    '\n',
  );
}
