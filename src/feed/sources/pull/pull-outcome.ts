import { FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import type { FetchSessionResult } from '../../formats/fetch-session.ts';
import { isBelievable } from '../../model/source-record.ts';
import { emptyResult, type PullResult } from '../../ingestion/pull-plan.ts';
import type { PullCursor, SourceRow } from '../../ingestion/source-row.ts';
import { nextPullAfterSuccess, nextPull } from '../source-settings.ts';
import { type PullEnd, readSource } from '../sources.store.ts';
import { hashDocuments, type FetchedDocuments } from '../documents/fetch-documents.ts';
import type { ParsedHead } from '../documents/record-chunks.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { emitEvents } from '../../../platform/notifications/emit-events.ts';
import type { EventType } from '../../../platform/notifications/event-types.ts';
import { toSource } from '../source-access.ts';
import { ExternalError } from '../../../platform/lib/external-error.ts';
import { isPoolBusy, ThreadError } from '../../../platform/lib/threads/thread-protocol.ts';

const storedSkippedMax = 100;

type GoodPull = {
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

const silentMinMs = 7 * 86_400_000;
const silentFactor = 5;

/**
 * Updates a source's usual time between new items (a running mean), and since when it has been silent. A source is silent after the larger of
 * seven days and five times its usual time. `silentSince` stays until there is a new item, so that a silence is reported once.
 */
function updateNewsRhythm(
  source: SourceRow,
  cursor: PullCursor,
  { now, isNew }: { now: Date; isNew: boolean },
): Pick<PullCursor, 'usualMs' | 'silentSince'> {
  const last = source.last_new_at ?? source.created_at;
  const sinceMs = now.getTime() - last.getTime();
  const { usualMs } = cursor;
  // The first pull says nothing about the time between new items.
  if (isNew)
    return { usualMs: source.last_new_at === null ? usualMs : nextMean(usualMs, sinceMs), silentSince: undefined };
  const isSilent = sinceMs > Math.max(silentMinMs, silentFactor * (usualMs ?? 0));
  return { usualMs, silentSince: cursor.silentSince ?? (isSilent ? now.toISOString() : undefined) };
}

const nextMean = (usualMs: number | undefined, sinceMs: number): number =>
  Math.round(usualMs === undefined ? sinceMs : (usualMs * 3 + sinceMs) / 4);

/** Sends an event about a source to its owner's notification destinations, in the transaction of the pull. */
export async function notifySource(
  tx: Tx,
  source: SourceRow,
  { type, now }: { type: EventType; now: Date },
): Promise<void> {
  const { organization_id: orgId, id } = source;
  await emitEvents(tx, [orgId], [type], async () => {
    const owner = { orgId, keyId: null, scopes: new Set<string>(), expiresAt: null };
    const data = toSource(await readSource(tx, source), owner, now);
    return [{ orgId, type, resourceId: id, revision: now.getTime(), data }];
  });
}

/** Why a pull is not good. The message is safe to show. Any other error is a fault of the service. */
export class BadPull extends Error {}

/**
 * Runs `work` and turns an error that the source caused into a `BadPull` with the original error as its cause: the source does not answer, or its
 * documents cannot be read, or not within the limits of time and memory. Other errors stay what they are: faults of the service.
 */
export async function asBadPull<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isOfSource = error instanceof ExternalError || (error instanceof ThreadError && !isPoolBusy(error));
    throw isOfSource ? new BadPull(error.message, { cause: error }) : error;
  }
}
