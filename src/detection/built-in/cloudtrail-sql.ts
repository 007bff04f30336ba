/**
 * Who made a CloudTrail call, stable over sessions: the role behind a session, else the identity itself. Null for AWS services.
 * Source: AWS CloudTrail User Guide, "CloudTrail userIdentity element".
 */
export const PRINCIPAL =
  "coalesce(_event->>'$.userIdentity.sessionContext.sessionIssuer.arn', _event->>'$.userIdentity.arn')";

/** The columns that every rule over CloudTrail shows of a call. Nested fields go through `_event`, so that one never seen is null, not an error. */
export const CALL = `_id, _time, ${PRINCIPAL} AS principal, eventName AS action, sourceIPAddress AS source_ip,
         (_event->>'$.errorCode') AS error, (_event->>'$.recipientAccountId') AS account`;
