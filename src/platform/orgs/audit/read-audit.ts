import { inOrg, type Db } from '../../db/db.ts';
import { readPageRequest, toPage, type PageCursor } from '../../lib/page-request.ts';
import { listAuditRows, type AuditPage, type AuditRow } from '../audit.store.ts';
import type { Caller } from '../../http/caller.ts';
import type { AuditList, AuditQuery, AuditFilter, AuditEntry } from '../orgs.schema.ts';
import type { OrgId } from '../../lib/org-id.ts';
import {
  type ChainedEntry,
  type ChainRow,
  expiredAction,
  findChain,
  hashAuditEntry,
  listChainedEntries,
  listUnchainedEntries,
} from './audit-chain.store.ts';

export async function listAuditEntries({ db }: { db: Db }, caller: Caller, query: AuditQuery): Promise<AuditList> {
  const { limit, after } = readPageRequest(query);
  const rows = await inOrg(db, caller.orgId, (tx) => listAuditRows(tx, query, { limit, after }));
  const { page, nextCursor } = toPage(rows, limit, (row) => row);
  return { entries: page.map(toAuditEntry), nextCursor };
}

const exportRows = 500;

/**
 * Yields the matching entries as lines of JSON, oldest first, in pages of 500 that are read as the client receives them. Entries made
 * after the export began are left out, so that it ends.
 */
export async function* exportAudit(db: Db, caller: Caller, filter: AuditFilter): AsyncGenerator<string> {
  const now = new Date().toISOString();
  const to = filter.to !== undefined && new Date(filter.to) < new Date(now) ? filter.to : now;
  let after: PageCursor | null = null;
  do {
    const page: AuditPage = { limit: exportRows, after, isOldestFirst: true };
    const rows: AuditRow[] = await inOrg(db, caller.orgId, (tx) => listAuditRows(tx, { ...filter, to }, page));
    const lines = rows.slice(0, exportRows);
    if (lines.length > 0) yield lines.map((row) => `${JSON.stringify(toAuditEntry(row))}\n`).join('');
    after = rows.length > exportRows ? lines.at(-1)! : null;
  } while (after);
}

/** Returns an audit entry as clients see it. */
const toAuditEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  at: row.at.toISOString(),
  keyId: row.key_id,
  actor: row.actor,
  action: row.action,
  resourceType: row.resource_type,
  resourceId: row.resource_id,
  before: row.before === null ? null : JSON.parse(row.before),
  after: row.after === null ? null : JSON.parse(row.after),
  sequence: row.sequence,
  hash: row.hash.toString('hex'),
});

/** A place where the chain is broken. `id` is the entry there, if it exists. */
export type AuditFault = { sequence: number | null; id: string | null; problem: string };

export type AuditVerification = {
  /** Number of entries that were read. */
  entries: number;
  /** The newest entry. Note it outside the database, because someone who can rewrite the database can rewrite the whole chain. */
  head: { sequence: number; hash: string };
  /** Entries that retention deleted. */
  expiredThrough: number;
  /** In the order of the chain, at most `faultsMax`. */
  faults: AuditFault[];
};

/** A head that was noted earlier and that the chain must still contain. */
export type KnownHead = { sequence: number; hash: string };

const pageRows = 1000;
export const faultsMax = 20;

/** Reads an organization's audit log and checks that no entry was changed, deleted, reordered or added since it was written. */
export async function verifyAudit(db: Db, orgId: OrgId, known?: KnownHead): Promise<AuditVerification> {
  for (;;) {
    const chain = await inOrg(db, orgId, (tx) => findChain(tx, orgId));
    const result = await verifyChain(db, { orgId, chain: chain ?? noChain, known });
    const later = await inOrg(db, orgId, (tx) => findChain(tx, orgId));
    // Retention deleted entries meanwhile.
    if ((later?.expired_through ?? 0) === (chain?.expired_through ?? 0)) return result;
  }
}

