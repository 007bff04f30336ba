import type { BuiltInDetection } from '../built-in-detection.ts';
import { CALL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { cloudtrail, roleArn, userArn } from '../samples.ts';

const query = `
WITH calls AS (
  SELECT ${CALL},
         coalesce(_event->>'$.requestParameters.policyId', _event->>'$.requestParameters.accountId',
                  _event->>'$.requestParameters.policyType') AS target
  FROM cloudtrail
  WHERE eventSource = 'organizations.amazonaws.com'
    AND eventName IN ('LeaveOrganization', 'RemoveAccountFromOrganization', 'DeleteOrganization', 'DetachPolicy',
                      'DisablePolicyType')
)
SELECT principal, action, account, target, source_ip, error, _id, _time,
       'T1666' AS technique,
       CASE WHEN error IS NULL OR action = 'LeaveOrganization' THEN 'high' ELSE 'medium' END AS severity
FROM calls
WHERE principal IS NOT NULL
`;

export const awsGuardrailsRemoved: BuiltInDetection = {
  id: 'aws-guardrails-removed',
  name: 'Account leaves its organization or loses its guardrails',
  description: 'An account tried to leave the AWS organization, or a service control policy was detached.',
  category: 'custom',
  systemPrompt: `You judge calls that remove an account from its organization's guardrails and central logging.
Leaving an organization is rare and planned weeks ahead. A denied attempt by a workload role strongly suggests an intruder probing its permissions.`,
  headline: '{{principal}} tried to remove account guardrails with {{action}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'defense-evasion', 'attack.t1666'],
  sample: {
    match: [
      cloudtrail('organizations:LeaveOrganization', { role: 'app', error: 'AccessDenied' }),
      cloudtrail('organizations:DetachPolicy', { user: 'ben', request: { policyId: 'p-1', targetId: 'r-1' } }),
    ],
    noMatch: [
      cloudtrail('organizations:DescribeOrganization', { readOnly: true }),
      cloudtrail('iam:DetachPolicy', { request: { policyId: 'p-1' } }),
    ],
    entities: [roleArn('app'), userArn('ben')],
  },
};
