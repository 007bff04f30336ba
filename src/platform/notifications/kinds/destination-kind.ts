import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { MailMessage, MailRefusal, MailServer } from '../../lib/outbound-http/send-mail.ts';
import type { TextResponse } from '../../lib/outbound-http/request-text.ts';
import { boundedString } from '../../lib/text/bounded-text.ts';
import { summarizeEvent, type EventSummary } from '../chat-message.ts';
import { eventSeverities, type EventBody, type EventType } from '../event-types.ts';

/** A request to the other system. A `body` that is no string is sent as JSON. */
export type KindRequest = {
  method?: string;
  url: string;
  headers?: Record<string, string>;
  body?: object | string;
  /** How much of the response is read. 64 KiB unless set. */
  bytesMax?: number;
};

/** A response, with status null where the protocol has none. `problem` says why one with status 2xx is a failure. With `isFinal`, the delivery is not tried again. */
export type KindResponse = Omit<TextResponse, 'status'> & {
  status: number | null;
  problem?: string;
  isFinal?: boolean;
  reference?: string;
};

/** What the other system keeps about a resource: its name there, and the state that it was last told. */
export type Ticket = { reference: string; state: AlertState };

/** What a kind sends with. `settings` and `credentials` are parsed by its schemas. */
export type Sending<Settings = Record<string, unknown>, Credentials = Record<string, unknown>> = {
  url: string;
  settings: Settings;
  credentials: Credentials;
  /** Identifies the resource of the event in the other system: letters, digits and hyphens, at most 40. */
  key: string;
  /** What an earlier delivery about the resource left there, or null. */
  ticket: Ticket | null;
  /** Returns the signature headers of Standard Webhooks for a body. Empty for kinds that are not signed. */
  sign: (body: string) => Record<string, string>;
  request: (request: KindRequest) => Promise<TextResponse>;
  /** Writes bytes to an address such as `tls://host:6514`, trusting a PEM certificate in addition to the public ones. */
  write: (address: string, bytes: Buffer, ca?: string) => Promise<void>;
  /** Sends a message through a mail server. Returns why the server refused it, or null. */
  mail: (server: MailServer, message: MailMessage) => Promise<MailRefusal | null>;
};

/** A ticket as the other system has it. `status` is its own word for the state. */
export type RemoteTicket = { reference: string; updatedAt: Date; isClosed: boolean; status: string };

/** A comment on a ticket. Later comments have larger IDs. `author` and `body`, in Markdown or plain text, come from an untrusted source. */
export type RemoteComment = { id: number; author: string; body: string };

/** Reads what people do with tickets in the other system. */
export type TicketReader = {
  /** Lists tickets that changed since a time, the earliest change first, and possibly others of the same place. `isComplete` is false if there are more. */
  listChanged: (since: Date) => Promise<{ tickets: RemoteTicket[]; isComplete: boolean }>;
  /** Lists comments with larger IDs than `afterId`, the earliest first. */
  listComments: (reference: string, comments: { since: Date; afterId: number }) => Promise<RemoteComment[]>;
};

type Definition<Settings, Credentials> = {
  /** Shown to people. */
  label: string;
  /** Says which address the kind needs. Shown to people. */
  urlHint: string;
  /** The address that most organizations need, or null. */
  defaultUrl: string | null;
  /** The schemes of addresses that are a host and a port, each with the scheme of HTTP whose rules it follows. null if addresses are those of HTTP. */
  schemes: Readonly<Record<string, 'https' | 'http'>> | null;
  /** What an address must match, if the kind needs a certain path. */
  urlPattern?: RegExp;
  /** The path of the address is a secret, so clients see only its origin. */
  isUrlSecret: boolean;
  /** Deliveries are signed with a secret of the destination. */
  isSigned: boolean;
  /** The other system keeps one alert or ticket per resource: events of a resource are sent one after another, and none that a later one has overtaken. */
  keepsTickets: boolean;
  settings: z.ZodType<Settings>;
  /** Stored encrypted and never returned. */
  credentials: z.ZodType<Credentials>;
  /** Events of a new destination that selects none. */
  defaultEvents: readonly EventType[];
  /** Statuses that refuse the event itself, so that another attempt would fail as well. */
  finalStatuses: readonly number[];
  /** Sends an event. The same event is sent with the same identity on every attempt. */
  send: (event: EventBody, sending: Sending<Settings, Credentials>) => Promise<KindResponse>;
  /** Set if people's work on tickets can be read. Its settings then include `ticketComments`. */
  readTickets?: (
    reading: Pick<Sending<Settings, Credentials>, 'url' | 'settings' | 'credentials' | 'request'>,
  ) => TicketReader;
};

