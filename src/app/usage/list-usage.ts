import { acrossOrgs, inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageCursor } from '../../platform/lib/page-request.ts';
import { UsageDay, type UsageDays, type UsageExportQuery, type UsageQuery } from '../../platform/orgs/admin.schema.ts';
import { listOrgPageAcrossOrgs, type OrgRow } from '../../platform/orgs/orgs.store.ts';
import { listUsageDays } from './usage.store.ts';

type ListUsageDeps = { db: Db; clock: Clock };

const dayMs = 86_400_000;
const daysDefault = 30;
export const usageDaysMax = 400;
const organizationsPerPage = 100;
const fields = Object.keys(UsageDay.shape) as (keyof UsageDay)[];

/** Returns what an organization used by UTC day. Throws 400 for a range that is not valid. */
export async function readUsageDays({ db, clock }: ListUsageDeps, orgId: OrgId, query: UsageQuery): Promise<UsageDays> {
  const range = toRange(query, clock());
  return { ...range, days: await inOrg(db, orgId, (tx) => listUsageDays(tx, orgId, range)) };
}

/**
 * Yields what every organization, or one, used by UTC day as lines of JSON or CSV, newest organization first. Throws 400 for a range that is not
 * valid before the first line.
 */
export function exportUsage(
  deps: ListUsageDeps,
  query: UsageExportQuery,
  organization?: OrgId,
): AsyncGenerator<string> {
  return yieldUsage(deps, toRange(query, deps.clock()), { format: query.format ?? 'ndjson', organization });
}

type Range = { from: string; to: string };

type YieldOptions = { format: 'ndjson' | 'csv'; organization: OrgId | undefined };

async function* yieldUsage(
  { db }: ListUsageDeps,
  range: Range,
  { format, organization }: YieldOptions,
): AsyncGenerator<string> {
  if (format === 'csv') yield `organizationId,organization,${fields.join(',')}\n`;
  let after: PageCursor | null = null;
  do {
    const rows: OrgRow[] = await acrossOrgs(db, (tx) =>
      listOrgPageAcrossOrgs(tx, { limit: organizationsPerPage, after }),
    );
    const page = rows.slice(0, organizationsPerPage);
    for (const { id, name } of page) {
      if (organization !== undefined && id !== organization) continue;
      const days = await inOrg(db, id, (tx) => listUsageDays(tx, id, range));
      yield days.map((day) => toLine({ organizationId: id, organization: name, ...day }, format)).join('');
    }
    const last = page.at(-1);
    after = rows.length > organizationsPerPage && last ? { at: last.created_at, id: last.id } : null;
  } while (after);
}

const toLine = (row: Record<string, string | number>, format: 'ndjson' | 'csv'): string =>
  format === 'ndjson' ? `${JSON.stringify(row)}\n` : `${Object.values(row).map(toCell).join(',')}\n`;

/** Quotes a cell where RFC 4180 requires it. A name that a spreadsheet would run as a formula gets an apostrophe. */
function toCell(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function toRange({ from, to }: UsageQuery, now: Date): Range {
  const last = to ?? now.toISOString().slice(0, 10);
  const lastMs = readDay('to', last);
  const first = from ?? new Date(lastMs - (daysDefault - 1) * dayMs).toISOString().slice(0, 10);
  const firstMs = readDay('from', first);
  if (firstMs > lastMs) throw fieldError('query/from', 'out_of_range', '`from` must not be after `to`.');
  if (lastMs - firstMs >= usageDaysMax * dayMs)
    throw fieldError('query/from', 'out_of_range', `The range must have at most ${usageDaysMax} days.`);
  return { from: first, to: last };
}

function readDay(name: string, text: string): number {
  const ms = Date.parse(`${text}T00:00:00Z`);
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text)
    throw fieldError(`query/${name}`, 'invalid', `\`${name}\` must be a day of the calendar, such as 2026-03-31.`);
  return ms;
}
