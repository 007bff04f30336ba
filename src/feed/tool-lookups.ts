import { sql } from 'kysely';
import { inOrg, rows, type Db } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import { isVisible } from './store.ts';

export type FoundItem = {
  id: string;
  title: string;
  severity: string;
  status: string;
  publisher: string;
  publishTime: Date | null;
};

const columns = sql`id, title, severity, status, publisher, publish_time as "publishTime"`;
const wordsMax = 8;
const foundMax = 10;
// A feed may be large and has no index over its text: a look-up that takes longer is given up, and says so.
const lookupMs = 5_000;

/** Items that the organization sees whose title has all of the words, newest first. */
export function searchTitles(db: Db, orgId: OrgId, given: { text: string; limit: number }): Promise<FoundItem[]> {
  const words = given.text.split(/\s+/).filter(Boolean).slice(0, wordsMax).map(escaped);
  return lookup(db, orgId, sql`title ilike all (${words.map((word) => `%${word}%`)}::text[])`, given.limit);
}

/** Items that the organization sees that list a value as an indicator, as written or as normalized. */
export function findByIndicator(db: Db, orgId: OrgId, value: string): Promise<FoundItem[]> {
  const text = escaped(JSON.stringify(value.trim().toLowerCase()));
  return lookup(db, orgId, sql`lower(doc) like ${`%alue":${text}%`}`, foundMax);
}

function lookup(db: Db, orgId: OrgId, condition: ReturnType<typeof sql>, limit: number): Promise<FoundItem[]> {
  return inOrg(db, orgId, async (tx) => {
    await sql`select set_config('statement_timeout', ${String(lookupMs)}, true)`.execute(tx);
    return rows(
      tx,
      sql<FoundItem>`select ${columns} from items where pool_id in (select id from feed_pools where ${isVisible}) and (${condition}) order by added_to_feed_at desc, id desc limit ${limit}`,
    );
  });
}

const escaped = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`);
