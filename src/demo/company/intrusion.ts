import { hourMs, minuteMs, cast, people } from './people.ts';
import {
  type LogEvent,
  type EventStamp,
  ACCOUNT,
  buildAuthEvent,
  buildProcessEvent,
  buildProxyEvent,
  type ApiCall,
  buildCloudtrailEvent,
} from './shapes.ts';

type Action = { afterMs: number; make: (stamp: EventStamp) => LogEvent };
type IntrusionStep = { stage: string; technique: string; entity: string; hoursBefore: number; actions: Action[] };

const victim = cast.victim;
const INTRUDER_IP = '203.0.113.77';
const USER_ARN = `arn:aws:iam::${ACCOUNT}:user/${victim.user}`;
const HOST = 'FS-02.halden.example';
const away = { ip: INTRUDER_IP, country: 'VU', managed: false };

const sprayed = [...people.filter((_, n) => n % 4 === 1).slice(0, 24), victim];

const discovery =
  'ec2:DescribeInstances ec2:DescribeSecurityGroups ec2:DescribeVpcs ec2:DescribeSubnets ec2:DescribeVolumes ec2:DescribeSnapshots ec2:DescribeImages ec2:DescribeKeyPairs ec2:DescribeRegions ec2:DescribeAddresses iam:ListUsers iam:ListRoles iam:ListGroups iam:ListPolicies iam:GetAccountSummary iam:GetAccountAuthorizationDetails iam:ListAccessKeys iam:ListMFADevices iam:ListAttachedUserPolicies s3:ListBuckets s3:GetBucketPolicy s3:GetBucketAcl s3:GetBucketEncryption rds:DescribeDBInstances rds:DescribeDBSnapshots lambda:ListFunctions20150331 lambda:GetPolicy20150331v2 secretsmanager:ListSecrets ssm:DescribeParameters ssm:DescribeInstanceInformation kms:ListKeys kms:ListAliases cloudtrail:DescribeTrails cloudtrail:GetTrailStatus cloudtrail:GetEventSelectors guardduty:ListDetectors config:DescribeConfigurationRecorders organizations:DescribeOrganization organizations:ListAccounts sts:GetCallerIdentity'.split(
    ' ',
  );

const api = (afterMs: number, call: Pick<ApiCall, 'service' | 'action' | 'error' | 'request'>): Action => ({
  afterMs,
  make: (stamp) =>
    buildCloudtrailEvent(stamp, {
      caller: { user: victim.user },
      ip: INTRUDER_IP,
      userAgent: 'Boto3/1.34.51',
      ...call,
    }),
});

const web = (afterMs: number, domain: string, sent: number, ip: string = victim.site.officeIp): Action => ({
  afterMs,
  make: (stamp) => buildProxyEvent(stamp, { user: victim.user, ip, domain, path: '/', sent }),
});

const identity = (afterMs: number, action: string, outcome: 'success' | 'failure', person = victim): Action => ({
  afterMs,
  make: (stamp) => buildAuthEvent(stamp, { person, action, outcome, ...away }),
});

const command = (afterMs: number, commandLine: string): Action => ({
  afterMs,
  make: (stamp) =>
    buildProcessEvent(stamp, {
      host: HOST,
      user: victim.user,
      image: `C:\\Windows\\System32\\${commandLine.split(' ')[0]}`,
      commandLine,
      parent: 'C:\\Windows\\System32\\cmd.exe',
    }),
});

const at = (minute: number): number => minute * minuteMs;

