import type { Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/clock.ts';
import type { Logger } from '../../../platform/lib/logger.ts';
import type { Secretbox } from '../../../platform/lib/secretbox.ts';
import { sourceFormats } from '../../formats/registry.ts';
import type { ParseResult } from '../../formats/source-format.ts';
import { applyPlan } from '../../ingestion/apply-plan.ts';
import type { PullResult } from '../../ingestion/pull-plan.ts';
import { readerRevision } from '../../ingestion/reader-version.ts';
import type { PullCursor, SourceRow } from '../../ingestion/source-row.ts';
import { notifySource } from '../notify-source-events.ts';
import { openAuthHeaders } from '../source-auth.ts';
import { finishPull, lockClaim, releaseSource, withSourceAcrossOrgs } from '../sources.store.ts';
import { asBadPull } from './bad-pull.ts';
import { extractTexts } from './extract-texts.ts';
import { fetchDocuments, hashDocuments, type FetchedDocuments } from './fetch-documents.ts';
import type { Parser } from './parser.ts';
import { planSourcePull } from './plan-source-pull.ts';
import type { RecordPull } from './pull-metrics.ts';
import { failedPullEnd, failedPullResult, goodPullEnd } from './pull-outcome.ts';
import { raiseTlp, type RaiseTlpDeps } from './raise-tlp.ts';

export type PullDeps = RaiseTlpDeps & {
  db: Db;
  clock: Clock;
  secrets: Secretbox;
  config: { fetchAllow: string[]; fileSources: string[] };
  parser: Parser;
  recordPull: RecordPull;
  log: Logger;
};
type PullOptions = { isScheduled: boolean; signal?: AbortSignal };

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

/** Fetch, parse, extract, and one transaction that compares and writes items, totals and the cursor. */
async function pull(deps: PullDeps, source: SourceRow, options: PullOptions): Promise<PullResult | undefined> {
  const cursor = JSON.parse(source.cursor) as PullCursor;
  const mustReread = cursor.reading !== String(readerRevision);
  // After a change of settings, the source's marking applies to all its items, even if the source is unreachable.
  if (!cursor.reading) await raiseTlp(deps, source);
  const fetched = await asBadPull(() => fetchSource(deps, source, { cursor, mustReread, signal: options.signal }));
  const isUnchanged =
    fetched.kind === 'not-modified' ||
    (fetched.kind === 'read' && !mustReread && hashDocuments(fetched.parts) === cursor.bytes);
  const parsed = isUnchanged ? undefined : await asBadPull(() => parseRecords(deps, source, fetched, options.signal));
  const result = await withSourceAcrossOrgs(deps.db, source, async (tx): Promise<PullResult | undefined> => {
    const claimed = await lockClaim(tx, source, source.worker!);
    if (!claimed) return undefined;
    const plan = await planSourcePull(tx, claimed, parsed, cursor);
    const now = deps.clock();
    await applyPlan(tx, claimed, plan, { now, referenceDataVersion: deps.extractor.referenceDataVersion });
    const { isScheduled } = options;
    const end = goodPullEnd(claimed, { before: source, cursor, fetched, parsed, plan, isScheduled, now });
    await finishPull(tx, source.worker!, end);
    const { silentSince } = JSON.parse(end.cursor) as PullCursor;
    if (silentSince && !cursor.silentSince) await notifySource(tx, claimed, { type: 'feed.source.silent', now });
    return plan.result;
  });
  deps.snapshots.invalidate();
  if (result) deps.recordPull(source.kind, result);
  return result;
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
  { parser, extractor }: PullDeps,
  source: SourceRow,
  fetched: Exclude<FetchedDocuments, { kind: 'not-modified' }>,
  signal: AbortSignal | undefined,
): Promise<ParseResult> {
  const { parts } = fetched;
  const task = { kind: source.kind, parts, context: { reliability: source.reliability } };
  if (fetched.kind === 'read') return extractTexts(extractor, await parser.parse(task, signal), signal);
  const { unchanged, skipped } = fetched.collection;
  const parsed = parts.length === 0 ? { records: [], skipped: [] } : await parser.parse(task, signal);
  return extractTexts(extractor, { ...parsed, skipped: [...skipped, ...parsed.skipped], unchanged }, signal);
}

async function finishFailedPull(
  deps: PullDeps,
  source: SourceRow,
  error: unknown,
  { isScheduled }: PullOptions,
): Promise<PullResult | undefined> {
  const now = deps.clock();
  const result = failedPullResult(source, error);
  deps.recordPull(source.kind, result);
  deps.log.warn({ sourceId: source.id, err: error }, 'The pull of a feed source failed.');
  return withSourceAcrossOrgs(deps.db, source, async (tx) => {
    const claimed = await lockClaim(tx, source, source.worker!);
    if (!claimed) return undefined;
    const end = failedPullEnd(claimed, { error, result, isScheduled, now });
    await finishPull(tx, source.worker!, end);
    if (end.failures === 1) await notifySource(tx, claimed, { type: 'feed.source.failed', now });
    return result;
  });
}
