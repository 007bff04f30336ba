import type { BuiltInDetection } from '../built-in-detection.ts';
import { signIn } from '../samples.ts';

// Only the user and the country may be text columns. Every further text column would create additional first occurrences.
const query = `
SELECT (_event->>'$.user.name') AS "user", (_event->>'$.source.geo.country_iso_code') AS country,
       count(*) AS sign_ins, min(_time) AS first_sign_in, list(_id ORDER BY _time, _id)[1:20] AS _ids, 'T1078.004' AS technique
FROM auth
WHERE (_event->>'$.event.action') = 'user.session.start' AND (_event->>'$.event.outcome') = 'success'
  AND (_event->>'$.user.name') IS NOT NULL AND (_event->>'$.source.geo.country_iso_code') IS NOT NULL
GROUP BY 1, 2
`;

export const signInNewCountry: BuiltInDetection = {
  id: 'sign-in-new-country',
  name: 'Sign-in from a country new to the user',
  description: 'A user signed in from a country where the same user had not signed in during the last 30 days.',
  category: 'first_occurrence',
  systemPrompt: `You judge the first successful sign-in of a user from a country. Most are due to travel.
Suspicious: the user also signs in from home in the same hours, the device is not managed, failed attempts precede it, or a new second factor or password follows.
State what would confirm or rule it out: a call to the user, or the travel calendar.`,
  headline: '{{user}} signed in from {{country}} for the first time',
  query,
  cadence: 'hourly',
  dataset: 'auth',
  entityField: 'user',
  tags: ['identity', 'initial-access', 'attack.t1078.004'],
  sample: {
    match: [signIn({ user: 'ada', country: 'VU' })],
    noMatch: [
      signIn({ user: 'ben', country: 'VU', outcome: 'failure' }),
      signIn({ user: 'cyn', action: 'user.authentication.mfa', country: 'VU' }),
    ],
    entities: ['ada'],
  },
};
