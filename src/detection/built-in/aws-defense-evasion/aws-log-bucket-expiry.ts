import type { BuiltInDetection } from '../built-in-detection.ts';
import { CALL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { callAs, cloudtrail, userArn } from '../samples.ts';

// CloudTrail records one rule as an object and several as a list, so the query reads the days from the JSON text.
const query = `
WITH calls AS (
  SELECT ${CALL},
         (_event->>'$.requestParameters.bucketName') AS bucket,
         try_cast(nullif(regexp_extract(_event->>'$.requestParameters.LifecycleConfiguration',
                  '"Expiration":[{]"Days":([0-9]+)', 1), '') AS INTEGER) AS days
  FROM cloudtrail
  WHERE eventName IN ('PutBucketLifecycle', 'PutBucketLifecycleConfiguration')
)
SELECT principal, action, bucket, days, source_ip, error, _id, _time,
       'T1485.001' AS technique,
       CASE WHEN regexp_matches(lower(bucket), 'trail|audit|log') THEN 'high' ELSE 'medium' END AS severity
FROM calls
WHERE principal IS NOT NULL AND days <= 7
`;

export const awsLogBucketExpiry: BuiltInDetection = {
  id: 'aws-log-bucket-expiry',
  name: 'Bucket set to delete its objects within a week',
  description: 'A lifecycle rule makes the objects of a bucket expire after seven days or less.',
  category: 'custom',
  systemPrompt: `You judge lifecycle rules that delete the contents of a bucket within a week. On a bucket with audit logs or backups, this destroys evidence without a delete call.
Benign: caches, build artifacts, temporary uploads. Check the bucket name and the caller.`,
  headline: 'Objects of bucket {{bucket}} set to expire within a week by {{principal}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'impact', 'defense-evasion', 'attack.t1485.001', 'attack.t1562.008'],
  sample: {
    match: [
      callAs('ada', 's3:PutBucketLifecycle', {
        bucketName: 'org-trail-logs',
        LifecycleConfiguration: { Rule: { Status: 'Enabled', Filter: { Prefix: '*' }, Expiration: { Days: 1 } } },
      }),
    ],
    noMatch: [
      callAs('dev', 's3:PutBucketLifecycle', {
        bucketName: 'org-trail-logs',
        LifecycleConfiguration: { Rule: { Status: 'Enabled', Expiration: { Days: 365 } } },
      }),
      cloudtrail('s3:DeleteBucketLifecycle', { request: { bucketName: 'org-trail-logs' } }),
    ],
    entities: [userArn('ada')],
  },
};
