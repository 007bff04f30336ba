import type { BuiltInDetection } from '../built-in-detection.ts';
import { CALL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { callAs, userArn } from '../samples.ts';

// Old clients send one flat rule and newer ones a list of permissions. The query reads both.
const query = `
WITH calls AS (
  SELECT ${CALL}, (_event->>'$.requestParameters.groupId') AS security_group,
         (_event->>'$.requestParameters.fromPort') AS flat_from, (_event->>'$.requestParameters.toPort') AS flat_to,
         (_event->>'$.requestParameters.cidrIp') AS flat_cidr,
         (_event->'$.requestParameters.ipPermissions.items[*]') AS items
  FROM cloudtrail
  WHERE eventName = 'AuthorizeSecurityGroupIngress'
), rules AS (
  SELECT principal, action, security_group, source_ip, error, _id, _time,
         flat_from AS from_port, flat_to AS to_port, coalesce(flat_cidr, '') AS cidrs
  FROM calls
  UNION ALL
  SELECT principal, action, security_group, source_ip, error, _id, _time,
         (item->>'$.fromPort'), (item->>'$.toPort'),
         concat_ws(' ', item->>'$.ipRanges', item->>'$.ipv6Ranges')
  FROM (SELECT principal, action, security_group, source_ip, error, _id, _time, unnest(items) AS item FROM calls)
), ranges AS (
  SELECT *, coalesce(try_cast(from_port AS INTEGER), 0) AS low, coalesce(try_cast(to_port AS INTEGER), 65535) AS high
  FROM rules
  WHERE contains(cidrs, '0.0.0.0/0') OR contains(cidrs, '::/0')
), opened AS (
  SELECT *, list_filter([22, 23, 445, 1433, 3306, 3389, 5432, 5985, 5986, 6379, 9200, 27017],
                        lambda port: port BETWEEN low AND high) AS exposed
  FROM ranges
)
SELECT principal, action, security_group, concat(low, '-', high) AS ports, exposed[1] AS exposed_port, source_ip, error,
       _id, _time, 'T1562.007' AS technique,
       CASE WHEN error IS NULL THEN 'high' ELSE 'medium' END AS severity
FROM opened
WHERE principal IS NOT NULL AND len(exposed) > 0
`;

const openPort = 'ec2:AuthorizeSecurityGroupIngress';
const permission = (port: number, cidr: string) => ({
  groupId: 'sg-1',
  ipPermissions: {
    items: [{ ipProtocol: 'tcp', fromPort: port, toPort: port, ipRanges: { items: [{ cidrIp: cidr }] } }],
  },
});

export const awsSecurityGroupOpened: BuiltInDetection = {
  id: 'aws-security-group-opened',
  name: 'Administration or database port opened to the internet',
  description: 'A security group lets the whole internet reach SSH, RDP, WinRM, SMB or a database port.',
  category: 'custom',
  systemPrompt: `You judge security group rules that open an administration or database port to the whole internet.
Rarely benign: a honeypot, or a short test in a sandbox account. State the group and the port, and recommend narrowing the rule.`,
  headline: 'Port {{exposed_port}} of {{security_group}} opened to the internet by {{principal}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'defense-evasion', 'attack.t1562.007'],
  sample: {
    match: [
      callAs('ada', openPort, {
        groupId: 'sg-1',
        ipPermissions: {},
        ipProtocol: 'tcp',
        fromPort: 22,
        toPort: 22,
        cidrIp: '0.0.0.0/0',
      }),
      callAs('ben', openPort, permission(3389, '0.0.0.0/0')),
    ],
    noMatch: [
      callAs('cyn', openPort, permission(443, '0.0.0.0/0')),
      callAs('dan', openPort, permission(22, '192.0.2.0/24')),
    ],
    entities: ['ada', 'ben'].map(userArn),
  },
};
