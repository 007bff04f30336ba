import type { BuiltInDetection } from '../built-in-detection.ts';
import { webRequest } from '../samples.ts';

const query = `
SELECT (_event->>'$.user.name') AS "user", (_event->>'$.url.domain') AS domain,
       round(sum(try_cast(_event->>'$.http.request.bytes' AS BIGINT)) / 1e6) AS megabytes, count(*) AS requests,
       min(_time) AS first_upload, max(_time) AS last_upload, list(_id ORDER BY _time, _id)[1:20] AS _ids,
       'T1567.002' AS technique, 'high' AS severity
FROM proxy
WHERE (_event->>'$.user.name') IS NOT NULL AND (_event->>'$.url.domain') IS NOT NULL
GROUP BY 1, 2
HAVING sum(try_cast(_event->>'$.http.request.bytes' AS BIGINT)) >= 100000000
`;

export const uploadToNewDomain: BuiltInDetection = {
  id: 'upload-to-new-domain',
  name: 'Large upload to a domain new to the user',
  description:
    'A user sent 100 MB or more within a window to a domain that received no such upload from this user in 30 days.',
  category: 'first_occurrence',
  systemPrompt: `You judge large uploads to a domain that the user had not sent much data to before.
Benign: a supplier's portal, a video call with screen recording, an announced backup target. Suspicious: file-sharing sites, night hours, or a server or service account as the user.
State the volume and the domain.`,
  headline: '{{user}} sent {{megabytes}} MB to {{domain}}, a domain new to this user',
  query,
  cadence: 'hourly',
  dataset: 'proxy',
  entityField: 'user',
  tags: ['web', 'exfiltration', 'attack.t1567.002'],
  sample: {
    match: [webRequest('ada', 'drop.example', 60_000_000), webRequest('ada', 'drop.example', 50_000_000)],
    noMatch: [webRequest('ben', 'drop.example', 60_000_000), webRequest('ben', 'other.example', 60_000_000)],
    entities: ['ada'],
  },
};
