import { sql } from 'kysely';
import { row, type Tx } from '../../platform/db/db.ts';

/** What an organization says of an item beside which group it belongs to. */
export type OverrideFields = {
  severity: string | null;
  status: string | null;
  note: string | null;
  tags: string[] | null;
  indicators: string | null;
  relevance: string | null;
  relevance_by: string | null;
  relevance_reasons: string | null;
  relevance_at: Date | null;
};

const nothing: OverrideFields = {
  severity: null,
  status: null,
  note: null,
  tags: null,
  indicators: null,
  relevance: null,
  relevance_by: null,
  relevance_reasons: null,
  relevance_at: null,
};

export async function findWords(tx: Tx, orgId: string, itemId: string): Promise<OverrideFields> {
  const found = await row(
    tx,
    sql<OverrideFields>`
      select severity, status, note, tags, indicators, relevance, relevance_by, relevance_reasons, relevance_at
      from feed_overrides where organization_id = ${orgId} and item_id = ${itemId}`,
  );
  return found ?? nothing;
}

/** Whether the two say the same, whenever it was said. */
export function sameWords(one: OverrideFields, two: OverrideFields): boolean {
  const text = ({ relevance_at: _at, ...words }: OverrideFields): string =>
    JSON.stringify(Object.entries(words).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return text(one) === text(two);
}

/** The organization's pool must be held, and moved afterwards. */
export async function writeWords(
  tx: Tx,
  given: { orgId: string; itemId: string; words: OverrideFields; at: Date; by: string | null },
): Promise<void> {
  const { orgId, itemId, words, at, by } = given;
  await sql`
    insert into feed_overrides (organization_id, item_id, severity, status, note, tags, indicators, relevance, relevance_by, relevance_reasons,
      relevance_at, updated_at, updated_by)
    values (${orgId}, ${itemId}, ${words.severity}, ${words.status}, ${words.note}, ${words.tags}, ${words.indicators}, ${words.relevance},
      ${words.relevance_by}, ${words.relevance_reasons}, ${words.relevance_at}, ${at}, ${by})
    on conflict (organization_id, item_id) do update set severity = excluded.severity, status = excluded.status, note = excluded.note,
      tags = excluded.tags, indicators = excluded.indicators, relevance = excluded.relevance, relevance_by = excluded.relevance_by,
      relevance_reasons = excluded.relevance_reasons, relevance_at = excluded.relevance_at, updated_at = excluded.updated_at,
      updated_by = excluded.updated_by`.execute(tx);
}
