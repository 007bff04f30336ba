import type { BuiltInDetection } from '../built-in-detection.ts';
import { CALL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { cloudtrail, userArn } from '../samples.ts';

const query = `
WITH calls AS (
  SELECT ${CALL}, awsRegion AS region,
         (_event->>'$.requestParameters.instanceType') AS instance_type,
         coalesce(try_cast(_event->>'$.requestParameters.instancesSet.items[0].maxCount' AS INTEGER), 1) AS instances
  FROM cloudtrail
  WHERE eventName = 'RunInstances'
)
SELECT principal, action, instance_type, instances, region, source_ip, error, _id, _time,
       'T1496.001' AS technique,
       CASE WHEN instances >= 5 AND regexp_matches(instance_type, '^(p|g)[0-9]') THEN 'high' ELSE 'medium' END AS severity
FROM calls
WHERE principal IS NOT NULL AND (instances >= 10 OR regexp_matches(instance_type, '^((p|g|trn|inf|dl)[0-9]|u-|x[0-9])'))
`;

const run = (user: string, instanceType: string, maxCount: number) =>
  cloudtrail('ec2:RunInstances', {
    user,
    error: 'Client.VcpuLimitExceeded',
    request: { instanceType, instancesSet: { items: [{ imageId: 'ami-1', minCount: 1, maxCount }] } },
  });

export const awsComputeHijacked: BuiltInDetection = {
  id: 'aws-compute-hijacked',
  name: 'Accelerated or many instances started',
  description:
    'Someone started or tried to start instances with graphics or machine-learning chips, or ten or more instances in one call.',
  category: 'custom',
  systemPrompt: `You judge the start of instances that suit cryptocurrency mining and password cracking: accelerated types, or many in one call. A call denied by a quota (column error) is a typical first sign.
Benign: a data science team or an autoscaling group, in its usual region and with its usual role.`,
  headline: '{{principal}} requested {{instance_type}} instances in {{region}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'impact', 'attack.t1496.001', 'attack.t1578.002'],
  sample: {
    match: [run('ada', 'p2.xlarge', 1), run('ben', 't3.micro', 20)],
    noMatch: [run('cyn', 't3.micro', 1), run('dan', 'm6g.large', 2)],
    entities: ['ada', 'ben'].map(userArn),
  },
};
