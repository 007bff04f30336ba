import type { BuiltInDetection } from '../built-in-detection.ts';
import { CALL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { callAs, cloudtrail, userArn } from '../samples.ts';

const query = `
WITH calls AS (
  SELECT ${CALL},
         coalesce(_event->>'$.requestParameters.name', _event->>'$.requestParameters.trailName',
                  _event->>'$.requestParameters.eventDataStore') AS target,
         (_event->>'$.requestParameters.eventSelectors[*].readWriteType') AS read_write,
         (_event->>'$.requestParameters.eventSelectors[*].includeManagementEvents') AS management,
         concat_ws(' ', _event->>'$.requestParameters.isMultiRegionTrail',
                   _event->>'$.requestParameters.includeGlobalServiceEvents',
                   _event->>'$.requestParameters.enableLogFileValidation') AS trail_settings
  FROM cloudtrail
  WHERE eventSource = 'cloudtrail.amazonaws.com'
    AND eventName IN ('StopLogging', 'DeleteTrail', 'UpdateTrail', 'PutEventSelectors',
                      'DeleteEventDataStore', 'StopEventDataStoreIngestion')
)
SELECT principal, action, target, source_ip, error, _id, _time,
       'T1562.008' AS technique,
       CASE WHEN error IS NULL THEN 'high' ELSE 'medium' END AS severity
FROM calls
WHERE principal IS NOT NULL
  AND (action NOT IN ('UpdateTrail', 'PutEventSelectors')
       OR (action = 'UpdateTrail' AND contains(trail_settings, 'false'))
       OR (action = 'PutEventSelectors'
           AND NOT (list_contains(coalesce(read_write, []), 'All')
                    AND list_contains(coalesce(management, []), 'true'))))
`;

/** Matches calls that stop, delete or narrow a trail, but not calls that restore full logging. */
export const awsCloudtrailDisabled: BuiltInDetection = {
  id: 'aws-cloudtrail-disabled',
  name: 'CloudTrail stopped, deleted or narrowed',
  description: 'Someone stopped or deleted a trail or an event data store, or changed it so that it records less.',
  category: 'custom',
  systemPrompt: `You judge attempts to blind the AWS audit log. Stopping, deleting or narrowing a trail hides the actions that follow.
Benign: infrastructure code that removes a trail it created minutes before, run by its usual role. A failed call (column error) is still an attempt.
State the trail, the identity, the source address and what the log no longer records.`,
  headline: 'Trail {{target}} stopped, deleted or narrowed by {{principal}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'defense-evasion', 'attack.t1562.008'],
  sample: {
    match: [
      cloudtrail('cloudtrail:StopLogging', { user: 'ada', request: { name: 'org-trail' } }),
      cloudtrail('cloudtrail:DeleteTrail', { user: 'ben', error: 'TrailNotFoundException', request: { name: 'x' } }),
      callAs('cyn', 'cloudtrail:PutEventSelectors', {
        trailName: 'org-trail',
        eventSelectors: [{ readWriteType: 'ReadOnly', includeManagementEvents: false }],
      }),
      callAs('dan', 'cloudtrail:UpdateTrail', { name: 'org-trail', isMultiRegionTrail: false }),
    ],
    noMatch: [
      cloudtrail('cloudtrail:StartLogging', { request: { name: 'org-trail' } }),
      cloudtrail('cloudtrail:UpdateTrail', { request: { name: 'org-trail', isMultiRegionTrail: true } }),
      callAs('dev', 'cloudtrail:PutEventSelectors', {
        trailName: 'org-trail',
        eventSelectors: [{ readWriteType: 'All', includeManagementEvents: true }],
      }),
    ],
    entities: ['ada', 'ben', 'cyn', 'dan'].map(userArn),
  },
};
