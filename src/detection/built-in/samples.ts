import type { SampleEvent } from './built-in-detection.ts';

const ACCOUNT = '111122223333';

/** An account outside the organization. */
export const OUTSIDE_ACCOUNT = '444455556666';

export const userArn = (name: string): string => `arn:aws:iam::${ACCOUNT}:user/${name}`;
export const roleArn = (name: string): string => `arn:aws:iam::${ACCOUNT}:role/${name}`;

type CallOptions = {
  user?: string;
  role?: string;
  session?: string;
  at?: string;
  ip?: string;
  error?: string;
  region?: string;
  readOnly?: boolean;
  request?: Record<string, unknown> | null;
  more?: Record<string, unknown>;
};

function identityOf({ user = 'dev', role, session = 'session' }: CallOptions): Record<string, unknown> {
  if (role === undefined) return { type: 'IAMUser', arn: userArn(user), accountId: ACCOUNT, userName: user };
  return {
    type: 'AssumedRole',
    arn: `arn:aws:sts::${ACCOUNT}:assumed-role/${role}/${session}`,
    accountId: ACCOUNT,
    sessionContext: { sessionIssuer: { type: 'Role', arn: roleArn(role), accountId: ACCOUNT, userName: role } },
  };
}

// Samples are created once at start-up. The counter gives each event a unique id.
let eventCount = 0;

/** Returns the CloudTrail record of one API call. `call` is `service:Action`. */
export function cloudtrail(call: `${string}:${string}`, options: CallOptions = {}): SampleEvent {
  const [service, eventName] = call.split(':') as [string, string];
  const event = {
    eventVersion: '1.08',
    userIdentity: identityOf(options),
    eventTime: options.at ?? '2030-01-07T10:00:00Z',
    eventSource: `${service}.amazonaws.com`,
    eventName,
    awsRegion: options.region ?? 'eu-north-1',
    sourceIPAddress: options.ip ?? '192.0.2.10',
    userAgent: 'aws-cli/2.15.0',
    ...(options.error === undefined ? {} : { errorCode: options.error }),
    requestParameters: options.request ?? null,
    responseElements: null,
    eventID: `sample-${++eventCount}`,
    readOnly: options.readOnly ?? false,
    eventType: 'AwsApiCall',
    recipientAccountId: ACCOUNT,
    ...options.more,
  };
  return { dataset: 'cloudtrail', event };
}

/** Returns the CloudTrail record of one API call by a user with these request parameters. */
export const callAs = (user: string, call: `${string}:${string}`, request: Record<string, unknown>): SampleEvent =>
  cloudtrail(call, { user, request });

type SignInOptions = {
  user: string;
  at?: string;
  action?: string;
  outcome?: string;
  ip?: string;
  country?: string;
  managed?: boolean;
};

/** Returns a sign-in event of an identity provider in ECS style. */
export function signIn({ user, at, action, outcome, ip, country, managed }: SignInOptions): SampleEvent {
  const event = {
    '@timestamp': at ?? '2030-01-07T10:00:00.000Z',
    event: {
      id: `sample-${++eventCount}`,
      action: action ?? 'user.session.start',
      category: ['authentication'],
      outcome: outcome ?? 'success',
    },
    user: { name: user },
    source: { ip: ip ?? '192.0.2.10', geo: { country_iso_code: country ?? 'NO' } },
    device: { managed: managed ?? true },
  };
  return { dataset: 'auth', event };
}

/** Returns a Sysmon process creation (event 1) as a Windows log shipper sends it. */
export function processStart(host: string, commandLine: string, more: Record<string, unknown> = {}): SampleEvent {
  const event = {
    '@timestamp': '2030-01-07T10:00:00.000Z',
    event: { id: `sample-${++eventCount}` },
    EventID: 1,
    Channel: 'Microsoft-Windows-Sysmon/Operational',
    Hostname: host,
    User: 'HALDEN\\someone',
    Image: `C:\\Windows\\System32\\${commandLine.split(' ')[0]}`,
    CommandLine: commandLine,
    ParentImage: 'C:\\Windows\\System32\\cmd.exe',
    ...more,
  };
  return { dataset: 'process', event };
}

/** Returns a request through the web proxy. */
export function webRequest(user: string, domain: string, sentBytes: number): SampleEvent {
  const event = {
    '@timestamp': '2030-01-07T10:00:00.000Z',
    event: { id: `sample-${++eventCount}`, action: 'allowed' },
    user: { name: user },
    source: { ip: '10.20.0.5' },
    url: { domain },
    http: { request: { method: 'POST', bytes: sentBytes }, response: { status_code: 200, bytes: 400 } },
  };
  return { dataset: 'proxy', event };
}
