import { postBytes, type PostResult } from '../lib/outbound-http/post.ts';
import type { Secretbox } from '../lib/secretbox.ts';
import type { AttemptResult, ClaimedDelivery } from './deliveries.store.ts';
import { ExternalError, reasonOf } from '../lib/external-error.ts';
import { kindOf, type DestinationKind } from './destination-kinds.ts';
import { openSecrets, signDelivery, type DestinationSecrets } from './destination-secrets.ts';
import { toPublicLink } from '../lib/outbound-http/addresses.ts';
import type { EventBody } from './event-types.ts';

export type AttemptDeps = { secrets: Secretbox; config: { fetchAllow: readonly string[]; publicUrl: string | null } };

const timeoutMs = 15_000;
const errorMax = 500;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Delays after each failed attempt, as Standard Webhooks suggests: ten attempts in 71.6 hours. */
const retryDelaysMs = [
  5000,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  16 * hourMs,
  24 * hourMs,
];
export const triesMax = retryDelaysMs.length + 1;
const jitter = 0.1;
/** A fault of the service ends with a fix or a restart. */
const faultRetryMs = 15 * minuteMs;

/**
 * Sends a delivery once. Every failure of the destination becomes a result. A fault of the service, such as a secret that cannot be decrypted,
 * becomes a result that does not count against the destination, with the error in `fault`.
 */
export async function attemptDelivery(
  deps: AttemptDeps,
  delivery: ClaimedDelivery,
  signal?: AbortSignal,
): Promise<AttemptResult & { fault?: unknown }> {
  const startedAt = performance.now();
  const outcome = await send(deps, delivery, signal).catch((error: unknown): Outcome => ({
    ok: false,
    error: reasonOf(error),
    ...(!(error instanceof ExternalError) && { fault: error }),
  }));
  const ms = Math.round(performance.now() - startedAt);
  const status = outcome.response?.status ?? null;
  if (outcome.ok) return { state: 'delivered', pauseMs: null, status, error: null, ms, counted: true, disable: null };
  const error = outcome.error.slice(0, errorMax);
  if (signal?.aborted && outcome.response === undefined)
    return { state: 'pending', pauseMs: 0, status, error: 'stopped', ms, counted: false, disable: null };
  if (outcome.fault !== undefined) {
    const left = { state: 'pending' as const, pauseMs: faultRetryMs, status, error, ms, counted: false, disable: null };
    return { ...left, fault: outcome.fault };
  }
  if (status === 410) {
    const disable = 'The destination responded with 410 Gone.';
    return { state: 'failed', pauseMs: null, status, error, ms, counted: true, disable };
  }
  const pauseMs = outcome.isFinal ? null : nextDelayMs(delivery, outcome.response?.retryAfterMs);
  return { state: pauseMs === null ? 'failed' : 'pending', pauseMs, status, error, ms, counted: true, disable: null };
}

type Outcome =
  | { ok: true; response: PostResult }
  | { ok: false; error: string; response?: PostResult; isFinal?: boolean; fault?: unknown };

async function send(
  { config, secrets }: AttemptDeps,
  delivery: ClaimedDelivery,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  if (delivery.body === null) return { ok: false, error: 'the event is no longer stored', isFinal: true };
  const { kind, organization_id, destination_id: id, sealed } = delivery;
  const target = { kind, secrets: openSecrets(secrets, { organization_id, id, sealed }), publicUrl: config.publicUrl };
  const { url, headers, body } = renderDelivery(target, delivery.body, new Date());
  const allow = config.fetchAllow;
  const response = await postBytes({ url, headers, body: Buffer.from(body), allow, signal, timeoutMs });
  const { status, text } = response;
  if (status < 200 || status > 299) return { ok: false, response, error: `status ${status}: ${toSingleLine(text)}` };
  if (kindOf(kind).reportsFailure(text)) return { ok: false, response, error: toSingleLine(text) };
  return { ok: true, response };
}

/** Removes line breaks and control characters from a response, which PostgreSQL could not store. */
const toSingleLine = (text: string): string => text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();

/** Returns null if no attempts are left. */
function nextDelayMs(delivery: ClaimedDelivery, retryAfterMs: number | undefined): number | null {
  if (delivery.tries >= delivery.tries_max) return null;
  const attemptsLeft = delivery.tries_max - delivery.tries;
  // Counted from the last attempt, so that a redelivery has the same delays.
  const delay = retryDelaysMs[Math.max(0, retryDelaysMs.length - attemptsLeft)] ?? retryDelaysMs[0]!;
  return Math.round(Math.min(24 * hourMs, Math.max(delay, retryAfterMs ?? 0)) * (1 + jitter * Math.random()));
}

/**
 * Renders the request to a destination. The body depends only on the stored event and the public address of the service, so it is the same on
 * every attempt.
 */
export function renderDelivery(
  { kind, secrets, publicUrl }: { kind: DestinationKind; secrets: DestinationSecrets; publicUrl: string | null },
  stored: string,
  at: Date,
) {
  const event = resolveLink(JSON.parse(stored) as EventBody, publicUrl);
  const { renderBody, isSigned } = kindOf(kind);
  const body = JSON.stringify(renderBody(event));
  const signature = isSigned ? signDelivery(secrets, body, { id: event.id, at }) : {};
  return { url: secrets.url, body, headers: { 'content-type': 'application/json; charset=utf-8', ...signature } };
}

/** Returns an event whose `data.url`, which is stored as a path of the service, is a link, or null if the service does not know its address. */
function resolveLink(event: EventBody, publicUrl: string | null): EventBody {
  const { url } = event.data as { url?: unknown };
  if (typeof url !== 'string' || !url.startsWith('/')) return event;
  return { ...event, data: { ...(event.data as object), url: toPublicLink(publicUrl, url) } };
}
