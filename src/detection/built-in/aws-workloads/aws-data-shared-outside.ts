import type { BuiltInDetection } from '../built-in-detection.ts';
import { CALL, cloudtrailDefaults } from '../cloudtrail-sql.ts';
import { callAs, OUTSIDE_ACCOUNT, userArn } from '../samples.ts';

const query = `
WITH calls AS (
  SELECT ${CALL},
         coalesce(_event->>'$.requestParameters.snapshotId', _event->>'$.requestParameters.imageId',
                  _event->>'$.requestParameters.dBSnapshotIdentifier',
                  _event->>'$.requestParameters.dBClusterSnapshotIdentifier',
                  _event->>'$.requestParameters.bucketName') AS resource,
         coalesce(_event->>'$.requestParameters.bucketPolicy', '') AS policy, _event
  FROM cloudtrail
  WHERE eventName IN ('ModifySnapshotAttribute', 'ModifyImageAttribute', 'ModifyDBSnapshotAttribute',
                      'ModifyDBClusterSnapshotAttribute', 'PutBucketPolicy')
), shares AS (
  SELECT principal, action, resource, source_ip, error, account, _id, _time,
         unnest(list_distinct(CASE
           WHEN action = 'PutBucketPolicy' THEN list_concat(
             regexp_extract_all(policy, 'arn:aws[a-z-]*:iam::([0-9]{12}):', 1),
             regexp_extract_all(policy, '"(?:AWS|Principal)":(?:\\[)?"([0-9]{12}|\\*)"', 1))
           WHEN action = 'ModifySnapshotAttribute' THEN list_concat(
             coalesce(_event->>'$.requestParameters.createVolumePermission.add.items[*].userId', []),
             coalesce(_event->>'$.requestParameters.createVolumePermission.add.items[*].group', []))
           WHEN action = 'ModifyImageAttribute' THEN list_concat(
             coalesce(_event->>'$.requestParameters.launchPermission.add.items[*].userId', []),
             coalesce(_event->>'$.requestParameters.launchPermission.add.items[*].group', []))
           ELSE coalesce(_event->>'$.requestParameters.valuesToAdd[*]', []) END)) AS shared_with
  FROM calls
)
SELECT principal, action, resource, shared_with, source_ip, error, _id, _time,
       'T1537' AS technique,
       CASE WHEN shared_with IN ('*', 'all') THEN 'critical' WHEN error IS NULL THEN 'high' ELSE 'medium' END AS severity
FROM shares
WHERE principal IS NOT NULL AND shared_with IS DISTINCT FROM account
`;

/** Parameter names are those of CloudTrail records of the EC2, RDS and S3 calls. */
export const awsDataSharedOutside: BuiltInDetection = {
  id: 'aws-data-shared-outside',
  name: 'Snapshot, image or bucket shared outside the account',
  description: 'A disk or database snapshot, a machine image or a bucket was opened to another account or to everyone.',
  category: 'custom',
  systemPrompt: `You judge data that was opened to another AWS account: snapshots, machine images, database snapshots, bucket policies. Copies that the other account makes are not visible in this account's log.
Benign: a backup account or a partner whose account number is known. Suspicious: an unknown account, public access, or a snapshot created minutes before.
State the resource and the account that gained access.`,
  headline: '{{resource}} shared with {{shared_with}} by {{principal}}',
  query,
  ...cloudtrailDefaults,
  tags: ['aws', 'cloudtrail', 'exfiltration', 'attack.t1537'],
  sample: {
    match: [
      callAs('ada', 'ec2:ModifySnapshotAttribute', {
        snapshotId: 'snap-1',
        createVolumePermission: { add: { items: [{ userId: OUTSIDE_ACCOUNT }] } },
      }),
      callAs('ben', 'ec2:ModifyImageAttribute', {
        imageId: 'ami-1',
        launchPermission: { add: { items: [{ group: 'all' }] } },
      }),
      callAs('cyn', 'rds:ModifyDBSnapshotAttribute', {
        dBSnapshotIdentifier: 's',
        attributeName: 'restore',
        valuesToAdd: [OUTSIDE_ACCOUNT],
      }),
      callAs('dan', 's3:PutBucketPolicy', {
        bucketName: 'b',
        bucketPolicy: { Statement: [{ Effect: 'Allow', Principal: { AWS: `arn:aws:iam::${OUTSIDE_ACCOUNT}:root` } }] },
      }),
    ],
    noMatch: [
      callAs('eve', 'ec2:ModifySnapshotAttribute', {
        snapshotId: 'snap-1',
        createVolumePermission: { remove: { items: [{ userId: OUTSIDE_ACCOUNT }] } },
      }),
      callAs('eve', 's3:PutBucketPolicy', {
        bucketName: 'b',
        bucketPolicy: {
          Statement: [
            { Effect: 'Allow', Principal: { AWS: userArn('eve') } },
            { Effect: 'Allow', Principal: { Service: 'cloudtrail.amazonaws.com' } },
          ],
        },
      }),
    ],
    entities: ['ada', 'ben', 'cyn', 'dan'].map(userArn),
  },
};
