import type { BuiltInDetection } from '../built-in-detection.ts';
import { CALL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { callAs, cloudtrail, userArn } from '../samples.ts';

const query = `
WITH calls AS (
  SELECT ${CALL},
         (_event->>'$.userIdentity.userName') AS caller,
         (_event->>'$.requestParameters.userName') AS for_user
  FROM cloudtrail
  WHERE eventSource = 'iam.amazonaws.com'
    AND eventName IN ('CreateAccessKey', 'CreateLoginProfile', 'UpdateLoginProfile',
                      'CreateServiceSpecificCredential', 'UploadSSHPublicKey')
)
SELECT principal, action, for_user, source_ip, error, _id, _time,
       'T1098.001' AS technique,
       CASE WHEN error IS NULL THEN 'high' ELSE 'medium' END AS severity
FROM calls
WHERE principal IS NOT NULL AND for_user IS NOT NULL AND for_user IS DISTINCT FROM caller
`;

export const awsCredentialForOtherUser: BuiltInDetection = {
  id: 'aws-credential-for-other-user',
  name: 'Credential created for another IAM user',
  description:
    'An access key, console password or other long-lived credential was created for a user other than the caller.',
  category: 'custom',
  systemPrompt: `You judge long-lived credentials that one identity created for another IAM user. This is a common way to persist in an account.
Benign: an identity team sets up a new colleague or service user, soon after CreateUser and with its usual role.
Suspicious: an existing user receives a second key or a first console password. State which user received the credential and what to revoke.`,
  headline: '{{principal}} created a credential for {{for_user}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'persistence', 'attack.t1098.001'],
  sample: {
    match: [
      cloudtrail('iam:CreateAccessKey', { user: 'ada', request: { userName: 'build-bot' } }),
      callAs('ben', 'iam:CreateLoginProfile', { userName: 'old-service', passwordResetRequired: false }),
    ],
    noMatch: [
      cloudtrail('iam:CreateAccessKey', { user: 'cyn', request: { userName: 'cyn' } }),
      cloudtrail('iam:CreateAccessKey', { user: 'dan' }),
      cloudtrail('iam:DeleteAccessKey', { user: 'eve', request: { userName: 'build-bot' } }),
    ],
    entities: ['ada', 'ben'].map(userArn),
  },
};
