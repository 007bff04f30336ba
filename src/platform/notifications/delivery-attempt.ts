import { sendMail } from '../lib/outbound-http/send-mail.ts';
import { writeBytes } from '../lib/outbound-http/send-request.ts';
import { requestText, type TextRequest, type TextResponse } from '../lib/outbound-http/request-text.ts';
import type { Secretbox } from '../lib/secretbox.ts';
import type { AttemptResult, ClaimedDelivery, StoredTicket } from './deliveries.store.ts';
import { ExternalError, reasonOf } from '../lib/external-error.ts';
import { kindOf } from './destination-kinds.ts';
import { openSecrets, signDelivery } from './destination-secrets.ts';
import {
  alertKey,
  readAlert,
  type KindDefinition,
  type KindRequest,
  type KindResponse,
} from './kinds/destination-kind.ts';
import { toPublicLink } from '../lib/outbound-http/addresses.ts';
import type { EventBody } from './event-types.ts';

export type AttemptDeps = { secrets: Secretbox; config: { fetchAllow: readonly string[]; publicUrl: string | null } };

const timeoutMs = 15_000;
/** Within the lease of a delivery, however many requests an attempt needs. */
export const attemptMs = 50_000;
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
  const result = {
    ms: Math.round(performance.now() - startedAt),
    status: outcome.response?.status ?? null,
    counted: true,
    disable: null,
    ticket: outcome.ticket ?? null,
  };
  if (outcome.ok) return { ...result, state: 'delivered', pauseMs: null, error: null };
  const error = outcome.error.slice(0, errorMax);
  if (signal?.aborted && outcome.response === undefined)
    return { ...result, state: 'pending', pauseMs: 0, error: 'stopped', counted: false };
  if (outcome.fault !== undefined)
    return { ...result, state: 'pending', pauseMs: faultRetryMs, error, counted: false, fault: outcome.fault };
  if (result.status === 410)
    return { ...result, state: 'failed', pauseMs: null, error, disable: 'The destination responded with 410 Gone.' };
  const pauseMs = outcome.isFinal ? null : nextDelayMs(delivery, outcome.response?.retryAfterMs);
  return { ...result, state: pauseMs === null ? 'failed' : 'pending', pauseMs, error };
}

type Outcome = { response?: KindResponse; ticket?: StoredTicket } & (
  | { ok: true }
  | { ok: false; error: string; isFinal?: boolean; fault?: unknown }
);

/**
 * Renders and sends an event. Its content depends only on the stored event, the public address of the service and the ticket, so it is the same on
 * every attempt.
 */
async function send(
  { config, secrets }: AttemptDeps,
  delivery: ClaimedDelivery,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const { kind, organization_id, destination_id: id, sealed, settings, ticket } = delivery;
  if (delivery.body === null) return { ok: false, error: 'the event is no longer stored', isFinal: true };
  const definition = kindOf(kind);
  const event = resolveLink(JSON.parse(delivery.body) as EventBody, config.publicUrl);
  // The destination has already received a later state.
  if (ticket && ticket.revision > event.revision) return { ok: true };
  const opened = openSecrets(secrets, { organization_id, id, sealed });
  const key = alertKey(event, delivery.resource_id);
  const deadline = AbortSignal.timeout(attemptMs);
  const untilEnd = signal ? AbortSignal.any([signal, deadline]) : deadline;
  const allow = config.fetchAllow;
  const response = await definition.send(event, {
    url: opened.url,
    settings,
    credentials: opened.credentials ?? {},
    key,
    ticket,
    sign: (body) => (definition.isSigned ? signDelivery(opened, body, { id: event.id, at: new Date() }) : {}),
    request: createRequest({ allow, isConfidential: opened.credentials !== undefined, signal: untilEnd }),
    write: (address, bytes, ca) =>
      writeBytes(address, bytes, { allow, ca, signal: AbortSignal.any([untilEnd, AbortSignal.timeout(timeoutMs)]) }),
    mail: (server, message) => sendMail(server, message, { allow, signal: untilEnd, timeoutMs }),
  });
  return toOutcome(response, { definition, event, key, ticket });
}

/** Returns the function with which a kind sends requests. */
export function createRequest(
  options: Pick<TextRequest, 'allow' | 'isConfidential' | 'signal'>,
): (request: KindRequest) => Promise<TextResponse> {
  return ({ body, headers, ...rest }) => {
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    return requestText({
      ...rest,
      ...options,
      headers: { ...(text !== undefined && { 'content-type': 'application/json; charset=utf-8' }), ...headers },
      ...(text !== undefined && { body: Buffer.from(text) }),
      timeoutMs,
    });
  };
}

type Sent = { definition: KindDefinition; event: EventBody; key: string; ticket: StoredTicket | null };

function toOutcome(response: KindResponse, { definition, event, key, ticket }: Sent): Outcome {
  const { status, text, problem } = response;
  const isOk = (status === null || (status >= 200 && status <= 299)) && problem === undefined;
  const reference = response.reference ?? ticket?.reference ?? key;
  const { state } = readAlert(event);
  if (isOk)
    return {
      ok: true,
      response,
      ...(definition.keepsTickets && { ticket: { reference, state, revision: event.revision } }),
    };
  return {
    ok: false,
    response,
    error: toSingleLine(problem ?? `status ${status}: ${text}`),
    isFinal: response.isFinal ?? (status !== null && definition.finalStatuses.includes(status)),
    // A ticket that was created before something failed is not created again.
    ...(response.reference !== undefined && {
      ticket: { reference, state: ticket?.state ?? 'open', revision: ticket?.revision ?? 0 },
    }),
  };
}

/** Removes line breaks and control characters from a response, which PostgreSQL could not store. */
export const toSingleLine = (text: string): string => text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();

/** Returns null if no attempts are left. */
function nextDelayMs(delivery: ClaimedDelivery, retryAfterMs: number | undefined): number | null {
  if (delivery.tries >= delivery.tries_max) return null;
  const attemptsLeft = delivery.tries_max - delivery.tries;
  // Counted from the last attempt, so that a redelivery has the same delays.
  const delay = retryDelaysMs[Math.max(0, retryDelaysMs.length - attemptsLeft)] ?? retryDelaysMs[0]!;
  return Math.round(Math.min(24 * hourMs, Math.max(delay, retryAfterMs ?? 0)) * (1 + jitter * Math.random()));
}

/** Returns an event whose `data.url`, which is stored as a path of the service, is a link, or null if the service does not know its address. */
function resolveLink(event: EventBody, publicUrl: string | null): EventBody {
  const { url } = event.data as { url?: unknown };
  if (typeof url !== 'string' || !url.startsWith('/')) return event;
  return { ...event, data: { ...(event.data as object), url: toPublicLink(publicUrl, url) } };
}
