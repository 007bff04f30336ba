import { inOrg } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { keepJudgement, takeBackWords, writeWord, type Word } from './judgments.store.ts';
import { withOwnPool } from '../../feed/relevance/own-pool.ts';
import { tellRelevant } from '../../feed/relevance/notify-relevant.ts';

type KeepDeps = Pick<Deps, 'db' | 'clock'>;

/** `version`: of the profile; `isNews`: the rules do not call it relevant, and it was not judged before; `word` null: nothing held. */
export type Kept = { orgId: OrgId; item: FeedItem; version: number; isNews: boolean; word: Word | null };

/** Keeps what a model said of an item; answers whether it stands: not over a person's word or the logs', nor of what changed meanwhile. */
export async function keepWord({ db, clock }: KeepDeps, kept: Kept): Promise<boolean> {
  const { orgId, item, version: profileVersion, isNews, word } = kept;
  const judgement = { orgId, itemId: item.id, itemVersion: item.version, profileVersion, at: clock() };
  let stands = false;
  await inOrg(db, orgId, (tx) =>
    withOwnPool(tx, orgId, async () => {
      stands = (await keepJudgement(tx, judgement)) && word !== null && (await writeWord(tx, judgement, word));
      if (!stands) return false;
      const after = { relevance: word!.verdict, relevance_by: 'threat-relevancy', reasons: word!.reasons };
      await insertAudit(tx, { orgId, keyId: null }, { ...said, resourceId: item.id, before: null, after });
      if (isNews && word!.verdict === 'relevant')
        await tellRelevant(tx, orgId, [{ item, relevance: { score: 1, reasons: word!.reasons } }]);
      return true;
    }),
  );
  return stands;
}

const said = { action: 'item.overridden', resourceType: 'item' };

/** Takes back what was said of another version of an item or of the profile than this one; answers of how many items. */
export async function takeBack({ db, clock }: KeepDeps, orgId: OrgId, version: number): Promise<number> {
  let taken: string[] = [];
  await inOrg(db, orgId, (tx) =>
    withOwnPool(tx, orgId, async () => {
      taken = await takeBackWords(tx, orgId, version, clock());
      for (const resourceId of taken)
        await insertAudit(tx, { orgId, keyId: null }, { ...said, resourceId, before: null, after: null });
      return taken.length > 0;
    }),
  );
  return taken.length;
}