const noChain: ChainRow = { sequence: 0, hash: Buffer.alloc(0), expired_through: 0, expired_hash: Buffer.alloc(0) };

type VerifyInput = { orgId: OrgId; chain: ChainRow; known: KnownHead | undefined };

async function verifyChain(db: Db, { orgId, chain, known }: VerifyInput): Promise<AuditVerification> {
  const link = createLink(chain, known);
  let after = chain.expired_through;
  for (let isLast = false; !isLast;) {
    const range = { after, through: chain.sequence, limit: pageRows };
    const rows = await inOrg(db, orgId, (tx) => listChainedEntries(tx, orgId, range));
    for (const row of rows) link.add(row);
    isLast = rows.length < pageRows;
    // Entries with the same sequence would end a page. They are a fault that is already reported.
    after = isLast ? after : Number(rows.at(-1)!.sequence);
  }
  link.end();
  for (const { id } of await inOrg(db, orgId, (tx) => listUnchainedEntries(tx, orgId, faultsMax)))
    link.report({ sequence: null, id, problem: 'The entry is not part of the chain.' });
  const head = { sequence: chain.sequence, hash: chain.hash.toString('hex') };
  return { entries: link.entries(), head, expiredThrough: chain.expired_through, faults: link.faults };
}

/** Follows a chain from its oldest entry and collects its faults. */
function createLink(chain: ChainRow, known: KnownHead | undefined) {
  const faults: AuditFault[] = [];
  let entries = 0;
  let sequence = chain.expired_through;
  let hash = chain.expired_hash;
  let isExpiryRecorded = chain.expired_through === 0;
  const report = (fault: AuditFault): void => void (faults.length < faultsMax && faults.push(fault));
  const missing = (to: number): void => {
    if (to <= sequence + 1) return;
    const which = to === sequence + 2 ? 'The entry is' : `The entries ${sequence + 1} to ${to - 1} are`;
    report({ sequence: sequence + 1, id: null, problem: `${which} missing.` });
  };
  const checkKnown = (): void => {
    if (known && known.sequence === sequence && known.hash !== hash.toString('hex'))
      report({ sequence, id: null, problem: 'The entry does not have the hash that was noted.' });
  };
  checkKnown();
  function add(row: ChainedEntry): void {
    const place = Number(row.sequence);
    const { id } = row;
    entries += 1;
    if (place === sequence) return report({ sequence: place, id, problem: 'The entry has the place of another one.' });
    missing(place);
    // The chain continues from the stored hash. Of an entry after missing ones, the previous hash is unknown.
    const stored = row.hash ?? Buffer.alloc(0);
    if (place === sequence + 1 && !hashAuditEntry(hash, row).equals(stored))
      report({ sequence: place, id, problem: 'The entry was changed, moved or replaced.' });
    if (row.action === expiredAction) isExpiryRecorded ||= recordsExpiry(row, chain);
    sequence = place;
    hash = stored;
    checkKnown();
  }
  function end(): void {
    missing(chain.sequence + 1);
    if (sequence === chain.sequence && !hash.equals(chain.hash))
      report({ sequence, id: null, problem: 'The newest entry does not have the hash that the chain ends with.' });
    if (!isExpiryRecorded)
      report({ sequence: chain.expired_through, id: null, problem: 'No entry records that retention deleted it.' });
    if (known && known.sequence > chain.sequence)
      report({ sequence: known.sequence, id: null, problem: 'The chain ends before the entry that was noted.' });
  }
  return { add, end, report, faults, entries: () => entries };
}

/** Returns whether an entry records the newest deletion by retention. */
function recordsExpiry({ after }: ChainedEntry, chain: ChainRow): boolean {
  const expected = { through: chain.expired_through, hash: chain.expired_hash.toString('hex') };
  return after?.startsWith(JSON.stringify(expected).slice(0, -1)) ?? false;
}
