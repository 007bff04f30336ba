import { readRetryAfterMs, TocsinError } from './client-error.ts';

export type RetryOptions = {
  /** Further tries after a failed one. Default: 3. */
  retriesMax: number;
  /** Longest time of one try, until its body has arrived. */
  timeoutMs: number;
  fetch: (request: Request) => Promise<Response>;
};

const firstWaitMs = 250;
/** A longer `Retry-After` is left to the caller. */
const waitMaxMs = 60_000;

/**
 * Sends a request and reads its whole body. Tries again after 429, after a lost connection, a timeout, 502, 503 and 504, and after a 409 that says when
 * to return, if the request is a GET or has an `Idempotency-Key`. A 429 was refused before anything happened, so any request can be repeated after it.
 * Throws a `TocsinError` without a response, and the signal's reason if the caller aborted.
 */
export async function fetchWithRetries(request: Request, options: RetryOptions): Promise<Response> {
  for (let retry = 0; ; retry += 1) {
    const outcome = await fetchOnce(request.clone(), options);
    const waitMs = retry < options.retriesMax ? waitBeforeRetryMs(request, outcome, retry) : undefined;
    if (waitMs === undefined) {
      if (outcome instanceof TocsinError) throw outcome;
      return outcome;
    }
    await sleep(waitMs, request.signal);
  }
}

async function fetchOnce(request: Request, { timeoutMs, fetch }: RetryOptions): Promise<Response | TocsinError> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(new Request(request, { signal: AbortSignal.any([request.signal, timeout]) }));
    const body = await response.arrayBuffer();
    return new Response(body.byteLength > 0 ? body : null, response);
  } catch (cause) {
    request.signal.throwIfAborted();
    return timeout.aborted
      ? new TocsinError({ status: 0, code: 'timeout', detail: `No response within ${timeoutMs} ms.`, cause })
      : new TocsinError({ status: 0, code: 'unreachable', detail: `${request.url} is unreachable.`, cause });
  }
}

/** Returns the wait before the next try, or undefined if there must be none. Waits grow twofold and vary, so that clients do not return together. */
function waitBeforeRetryMs(request: Request, outcome: Response | TocsinError, retry: number): number | undefined {
  const afterMs = outcome instanceof TocsinError ? undefined : readRetryAfterMs(outcome);
  const isRepeatable = request.method === 'GET' || request.headers.has('idempotency-key');
  const isTransient = [0, 502, 503, 504].includes(outcome.status) || (outcome.status === 409 && afterMs !== undefined);
  if (outcome.status !== 429 && !(isRepeatable && isTransient)) return undefined;
  if (afterMs !== undefined) return afterMs <= waitMaxMs ? afterMs : undefined;
  return firstWaitMs * 2 ** retry * (0.5 + Math.random() / 2);
}

/** Waits, and throws the signal's reason as soon as it aborts. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const abort = (): void => {
      clearTimeout(timer);
      fail(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      done();
    }, ms);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  });
}
