import type { BuiltInDetection } from '../built-in-detection.ts';
import { PRINCIPAL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { cloudtrail, userArn } from '../samples.ts';

// The query measures the number of different calls: a person at the console makes many calls of few kinds, a discovery tool one of each kind.
// Every identity has a row, with the excess over an ordinary session as the count, so that quiet hours are part of the baseline too.
const query = `
SELECT ${PRINCIPAL} AS principal, greatest(count(DISTINCT eventName) - 15, 0) AS count,
       count(DISTINCT eventName) AS kinds, count(*) AS calls, count(DISTINCT eventSource) AS services,
       count(_event->>'$.errorCode') AS refused,
       string_agg(DISTINCT sourceIPAddress, ', ' ORDER BY sourceIPAddress) AS source_ip,
       min(_time) AS first_call, max(_time) AS last_call, list(_id ORDER BY _time, _id)[1:20] AS _ids, 'T1580' AS technique
FROM cloudtrail
WHERE (_event->>'$.readOnly') = 'true' AND regexp_matches(eventName, '^(List|Describe|Get)') AND ${PRINCIPAL} IS NOT NULL
GROUP BY principal
`;

const reads = (user: string, kinds: number, at = '2030-01-07T10:00:00Z') =>
  Array.from({ length: 20 }, (_, n) => cloudtrail(`ec2:Describe${n % kinds}`, { user, at, readOnly: true }));

export const awsDiscoveryBurst: BuiltInDetection = {
  id: 'aws-discovery-burst',
  name: 'Unusually broad discovery by one identity',
  description:
    'An identity makes far more different List, Describe and Get calls than in its own history at this time of day.',
  category: 'baseline_anomaly',
  systemPrompt: `You judge identities that suddenly read far more kinds of AWS resources than they ever did at this hour. Intruders do this right after they obtain a key, to learn what it can access.
Benign: a new dashboard, an audit, or a new inventory tool. Check the address, the number of services and the denied calls. The column count is the number of kinds of calls beyond fifteen.`,
  headline: '{{principal}} read {{kinds}} kinds of AWS resources from {{source_ip}}, far more than usual',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'discovery', 'attack.t1580', 'attack.t1526'],
  sample: {
    match: reads('ada', 20),
    noMatch: reads('ben', 4),
    entities: [userArn('ada')],
    history: [...reads('ada', 3, '2030-01-07T00:30:00Z'), ...reads('ben', 3, '2030-01-07T00:30:00Z')],
  },
};
