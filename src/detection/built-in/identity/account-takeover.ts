import type { BuiltInDetection } from '../built-in-detection.ts';
import { cloudtrail, signIn } from '../samples.ts';

const query = `
WITH identity AS (
  SELECT _id, _time, (_event->>'$.user.name') AS "user", (_event->>'$.event.action') AS action,
         (_event->>'$.event.outcome') AS outcome, (_event->>'$.source.ip') AS source_ip,
         (_event->>'$.device.managed') AS managed_device
  FROM auth
), steps AS (
  SELECT *, CASE
           WHEN outcome = 'failure' AND action IN ('user.session.start', 'user.authentication.mfa') THEN 1
           WHEN outcome = 'success' AND action = 'user.session.start' AND managed_device = 'false' THEN 2
           WHEN outcome = 'success' AND action = 'user.mfa.factor.activate' THEN 3 END AS step
  FROM identity
  UNION ALL
  SELECT _id, _time, (_event->>'$.userIdentity.userName'), eventName, 'success', sourceIPAddress, NULL, 4
  FROM cloudtrail
  WHERE eventName = 'CreateAccessKey' AND (_event->>'$.errorCode') IS NULL
)
SELECT "user", step, 4 AS steps, action, outcome, source_ip, managed_device, _id, _time,
       CASE step WHEN 1 THEN 'T1110.003' WHEN 2 THEN 'T1078.004' WHEN 3 THEN 'T1556.006' ELSE 'T1098.001' END AS technique,
       'high' AS severity
FROM steps
WHERE step IS NOT NULL AND "user" IS NOT NULL
`;

const at = (minute: number) => `2030-01-07T10:${String(minute).padStart(2, '0')}:00.000Z`;
const takeover = (user: string, options: { managed: boolean; key: boolean }) => [
  signIn({ user, at: at(1), outcome: 'failure' }),
  signIn({ user, at: at(2), managed: options.managed, country: 'VU' }),
  signIn({ user, at: at(3), action: 'user.mfa.factor.activate' }),
  ...(options.key ? [cloudtrail('iam:CreateAccessKey', { user, at: at(4) })] : []),
];

/** Joins two datasets by user name, so the identity provider and IAM must use the same name. */
export const accountTakeover: BuiltInDetection = {
  id: 'account-takeover',
  name: 'Account takeover in several steps',
  description:
    'Within a day, one user failed to sign in, signed in from an unmanaged device, enrolled a second factor and created an AWS access key.',
  category: 'sequence_pattern',
  systemPrompt: `You judge a sequence for one user: failed sign-in, success from an unmanaged device, a new second factor, a new AWS access key. Each step alone is common. Together they show how an intruder gains persistent access.
Benign: a new phone on the same day as a key rotation, from the user's usual address. Compare the addresses of the steps.`,
  headline: '{{user}} failed to sign in, then signed in from an unmanaged device and created an access key',
  query,
  cadence: 'hourly',
  dataset: 'auth',
  alsoReads: ['cloudtrail'],
  entityField: 'user',
  tags: [
    'identity',
    'aws',
    'persistence',
    'attack.t1110.003',
    'attack.t1078.004',
    'attack.t1556.006',
    'attack.t1098.001',
  ],
  sample: {
    match: takeover('ada', { managed: false, key: true }),
    noMatch: [...takeover('ben', { managed: true, key: true }), ...takeover('cyn', { managed: false, key: false })],
    entities: ['ada'],
  },
};
