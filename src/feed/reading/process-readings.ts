import { isDeepStrictEqual } from 'node:util';
import { acrossOrgs, type Db, type Tx } from '../../platform/db/db.ts';
import { runLoop, runLoops } from '../../platform/lib/concurrency/loop.ts';
import { nilId, uuidv7 } from '../../platform/lib/ids.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { isPoolBusy } from '../../platform/lib/threads/thread-protocol.ts';
import { ModelError } from '../../platform/models/model-error.ts';
import type { ConfiguredModel, Models } from '../../platform/models/models.ts';
import { createSpendMeter } from '../../platform/models/spend-meter.ts';
import type { CompletedReport, ModelInput } from '../extraction/extract-item.ts';
import { type Claim, claimsOf } from '../extraction/reading/claim.ts';
import { sourceKinds } from '../formats/registry.ts';
import type { Extractor } from '../ingestion/extractor.ts';
import { isProseSource } from '../ingestion/item-document.ts';
import { toReaderVersion } from '../ingestion/content-hash.ts';
import { applyExtraction, parseItem, rewriteItem, toStoredReport } from '../ingestion/rewrite-item.ts';
import { findItemToRewrite, type StaleItem } from '../ingestion/stored-items.store.ts';
import { lockPool } from '../items/writing/feed-pools.store.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { toSeverityText } from '../model/source-record.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import { canModelRead, readWithModel, promptRevision } from './read-with-model.ts';
import {
  claimReadingAcrossOrgs,
  endReadingAcrossOrgs,
  findSameReadingAcrossOrgs,
  findUnqueuedPoolAcrossOrgs,
  queuePoolAcrossOrgs,
  type ReadingResult,
  type ReadingRow,
  renewReadingAcrossOrgs,
  storeClaimsAcrossOrgs,
} from './readings.store.ts';

export type ReadingDeps = {
  db: Db;
  clock: Clock;
  log: Logger;
  extractor: Pick<Extractor, 'complete' | 'referenceDataVersion'>;
  snapshots: Pick<SnapshotCache, 'invalidate'>;
  models?: Models;
};

const readersMax = 2;
const idleMs = 2_000;
const attemptsMax = 3;
const unavailableSeconds = 300;
const budgetSeconds = 3_600;
const [busySeconds, errorSeconds] = [10, 60];

/** Under which the spend of readers is counted, beside the detections. */
const spenderId = '00000000-0000-7000-8000-00000000000a';

/** Queues new and changed reports, and has models read them, until the signal aborts. Does nothing if no model is configured. */
export async function readingLoop(deps: ReadingDeps, signal: AbortSignal): Promise<void> {
  const { models, log } = deps;
  if (!models || listReaders(models).length === 0) return;
  const queue = runLoop({ name: 'queue readings', idleMs, signal, log }, () =>
    queueNextItems(deps, listReaders(models)),
  );
  const reader = createReader(deps);
  await Promise.all([queue, runLoops(readersMax, { name: 'reading', idleMs, signal, log }, () => reader(signal))]);
}

/** Returns the aliases that can read. */
export const listReaders = ({ aliases, find }: Models): string[] =>
  aliases.filter((alias) => find(alias) !== undefined);

const batchMax = 500;
/** A model reads the reports of the last days and all later ones, not the whole past. */
const days = 7;
const dayMs = 86_400_000;

/**
 * Queues the reports among the next changes of one pool for the aliases that read. Reads what pulls have committed, so that no pull waits for it.
 * Returns whether there may be more.
 */
export async function queueNextItems(
  { db, clock }: { db: Db; clock: Clock },
  aliases: readonly string[],
): Promise<boolean> {
  const since = new Date(clock().getTime() - days * dayMs);
  return acrossOrgs(db, async (tx) => {
    const pool = await findUnqueuedPoolAcrossOrgs(tx, aliases, since);
    if (!pool) return false;
    await queuePoolAcrossOrgs(tx, pool, { kinds: sourceKinds.filter(isProseSource), since, limit: batchMax });
    return true;
  });
}

/** Returns a function that processes the next waiting reading. It returns false if none is due. */
export function createReader(deps: ReadingDeps): (signal: AbortSignal) => Promise<boolean> {
  let after = nilId;
  return async (signal) => {
    const worker = uuidv7();
    const aliases = deps.models ? listReaders(deps.models) : [];
    const row = await acrossOrgs(deps.db, (tx) => claimReadingAcrossOrgs(tx, { worker, after, aliases }));
    if (!row) return false;
    after = row.organization_id;
    await processReading(deps, { row, worker, signal });
    return true;
  };
}

