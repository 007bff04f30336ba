import type { Db, TransactionWork } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/clock.ts';
import type { Logger } from '../../../platform/lib/logger.ts';
import type { Secretbox } from '../../../platform/lib/secretbox.ts';
import { sourceFormats } from '../../formats/registry.ts';
import type { ParseResult } from '../../formats/source-format.ts';
import { prepareAdditions, type PreparedAdditions } from '../../ingestion/apply-actions.ts';
import { resultOf, type ItemAction, type PullPlan, type PullResult } from '../../ingestion/pull-plan.ts';
import { removeUnbelievableDates, removeUnbelievableTime } from '../../ingestion/believable-dates.ts';
import { toSourceReading } from '../../ingestion/reader-version.ts';
import type { PullCursor, SourceRow } from '../../ingestion/source-row.ts';
import { notifySource } from '../notify-source-events.ts';
import { openAuthHeaders } from '../source-auth.ts';
import { setMissingPulls } from '../../items/writing/update-items.store.ts';
import { readItemRoom } from '../../items/writing/item-quota.ts';
import { finishPull, releaseSource, renewClaim, withSourceAcrossOrgs } from '../sources.store.ts';
import { applyBatch, splitActions } from './apply-batches.ts';
import { applyPredictions } from './apply-predictions.ts';
import { asBadPull } from './bad-pull.ts';
import { extractTexts } from './extract-texts.ts';
import { fetchDocuments, hashDocuments, type FetchedDocuments } from './fetch-documents.ts';
import { keepWithinQuota, withoutRefused, type RefusedRecords } from './item-quota.ts';
import type { Parser } from './parser.ts';
import { planSourcePull } from './plan-source-pull.ts';
import { failedPullEnd, failedPullResult, goodPullEnd } from './pull-outcome.ts';
import { raiseTlp, type RaiseTlpDeps } from './raise-tlp.ts';

export type PullDeps = RaiseTlpDeps & {
  db: Db;
  clock: Clock;
  secrets: Secretbox;
  config: { fetchAllow: string[]; fileSources: string[] };
  parser: Parser;
  log: Logger;
};
export type PullOptions = { isScheduled: boolean; signal?: AbortSignal | undefined };

/**
 * Pulls a source that this worker has claimed. A pull that is not good (spec/feed.md, "status") changes no item and returns the reason in
 * `error`. Returns undefined if the lease was lost meanwhile. If the signal aborts, releases the source and throws.
 */
export async function pullClaimedSource(
  deps: PullDeps,
  source: SourceRow,
  options: PullOptions,
): Promise<PullResult | undefined> {
  try {
    return await pull(deps, source, options);
  } catch (error) {
    if (options.signal?.aborted) {
      await withSourceAcrossOrgs(deps.db, source, (tx) => releaseSource(tx, source, source.worker!));
      throw error;
    }
    return finishFailedPull(deps, source, error, options);
  }
}

/** Fetches, parses, extracts, and compares with the stored items. Then applies the changes in transactions of bounded size. */
async function pull(deps: PullDeps, source: SourceRow, options: PullOptions): Promise<PullResult | undefined> {
  const cursor = JSON.parse(source.cursor) as PullCursor;
  const reading = toSourceReading(deps.extractor.referenceDataVersion);
  const mustReread = cursor.reading !== reading || (await hasRoomForRefused(deps.db, source, cursor));
  // After a change of settings, the source's marking applies to all its items, even if the source is unreachable.
  if (!cursor.reading) await raiseTlp(deps, source);
  const fetched = await asBadPull(() => fetchSource(deps, source, { cursor, mustReread, signal: options.signal }));
  const isUnchanged =
    fetched.kind === 'not-modified' ||
    (fetched.kind === 'read' && !mustReread && hashDocuments(fetched.parts) === cursor.bytes);
  const parsed = isUnchanged ? undefined : await asBadPull(() => parseRecords(deps, source, fetched, options.signal));
  const applied = await applyRecords(deps, source, parsed, cursor);
  if (!applied) return undefined;
  const { plan, refused } = applied;
  const result = await applyPredictions(deps.db, source, { predictions: parsed?.predictions, result: applied.result });
  if (!result) return undefined;
  const { isScheduled } = options;
  return withSourceAcrossOrgs(deps.db, source, async (tx): Promise<PullResult | undefined> => {
    const claimed = await renewClaim(tx, source, source.worker!);
    if (!claimed) return undefined;
    await setMissingPulls(tx, plan.returnedIds, 0);
    await setMissingPulls(tx, plan.absentIds, 1);
    const now = deps.clock();
    const pulled = {
      before: source,
      cursor,
      fetched,
      parsed,
      records: plan.records,
      result,
      isScheduled,
      now,
      reading,
      isOverQuota: refused.count > 0 || (cursor.isOverQuota === true && !mustReread),
    };
    const end = goodPullEnd(claimed, pulled);
    await finishPull(tx, source.worker!, end);
    const { added, corrected, retracted } = applied.result;
    if (added + corrected + retracted > 0) await notifySource(tx, claimed, { type: 'feed.source.pulled', now });
    const { silentSince } = JSON.parse(end.cursor) as PullCursor;
    if (silentSince && !cursor.silentSince) await notifySource(tx, claimed, { type: 'feed.source.silent', now });
    return result;
  });
}

/** Returns whether records that an earlier pull refused may be stored now. */
async function hasRoomForRefused(db: Db, source: SourceRow, { isOverQuota }: PullCursor): Promise<boolean> {
  if (!isOverQuota) return false;
  const quota = await withSourceAcrossOrgs(db, source, (tx) => readItemRoom(tx, source.organization_id));
  return quota === undefined || quota.room > 0;
}

