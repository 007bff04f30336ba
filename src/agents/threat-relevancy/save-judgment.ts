import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { clearOutdatedModelVerdicts, insertModelVerdict } from '../../feed/items/writing/overrides.store.ts';
import { saveJudgmentRow, type RelevanceVerdict } from './judgments.store.ts';
import { withOwnPoolLocked } from '../../feed/relevance/own-pool.ts';
import { notifyRelevantItems } from '../../feed/relevance/notify-relevant.ts';

export type SaveJudgmentDeps = { db: Db; clock: Clock };

export type JudgmentInput = {
  orgId: OrgId;
  item: FeedItem;
  profileVersion: number;
  /** Whether to notify the organization if the item is judged relevant. */
  notifyIfRelevant: boolean;
  /** Null if the model gave no verdict with a verified reason. */
  verdict: RelevanceVerdict | null;
};

/**
 * Records a judgment and applies its verdict. Returns false if the verdict was not applied: an analyst or a sighting decided the item's
 * relevance, or the item or the profile changed in the meantime.
 */
export async function saveJudgment({ db, clock }: SaveJudgmentDeps, input: JudgmentInput): Promise<boolean> {
  const { orgId, item, profileVersion, notifyIfRelevant, verdict } = input;
  const judgment = { orgId, itemId: item.id, itemVersion: item.version, profileVersion, at: clock() };
  let wasApplied = false;
  await inOrg(db, orgId, (tx) =>
    withOwnPoolLocked(tx, orgId, async () => {
      wasApplied = false;
      const isCurrent = await saveJudgmentRow(tx, judgment);
      if (!isCurrent || verdict === null) return false;
      wasApplied = await insertModelVerdict(tx, { orgId, itemId: item.id, ...verdict, at: judgment.at });
      if (!wasApplied) return false;
      const after = { relevance: verdict.verdict, relevance_by: 'threat-relevancy', reasons: verdict.reasons };
      await insertAudit(tx, { orgId, keyId: null }, { ...auditAction, resourceId: item.id, before: null, after });
      if (notifyIfRelevant && verdict.verdict === 'relevant')
        await notifyRelevantItems(tx, orgId, [{ item, relevance: { score: 1, reasons: verdict.reasons } }]);
      return true;
    }),
  );
  return wasApplied;
}

const auditAction = { action: 'item.overridden', resourceType: 'item' };

/** Withdraws verdicts on other versions of an item or of the profile. Returns the number of affected items. */
export async function withdrawOutdatedVerdicts(
  { db, clock }: SaveJudgmentDeps,
  orgId: OrgId,
  profileVersion: number,
): Promise<number> {
  let itemIds: string[] = [];
  await inOrg(db, orgId, (tx) =>
    withOwnPoolLocked(tx, orgId, async () => {
      itemIds = await clearOutdatedModelVerdicts(tx, orgId, profileVersion, clock());
      for (const resourceId of itemIds)
        await insertAudit(tx, { orgId, keyId: null }, { ...auditAction, resourceId, before: null, after: null });
      return itemIds.length > 0;
    }),
  );
  return itemIds.length;
}
