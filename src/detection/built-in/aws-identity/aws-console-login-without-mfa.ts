import type { BuiltInDetection } from '../built-in-detection.ts';
import { CALL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { cloudtrail, userArn } from '../samples.ts';

const query = `
WITH logins AS (
  SELECT ${CALL},
         (_event->>'$.userIdentity.type') AS identity_type,
         (_event->>'$.responseElements.ConsoleLogin') AS outcome,
         (_event->>'$.additionalEventData.MFAUsed') AS mfa_used, userAgent AS user_agent
  FROM cloudtrail
  WHERE eventName = 'ConsoleLogin'
)
SELECT principal, identity_type, mfa_used, source_ip, user_agent, _id, _time,
       'T1078.004' AS technique,
       CASE WHEN identity_type = 'Root' THEN 'critical' ELSE 'medium' END AS severity
FROM logins
WHERE outcome = 'Success' AND mfa_used = 'No' AND identity_type IN ('IAMUser', 'Root')
`;

const login = (user: string, mfa: string, outcome = 'Success') =>
  cloudtrail('signin:ConsoleLogin', {
    user,
    more: { responseElements: { ConsoleLogin: outcome }, additionalEventData: { MFAUsed: mfa } },
  });

export const awsConsoleLoginWithoutMfa: BuiltInDetection = {
  id: 'aws-console-login-without-mfa',
  name: 'Console sign-in without a second factor',
  description: 'An IAM user or the root user signed in to the AWS console with a password alone.',
  category: 'custom',
  systemPrompt: `You judge sign-ins to the AWS console with a password alone. The root user must never sign in this way.
Check whether user_agent is a browser or a script, and check the address. The rows contain no federated sessions, because their identity provider requests the second factor.`,
  headline: '{{principal}} signed in to the AWS console from {{source_ip}} without a second factor',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'initial-access', 'attack.t1078.004'],
  sample: {
    match: [login('ada', 'No')],
    noMatch: [login('ben', 'Yes'), login('cyn', 'No', 'Failure')],
    entities: [userArn('ada')],
  },
};
