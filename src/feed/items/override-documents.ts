import type { Tx } from '../../platform/db/db.ts';
import { hashContent, type RecordVersion } from '../../platform/http/etag.ts';
import type { FeedItem } from '../model/item.schema.ts';
import type { OverriddenIndicator, RelevanceReason, TenantOverrides } from '../model/overrides.schema.ts';
import type { OrgState } from './snapshot/org-state.store.ts';
import type { OverrideFields } from './writing/overrides.store.ts';
import { listOwnRows, type OwnRows } from './snapshot/override-rows.store.ts';

/** Returns the documents of a page as the organization sees them. Documents without an override or a score stay unparsed. */
export async function overrideDocuments(tx: Tx, docs: string[], state: OrgState): Promise<string[]> {
  if (docs.length === 0 || (state.overridesSeq === undefined && state.profileVersion === undefined)) return docs;
  const ids = docs.map(readDocumentId);
  const found = await listOwnRows(tx, ids, state);
  if (found.size === 0) return docs;
  return docs.map((doc, index) => {
    const ownRows = found.get(ids[index]!);
    return ownRows ? JSON.stringify(withTenantOverrides(JSON.parse(doc) as FeedItem, ownRows)) : doc;
  });
}

/** A document begins with its id. */
const readDocumentId = (doc: string): string => /^\{"id":"([0-9a-f-]{36})"/.exec(doc)![1]!;

/** Returns the item with `tenantOverrides` filled in. The item's own fields keep their shared values, except `duplicateOf`. */
export function withTenantOverrides({ duplicateOf, ...rest }: FeedItem, ownRows: OwnRows): FeedItem {
  const root = ownRows.override?.moved ? ownRows.override.duplicate_of : duplicateOf;
  return { ...rest, ...(root ? { duplicateOf: root } : {}), tenantOverrides: toTenantOverrides(ownRows) };
}

type Decisions = Omit<OverrideFields, 'relevance_at'>;

/**
 * Returns the revision of an override, which is what people of the organization decided: `0` if nothing. Verdicts of the service do not count, so that
 * they never refuse a person's change.
 */
function revisionOf(override: Decisions | undefined): string {
  const { severity, status, note, tags, indicators, relevance } = override ?? {};
  const isPersons = override?.relevance_by === 'person';
  const reasons = isPersons ? parseReasons(override.relevance_reasons).filter(({ kind }) => kind === 'person') : [];
  const decisions = [severity, status, note || null, tags, indicators, isPersons ? relevance : null];
  return decisions.every((decision) => (decision ?? null) === null) ? '0' : hashContent([...decisions, reasons]);
}

/** Returns the version of an item's override for `If-Match`. */
export const versionOfOverride = ({ tenantOverrides }: Pick<FeedItem, 'tenantOverrides'>): RecordVersion =>
  toEtag(tenantOverrides?.revision ?? revisionOf(undefined));

/** Like `versionOfOverride`, of a row. */
export const versionOfOverrideFields = (fields: Decisions): RecordVersion => toEtag(revisionOf(fields));

const toEtag = (revision: string): RecordVersion => ({ etag: `"${revision}"` });

function toTenantOverrides({ override, score }: OwnRows): TenantOverrides | null {
  const relevance = toRelevance({ override, score });
  const fields = {
    ...(relevance ? { relevance } : {}),
    ...(override?.severity ? { severity: override.severity as TenantOverrides['severity'] & string } : {}),
    ...(override?.status ? { status: override.status as TenantOverrides['status'] & string } : {}),
    ...(override?.indicators ? { indicators: JSON.parse(override.indicators) as OverriddenIndicator[] } : {}),
    ...(override?.tags ? { tags: override.tags } : {}),
    ...(override?.note ? { note: override.note } : {}),
  };
  if (Object.keys(fields).length === 0) return null;
  const updatedAt = Math.max(override?.updated_at.getTime() ?? 0, score?.judged_at.getTime() ?? 0);
  return {
    ...fields,
    updatedAt: new Date(updatedAt).toISOString(),
    revision: revisionOf(override),
    ...(override?.updated_by ? { updatedBy: override.updated_by } : {}),
    ...(override?.actor ? { actor: override.actor } : {}),
  };
}

/**
 * The verdict of a person or a model wins over the score of the rules. An item seen in the logs is `exposed`, unless it was marked
 * irrelevant.
 */
function toRelevance({ override, score }: OwnRows): TenantOverrides['relevance'] {
  const scoreReasons = parseReasons(score?.reasons);
  const reasons = [...parseReasons(override?.relevance_reasons), ...scoreReasons];
  const judgedAt = override?.relevance_at ?? score?.judged_at;
  if (override?.relevance && judgedAt) {
    const verdict = override.relevance === 'relevant' && override.exposed_at ? 'exposed' : override.relevance;
    return {
      verdict,
      score: verdict === 'irrelevant' ? 0 : (score?.score ?? 1),
      reasons,
      judgedBy: override.relevance_by ?? 'person',
      judgedAt: judgedAt.toISOString(),
    };
  }
  if (override?.exposed_at)
    return { verdict: 'exposed', score: 1, reasons, judgedBy: 'logs', judgedAt: override.exposed_at.toISOString() };
  if (!score) return undefined;
  const scoredAt = score.judged_at.toISOString();
  return { verdict: 'relevant', score: score.score, reasons: scoreReasons, judgedBy: 'rules', judgedAt: scoredAt };
}

const parseReasons = (json: string | null | undefined): RelevanceReason[] =>
  json ? (JSON.parse(json) as RelevanceReason[]) : [];
