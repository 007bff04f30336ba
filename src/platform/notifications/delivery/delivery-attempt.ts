import type { Deps } from '../../../app/deps.ts';
import { postBytes, type Posted } from '../../lib/outbound-http/post.ts';
import type { Try, TryEnd } from './deliveries.store.ts';
import { messageOf } from './delivery-message.ts';
import { unseal } from '../output-secrets.ts';

const timeoutMs = 15_000;
const errorMax = 500;
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Pauses after the first, second … try, as Standard Webhooks suggests: ten tries in 71.6 hours. */
const pausesMs = [
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
export const triesMax = pausesMs.length + 1;
const jitter = 0.1;

/** Sends one try and says how it ended. Never throws: whatever goes wrong is an outcome. */
export async function attempt(
  deps: Pick<Deps, 'config' | 'secrets'>,
  held: Try,
  signal?: AbortSignal,
): Promise<TryEnd> {
  const begun = performance.now();
  const outcome = await send(deps, held, signal).catch((error: Error): Outcome => ({
    ok: false,
    error: error.message,
  }));
  const ms = Math.round(performance.now() - begun);
  const status = outcome.posted?.status ?? null;
  if (outcome.ok) return { state: 'delivered', pauseMs: null, status, error: null, ms, counted: true, disable: null };
  const error = outcome.error.slice(0, errorMax);
  if (signal?.aborted && outcome.posted === undefined)
    return { state: 'pending', pauseMs: 0, status, error: 'stopped', ms, counted: false, disable: null };
  if (status === 410)
    return {
      state: 'failed',
      pauseMs: null,
      status,
      error,
      ms,
      counted: true,
      disable: 'The address answered 410 Gone.',
    };
  const pauseMs = outcome.final ? null : pauseAfter(held, outcome.posted?.retryAfterMs);
  return { state: pauseMs === null ? 'failed' : 'pending', pauseMs, status, error, ms, counted: true, disable: null };
}

type Outcome = { ok: true; posted: Posted } | { ok: false; error: string; posted?: Posted; final?: boolean };

async function send(
  { config, secrets }: Pick<Deps, 'config' | 'secrets'>,
  held: Try,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  if (held.body === null) return { ok: false, error: 'the event is no longer kept', final: true };
  const sealed = unseal(secrets, { organization_id: held.organization_id, id: held.output_id, sealed: held.sealed });
  const message = messageOf(held.kind, sealed, { id: held.event_id, body: held.body }, new Date());
  const posted = await postBytes({
    url: message.url,
    headers: message.headers,
    body: Buffer.from(message.body),
    allow: config.fetchAllow,
    signal,
    timeoutMs,
  });
  const { status, text } = posted;
  if (status < 200 || status > 299) return { ok: false, posted, error: `status ${status}: ${printable(text)}` };
  // Teams reports its own throttling with status 200.
  if (held.kind === 'teams' && /HTTP error \d{3}/.test(text)) return { ok: false, posted, error: printable(text) };
  return { ok: true, posted };
}

/** What a receiver answers is shown in the log: one line, PostgreSQL's alphabet. */
const printable = (text: string): string => text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();

function pauseAfter(held: Try, asked: number | undefined): number | null {
  if (held.tries >= held.tries_max) return null;
  const left = held.tries_max - held.tries;
  // Counted from the end, so that a redelivery has the same pauses; a single try has none.
  const pause = pausesMs[Math.max(0, pausesMs.length - left)] ?? pausesMs[0]!;
  return Math.round(Math.min(24 * hourMs, Math.max(pause, asked ?? 0)) * (1 + jitter * Math.random()));
}
