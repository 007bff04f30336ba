import { sql } from 'kysely';
import { rows, type Tx } from '../../../platform/db/db.ts';
import type { Answering } from '../snapshot/relevance.sql.ts';

/** What the organization of the transaction says of an item. `moved`: it sees `duplicate_of` as the root, null for none. */
export type Override = {
  severity: string | null;
  status: string | null;
  note: string | null;
  indicators: string | null;
  tags: string[] | null;
  relevance: 'relevant' | 'irrelevant' | null;
  relevance_by: string | null;
  relevance_reasons: string | null;
  relevance_at: Date | null;
  exposed_at: Date | null;
  moved: boolean;
  duplicate_of: string | null;
  updated_at: Date;
  updated_by: string | null;
};
export type Score = { score: number; reasons: string; judged_at: Date };

/** An item's id with what is the organization's own about it. */
export type Own = { item_id: string; said: Override | undefined; score: Score | undefined };

/** Of these items, at the moment that `answering` stands for; items of which there is nothing are left out. */
export async function listOwnOf(tx: Tx, ids: string[], { own, version, seq }: Answering): Promise<Map<string, Own>> {
  const said = own === undefined ? [] : await listSaid(tx, ids, own);
  const scores = version === undefined ? [] : await listScores(tx, ids, { version, seq });
  const found = new Map<string, Own>();
  for (const { item_id, ...row } of said) found.set(item_id, { item_id, said: row, score: undefined });
  for (const { item_id, ...score } of scores) found.set(item_id, { item_id, said: found.get(item_id)?.said, score });
  return found;
}

const columns = sql`item_id, severity, status, note, indicators, tags, relevance, relevance_by, relevance_reasons, relevance_at, exposed_at,
  moved, duplicate_of, updated_at, updated_by`;

/** What was said of these items when the organization's own pool stood at `seq`. */
export function listSaid(tx: Tx, ids: string[], seq: number): Promise<(Override & { item_id: string })[]> {
  const these = sql`organization_id = tocsin_org() and item_id = any(${ids}::uuid[]) and seq <= ${seq}`;
  return rows(
    tx,
    sql<Override & { item_id: string }>`
      select ${columns} from feed_overrides where ${these}
      union all select ${columns} from feed_override_states where ${these} and seq_until > ${seq}`,
  );
}

function listScores(
  tx: Tx,
  ids: string[],
  { version, seq }: { version: number; seq: number },
): Promise<(Score & { item_id: string })[]> {
  return rows(
    tx,
    sql<Score & { item_id: string }>`
      select item_id, score, reasons, judged_at from feed_relevance
      where organization_id = tocsin_org() and version = ${version} and item_id = any(${ids}::uuid[]) and seq_from <= ${seq} and seq_until > ${seq}`,
  );
}
