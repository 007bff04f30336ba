import type { BuiltInDetection } from '../built-in-detection.ts';
import { CALL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { callAs, cloudtrail, userArn } from '../samples.ts';

const query = `
WITH calls AS (
  SELECT ${CALL},
         coalesce(_event->>'$.requestParameters.userName', _event->>'$.requestParameters.roleName',
                  _event->>'$.requestParameters.groupName', _event->>'$.requestParameters.policyArn') AS target,
         coalesce(_event->>'$.requestParameters.policyArn', _event->>'$.requestParameters.policyName',
                  _event->>'$.requestParameters.groupName') AS policy,
         coalesce(_event->>'$.requestParameters.policyDocument', '') AS document,
         (_event->>'$.userIdentity.userName') AS caller
  FROM cloudtrail
  WHERE eventSource = 'iam.amazonaws.com'
    AND eventName IN ('AttachUserPolicy', 'AttachRolePolicy', 'AttachGroupPolicy', 'PutUserPolicy', 'PutRolePolicy',
                      'PutGroupPolicy', 'CreatePolicyVersion', 'AddUserToGroup')
)
SELECT principal, action, target, policy, source_ip, error, _id, _time,
       'T1098.003' AS technique,
       CASE WHEN error IS NOT NULL THEN 'medium' WHEN target = caller THEN 'critical' ELSE 'high' END AS severity
FROM calls
WHERE principal IS NOT NULL
  AND (regexp_matches(policy, ':policy/(.*/)?(AdministratorAccess|IAMFullAccess)$')
       OR (action = 'AddUserToGroup' AND regexp_matches(lower(policy), 'admin'))
       OR (regexp_matches(document, '"Effect"\\s*:\\s*"Allow"')
           AND regexp_matches(document, '"Action"\\s*:\\s*(\\[\\s*)?"(\\*|iam:\\*)"')))
`;

/** Matches grants of full access through a managed policy, an inline policy, a new policy version or a group. */
export const awsAdminPolicyAttached: BuiltInDetection = {
  id: 'aws-admin-policy-attached',
  name: 'Administrator rights granted in AWS',
  description:
    'A user, role or group was granted AdministratorAccess, IAMFullAccess, an inline policy that allows everything, or membership in an admin group.',
  category: 'privilege_escalation',
  systemPrompt: `You judge grants of administrator rights in AWS. Determine who granted them to whom, from which address, and whether the identity granted them to itself.
Benign: a platform administrator or infrastructure code that sets up a new account or a break-glass role as planned.
Suspicious: the caller is not an administrator, grants rights to itself, uses a new address, or uses a recently created key.`,
  headline: 'Administrator rights granted to {{target}} by {{principal}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'privilege-escalation', 'attack.t1098.003'],
  sample: {
    match: [
      callAs('ada', 'iam:AttachUserPolicy', {
        userName: 'ada',
        policyArn: 'arn:aws:iam::aws:policy/AdministratorAccess',
      }),
      callAs('ben', 'iam:PutUserPolicy', {
        userName: 'ben',
        policyName: 'x',
        policyDocument: '{"Statement":[{"Effect":"Allow","Action":["*"],"Resource":"*"}]}',
      }),
      cloudtrail('iam:AddUserToGroup', { user: 'cyn', request: { userName: 'cyn', groupName: 'Admins' } }),
    ],
    noMatch: [
      callAs('dev', 'iam:AttachRolePolicy', {
        roleName: 'app',
        policyArn: 'arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess',
      }),
      callAs('dev', 'iam:PutRolePolicy', {
        roleName: 'app',
        policyName: 'logs',
        policyDocument: '{"Statement":[{"Effect":"Allow","Action":"logs:*","Resource":"*"}]}',
      }),
    ],
    entities: ['ada', 'ben', 'cyn'].map(userArn),
  },
};
