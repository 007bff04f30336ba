import type { Clock } from '../../platform/lib/time/clock.ts';
import { inOrg, type Db } from '../../platform/db/db.ts';
import { atMostEvery, runLoop } from '../../platform/lib/concurrency/loop.ts';
import { ExternalError, reasonOf } from '../../platform/lib/external-error.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { requestText } from '../../platform/lib/outbound-http/request-text.ts';
import { withoutTrailingSlashes } from '../../platform/lib/outbound-http/addresses.ts';
import type { Secretbox } from '../../platform/lib/secretbox.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { toTlpMarking } from '../../feed/exports/stix/stix-object.ts';
import { sourceFormats } from '../../feed/formats/registry.ts';
import { SightingsNotSentError, type SightingReceipt } from '../../feed/formats/send-sightings.ts';
import { tlps } from '../../feed/model/vocabulary.ts';
import { openAuthHeaders } from '../../feed/sources/source-auth.ts';
import { storeSightingsError } from '../../feed/sources/sources.store.ts';
import {
  claimReportingSourcesAcrossOrgs,
  claimSightings,
  finishSightings,
  queueSightingsAcrossOrgs,
  type ReportedSighting,
  type ReportingSource,
  type SightingOutcome,
} from './report-sightings.store.ts';

export type ReportSightingsDeps = {
  db: Db;
  log: Logger;
  clock: Clock;
  secrets: Secretbox;
  config: { fetchAllow: readonly string[] };
};

const idleMs = 15_000;
const queueMs = 60_000;
/** Sources that are sent to side by side, each of another organization. */
const sourcesAtOnce = 8;
const sightingsAtOnce = 50;
const timeoutMs = 15_000;
/** Within the lease, however many requests are needed. */
const batchMs = 240_000;
const triesMax = 12;
const pauseMs = 60_000;
const pauseMaxMs = 6 * 3_600_000;
const errorMaxChars = 500;

/** Sends sightings to the sources whose settings permit it, until the signal aborts. */
export function reportSightingsLoop(deps: ReportSightingsDeps, signal: AbortSignal): Promise<void> {
  const queue = atMostEvery(queueMs, () => queueSightingsAcrossOrgs(deps.db));
  return runLoop({ name: 'report sightings', idleMs, signal, log: deps.log }, async () => {
    await queue();
    return (await reportDue(deps, signal)) > 0;
  });
}

/** Sends the next sightings of sources that are due. Returns the number of sources. */
export async function reportDue(deps: ReportSightingsDeps, signal?: AbortSignal): Promise<number> {
  const sources = await claimReportingSourcesAcrossOrgs(deps.db, sourcesAtOnce);
  await Promise.all(sources.map((source) => reportSource(deps, source, signal)));
  return sources.length;
}

async function reportSource(deps: ReportSightingsDeps, source: ReportingSource, signal?: AbortSignal): Promise<void> {
  const { organization_id: orgId, id: sourceId } = source;
  const claimed = await inOrg(deps.db, orgId, (tx) => claimSightings(tx, source, sightingsAtOnce));
  const isAllowed = ({ tlp }: ReportedSighting): boolean => tlps.indexOf(tlp) <= tlps.indexOf(source.sightings.tlpMax);
  const receipts = new Map<string, SightingReceipt>();
  const allowed = claimed.filter(isAllowed);
  const failure = allowed.length === 0 ? undefined : await send(deps, source, { allowed, receipts }, signal);
  const outcomes = claimed.map((sighting): SightingOutcome => {
    if (!isAllowed(sighting)) return { ...sighting, state: 'withheld', error: null, pauseMs: null };
    const receipt = receipts.get(sighting.id);
    const error = receipt?.error?.slice(0, errorMaxChars) ?? null;
    const reference = receipt?.reference ?? sighting.reference;
    const pause = Math.min(pauseMaxMs, pauseMs * 2 ** (sighting.tries - 1));
    if (receipt && receipt.state !== 'posted') return { ...sighting, state: receipt.state, error, pauseMs: null };
    const isLast = sighting.tries >= triesMax;
    // A server that never reports the outcome for an object has accepted it.
    if (isLast)
      return { ...sighting, state: receipt ? 'sent' : 'refused', error: failure?.error ?? null, pauseMs: null };
    const waitMs = Math.max(pause, failure?.retryAfterMs ?? 0);
    return {
      ...sighting,
      state: reference === null ? 'waiting' : 'posted',
      reference,
      error: failure?.error ?? null,
      pauseMs: waitMs,
    };
  });
  const count = (state: SightingOutcome['state']): number => outcomes.filter((one) => one.state === state).length;
  await inOrg(deps.db, orgId, async (tx) => {
    await finishSightings(tx, source, outcomes);
    await storeSightingsError(tx, source, failure?.error ?? null);
    const [sent, refused] = [count('sent'), count('refused')];
    if (sent + refused === 0) return;
    const after = { sent, refused, url: source.sightings.url };
    await insertAudit(
      tx,
      { orgId, keyId: null },
      {
        action: 'source.sightings_sent',
        resourceType: 'source',
        resourceId: sourceId,
        before: null,
        after,
      },
    );
  });
}

type Batch = { allowed: ReportedSighting[]; receipts: Map<string, SightingReceipt> };

/** Sends sightings and collects the receipts. Returns why some have none. */
async function send(
  { log, secrets, config }: ReportSightingsDeps,
  source: ReportingSource,
  { allowed, receipts }: Batch,
  signal: AbortSignal | undefined,
): Promise<{ error: string; retryAfterMs: number | undefined } | undefined> {
  const deadline = AbortSignal.timeout(batchMs);
  const untilEnd = signal ? AbortSignal.any([signal, deadline]) : deadline;
  try {
    const auth = openAuthHeaders(secrets, source);
    const sightings = allowed.map(({ tlp, ...one }) => ({ ...one, markingId: toTlpMarking(tlp).id }));
    const session = {
      url: withoutTrailingSlashes(source.sightings.url),
      call: ({
        body,
        headers,
        ...rest
      }: {
        method: string;
        url: string;
        headers: Record<string, string>;
        body?: object;
      }) =>
        requestText({
          ...rest,
          headers: { ...(body && { 'content-type': 'application/json' }), ...headers, ...auth },
          ...(body && { body: Buffer.from(JSON.stringify(body)) }),
          isConfidential: true,
          allow: config.fetchAllow,
          signal: untilEnd,
          timeoutMs,
        }),
    };
    for await (const receipt of sourceFormats[source.kind].sightings!.send(sightings, session))
      receipts.set(receipt.id, receipt);
    return undefined;
  } catch (error) {
    if (!(error instanceof ExternalError))
      log.error({ err: error, sourceId: source.id }, 'sightings could not be sent');
    const retryAfterMs = error instanceof SightingsNotSentError ? error.retryAfterMs : undefined;
    return {
      error: reasonOf(error)
        .replaceAll(/[\p{C}\s]+/gu, ' ')
        .slice(0, errorMaxChars),
      retryAfterMs,
    };
  }
}