type Claimed = { row: ReadingRow; worker: string; signal: AbortSignal };

async function processReading(deps: ReadingDeps, claimed: Claimed): Promise<void> {
  const { row, worker, signal } = claimed;
  const end = (outcome: Parameters<typeof endReadingAcrossOrgs>[3]): Promise<void> =>
    acrossOrgs(deps.db, (tx) => endReadingAcrossOrgs(tx, row, worker, outcome));
  // A worker that was killed counts as an attempt, so that a text that ends workers does not end them all.
  if (row.attempts > attemptsMax)
    return end({ state: 'failed', error: row.error ?? 'Reading it was interrupted three times.' });
  const model = deps.models!.find(row.alias)!;
  const item = await acrossOrgs(deps.db, (tx) => findItemToRewrite(tx, row.item_id));
  if (!item || item.status === 'retracted') return end({ state: 'failed', error: 'The item was retracted.' });
  if (!canModelRead(model, parseItem(item))) return end({ state: 'withheld' });
  try {
    const completed = await completeItem(deps, { ...claimed, model, item });
    if (!completed) return undefined;
    const appliedVersion = await acrossOrgs(deps.db, (tx) =>
      applyReading(tx, item, {
        completed,
        model: model.name,
        language: model.entry.language,
        referenceDataVersion: deps.extractor.referenceDataVersion,
        now: deps.clock(),
      }),
    );
    deps.snapshots.invalidate();
    return await end({ state: 'done', attempts: 0, ...(appliedVersion === undefined ? {} : { appliedVersion }) });
  } catch (error) {
    if (signal.aborted) return end({ state: 'waiting', attempts: row.attempts - 1 });
    return end(planRetry(deps, row, error));
  }
}

/** A failure of a model or a busy pool of threads is no attempt: the reading waits. After other errors it is tried three times. */
function planRetry({ log }: ReadingDeps, row: ReadingRow, error: unknown): Parameters<typeof endReadingAcrossOrgs>[3] {
  const attempts = row.attempts - 1;
  if (error instanceof ModelError) {
    const { kind, blame, message } = error.failure;
    if (blame === 'upstream' || kind === 'budget_exceeded')
      return {
        state: 'waiting',
        attempts,
        error: message,
        retryAfterSeconds: kind === 'budget_exceeded' ? budgetSeconds : unavailableSeconds,
      };
    return { state: 'failed', error: message };
  }
  if (isPoolBusy(error)) return { state: 'waiting', attempts, retryAfterSeconds: busySeconds };
  log.warn({ err: error, itemId: row.item_id }, 'A report could not be read.');
  const isLast = row.attempts >= attemptsMax;
  return {
    state: isLast ? 'failed' : 'waiting',
    error: 'It could not be read. See the service log.',
    ...(isLast ? {} : { retryAfterSeconds: errorSeconds }),
  };
}

type ReadingTask = Claimed & { model: ConfiguredModel; item: StaleItem };

/**
 * Returns the report as both readers read it, with the claims of an earlier reading of the same text if there is one. Returns undefined if the
 * claim was lost meanwhile. Throws a ModelError if no part could be read.
 */
async function completeItem(deps: ReadingDeps, task: ReadingTask): Promise<CompletedReport | undefined> {
  const { row, worker, model, item } = task;
  const report = toStoredReport(item);
  const complete = (input: ModelInput): Promise<CompletedReport> =>
    deps.extractor.complete(report, input, row.organization_id);
  const reader = `${model.name}#${promptRevision}${model.entry.language ?? ''}`;
  if (row.claims !== null && row.model === reader) return complete({ claims: JSON.parse(row.claims) as Claim[] });
  const same = await acrossOrgs(deps.db, (tx) => findSameReadingAcrossOrgs(tx, row, reader));
  const store = (result: Omit<ReadingResult, 'model'>): Promise<boolean> =>
    acrossOrgs(deps.db, (tx) => storeClaimsAcrossOrgs(tx, row.item_id, worker, { model: reader, ...result }));
  if (same?.claims) {
    const { claims, unread_parts: unreadParts } = same;
    const isOwn = await store({ claims, dropped: same.dropped ?? '{}', unreadParts, tokens: 0, costUsd: 0 });
    return isOwn ? complete({ claims: JSON.parse(claims) as Claim[] }) : undefined;
  }
  const { answers, unreadParts, spent } = await askModel(deps, task, await complete({}));
  const completed = await complete({ answers });
  const { claims, dropped } = completed.model;
  const malformed = completed.malformed > 0 ? { malformed: completed.malformed } : {};
  const isOwn = await store({
    claims: JSON.stringify(claims),
    dropped: JSON.stringify({ ...dropped, ...malformed }),
    unreadParts,
    ...spent,
  });
  return isOwn ? completed : undefined;
}

