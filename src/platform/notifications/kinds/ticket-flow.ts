import { ExternalError } from '../../lib/external-error.ts';
import type { TextResponse } from '../../lib/outbound-http/request-text.ts';
import type { EventBody } from '../event-types.ts';
import {
  readAlert,
  toLines,
  type Alert,
  type AlertState,
  type KindRequest,
  type KindResponse,
  type Sending,
} from './destination-kind.ts';

/** Sends a request and returns the JSON of its response, `{}` for an empty one. Ends the flow unless the status is 2xx. */
export type Call = (request: KindRequest) => Promise<unknown>;

/** A system that keeps tickets. References are its own names of tickets. */
export type TicketSystem = {
  /** Returns the ticket with the key that an interrupted delivery created, or null. */
  find: () => Promise<string | null>;
  /** Creates an open ticket with the key. */
  create: (alert: Alert) => Promise<string>;
  /** Brings a ticket to the content and the state of the alert. `from` is the state that it was last given. */
  update: (reference: string, alert: Alert, from: AlertState) => Promise<void>;
};

/** How much of a page of tickets or comments is read, all of whose texts may be as long as GitHub and Jira permit. */
const pageMaxBytes = 8 * 1024 * 1024;

/** A refused request for tickets. `retryAfterMs` is how long the other system wants to be left alone. */
export class TicketsUnreadableError extends ExternalError {
  readonly retryAfterMs: number | undefined;
  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Returns a call that reads large responses and throws a `TicketsUnreadableError` unless the status is 2xx. */
export const createReadCall =
  (request: Sending['request']): Call =>
  async (one) => {
    const { status, text, retryAfterMs } = await request({ ...one, bytesMax: pageMaxBytes });
    if (status < 200 || status > 299)
      throw new TicketsUnreadableError(`status ${status}: ${text.slice(0, 300)}`, retryAfterMs);
    return parse(text);
  };

/** The response if there is nothing to do. */
const nothing: TextResponse = { status: 200, text: '', retryAfterMs: undefined };

/** Thrown inside a flow only, which returns the response. */
class Refused extends Error {}

/**
 * Brings the one ticket of a resource to the state of an event: updates it, or creates it unless an interrupted delivery did. A ticket that was deleted there is created
 * again. For a resource that is closed, no ticket is created.
 */
export async function sendTicket(
  event: EventBody,
  { ticket, request }: Pick<Sending, 'ticket' | 'request'>,
  system: (call: Call) => TicketSystem,
): Promise<KindResponse> {
  const alert = readAlert(event);
  let last: TextResponse = nothing;
  const call: Call = async (one) => {
    last = await request(one);
    if (last.status < 200 || last.status > 299) throw new Refused();
    return parse(last.text);
  };
  const { find, create, update } = system(call);
  let reference = ticket?.reference;
  let isSearching = false as boolean;
  const bringUpToDate = async (): Promise<void> => {
    if (ticket === null) {
      isSearching = true;
      reference = (await find()) ?? undefined;
      isSearching = false;
    }
    if (reference !== undefined) {
      const isThere = await update(reference, alert, ticket?.state ?? 'open').then(
        () => true,
        (error: unknown) => {
          if (error instanceof Refused && last.status === 404) return false;
          throw error;
        },
      );
      if (isThere) return;
    }
    reference = undefined;
    last = nothing;
    if (alert.state === 'closed') return;
    reference = await create(alert);
    if (alert.state !== 'open') await update(reference, alert, 'open');
  };
  await bringUpToDate().catch((error: unknown) => {
    if (!(error instanceof Refused)) throw error;
  });
  // A refused search says nothing about the event: GitHub refuses one in a repository that the token may not read.
  return { ...last, ...(isSearching && { isFinal: false }), ...(reference !== undefined && { reference }) };
}

function parse(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch (error) {
    throw new ExternalError('the response is not JSON', { cause: error });
  }
}

/** Returns a text of a response at a path, or undefined. Numbers are returned as texts. */
export function textAt(value: unknown, ...path: (string | number)[]): string | undefined {
  let one: unknown = value;
  for (const part of path)
    one = one !== null && typeof one === 'object' ? (one as Record<string, unknown>)[part] : undefined;
  return typeof one === 'string' || typeof one === 'number' ? String(one) : undefined;
}

/** Like `textAt`, but throws an `ExternalError` if the response has no such text. */
export function requireText(value: unknown, ...path: (string | number)[]): string {
  const text = textAt(value, ...path);
  if (text === undefined) throw new ExternalError(`the response has no ${path.join('.')}`);
  return text;
}

/** Returns the plain text of a ticket. Its last line contains the key, by which people and the service find it. */
export const toDescription = (alert: Alert, key: string): string => `${toLines(alert)}\n\n${key}`;

export const basicAuth = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
