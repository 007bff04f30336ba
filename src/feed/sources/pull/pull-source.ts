import type { Collection } from '../../formats/fetch-session.ts';
import { forgetViews } from '../../items/snapshot/snapshot.ts';
import type { Deps } from '../../../app/deps.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { FetchStatusError } from '../../../platform/lib/outbound-http/fetch.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { applyPlan } from '../../ingestion/apply-plan.ts';
import {
  lacksTooMany,
  planPull,
  planRepeat,
  type HeldItem,
  type Plan,
  type PullResult,
} from '../../ingestion/pull-plan.ts';
import { toCandidates } from '../../ingestion/candidates.ts';
import { splitByWords } from './filters.ts';
import { bytesHash } from '../../items/writing/hashes.ts';
import { ingestMetrics } from './pull-metrics.ts';
import { readInput, type Input } from './read-input.ts';
import type { Parsed } from '../../model/source-record.ts';
import { reading } from './reader-version.ts';
import { authHeaders } from '../source-auth.ts';
import type { Cursor, SourceRow } from '../source-row.ts';
import { readTexts } from './read-texts.ts';
import { settleSmallChanges } from '../../ingestion/small-changes.ts';
import { rhythmOf, tellSource } from '../source-events.ts';
import { nextAfterGood, nextPull } from '../source-schedule.ts';
import { finishPull, lockClaim, releaseSource } from '../sources.store.ts';
import { tightenItems } from './raise-tlp.ts';
import { sourceFormats } from '../../formats/registry.ts';
import { inSourceAcrossOrgs, listHeldItems, privatePool } from '../../items/writing/feed-pools.store.ts';

const storedSkippedMax = 100;

/**
 * Pulls a source that this worker has claimed: read, parse, compare, and one transaction for items, totals and cursor. A pull that is not good
 * (spec/feed.md, "status") changes no item; its reason is in `error`. Answers undefined when the lease was lost on the way.
 */
export async function pullClaimed(
  deps: Deps,
  source: SourceRow,
  options: { scheduled: boolean; signal?: AbortSignal },
): Promise<PullResult | undefined> {
  const worker = source.worker!;
  const cursor = JSON.parse(source.cursor) as Cursor;
  const mustRead = cursor.reading !== String(reading);
  try {
    // New settings: their marking holds for what the source no longer gives as well, and whether it can be reached or not.
    if (!cursor.reading) await tightenItems(deps, source);
    const known = mustRead ? { ...source, etag: null, last_modified: null } : source;
    const input = await asBadPull(() =>
      readInput(known, {
        format: sourceFormats[source.kind],
        settings: deps.config,
        headers: authHeaders(deps.secrets, source),
        collected: mustRead ? undefined : cursor.collected,
        now: deps.clock(),
        digest: (documents) => deps.parser.digest({ kind: source.kind, documents }, options.signal),
        signal: options.signal,
      }),
    );
    const repeats = input.kind === 'read' && !mustRead && bytesHash(input.parts) === cursor.bytes;
    const parsed =
      repeats || input.kind === 'not-modified'
        ? undefined
        : await asBadPull(() => parse(deps, source, { input, signal: options.signal }));
    const result = await inSourceAcrossOrgs(deps.db, source, async (tx): Promise<PullResult | undefined> => {
      const claimed = await lockClaim(tx, source, worker);
      if (!claimed) return undefined;
      const plan = await planOf(tx, claimed, parsed, cursor);
      await applyPlan(tx, claimed, plan, { now: deps.clock(), knowledge: deps.extractor.knowledge });
      const end = goodEnd(deps, claimed, { input, parsed, cursor, plan, scheduled: options.scheduled, before: source });
      await finishPull(tx, worker, end);
      const { silentSince } = JSON.parse(end.cursor) as Cursor;
      if (silentSince && !cursor.silentSince)
        await tellSource(tx, claimed, { type: 'feed.source.silent', now: deps.clock() });
      return plan.result;
    });
    forgetViews(deps.db);
    if (result) ingestMetrics(deps.metrics.registry)(source.kind, result);
    return result;
  } catch (error) {
    if (options.signal?.aborted) {
      await inSourceAcrossOrgs(deps.db, source, (tx) => releaseSource(tx, source, worker));
      throw error;
    }
    return failPull(deps, source, { error, scheduled: options.scheduled });
  }
}

/** Why a pull is not good; the message may be shown. Anything else that is thrown is a fault of this program. */
class BadPull extends Error {}

type Reading = { input: Exclude<Input, { kind: 'not-modified' }>; signal: AbortSignal | undefined };

async function parse({ parser, extractor }: Deps, source: SourceRow, { input, signal }: Reading): Promise<Parsed> {
  const { parts } = input;
  const task = { kind: source.kind, parts, context: { reliability: source.reliability } };
  if (input.kind === 'read') return readTexts(extractor, await parser.parse(task, signal), signal);
  const { unchanged, skipped } = input.collection;
  const read = parts.length === 0 ? { records: [], skipped: [] } : await parser.parse(task, signal);
  return readTexts(extractor, { ...read, skipped: [...skipped, ...read.skipped], unchanged }, signal);
}

