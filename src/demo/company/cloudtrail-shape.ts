import type { LogEvent, EventStamp } from './shapes.ts';
import { ACCOUNT } from './shapes.ts';

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
