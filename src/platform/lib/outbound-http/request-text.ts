import type { IncomingMessage } from 'node:http';
import { parseRetryAfterMs, readChunks, sendRequest } from './send-request.ts';
import { ExternalError } from '../external-error.ts';

export type TextRequest = {
  /** POST unless set. */
  method?: string;
  url: string;
  headers: Record<string, string>;
  /** Absent for a request without a body, such as GET. */
  body?: Buffer;
  /** The request contains credentials, so redirects to another host are refused. */
  isConfidential?: boolean;
  /** Private hosts, addresses and CIDRs that may be reached. */
  allow: readonly string[];
  signal?: AbortSignal | undefined;
  timeoutMs: number;
  /** How much of the response is read. 64 KiB unless set. */
  bytesMax?: number;
};

/** `text` is the start of the response. `retryAfterMs` is its Retry-After header. */
export type TextResponse = { status: number; text: string; retryAfterMs: number | undefined };

const redirectsMax = 3;
const defaultMaxBytes = 65_536;

/**
 * Sends a request to a public address, with bounds on time, response and redirects. Follows only redirects 307 and 308: the others
 * would change the method to GET. Every host is resolved and checked first. Throws an `ExternalError` if there is no
 * response.
 */
export async function requestText(request: TextRequest): Promise<TextResponse> {
  const timeout = AbortSignal.timeout(request.timeoutMs);
  const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
  try {
    return await followRedirects(request, signal);
  } catch (error) {
    if (timeout.aborted) throw new ExternalError(`no response within ${request.timeoutMs / 1000} s`, { cause: error });
    throw error;
  }
}

async function followRedirects(request: TextRequest, signal: AbortSignal): Promise<TextResponse> {
  let url = new URL(request.url);
  const { method = 'POST', body, allow } = request;
  const headers: Record<string, string> = {
    ...request.headers,
    ...(body && { 'content-length': String(body.length) }),
  };
  for (let hop = 0; hop <= redirectsMax; hop += 1) {
    const response = await sendRequest(url, { method, headers, body, allow }, signal);
    const status = response.statusCode ?? 0;
    const { location } = response.headers;
    if ([307, 308].includes(status) && location && URL.canParse(location, url.href)) {
      response.destroy();
      const next = new URL(location, url);
      if (url.protocol === 'https:' && next.protocol !== 'https:')
        throw new ExternalError('a redirect leads away from https');
      if (request.isConfidential && next.host !== url.host)
        throw new ExternalError('a redirect leads to another host, which must not receive the credentials');
      url = next;
      continue;
    }
    return {
      status,
      text: await readStart(response, request.bytesMax ?? defaultMaxBytes),
      retryAfterMs: parseRetryAfterMs(response.headers['retry-after']),
    };
  }
  throw new ExternalError(`more than ${redirectsMax} redirects`);
}

async function readStart(response: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of readChunks(response)) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop destroys the stream and its connection.
    if (size >= bytesMax) break;
  }
  return Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8');
}

export const placeholder = /\{([a-z]\w{0,30})\}/gi;

/** Returns the problem with a URL template, or undefined. Placeholders such as `{value}` are allowed in path and query only. */
export function findTemplateProblem(template: string): string | undefined {
  const bare = template.replaceAll(placeholder, 'x');
  if (!URL.canParse(bare) || !/^https?:$/.test(new URL(bare).protocol)) return 'must be an http or https URL';
  const url = new URL(bare);
  if (url.username || url.password) return 'must not contain a user name or password';
  const fixed = /^https?:\/\/[^/?#{}]+[/?]/i.exec(template);
  if (!fixed) return 'must have a fixed scheme and host, followed by a slash';
  return /[{}]/.test(bare) ? 'must have a placeholder name in each pair of braces, as in {entity}' : undefined;
}
