import type { Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { internalReason } from '../../../platform/lib/external-error.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import type { Secretbox } from '../../../platform/lib/secretbox.ts';
import { sourceFormats } from '../../formats/registry.ts';
import type { PullResult } from '../../ingestion/pull-plan.ts';
import { toSourceReading } from '../../ingestion/content-hash.ts';
import type { PullCursor, SourceRow } from '../../ingestion/source-row.ts';
import { notifySource, asBadPull, BadPull, failedPullEnd, failedPullResult, goodPullEnd } from './pull-outcome.ts';
import { openAuthHeaders } from '../source-auth.ts';
import { setMissingPulls } from '../../items/writing/update-items.store.ts';
import { readItemRoom } from '../../items/writing/feed-pools.store.ts';
import { finishPull, releaseSource, renewClaim, withSourceAcrossOrgs } from '../sources.store.ts';
import { applyPredictions, applyRecords } from './apply-records.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { fetchDocuments, hashDocuments, type FetchedDocuments } from '../documents/fetch-documents.ts';
import { openRecords } from '../documents/open-records.ts';
import type { Parser } from '../documents/parser.ts';
import { raiseTlp, type RaiseTlpDeps } from './raise-tlp.ts';
import type { ParsedSource } from '../documents/record-chunks.ts';

type PullDeps = RaiseTlpDeps & {
  db: Db;
  clock: Clock;
  secrets: Secretbox;
  config: { fetchAllow: string[]; fileSources: string[] };
  parser: Parser;
  log: Logger;
};
export type PullOptions = { isScheduled: boolean; signal?: AbortSignal | undefined };

/**
 * Pulls a source that this worker has claimed. A pull that is not good changes no item and returns the reason in
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
  const open = async (): Promise<ParsedSource | undefined> =>
    isUnchanged
      ? undefined
      : asBadPull(() => openRecords(deps, source, fetched, { now: deps.clock(), signal: options.signal }));
  const applied = await applyRecords(deps, source, open, cursor);
  if (!applied) return undefined;
  const { parsed, findings, refused } = applied;
  const faulty = findings.skipped.filter(({ reason }) => reason === internalReason);
  if (faulty.length > 0)
    deps.log.error({ sourceId: source.id, faulty }, 'Records could not be read because of a fault of the service.');
  const result = await applyPredictions(deps.db, source, { predictions: parsed?.predictions, result: applied.result });
  if (!result) return undefined;
  const { isScheduled } = options;
  return withSourceAcrossOrgs(deps.db, source, async (tx): Promise<PullResult | undefined> => {
    const claimed = await renewClaim(tx, source, source.worker!);
    if (!claimed) return undefined;
    await setMissingPulls(tx, findings.returnedIds, 0);
    await setMissingPulls(tx, findings.absentIds, 1);
    const now = deps.clock();
    const pulled = {
      before: source,
      cursor,
      fetched,
      parsed,
      records: findings.records,
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

/** Records that a pull failed. Returns undefined if the lease was lost meanwhile. */
export async function finishFailedPull(
  deps: Pick<PullDeps, 'db' | 'clock' | 'log'>,
  source: SourceRow,
  error: unknown,
  { isScheduled }: PullOptions,
): Promise<PullResult | undefined> {
  const now = deps.clock();
  const faultId = uuidv7(now);
  const result = failedPullResult(source, error, faultId);
  if (error instanceof BadPull) deps.log.warn({ sourceId: source.id, err: error }, 'The pull of a feed source failed.');
  else deps.log.error({ sourceId: source.id, faultId, err: error }, 'A pull failed because of a fault of the service.');
  return withSourceAcrossOrgs(deps.db, source, async (tx) => {
    const claimed = await renewClaim(tx, source, source.worker!);
    if (!claimed) return undefined;
    const end = failedPullEnd(claimed, { error, result, isScheduled, now });
    await finishPull(tx, source.worker!, end);
    if (end.failures === 1 && claimed.failures === 0)
      await notifySource(tx, claimed, { type: 'feed.source.failed', now });
    return result;
  });
}
