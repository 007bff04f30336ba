import { APICallError } from 'ai';
import { isProgramFault } from '../../lib/external-error.ts';
import { outboundFetch } from '../../lib/outbound-http/proxy.ts';

/** A server answered a request for a stream with one document. The same request without a stream works. */
export class NotStreamedError extends Error {}

type ModelFetchOptions = {
  /** When the time of the call ends, in milliseconds of `Date.now()`. */
  deadline: number;
  /** Returns whether no repetition solves a failure, whatever its status says. */
  isPermanent: (body: string) => boolean;
};

const bytesMax = 8 * 1024 * 1024;
const failureTextMax = 64 * 1024;
const firstDelayMs = 2_000;
/** The SDK ignores longer waits, so that such a failure ends the call. */
const waitMaxMs = 60_000;

/**
 * Creates the fetch of one model call, whose failures the SDK repeats. It tells the SDK how long to wait: what the provider demands
 * (`retry-after-ms`, `Retry-After` in seconds or as a date by RFC 9110, section 10.2.3, or Gemini's `retryDelay`), or else an increasing delay, both with jitter.
 * A wait beyond the time of the call, or over a minute, ends it instead. Redirects are rejected, so that prompts reach only the
 * configured address, as are responses over 8 MiB.
 */
export function createModelFetch({ deadline, isPermanent }: ModelFetchOptions): typeof globalThis.fetch {
  let failures = 0;
  const fail = (failure: Failure, response?: { headers: Headers; statusCode: number; responseBody: string }) => {
    const demandedMs = response && readRetryAfter(response, Date.now());
    const waitMs = withJitter(demandedMs, failures++);
    const isRetryable = failure.isRetryable && waitMs < waitMaxMs && Date.now() + waitMs < deadline;
    const responseHeaders = { 'retry-after-ms': String(waitMs) };
    return new APICallError({ requestBodyValues: {}, ...response, ...failure, responseHeaders, isRetryable });
  };
  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    let response: Response;
    try {
      response = await outboundFetch(input, { ...init, redirect: 'error' });
    } catch (error) {
      init?.signal?.throwIfAborted();
      if (isProgramFault(error)) throw error;
      throw fail({ url, isRetryable: !isRedirect(error), message: messageOf(error), cause: error });
    }
    const { status, statusText, headers } = response;
    if (status >= 400) {
      const responseBody = await readText(response);
      const isRetryable = isTransient(status) && !isPermanent(responseBody);
      const message = readMessage(responseBody) ?? `HTTP ${status}`;
      throw fail({ url, isRetryable, message }, { headers, statusCode: status, responseBody });
    }
    if (isDocument(headers) && asksForStream(init?.body)) {
      await response.body?.cancel();
      throw new NotStreamedError('the server does not stream');
    }
    if (!response.body) return response;
    return new Response(response.body.pipeThrough(limitBytes()), { status, statusText, headers });
  };
}

type Failure = { url: string; message: string; isRetryable: boolean; cause?: unknown };

const isTransient = (status: number): boolean => status === 408 || status === 409 || status === 429 || status >= 500;
const isRedirect = (error: unknown): boolean => /redirect/i.test(messageOf((error as Error).cause ?? error));
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
const isDocument = (headers: Headers): boolean => headers.get('content-type')?.includes('application/json') ?? false;
const asksForStream = (body: unknown): boolean => typeof body === 'string' && /"stream"\s*:\s*true/.test(body);

/** At most a quarter longer than demanded, and never shorter. Without a demand, between half and all of 2 s, 4 s, 8 s, … */
function withJitter(demandedMs: number | undefined, failures: number): number {
  if (demandedMs !== undefined) return Math.round(demandedMs + Math.random() * Math.min(demandedMs / 4, 5_000));
  return Math.round(firstDelayMs * 2 ** failures * (0.5 + Math.random() / 2));
}

/** Gemini states its wait in the error document (google.rpc.RetryInfo). */
const retryInfo = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/;

/** Returns how long the provider wants to be left alone in milliseconds, or undefined. A time in the past is 0. */
export function readRetryAfter(
  { headers, responseBody }: { headers: Headers; responseBody: string },
  now: number,
): number | undefined {
  const ms = Number.parseFloat(headers.get('retry-after-ms') ?? '');
  if (Number.isFinite(ms)) return Math.max(0, ms);
  const value = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  const delay = retryInfo.exec(responseBody)?.[1];
  return delay === undefined ? undefined : Number(delay) * 1000;
}

/** Returns the message in the error document of a provider. */
function readMessage(body: string): string | undefined {
  try {
    const document = JSON.parse(body) as {
      error?: { message?: unknown } | string;
      message?: unknown;
      detail?: unknown;
    };
    const { error } = document;
    const found = [typeof error === 'string' ? error : error?.message, document.message, document.detail];
    return found.find((message) => typeof message === 'string' && message !== '') as string | undefined;
  } catch {
    return undefined;
  }
}

async function readText(response: Response): Promise<string> {
  if (!response.body) return '';
  let text = '';
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > failureTextMax) break;
    }
  } catch {
    // What arrived of the explanation is enough.
  }
  return text.slice(0, failureTextMax);
}

function limitBytes(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.byteLength;
      if (size > bytesMax) controller.error(new Error(`the response is larger than ${bytesMax} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
