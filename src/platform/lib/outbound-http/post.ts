import type { IncomingMessage } from 'node:http';
import { retryAfter, sendTo } from './fetch.ts';

export type Posting = {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  /** Hosts, addresses and CIDRs that may be reached although they are private. */
  allow: readonly string[];
  signal?: AbortSignal | undefined;
  timeoutMs: number;
};

/** `text` is the beginning of the answer; `retryAfterMs` what it asks for, in seconds or as a date. */
export type Posted = { status: number; text: string; retryAfterMs: number | undefined };

const redirectsMax = 3;
const textMaxBytes = 2048;

/**
 * POST to a public address, with bounds on time, answer and redirects. Only 307 and 308 are followed: the others would make it a GET.
 * Every host is resolved and checked first. Throws an Error with a message that may be shown where there is no answer.
 */
export async function postBytes(given: Posting): Promise<Posted> {
  const timeout = AbortSignal.timeout(given.timeoutMs);
  const signal = given.signal ? AbortSignal.any([timeout, given.signal]) : timeout;
  try {
    return await follow(given, signal);
  } catch (error) {
    if (timeout.aborted) throw new Error(`no answer within ${given.timeoutMs / 1000} s`, { cause: error });
    throw error;
  }
}

async function follow(given: Posting, signal: AbortSignal): Promise<Posted> {
  let url = new URL(given.url);
  const headers = { ...given.headers, 'content-length': String(given.body.length) };
  for (let hop = 0; hop <= redirectsMax; hop += 1) {
    const response = await sendTo(url, { method: 'POST', headers, body: given.body, allow: given.allow }, signal);
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if ([307, 308].includes(status) && location && URL.canParse(location, url.href)) {
      response.destroy();
      const next = new URL(location, url);
      if (url.protocol === 'https:' && next.protocol !== 'https:') throw new Error('a redirect leads away from https');
      url = next;
      continue;
    }
    return { status, text: await readStart(response), retryAfterMs: retryAfter(response.headers['retry-after']) };
  }
  throw new Error(`more than ${redirectsMax} redirects`);
}

async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    chunks.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    // Leaving the loop destroys the stream and its connection.
    if (size >= textMaxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, textMaxBytes).toString('utf8');
}
