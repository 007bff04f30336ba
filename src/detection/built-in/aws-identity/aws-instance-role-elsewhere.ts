import type { BuiltInDetection } from '../built-in-detection.ts';
import { cloudtrail } from '../samples.ts';

const query = `
SELECT (_event->>'$.userIdentity.arn') AS session, count(DISTINCT sourceIPAddress) AS addresses,
       string_agg(DISTINCT sourceIPAddress, ', ' ORDER BY sourceIPAddress) AS source_ip,
       string_agg(DISTINCT left(userAgent, 60), ' | ' ORDER BY left(userAgent, 60)) AS tools,
       min(_time) AS first_call, max(_time) AS last_call, list(_id ORDER BY _time, _id)[1:20] AS _ids,
       'T1552.005' AS technique, 'high' AS severity
FROM cloudtrail
WHERE regexp_matches(_event->>'$.userIdentity.arn', ':assumed-role/.*/i-[0-9a-f]+$')
  AND regexp_matches(sourceIPAddress, '^[0-9a-fA-F.:]+$')
GROUP BY session
HAVING count(DISTINCT sourceIPAddress) >= 2 AND count(DISTINCT userAgent) >= 2
`;

const call = (session: string, ip: string, userAgent: string) =>
  cloudtrail('ec2:DescribeInstances', { role: 'web', session, ip, readOnly: true, more: { userAgent } });

export const awsInstanceRoleElsewhere: BuiltInDetection = {
  id: 'aws-instance-role-elsewhere',
  name: "Instance's credentials used from a second address",
  description:
    'The session of one EC2 instance made calls from two addresses with two different tools, so its credentials were used outside the instance.',
  category: 'custom',
  systemPrompt: `You judge sessions of EC2 instance roles that call from more than one address with more than one tool. Credentials that were read from the metadata service and used elsewhere produce this pattern.
Benign: an instance reaches AWS through both a NAT gateway and a VPC endpoint, or received a new public address. Compare the tools.`,
  headline: 'Instance credentials of {{session}} used from {{addresses}} addresses',
  query,
  cadence: 'hourly',
  dataset: 'cloudtrail',
  entityField: 'session',
  tags: ['aws', 'cloudtrail', 'credential-access', 'attack.t1552.005'],
  sample: {
    match: [call('i-0abc', '192.0.2.5', 'ssm-agent'), call('i-0abc', '203.0.113.9', 'aws-cli/2.15.0')],
    noMatch: [
      call('i-0def', '192.0.2.6', 'ssm-agent'),
      call('i-0def', '192.0.2.6', 'aws-cli/2.15.0'),
      call('deploy', '192.0.2.7', 'aws-cli/2.15.0'),
      call('deploy', '192.0.2.8', 'terraform'),
    ],
    entities: ['arn:aws:sts::111122223333:assumed-role/web/i-0abc'],
  },
};