async function asBadPull<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new BadPull(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

async function planOf(tx: Tx, source: SourceRow, parsed: Parsed | undefined, cursor: Cursor): Promise<Plan> {
  const held = await listHeldItems(tx, source);
  if (!parsed) return planRepeat(held, cursor.records ?? 0);
  const { kept, left, present } = splitByWords(parsed.records, source);
  checkCatalogue(parsed, held, { present, newest: cursor.newest });
  const ownPool = await privatePool(tx, source.organization_id, uuidv7());
  const { candidates, tooLarge } = toCandidates(kept, source, ownPool);
  await settleSmallChanges(tx, source, candidates, held);
  return planPull({
    held,
    candidates,
    present,
    catalogue: parsed.catalogue !== undefined,
    unread: parsed.unchanged ?? 0,
    skipped: [...parsed.skipped, ...left, ...tooLarge],
  });
}

function checkCatalogue(
  { catalogue }: Parsed,
  held: HeldItem[],
  { present, newest }: { present: ReadonlySet<string>; newest: string | undefined },
): void {
  if (!catalogue) return;
  const { declared, rows, released } = catalogue;
  if (declared !== rows) throw new BadPull(`the catalogue declares ${declared} rows and has ${rows}`);
  if (newest !== undefined && released < newest)
    throw new BadPull(`the catalogue of ${released} is older than the newest seen (${newest})`);
  if (lacksTooMany(held, present)) throw new BadPull('the catalogue lacks 5 % or more of the known rows');
}

type Good = {
  input: Input;
  parsed: Parsed | undefined;
  cursor: Cursor;
  plan: Plan;
  scheduled: boolean;
  before: SourceRow;
};

function goodEnd(
  deps: Deps,
  source: SourceRow,
  { input, parsed, cursor, plan, scheduled, before }: Good,
): Parameters<typeof finishPull>[2] {
  const now = deps.clock();
  const { result } = plan;
  const isNew = result.added + result.corrected + result.retracted > 0;
  const read = input.kind === 'read' ? input : undefined;
  const collection = input.kind === 'collected' ? input.collection : undefined;
  const newest = parsed?.catalogue?.released ?? cursor.newest;
  // What changed while the pull ran, settings or a retraction taken back, has not shaped what it read: the next one reads again.
  const isCurrent = source.updated_at.getTime() === before.updated_at.getTime() && source.cursor === before.cursor;
  const next: Cursor = {
    ...cursor,
    ...(collection ? { collected: collectedOf(collection, parsed?.late) } : {}),
    ...(parsed && read ? { bytes: bytesHash(read.parts), records: plan.records } : {}),
    ...(newest ? { newest } : {}),
    ...rhythmOf(source, cursor, { now, isNew }),
    reading: isCurrent ? String(reading) : '',
  };
  return {
    id: source.id,
    organization_id: source.organization_id,
    cursor: JSON.stringify(next),
    etag: read ? (read.etag ?? null) : source.etag,
    last_modified: read ? (read.lastModified ?? null) : source.last_modified,
    next_pull_at: nextAfterGood(source, now, {
      scheduled,
      more: collection?.more ?? false,
      askedMs: collection?.askedMs,
    }),
    failures: 0,
    last_pull_at: now,
    last_success_at: now,
    last_new_at: isNew ? now : source.last_new_at,
    last_error: null,
    last_result: stored(result),
  };
}

const collectedOf = ({ cursor, cursorWithout }: Collection, late: string[] = []): unknown =>
  late.length > 0 && cursorWithout ? cursorWithout(late) : cursor;

async function failPull(
  deps: Deps,
  source: SourceRow,
  { error, scheduled }: { error: unknown; scheduled: boolean },
): Promise<PullResult | undefined> {
  const reason = error instanceof BadPull ? error.message : 'the pull failed inside the service';
  const now = deps.clock();
  const result: PullResult = {
    added: 0,
    corrected: 0,
    retracted: 0,
    unchanged: 0,
    skipped: [{ entry: source.name, reason }],
    error: reason,
  };
  ingestMetrics(deps.metrics.registry)(source.kind, result);
  deps.log.warn({ sourceId: source.id, err: error }, 'feed pull failed');
  return inSourceAcrossOrgs(deps.db, source, async (tx) => {
    const claimed = await lockClaim(tx, source, source.worker!);
    if (!claimed) return undefined;
    const failures = claimed.failures + 1;
    const next_pull_at = nextPull(claimed, now, { scheduled, failures, askedMs: askedMsOf(error) });
    await finishPull(tx, source.worker!, {
      ...claimed,
      failures,
      last_pull_at: now,
      last_error: reason.slice(0, 1_000),
      last_result: stored(result),
      next_pull_at,
    });
    if (failures === 1) await tellSource(tx, claimed, { type: 'feed.source.failed', now });
    return result;
  });
}

/** How long the server asked to be left alone. */
const askedMsOf = (error: unknown): number | undefined =>
  error instanceof BadPull && error.cause instanceof FetchStatusError ? error.cause.retryAfterMs : undefined;

const stored = (result: PullResult): string =>
  JSON.stringify({ ...result, skipped: result.skipped.slice(0, storedSkippedMax) });
