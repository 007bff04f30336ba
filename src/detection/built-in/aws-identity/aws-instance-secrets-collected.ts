import type { BuiltInDetection } from '../built-in-detection.ts';
import { PRINCIPAL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { cloudtrail, userArn } from '../samples.ts';

const query = `
WITH reads AS (
  SELECT ${PRINCIPAL} AS principal, _id, _time, eventName AS action, sourceIPAddress AS source_ip,
         (_event->>'$.requestParameters.instanceId') AS instance, (_event->>'$.errorCode') AS error
  FROM cloudtrail
  WHERE eventName = 'GetPasswordData'
     OR (eventName = 'DescribeInstanceAttribute' AND (_event->>'$.requestParameters.attribute') = 'userData')
)
SELECT principal, action, count(DISTINCT instance) AS count, count(error) AS refused,
       string_agg(DISTINCT source_ip, ', ' ORDER BY source_ip) AS source_ip,
       string_agg(DISTINCT error, ', ' ORDER BY error) AS errors,
       min(instance) AS example, min(_time) AS first_read, max(_time) AS last_read,
       list(DISTINCT _id ORDER BY _id)[1:20] AS _ids,
       'T1552' AS technique, 'high' AS severity
FROM reads
WHERE principal IS NOT NULL AND instance IS NOT NULL
GROUP BY principal, action
HAVING count(DISTINCT instance) >= 5
`;

const reads = (
  user: string,
  call: 'GetPasswordData' | 'DescribeInstanceAttribute',
  instances: number,
  attribute = 'userData',
) =>
  Array.from({ length: instances }, (_, n) =>
    cloudtrail(`ec2:${call}`, {
      user,
      readOnly: true,
      error: 'Client.UnauthorizedOperation',
      request: { instanceId: `i-${n}`, ...(call === 'GetPasswordData' ? {} : { attribute }) },
    }),
  );

export const awsInstanceSecretsCollected: BuiltInDetection = {
  id: 'aws-instance-secrets-collected',
  name: 'Passwords or user data read from many instances',
  description:
    'One identity requested the Windows password or the user data of five or more EC2 instances within a window.',
  category: 'custom',
  systemPrompt: `You judge identities that request the administrator password (GetPasswordData) or start script (user data) of many EC2 instances. Start scripts often contain credentials.
Refused calls count: they show the intent. Benign: an inventory tool that reads user data of all instances every day.
State the tool, the address and how many requests succeeded.`,
  headline: '{{principal}} read secrets of {{count}} instances with {{action}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'credential-access', 'attack.t1552'],
  sample: {
    match: [...reads('ada', 'GetPasswordData', 5), ...reads('ben', 'DescribeInstanceAttribute', 6)],
    noMatch: [
      ...reads('cyn', 'GetPasswordData', 2),
      ...reads('dan', 'DescribeInstanceAttribute', 8, 'disableApiTermination'),
    ],
    entities: ['ada', 'ben'].map(userArn),
  },
};
