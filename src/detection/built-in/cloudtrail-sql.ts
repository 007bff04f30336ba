/**
 * The caller of a CloudTrail event, stable across sessions: the role of a session, else the identity itself. Null for AWS services.
 * Source: AWS CloudTrail User Guide, "CloudTrail userIdentity element".
 */
export const PRINCIPAL =
  "coalesce(_event->>'$.userIdentity.sessionContext.sessionIssuer.arn', _event->>'$.userIdentity.arn')";

/** The columns that every CloudTrail query returns. Nested fields are read through `_event`, so that a field that never occurred is null, not an error. */
export const CALL = `_id, _time, ${PRINCIPAL} AS principal, eventName AS action, sourceIPAddress AS source_ip,
         (_event->>'$.errorCode') AS error, (_event->>'$.recipientAccountId') AS account`;

/** The schedule, dataset and entity of most CloudTrail detections. */
export const cloudtrailDefaults = { cadence: 'hourly', dataset: 'cloudtrail', entityField: 'principal' } as const;
