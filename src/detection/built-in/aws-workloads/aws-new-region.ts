import type { BuiltInDetection } from '../built-in-detection.ts';
import { PRINCIPAL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { cloudtrail, userArn } from '../samples.ts';

// Global services always report us-east-1, so their calls do not show the region in use.
const query = `
SELECT ${PRINCIPAL} AS principal, awsRegion AS region, count(*) AS calls,
       min(_time) AS first_call, list(_id ORDER BY _time, _id)[1:20] AS _ids, 'T1535' AS technique
FROM cloudtrail
WHERE (_event->>'$.readOnly') = 'false' AND (_event->>'$.eventType') = 'AwsApiCall' AND ${PRINCIPAL} IS NOT NULL
  AND eventSource NOT IN ('iam.amazonaws.com', 'sts.amazonaws.com', 'organizations.amazonaws.com',
                          'cloudfront.amazonaws.com', 'route53.amazonaws.com', 'support.amazonaws.com')
GROUP BY 1, 2
`;

export const awsNewRegion: BuiltInDetection = {
  id: 'aws-new-region',
  name: 'Changes in a region new to the identity',
  description: 'An identity changed something in a region where it had changed nothing in the last 30 days.',
  category: 'first_occurrence',
  systemPrompt: `You judge identities that begin to make changes in a region new to them. Intruders prefer regions that are not monitored.
Benign: a planned expansion or a disaster recovery test. State what was created there.`,
  headline: '{{principal}} made changes in {{region}} for the first time',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'defense-evasion', 'attack.t1535'],
  sample: {
    match: [cloudtrail('ec2:RunInstances', { user: 'ada', region: 'sa-east-1' })],
    noMatch: [
      cloudtrail('iam:CreateUser', { user: 'ben', region: 'us-east-1' }),
      cloudtrail('ec2:DescribeInstances', { user: 'cyn', region: 'sa-east-1', readOnly: true }),
    ],
    entities: [userArn('ada')],
  },
};