/** Everything that depends on the kind of a destination. */
export type KindDefinition = Definition<Record<string, unknown>, Record<string, unknown>>;

/** Returns a definition without the types of its settings, which only its own schemas produce. */
export const defineKind = <Settings extends object, Credentials extends object>(
  definition: Definition<Settings, Credentials>,
): KindDefinition => definition as unknown as KindDefinition;

/** For kinds whose requests carry credentials: neither a signature nor a secret address identifies the sender. */
export const httpApi = {
  defaultUrl: null,
  schemes: null,
  isUrlSecret: false,
  isSigned: false,
} as const;

/** For kinds without settings or credentials. */
export const noFields = z.strictObject({});
/** Settings of kinds with `readTickets`. */
export const ticketSettings = {
  ticketComments: z
    .enum(['import', 'ignore'])
    .default('import')
    .describe('Whether comments on a ticket, and closing or reopening it, become comments on its incident.'),
};
export const secretText = boundedString({ min: 1, max: 5000 }).regex(/^[\x21-\x7e]+$/, 'must be printable ASCII');

export const incidentEvents = ['incident.created', 'incident.updated'] as const;
export const hitEvents = ['hit.created', 'hit.updated'] as const;
export const incidentAndHitEvents = [...incidentEvents, ...hitEvents];

const alertStates = ['open', 'acknowledged', 'closed'] as const;
export type AlertState = (typeof alertStates)[number];

export type AlertSeverity = (typeof eventSeverities)[number];

/** An event as an alert or a ticket. Its texts come from untrusted sources. */
export type Alert = EventSummary & { title: string; state: AlertState; severity: AlertSeverity };

/** Events that end what an earlier event about the same resource reported. */
const endings =
  /^(?:gap\.filled|dataset\.recovered|connection\.resumed|model\.resumed|quota\.freed|review\.decided|suggestion\.(?:accepted|dismissed)|detection\.deleted)$/;

/** Returns what an event says about the state and the severity of its resource, with its summary. */
export function readAlert(event: EventBody): Alert {
  const { severity, event: item } = event.data as { severity?: unknown; event?: { severity?: unknown } };
  const level = eventSeverities.find((one) => one === severity || one === item?.severity);
  const summary = summarizeEvent(event);
  // The title of a hit or an incident stays the same while it changes.
  const title = /^(?:hit|incident)\./.test(event.type) ? summary.name : summary.headline;
  return { ...summary, title, state: stateOf(event), severity: level ?? 'medium' };
}

function stateOf({ type, data }: EventBody): AlertState {
  const { state, status, group } = data as { state?: unknown; status?: unknown; group?: { statuses?: object } };
  if (endings.test(type)) return 'closed';
  if (type.startsWith('incident.'))
    return state === 'closed' ? 'closed' : state === 'in_progress' ? 'acknowledged' : 'open';
  if (!type.startsWith('hit.')) return 'open';
  if (group?.statuses) return 'open' in group.statuses ? 'open' : 'closed';
  return status === undefined || status === 'open' ? 'open' : 'closed';
}

/** Returns the identity of a resource in other systems, which may serve several organizations. */
export const alertKey = ({ organizationId, type }: EventBody, resourceId: string): string =>
  `tocsin-${createHash('sha256')
    .update(`${organizationId}/${type.split('.')[0]}/${resourceId}`)
    .digest('hex')
    .slice(0, 32)}`;

/** Returns the text and the facts of an alert as lines of plain text. */
export const toLines = ({ text, facts, link }: Alert): string =>
  [text, ...facts.map(([name, value]) => `${name}: ${value}`), link ?? ''].filter((line) => line !== '').join('\n');