type AppliedPull = { plan: PullPlan; refused: RefusedRecords; result: PullResult };

/**
 * Plans the changes and applies them in batches. Plans again with the new settings if the settings of the source change meanwhile. An
 * interrupted pull leaves the batches that were applied; the next one applies the rest. Returns undefined if the lease was lost.
 */
async function applyRecords(
  deps: PullDeps,
  source: SourceRow,
  parsed: ParseResult | undefined,
  cursor: PullCursor,
): Promise<AppliedPull | undefined> {
  const inTransaction = <T>(work: TransactionWork<T>): Promise<T> => withSourceAcrossOrgs(deps.db, source, work);
  const applied: ItemAction[] = [];
  for (;;) {
    const claimed = await inTransaction((tx) => renewClaim(tx, source, source.worker!));
    if (!claimed) return undefined;
    const plan = await planSourcePull(inTransaction, claimed, parsed, cursor);
    const outcome = await applyPlan(deps, claimed, plan, applied);
    if (outcome === 'lost') return undefined;
    if (outcome === 'changed') continue;
    const counted = withoutRefused(plan, claimed, outcome);
    return { plan: counted, refused: outcome, result: resultOf(counted, applied) };
  }
}

/**
 * Applies the batches of a plan, adds their actions to `applied`, and returns the records that the quota refused. Builds the writes of a batch
 * while the transaction of the previous one runs. `changed`: the settings of the source changed.
 */
async function applyPlan(
  deps: PullDeps,
  source: SourceRow,
  plan: PullPlan,
  applied: ItemAction[],
): Promise<RefusedRecords | 'changed' | 'lost'> {
  const { referenceDataVersion } = deps.extractor;
  // Compared before the batches, so that the latest records are stored although the oldest are written first.
  const { kept, refused } = await withSourceAcrossOrgs(deps.db, source, (tx) =>
    keepWithinQuota(tx, source, plan.actions),
  );
  const batches = splitActions(kept);
  const prepare = (batch: ItemAction[] = []): Promise<PreparedAdditions | undefined> =>
    prepareAdditions(source, batch, { now: deps.clock(), referenceDataVersion });
  let prepared = await prepare(batches[0]);
  for (const [index, batch] of batches.entries()) {
    const applying = withSourceAcrossOrgs(deps.db, source, async (tx) => {
      const claimed = await renewClaim(tx, source, source.worker!);
      if (!claimed) return 'lost';
      if (claimed.updated_at.getTime() !== source.updated_at.getTime()) return 'changed';
      return applyBatch(tx, claimed, batch, { now: deps.clock(), referenceDataVersion, prepared });
    });
    const [outcome, next] = await Promise.all([applying, prepare(batches[index + 1])]);
    prepared = next;
    deps.snapshots.invalidate();
    if (typeof outcome === 'string') return outcome;
    applied.push(...outcome.applied);
    refused.count += outcome.refused.count;
    refused.limit ||= outcome.refused.limit;
  }
  return refused;
}

function fetchSource(
  deps: PullDeps,
  source: SourceRow,
  { cursor, mustReread, signal }: { cursor: PullCursor; mustReread: boolean; signal: AbortSignal | undefined },
): Promise<FetchedDocuments> {
  return fetchDocuments(mustReread ? { ...source, etag: null, last_modified: null } : source, {
    format: sourceFormats[source.kind],
    settings: deps.config,
    headers: openAuthHeaders(deps.secrets, source),
    collected: mustReread ? undefined : cursor.collected,
    now: deps.clock(),
    digest: (documents) => deps.parser.digest({ kind: source.kind, documents }, signal),
    signal,
  });
}

async function parseRecords(
  deps: PullDeps,
  source: SourceRow,
  fetched: Exclude<FetchedDocuments, { kind: 'not-modified' }>,
  signal: AbortSignal | undefined,
): Promise<ParseResult> {
  const { parser, extractor } = deps;
  const { parts } = fetched;
  const now = deps.clock();
  const options = { owner: source.organization_id, signal };
  const { kind, reliability, name: sourceName } = source;
  const task = { kind, parts, context: { reliability, sourceName, now } };
  const readTexts = async (parsed: ParseResult): Promise<ParseResult> => {
    const texts = (parsed.texts ?? []).map((text) => removeUnbelievableTime(text, now));
    const { records, ...rest } = await extractTexts(extractor, { ...parsed, texts }, options);
    return { ...rest, records: records.map((record) => removeUnbelievableDates(record, now)) };
  };
  if (fetched.kind === 'read') return readTexts(await parser.parse(task, signal));
  const { unchanged, skipped } = fetched.collection;
  const parsed = parts.length === 0 ? { records: [], skipped: [] } : await parser.parse(task, signal);
  return readTexts({ ...parsed, skipped: [...skipped, ...parsed.skipped], unchanged });
}

/** Records that a pull failed. Returns undefined if the lease was lost meanwhile. */
export async function finishFailedPull(
  deps: Pick<PullDeps, 'db' | 'clock' | 'log'>,
  source: SourceRow,
  error: unknown,
  { isScheduled }: PullOptions,
): Promise<PullResult | undefined> {
  const now = deps.clock();
  const result = failedPullResult(source, error);
  deps.log.warn({ sourceId: source.id, err: error }, 'The pull of a feed source failed.');
  return withSourceAcrossOrgs(deps.db, source, async (tx) => {
    const claimed = await renewClaim(tx, source, source.worker!);
    if (!claimed) return undefined;
    const end = failedPullEnd(claimed, { error, result, isScheduled, now });
    await finishPull(tx, source.worker!, end);
    if (end.failures === 1) await notifySource(tx, claimed, { type: 'feed.source.failed', now });
    return result;
  });
}
