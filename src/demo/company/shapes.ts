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

type WebRequest = { user: string; ip: string; domain: string; path?: string; sent?: number; received?: number };

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

/** The caller of an AWS API: an IAM user or a session of a role. */
export type AwsCaller = { user: string } | { role: string; session: string };

export type ApiCall = {
  caller: AwsCaller;
  service: string;
  action: string;
  ip: string;
  userAgent?: string;
  readOnly?: boolean;
  error?: string;
  request?: Record<string, unknown>;
};

const principalId = (name: string): string =>
  name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]/g, '')
    .padEnd(16, '7')
    .slice(0, 16);

function identityOf(caller: AwsCaller): Record<string, unknown> {
  if ('user' in caller) {
    return {
      type: 'IAMUser',
      principalId: `AIDA${principalId(caller.user)}`,
      arn: `arn:aws:iam::${ACCOUNT}:user/${caller.user}`,
      accountId: ACCOUNT,
      accessKeyId: `AKIA${principalId(caller.user)}`,
      userName: caller.user,
    };
  }
  const { role, session } = caller;
  const issuer = {
    type: 'Role',
    principalId: `AROA${principalId(role)}`,
    arn: `arn:aws:iam::${ACCOUNT}:role/${role}`,
    accountId: ACCOUNT,
    userName: role,
  };
  return {
    type: 'AssumedRole',
    principalId: `AROA${principalId(role)}:${session}`,
    arn: `arn:aws:sts::${ACCOUNT}:assumed-role/${role}/${session}`,
    accountId: ACCOUNT,
    accessKeyId: `ASIA${principalId(role)}`,
    sessionContext: { sessionIssuer: issuer, attributes: { mfaAuthenticated: 'false' } },
  };
}

/** Builds a CloudTrail record. Source: AWS CloudTrail User Guide, "CloudTrail record contents". */
export function buildCloudtrailEvent({ at, id }: EventStamp, call: ApiCall): LogEvent {
  const time = new Date(Math.floor(at / 1000) * 1000);
  const event = {
    eventVersion: '1.09',
    userIdentity: identityOf(call.caller),
    eventTime: time.toISOString().replace('.000Z', 'Z'),
    eventSource: `${call.service}.amazonaws.com`,
    eventName: call.action,
    awsRegion: call.service === 'iam' ? 'us-east-1' : 'eu-north-1',
    sourceIPAddress: call.ip,
    userAgent: call.userAgent ?? 'aws-cli/2.15.30 Python/3.11.8 Linux/6.5.0',
    ...(call.error === undefined ? {} : { errorCode: call.error }),
    requestParameters: call.request ?? null,
    responseElements: null,
    requestID: id.replace(/^./, 'f'),
    eventID: id,
    readOnly: call.readOnly ?? /^(Get|List|Describe)/.test(call.action),
    eventType: 'AwsApiCall',
    managementEvent: true,
    recipientAccountId: ACCOUNT,
    eventCategory: 'Management',
  };
  return { at: time, dataset: 'cloudtrail', event };
}
