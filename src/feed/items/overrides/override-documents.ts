import type { Tx } from '../../../platform/db/db.ts';
import { listOwnOf, type Override, type Own, type Score } from './override-rows.store.ts';
import type { RelevanceReason, TenantOverrides } from '../../model/overrides.schema.ts';
import type { Answering } from '../snapshot/relevance.sql.ts';
import type { FeedItem } from '../../model/item.schema.ts';

/** Documents of a page as the organization sees them; those that it says nothing of stay the text that they are. */
export async function overrideDocuments(tx: Tx, docs: string[], answering: Answering): Promise<string[]> {
  if (docs.length === 0 || (answering.own === undefined && answering.version === undefined)) return docs;
  const ids = docs.map(idOfDocument);
  const found = await listOwnOf(tx, ids, answering);
  if (found.size === 0) return docs;
  return docs.map((doc, index) => {
    const own = found.get(ids[index]!);
    return own ? JSON.stringify(overridden(JSON.parse(doc) as FeedItem, own)) : doc;
  });
}

/** A document begins with its id. */
const idOfDocument = (doc: string): string => /^\{"id":"([0-9a-f-]{36})"/.exec(doc)![1]!;

/** The item with the organization's own words beside it; its own fields stay those that everyone sees, but for its root. */
export function overridden(item: FeedItem, { said, score }: Own): FeedItem {
  const { duplicateOf, ...rest } = item;
  const root = said?.moved ? said.duplicate_of : duplicateOf;
  return { ...rest, ...(root ? { duplicateOf: root } : {}), tenantOverrides: toTenantOverrides(said, score) };
}

function toTenantOverrides(said: Override | undefined, score: Score | undefined): TenantOverrides | null {
  const relevance = relevanceOf(said, score);
  const words = {
    ...(relevance ? { relevance } : {}),
    ...(said?.severity ? { severity: said.severity as TenantOverrides['severity'] & string } : {}),
    ...(said?.status ? { status: said.status as TenantOverrides['status'] & string } : {}),
    ...(said?.indicators ? { indicators: JSON.parse(said.indicators) as TenantOverrides['indicators'] & object } : {}),
    ...(said?.tags ? { tags: said.tags } : {}),
    ...(said?.note ? { note: said.note } : {}),
  };
  if (Object.keys(words).length === 0) return null;
  const at = Math.max(said?.updated_at.getTime() ?? 0, score?.judged_at.getTime() ?? 0);
  return {
    ...words,
    updatedAt: new Date(at).toISOString(),
    ...(said?.updated_by ? { updatedBy: said.updated_by } : {}),
  };
}

type Relevance = NonNullable<TenantOverrides['relevance']>;

/** A person's or a model's word stands before the rules. What was seen in the logs is *exposed*, unless it was judged irrelevant. */
function relevanceOf(said: Override | undefined, score: Score | undefined): Relevance | undefined {
  const reasons = score ? (JSON.parse(score.reasons) as RelevanceReason[]) : [];
  const own = said?.relevance_reasons ? (JSON.parse(said.relevance_reasons) as RelevanceReason[]) : [];
  const at = said?.relevance_at ?? score?.judged_at;
  if (said?.relevance && at) {
    const verdict = said.relevance === 'relevant' && said.exposed_at ? 'exposed' : said.relevance;
    return {
      verdict,
      score: verdict === 'irrelevant' ? 0 : (score?.score ?? 1),
      reasons: [...own, ...reasons],
      judgedBy: said.relevance_by ?? 'person',
      judgedAt: at.toISOString(),
    };
  }
  if (said?.exposed_at)
    return {
      verdict: 'exposed',
      score: 1,
      reasons: [...own, ...reasons],
      judgedBy: 'logs',
      judgedAt: said.exposed_at.toISOString(),
    };
  return score
    ? { verdict: 'relevant', score: score.score, reasons, judgedBy: 'rules', judgedAt: score.judged_at.toISOString() }
    : undefined;
}
