import { FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import type { FetchSessionResult } from '../../formats/fetch-session.ts';
import { isBelievable } from '../../model/source-record.ts';
import { emptyResult, type PullResult } from '../../ingestion/pull-plan.ts';
import type { PullCursor, SourceRow } from '../../ingestion/source-row.ts';
import { updateNewsRhythm } from '../notify-source-events.ts';
import { nextPullAfterSuccess, nextPull } from '../source-schedule.ts';
import type { PullEnd } from '../sources.store.ts';
import { BadPull } from './bad-pull.ts';
import { hashDocuments, type FetchedDocuments } from './fetch-documents.ts';
import type { ParsedHead } from './parse/record-chunks.ts';

const storedSkippedMax = 100;

export type GoodPull = {
  /** The source when the pull began. */
  before: SourceRow;
  cursor: PullCursor;
  fetched: FetchedDocuments;
  parsed: ParsedHead | undefined;
  /** The number of records that were read. */
  records: number;
  result: PullResult;
  isScheduled: boolean;
  now: Date;
  /** The mark of the program and the reference data that read the documents. */
  reading: string;
  /** Whether records are missing because of the quota of private items. */
  isOverQuota: boolean;
};

/** Returns the state of a source after a good pull. */
export function goodPullEnd(source: SourceRow, pull: GoodPull): PullEnd {
  const { before, cursor, fetched, parsed, records, result, now, reading, isOverQuota } = pull;
  const { added, corrected, retracted } = result;
  const isNew = added + corrected + retracted > 0;
  const read = fetched.kind === 'read' ? fetched : undefined;
  const collection = fetched.kind === 'collected' ? fetched.collection : undefined;
  // After an impossible release date, every later catalog would count as older.
  const released = parsed?.catalog?.released;
  const newest = released && isBelievable(released, now) ? released : cursor.newest;
  // If the settings changed or a retraction was taken back during the pull, the next pull reads everything again.
  const isCurrent = source.updated_at.getTime() === before.updated_at.getTime() && source.cursor === before.cursor;
  const nextCursor: PullCursor = {
    ...cursor,
    ...(collection ? { collected: toCollectedCursor(collection, parsed?.late) } : {}),
    ...(parsed && read ? { bytes: hashDocuments(read.parts), records } : {}),
    ...(newest ? { newest } : {}),
    ...updateNewsRhythm(source, cursor, { now, isNew }),
    reading: isCurrent ? reading : '',
    isOverQuota: isOverQuota || undefined,
  };
  return {
    id: source.id,
    organization_id: source.organization_id,
    cursor: JSON.stringify(nextCursor),
    etag: read ? (read.etag ?? null) : source.etag,
    last_modified: read ? (read.lastModified ?? null) : source.last_modified,
    next_pull_at: nextPullAfterSuccess(source, now, {
      isScheduled: pull.isScheduled,
      hasMore: collection?.more ?? false,
      retryAfterMs: collection?.retryAfterMs,
    }),
    failures: 0,
    last_pull_at: now,
    last_success_at: now,
    last_new_at: isNew ? now : source.last_new_at,
    last_error: null,
    last_result: toStoredResult(result),
  };
}

const toCollectedCursor = ({ cursor, cursorWithout }: FetchSessionResult, late: string[] = []): unknown =>
  late.length > 0 && cursorWithout ? cursorWithout(late) : cursor;

/**
 * Returns the result of a failed pull. The reasons of errors other than `BadPull` are not shown: `faultId` finds them in the log of the
 * service.
 */
export function failedPullResult(source: SourceRow, error: unknown, faultId: string): PullResult & { error: string } {
  const reason =
    error instanceof BadPull
      ? error.message
      : `internal error ${faultId} of the service, not of the source; its log has the reason. The pull is tried again.`;
  return { ...emptyResult, skipped: [{ entry: source.name, reason }], error: reason };
}

// A fault of the service has no back-off: it ends with a fix or a restart, and the source has done nothing wrong.
const faultRetryMs = 15 * 60_000;

/** Returns the state of a source after a failed pull. A fault of the service does not count as a failure of the source. */
export function failedPullEnd(
  source: SourceRow,
  pull: { error: unknown; result: PullResult & { error: string }; isScheduled: boolean; now: Date },
): PullEnd {
  const { error, result, isScheduled, now } = pull;
  const isFault = !(error instanceof BadPull);
  const failures = source.failures + (isFault ? 0 : 1);
  const retryAfterMs =
    error instanceof BadPull && error.cause instanceof FetchStatusError ? error.cause.retryAfterMs : undefined;
  return {
    ...source,
    failures,
    last_pull_at: now,
    last_error: result.error.slice(0, 1_000),
    last_result: toStoredResult(result),
    next_pull_at: isFault
      ? retryAfterFault(source, now, isScheduled)
      : nextPull(source, now, { isScheduled, failures, retryAfterMs }),
  };
}

function retryAfterFault(source: SourceRow, now: Date, isScheduled: boolean): Date | null {
  const next = nextPull(source, now, { isScheduled, failures: source.failures, retryAfterMs: undefined });
  return next && isScheduled ? new Date(Math.min(next.getTime(), now.getTime() + faultRetryMs)) : next;
}

const toStoredResult = (result: PullResult): string =>
  JSON.stringify({ ...result, skipped: result.skipped.slice(0, storedSkippedMax) });