async function askModel(deps: ReadingDeps, { row, worker, model, signal }: ReadingTask, read: CompletedReport) {
  const spent = { tokens: 0, costUsd: 0 };
  const spender = { orgId: row.organization_id, detectionId: spenderId, id: worker, spent, elapsedMs: 0 };
  const meter = createSpendMeter(deps, { spender, overrides: {}, model });
  // A call may be repeated once, and each takes at most the timeout of the alias.
  const seconds = 2 * model.entry.timeoutSeconds * (1 + model.fallbacks.length) + 60;
  const keepLease = async (): Promise<void> => {
    const isOwn = await acrossOrgs(deps.db, (tx) => renewReadingAcrossOrgs(tx, row.item_id, worker, seconds));
    if (!isOwn) throw new Error('The reading was claimed by another worker.');
  };
  const options = { ...meter.startConversation(), model, subject: row.item_id, signal, keepLease };
  const { answers, unreadParts, problem } = await readWithModel(read, options);
  if (answers.length === 0 && problem !== undefined)
    throw new ModelError({ kind: 'unreadable', blame: 'service', retryable: false, message: problem });
  return { answers, unreadParts, spent };
}

type Application = {
  completed: CompletedReport;
  /** Provider and model. */
  model: string;
  language: string | undefined;
  referenceDataVersion: number;
  now: Date;
};

/**
 * Completes a stored item with what a model read, in a new version if that changes anything. Returns the version that has the claims, or undefined if
 * the item has another text or was retracted meanwhile. The item keeps its content hash, so that a pull of the same record changes nothing.
 */
async function applyReading(tx: Tx, read: StaleItem, application: Application): Promise<number | undefined> {
  const { completed, model, language, referenceDataVersion, now } = application;
  const pool = await lockPool(tx, read.pool_id);
  const item = await findItemToRewrite(tx, read.id);
  const isSame = item && item.pool_id === read.pool_id && item.stored_text === read.stored_text;
  if (!isSame || item.status === 'retracted' || item.held_back) return undefined;
  const before = parseItem(item);
  const [title] = language ? claimsOf(completed.model.claims, 'title') : [];
  const fields = [...new Set(completed.model.claims.map(({ field }) => field))]
    .filter((field) => field !== 'title')
    .toSorted();
  const readBy = {
    model,
    at: now.toISOString(),
    fields,
    ...(title ? { title: title.value } : {}),
    ...(language && (title || fields.some((field) => sentenceFields.has(field))) ? { language } : {}),
  };
  const content = withReader(applyExtraction(before, completed.item), fields.length > 0 || title ? readBy : undefined);
  if (isSameContent(before, content)) return item.version;
  await rewriteItem(tx, pool, item, {
    content,
    hash: item.content_hash,
    severityRule: toSeverityText(completed.item),
    readerVersion: toReaderVersion(true, referenceDataVersion),
    cause: 'reading',
    at: now,
  });
  return item.version + 1;
}

const sentenceFields = new Set<string>(['summary', 'tldr', 'step', 'advice'] satisfies Claim['field'][]);

const withReader = (item: FeedItem, readBy: FeedItem['provenance']['readBy']): FeedItem => ({
  ...item,
  provenance: { ...item.provenance, ...(readBy ? { readBy } : {}) },
});

/** Compares two documents, except for the time of the reading and the expiry of indicators. */
function isSameContent(before: FeedItem, after: FeedItem): boolean {
  const normalize = (item: FeedItem): unknown =>
    JSON.parse(
      JSON.stringify(withReader(item, item.provenance.readBy && { ...item.provenance.readBy, at: '' })),
      (key, value) => (key === 'status' && value === 'expired' ? 'active' : value),
    );
  return isDeepStrictEqual(normalize(before), normalize(after));
}
