import type { BuiltInDetection } from '../built-in-detection.ts';
import { PRINCIPAL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { cloudtrail, userArn } from '../samples.ts';

const query = `
WITH reads AS (
  SELECT ${PRINCIPAL} AS principal, _id, _time, eventName AS action, sourceIPAddress AS source_ip,
         unnest(CASE
           WHEN eventName = 'GetParameters' THEN (_event->>'$.requestParameters.names[*]')
           WHEN eventName = 'BatchGetSecretValue' THEN (_event->>'$.requestParameters.secretIdList[*]')
           ELSE [coalesce(_event->>'$.requestParameters.secretId', _event->>'$.requestParameters.name')] END) AS secret
  FROM cloudtrail
  WHERE eventName IN ('GetSecretValue', 'BatchGetSecretValue')
     OR (eventName IN ('GetParameter', 'GetParameters')
         AND (_event->>'$.requestParameters.withDecryption') = 'true')
)
SELECT principal, count(DISTINCT secret) AS count, count(*) AS reads,
       string_agg(DISTINCT action, ', ' ORDER BY action) AS actions,
       string_agg(DISTINCT source_ip, ', ' ORDER BY source_ip) AS source_ip,
       min(secret) AS example, min(_time) AS first_read, max(_time) AS last_read,
       list(DISTINCT _id ORDER BY _id)[1:20] AS _ids,
       'T1555.006' AS technique,
       CASE WHEN count(DISTINCT secret) >= 15 THEN 'high' ELSE 'medium' END AS severity
FROM reads
WHERE principal IS NOT NULL AND secret IS NOT NULL
GROUP BY principal
HAVING count(DISTINCT secret) >= 10
`;

const tenSecrets = Array.from({ length: 10 }, (_, n) =>
  cloudtrail('secretsmanager:GetSecretValue', { user: 'ada', readOnly: true, request: { secretId: `prod/${n}` } }),
);

export const awsSecretsHarvested: BuiltInDetection = {
  id: 'aws-secrets-harvested',
  name: 'Many secrets read by one identity',
  description: 'One identity read ten or more different secrets or decrypted parameters within a window.',
  category: 'custom',
  systemPrompt: `You judge identities that read many different secrets from Secrets Manager or decrypted SSM parameters in a short time.
Benign: infrastructure code that refreshes its state, a backup of secrets, a deployment that reads its own application's path.
Suspicious: unrelated paths, a human caller, or a tool or address that the identity does not normally use. State which secrets to rotate first.`,
  headline: '{{principal}} read {{count}} different secrets from {{source_ip}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'credential-access', 'attack.t1555.006'],
  sample: {
    match: [
      ...tenSecrets,
      cloudtrail('ssm:GetParameters', {
        user: 'ben',
        readOnly: true,
        request: { names: Array.from({ length: 12 }, (_, n) => `/db/${n}`), withDecryption: true },
      }),
    ],
    noMatch: [
      ...Array.from({ length: 30 }, () =>
        cloudtrail('secretsmanager:GetSecretValue', { user: 'cyn', readOnly: true, request: { secretId: 'app/db' } }),
      ),
      cloudtrail('ssm:GetParameters', {
        user: 'dan',
        readOnly: true,
        request: { names: Array.from({ length: 12 }, (_, n) => `/flags/${n}`), withDecryption: false },
      }),
    ],
    entities: ['ada', 'ben'].map(userArn),
  },
};
