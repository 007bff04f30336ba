import type { AnalysisDefinition } from '../../src/detection/analysis/analysis-definition.ts';

/** A detection as a user would first write it: no thresholds, no exceptions and no tuning. */
export type NaiveDetection = Pick<AnalysisDefinition, 'category' | 'query' | 'entityField'> & { name: string };

const user = "_event->>'$.user.name'";
const principal = "coalesce(_event->>'$.userIdentity.userName', _event->>'$.userIdentity.arn')";

const firstOccurrence = (name: string, entityField: string, query: string): NaiveDetection => ({
  name: `first_occurrence: ${name}`,
  category: 'first_occurrence',
  entityField,
  query,
});

const baseline = (name: string, entityField: string, query: string): NaiveDetection => ({
  name: `baseline_anomaly: ${name}`,
  category: 'baseline_anomaly',
  entityField,
  query,
});

const sequence = (name: string, entityField: string, query: string): NaiveDetection => ({
  name: `sequence_pattern: ${name}`,
  category: 'sequence_pattern',
  entityField,
  query,
});

export const naiveDetections: readonly NaiveDetection[] = [
  firstOccurrence(
    'user and address',
    'user',
    `SELECT _id, _time, ${user} AS user, _event->>'$.source.ip' AS ip FROM auth`,
  ),
  firstOccurrence(
    'user and country',
    'user',
    `SELECT _id, _time, ${user} AS user, _event->>'$.source.geo.country_iso_code' AS country FROM auth`,
  ),
  firstOccurrence(
    'user, application and device',
    'user',
    `SELECT _id, _time, ${user} AS user, _event->>'$.service.name' AS app, _event->>'$.device.managed' AS managed FROM auth`,
  ),
  firstOccurrence(
    'user and action',
    'user',
    `SELECT _id, _time, ${user} AS user, _event->>'$.event.action' AS action FROM auth`,
  ),
  firstOccurrence(
    'principal and API call',
    'principal',
    `SELECT _id, _time, ${principal} AS principal, eventName FROM cloudtrail`,
  ),
  firstOccurrence(
    'principal and address',
    'principal',
    `SELECT _id, _time, ${principal} AS principal, sourceIPAddress FROM cloudtrail`,
  ),
  firstOccurrence('host and program', 'Hostname', 'SELECT _id, _time, Hostname, Image FROM windows'),
  firstOccurrence('user and program', 'User', 'SELECT _id, _time, "User", Image, ParentImage FROM windows'),
  firstOccurrence(
    'user and domain',
    'user',
    `SELECT _id, _time, ${user} AS user, _event->>'$.url.domain' AS domain FROM proxy`,
  ),
  baseline(
    'API calls of a principal',
    'principal',
    `SELECT ${principal} AS principal, count(*) AS count, list(_id)[1:100] AS _ids FROM cloudtrail GROUP BY 1`,
  ),
  baseline(
    'failed sign-ins of a user',
    'user',
    `SELECT ${user} AS user, count(*) AS count, list(_id)[1:100] AS _ids FROM auth
     WHERE (_event->>'$.event.outcome') = 'failure' GROUP BY 1`,
  ),
  baseline(
    'sign-ins from an address',
    'ip',
    `SELECT _event->>'$.source.ip' AS ip, count(*) AS count, list(_id)[1:100] AS _ids FROM auth GROUP BY 1`,
  ),
  baseline(
    'bytes sent by a user',
    'user',
    `SELECT ${user} AS user, sum((_event->>'$.http.request.bytes')::BIGINT) AS value, list(_id)[1:100] AS _ids FROM proxy GROUP BY 1`,
  ),
  baseline(
    'programs started on a host',
    'Hostname',
    'SELECT Hostname, count(*) AS count, list(_id)[1:100] AS _ids FROM windows GROUP BY 1',
  ),
  sequence(
    'failed, then successful sign-in',
    'user',
    `SELECT _id, _time, ${user} AS user, CASE WHEN (_event->>'$.event.outcome') = 'failure' THEN 1 ELSE 2 END AS step
     FROM auth WHERE (_event->>'$.event.action') IN ('user.session.start', 'user.authentication.mfa')`,
  ),
  sequence(
    'key created, then an AWS change',
    'principal',
    `SELECT _id, _time, ${principal} AS principal, CASE WHEN eventName = 'CreateAccessKey' THEN 1 ELSE 2 END AS step
     FROM cloudtrail WHERE eventName = 'CreateAccessKey' OR (_event->>'$.readOnly') = 'false'`,
  ),
];
