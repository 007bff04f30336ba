import type { BuiltInDetection } from '../built-in-detection.ts';
import { signIn } from '../samples.ts';

const query = `
WITH attempts AS (
  SELECT _id, _time, (_event->>'$.source.ip') AS source_ip, (_event->>'$.user.name') AS "user",
         (_event->>'$.event.outcome') AS outcome, (_event->>'$.source.geo.country_iso_code') AS country
  FROM auth
  WHERE (_event->>'$.event.action') = 'user.session.start'
)
SELECT source_ip, min(country) AS country,
       count(DISTINCT CASE WHEN outcome = 'failure' THEN "user" END) AS count,
       count(DISTINCT CASE WHEN outcome = 'success' THEN "user" END) AS users_in,
       string_agg(DISTINCT "user", ', ' ORDER BY "user") FILTER (outcome = 'success') AS signed_in,
       min(_time) AS first_try, max(_time) AS last_try,
       list(_id ORDER BY outcome DESC, _time, _id)[1:20] AS _ids, 'T1110.003' AS technique,
       CASE WHEN count(CASE WHEN outcome = 'success' THEN 1 END) > 0 THEN 'high' ELSE 'medium' END AS severity
FROM attempts
WHERE source_ip IS NOT NULL
GROUP BY source_ip
HAVING count(DISTINCT CASE WHEN outcome = 'failure' THEN "user" END) >= 8
   AND count(DISTINCT CASE WHEN outcome = 'failure' THEN "user" END) > 3 * count(DISTINCT CASE WHEN outcome = 'success' THEN "user" END)
`;

const users = Array.from({ length: 10 }, (_, n) => `user${n}`);

export const passwordSpray: BuiltInDetection = {
  id: 'password-spray',
  name: 'Password spraying from one address',
  description: 'Eight or more users failed to sign in from one address within a window, and few or none succeeded.',
  category: 'custom',
  systemPrompt: `You judge one address from which many users fail to sign in: password spraying.
Benign: an office or VPN address on the morning after a forced password change. Most users then sign in soon after, and the query already excludes such addresses.
If a user signed in successfully (column signed_in), recommend contacting that user first.`,
  headline: '{{count}} users failed to sign in from {{source_ip}}',
  query,
  cadence: 'hourly',
  dataset: 'auth',
  entityField: 'source_ip',
  tags: ['identity', 'credential-access', 'attack.t1110.003'],
  sample: {
    match: users.map((user) => signIn({ user, ip: '203.0.113.77', outcome: 'failure' })),
    noMatch: users.flatMap((user) => [
      signIn({ user, ip: '192.0.2.10', outcome: 'failure' }),
      signIn({ user, ip: '192.0.2.10' }),
    ]),
    entities: ['203.0.113.77'],
  },
};
