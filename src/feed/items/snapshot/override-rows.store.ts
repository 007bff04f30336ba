import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OverriddenIndicator } from '../../model/overrides.schema.ts';
import type { OrgState } from './org-state.store.ts';
import type { AppliedOverride } from './apply-overrides.ts';
import type { Condition, Sql } from './query.sql.ts';

const decisionColumns = sql`item_id, severity, status, moved, duplicate_of, relevance, exposed_at, updated_at`;

/** The overrides of the transaction's organization when its private pool was at `seq`, as a parenthesized query. These are few rows. */
export const overridesAt = (seq: number): Sql => sql`(
  select ${decisionColumns} from feed_overrides where organization_id = tocsin_org() and seq <= ${seq}
  union all
  select ${decisionColumns} from feed_override_states where organization_id = tocsin_org() and seq <= ${seq} and seq_until > ${seq})`;

/** Ids of the items whose override `o` meets a condition, as a parenthesized query. */
export const overriddenIds = (seq: number, condition: Condition): Sql =>
  sql`(select o.item_id from ${overridesAt(seq)} o where ${condition})`;

/** The organization's override of an item. If `moved` is set, `duplicate_of` is the root for the organization, and null makes it a root. */
type ItemOverrideRow = {
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
  actor: string | null;
};
type RelevanceScoreRow = { score: number; reasons: string; judged_at: Date };

type WithItemId = { item_id: string };

/** The rows of an item that belong to one organization alone. */
export type OwnRows = { override: ItemOverrideRow | undefined; score: RelevanceScoreRow | undefined };

/** Returns the organization's rows about these items at a state, by item id. Items without any are absent. */
export async function listOwnRows(tx: Tx, itemIds: string[], state: OrgState): Promise<Map<string, OwnRows>> {
  const { overridesSeq } = state;
  const overrides = overridesSeq === undefined ? [] : await listOverridesAt(tx, itemIds, overridesSeq);
  const scores = state.profileVersion === undefined ? [] : await listScoresAt(tx, itemIds, state);
  const found = new Map<string, OwnRows>();
  for (const { item_id, ...override } of overrides) found.set(item_id, { override, score: undefined });
  for (const { item_id, ...score } of scores) found.set(item_id, { override: found.get(item_id)?.override, score });
  return found;
}

const columns = sql`item_id, severity, status, note, indicators, tags, relevance, relevance_by, relevance_reasons, relevance_at, exposed_at,
  moved, duplicate_of, updated_at, updated_by, actor`;

function listOverridesAt(tx: Tx, itemIds: string[], seq: number): Promise<(ItemOverrideRow & WithItemId)[]> {
  const isWanted = sql`organization_id = tocsin_org() and item_id = any(${itemIds}::uuid[]) and seq <= ${seq}`;
  return queryRows<ItemOverrideRow & WithItemId>(tx)`
      select ${columns} from feed_overrides where ${isWanted}
      union all select ${columns} from feed_override_states where ${isWanted} and seq_until > ${seq}`;
}

function listScoresAt(
  tx: Tx,
  itemIds: string[],
  { profileVersion, ownSeq }: OrgState,
): Promise<(RelevanceScoreRow & WithItemId)[]> {
  return queryRows<RelevanceScoreRow & WithItemId>(tx)`
      select item_id, score, reasons, judged_at from feed_relevance
      where organization_id = tocsin_org() and version = ${profileVersion} and item_id = any(${itemIds}::uuid[])
        and seq_from <= ${ownSeq} and seq_until > ${ownSeq}`;
}

/** `indicators` is a JSON list. */
export type AppliedOverrideRow = Omit<AppliedOverride, 'indicators'> & { indicators: string | null };

/** Returns the organization's current overrides of these items, by item id. */
export async function listCurrentOverrides(tx: Tx, itemIds: string[]): Promise<Map<string, AppliedOverride>> {
  if (itemIds.length === 0) return new Map();
  const found = await queryRows<AppliedOverrideRow & WithItemId>(tx)`
      select item_id, severity, status, indicators from feed_overrides
      where organization_id = tocsin_org() and item_id = any(${itemIds}::uuid[])`;
  return new Map(found.map((row) => [row.item_id, toAppliedOverride(row)]));
}

export const toAppliedOverride = ({ severity, status, indicators }: AppliedOverrideRow): AppliedOverride => ({
  severity,
  status,
  indicators: indicators === null ? [] : (JSON.parse(indicators) as OverriddenIndicator[]),
});