/** The stages of the intrusion. Hours count back from the last full hour of the logs. No stage crosses an hour. */
const intrusionSteps: IntrusionStep[] = [
  {
    stage: 'phishing',
    technique: 'T1566.002',
    entity: victim.user,
    hoursBefore: 31,
    actions: [web(at(12), 'halden-signin.example', 600), web(at(13), 'halden-signin.example', 12_400)],
  },
  {
    stage: 'password-spray',
    technique: 'T1110.003',
    entity: INTRUDER_IP,
    hoursBefore: 30,
    actions: sprayed.map((person, n) => identity(at(5) + n * 41_000, 'user.session.start', 'failure', person)),
  },
  {
    stage: 'sign-in',
    technique: 'T1078.004',
    entity: victim.user,
    hoursBefore: 29,
    actions: [
      identity(at(4), 'user.authentication.mfa', 'failure'),
      identity(at(6), 'user.authentication.mfa', 'failure'),
      identity(at(8), 'user.session.start', 'success'),
    ],
  },
  {
    stage: 'second-factor',
    technique: 'T1556.006',
    entity: victim.user,
    hoursBefore: 29,
    actions: [identity(at(15), 'user.mfa.factor.activate', 'success')],
  },
  {
    stage: 'access-key',
    technique: 'T1098.001',
    entity: victim.user,
    hoursBefore: 27,
    actions: [api(at(31), { service: 'iam', action: 'CreateAccessKey', request: { userName: victim.user } })],
  },
  {
    stage: 'privilege-escalation',
    technique: 'T1098.003',
    entity: USER_ARN,
    hoursBefore: 25,
    actions: [
      api(at(10), {
        service: 'iam',
        action: 'AttachUserPolicy',
        request: { userName: victim.user, policyArn: 'arn:aws:iam::aws:policy/AdministratorAccess' },
      }),
    ],
  },
  {
    stage: 'discovery',
    technique: 'T1580',
    entity: USER_ARN,
    hoursBefore: 24,
    actions: discovery.map((name, n) => {
      const [service = '', action = ''] = name.split(':');
      return api(at(2) + n * 9000, { service, action, ...(n % 9 === 4 ? { error: 'AccessDenied' } : {}) });
    }),
  },
  {
    stage: 'secrets',
    technique: 'T1555.006',
    entity: USER_ARN,
    hoursBefore: 21,
    actions: Array.from({ length: 16 }, (_, n) =>
      api(at(20) + n * 5000, {
        service: 'secretsmanager',
        action: 'GetSecretValue',
        request: { secretId: `prod/app-${n}` },
      }),
    ),
  },
  {
    stage: 'exfiltration',
    technique: 'T1567.002',
    entity: victim.user,
    hoursBefore: 11,
    actions: Array.from({ length: 12 }, (_, n) =>
      web(at(10) + n * 200_000, 'dropbin.example', 45_000_000, '10.20.0.42'),
    ),
  },
  {
    stage: 'log-tampering',
    technique: 'T1685.002',
    entity: USER_ARN,
    hoursBefore: 6,
    actions: [api(at(40), { service: 'cloudtrail', action: 'StopLogging', request: { name: 'org-trail' } })],
  },
  {
    stage: 'recovery-inhibited',
    technique: 'T1490',
    entity: HOST,
    hoursBefore: 3,
    actions: [
      command(at(18), 'vssadmin.exe delete shadows /all /quiet'),
      command(at(19), 'bcdedit.exe /set {default} recoveryenabled No'),
      command(at(20), 'wbadmin.exe delete catalog -quiet'),
    ],
  },
];

/** A stage of the intrusion with the IDs of its events, which are the same for every seed and end. */
type IntrusionStage = { stage: string; technique: string; entity: string; eventIds: string[] };

/** Builds a UUID from the numbers of stage and event, which never collides with a random one. */
const buildId = (stage: number, n: number): string =>
  `1a7d0000-0000-4000-8000-${String(stage).padStart(4, '0')}${String(n).padStart(8, '0')}`;

/** The stages that the demo must find, in order. */
export const intrusion: IntrusionStage[] = intrusionSteps.map(({ stage, technique, entity, actions }, place) => ({
  stage,
  technique,
  entity,
  eventIds: actions.map((_, n) => buildId(place + 1, n + 1)),
}));

/** Generates the events of the intrusion in order, relative to the last full hour of the logs (epoch milliseconds). */
export function* generateIntrusion(hourZero: number): Generator<LogEvent> {
  for (const [place, step] of intrusionSteps.entries()) {
    const start = hourZero - step.hoursBefore * hourMs;
    for (const [n, action] of step.actions.entries()) {
      yield action.make({ at: start + action.afterMs, id: buildId(place + 1, n + 1) });
    }
  }
}
