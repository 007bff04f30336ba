import type { Person, Site } from './people.ts';
import type { Random } from './random.ts';

/** A log event. `at` is also in the event, in the usual field of its format. */
export type LogEvent = { at: Date; dataset: string; event: Record<string, unknown> };

export const ACCOUNT = '111122223333';

/** An event's time (epoch milliseconds) and ID. */
export type EventStamp = { at: number; id: string };

export const createStamp = (random: Random, at: number): EventStamp => ({ at: Math.floor(at), id: random.uuid() });

export type SignIn = {
  person: { user: string; fullName: string };
  action?: string;
  outcome?: 'success' | 'failure';
  reason?: string;
  ip: string;
  country: string;
  managed?: boolean;
  app?: string;
};

/** Builds an identity provider's sign-in event with ECS field names. */
export function buildAuthEvent({ at, id }: EventStamp, signIn: SignIn): LogEvent {
  const { person, action = 'user.session.start', outcome = 'success', reason, app } = signIn;
  const event = {
    '@timestamp': new Date(at).toISOString(),
    event: {
      id,
      action,
      category: ['authentication'],
      outcome,
      ...(reason === undefined ? {} : { reason }),
    },
    user: { name: person.user, full_name: person.fullName },
    source: { ip: signIn.ip, geo: { country_iso_code: signIn.country } },
    device: { managed: signIn.managed ?? true },
    ...(app === undefined ? {} : { service: { name: app } }),
  };
  return { at: new Date(at), dataset: 'auth', event };
}

export type ProcessStart = { host: string; user: string; image: string; commandLine: string; parent: string };

/** Builds a Sysmon process creation (event 1) in the flat form of Windows log shippers. */
export function buildProcessEvent({ at, id }: EventStamp, start: ProcessStart): LogEvent {
  const time = new Date(at).toISOString();
  const event = {
    '@timestamp': time,
    event: { id },
    EventID: 1,
    Channel: 'Microsoft-Windows-Sysmon/Operational',
    Hostname: start.host,
    UtcTime: time.replace('T', ' ').replace('Z', ''),
    User: `HALDEN\\${start.user}`,
    Image: start.image,
    CommandLine: start.commandLine,
    ParentImage: start.parent,
    ProcessGuid: `{${id}}`,
    IntegrityLevel: start.user.startsWith('svc') ? 'System' : 'Medium',
  };
  return { at: new Date(at), dataset: 'windows', event };
}

export type WebRequest = { user: string; ip: string; domain: string; path?: string; sent?: number; received?: number };

/** Builds a web proxy event. `sent` and `received` are in bytes. */
export function buildProxyEvent({ at, id }: EventStamp, request: WebRequest): LogEvent {
  const sent = request.sent ?? 700;
  const event = {
    '@timestamp': new Date(at).toISOString(),
    event: { id, action: 'allowed' },
    user: { name: request.user },
    source: { ip: request.ip },
    url: { domain: request.domain, path: request.path ?? '/' },
    http: {
      request: { method: sent > 10_000 ? 'POST' : 'GET', bytes: sent },
      response: { status_code: 200, bytes: request.received ?? 20_000 },
    },
  };
  return { at: new Date(at), dataset: 'proxy', event };
}

/** Draws a person's location: the office or home. */
export function drawLocation(person: Person, random: Random): { ip: string; country: string } {
  const site: Site = person.site;
  return { ip: random.chance(0.65) ? site.officeIp : person.homeIp, country: site.country };
}
