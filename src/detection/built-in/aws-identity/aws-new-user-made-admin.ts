import type { BuiltInDetection } from '../built-in-detection.ts';
import { PRINCIPAL } from '../cloudtrail-sql.ts';
import { cloudtrail } from '../samples.ts';

const query = `
SELECT (_event->>'$.requestParameters.userName') AS new_user,
       CASE eventName WHEN 'CreateUser' THEN 1 WHEN 'AttachUserPolicy' THEN 2 WHEN 'AddUserToGroup' THEN 2
                      WHEN 'PutUserPolicy' THEN 2 ELSE 3 END AS step,
       3 AS steps,
       eventName AS action, ${PRINCIPAL} AS principal, sourceIPAddress AS source_ip,
       coalesce(_event->>'$.requestParameters.policyArn', _event->>'$.requestParameters.groupName',
                _event->>'$.requestParameters.policyName') AS policy,
       _id, _time, 'T1136.003' AS technique, 'high' AS severity
FROM cloudtrail
WHERE eventSource = 'iam.amazonaws.com' AND (_event->>'$.errorCode') IS NULL
  AND (_event->>'$.requestParameters.userName') IS NOT NULL
  AND (eventName IN ('CreateUser', 'CreateAccessKey', 'CreateLoginProfile')
       OR (eventName IN ('AttachUserPolicy', 'AddUserToGroup', 'PutUserPolicy')
           AND regexp_matches(concat_ws(' ', _event->>'$.requestParameters.policyArn', _event->>'$.requestParameters.groupName',
                                        _event->>'$.requestParameters.policyDocument'),
                              'AdministratorAccess|IAMFullAccess|[Aa]dmin|"Action"\\s*:\\s*(\\[\\s*)?"\\*"')))
`;

const step = (action: string, at: string, userName: string, more: Record<string, unknown> = {}) =>
  cloudtrail(`iam:${action}`, { at: `2030-01-07T10:0${at}Z`, request: { userName, ...more } });
const admin = { policyArn: 'arn:aws:iam::aws:policy/AdministratorAccess' };

export const awsNewUserMadeAdmin: BuiltInDetection = {
  id: 'aws-new-user-made-admin',
  name: 'New IAM user with administrator rights and a credential',
  description:
    'Within a day, a user was created, was granted administrator rights, and received an access key or password.',
  category: 'sequence_pattern',
  systemPrompt: `You judge the sequence create user, grant administrator rights, create a credential, for one new IAM user. Together these steps form a complete back door.
Benign: an administrator sets up a colleague manually, during working hours, from the office. State the new user and its creator.`,
  headline: 'New user {{new_user}} received administrator rights and a credential from {{principal}}',
  query,
  cadence: 'hourly',
  dataset: 'cloudtrail',
  entityField: 'new_user',
  tags: ['aws', 'cloudtrail', 'persistence', 'attack.t1136.003', 'attack.t1098.003'],
  sample: {
    match: [
      step('CreateUser', '0:01', 'svc-sync'),
      step('AttachUserPolicy', '0:02', 'svc-sync', admin),
      step('CreateAccessKey', '0:03', 'svc-sync'),
    ],
    noMatch: [
      step('CreateUser', '1:01', 'newcomer'),
      step('AttachUserPolicy', '1:02', 'newcomer', { policyArn: 'arn:aws:iam::aws:policy/ReadOnlyAccess' }),
      step('CreateAccessKey', '1:03', 'newcomer'),
    ],
    entities: ['svc-sync'],
  },
};
