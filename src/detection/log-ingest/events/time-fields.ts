/** Where an event can have its time. Dots in a path lead into objects. */
export type TimeField =
  | string
  /** A time in two fields. The first of `zones` that the event has is its zone. */
  | { date: string; time: string; zones: readonly string[] }
  /** A text that begins with the stamp of Linux Audit, `audit(1700000000.123:456)`. */
  | { auditStamp: string };

/** The fields that are tried for an event's time, most reliable first. The first one with a usable time counts. */
export const timeFields: readonly TimeField[] = [
  '@timestamp', 'eventTime', 'timestamp', 'TimeCreated', 'UtcTime', 'time', 'TimeGenerated', 'EventTime', 'published', 'creationTime',
  'CreationTime', 'createdDateTime', 'created_at', 'createdAt', 'event_time', 'eventTimestamp', 'datetime', 'date', 'Timestamp', 'Time', 'ts',
  'time_dt', '_time', 'event.created', 'activityDateTime', 'date_create',
  'requestReceivedTimestamp', 'stageTimestamp', 'id.time', 'System.TimeCreated', 'Event.System.TimeCreated', 'EventReceivedTime',
  // FortiGate (`tz`; `eventtime` has nanoseconds, or seconds before FortiOS 6.2), Sophos (`timezone`) and W3C extended logs (IIS, CloudFront).
  'eventtime', { date: 'date', time: 'time', zones: ['tz', 'timezone'] }, { date: 'Date', time: 'Time', zones: ['TimeZone'] },
  // Palo Alto Networks.
  'high_res_timestamp', 'time_generated', 'TimeReceived', 'receive_time',
  // Linux: journald (microseconds), osquery (seconds) and Audit.
  '__REALTIME_TIMESTAMP', 'unixTime', 'calendarTime', { auditStamp: 'msg' }, { auditStamp: 'message' },
  // Cloudflare.
  'EdgeStartTimestamp', 'Datetime', 'QueryTimestamp', 'SessionStartTime', 'When',
  // Amazon: Route 53 Resolver, S3 access logs and VPC flow logs.
  'query_timestamp', 'requestDateTime', 'start', 'end',
  // Google Cloud, Kubernetes events, MongoDB, nginx, Akamai, Meraki, GitLab and Salesforce.
  'receiveTimestamp', 'lastTimestamp', 'firstTimestamp', 'metadata.creationTimestamp', 't', 'time_iso8601', 'time_local', 'reqTimeSec',
  'occurredAt', 'TIMESTAMP_DERIVED', 'CreatedDate',
  // CrowdStrike Falcon, Carbon Black, Duo, Atlassian and GuardDuty.
  'metadata.eventCreationTime', 'ContextTimeStamp', 'device_timestamp', 'isotimestamp', 'attributes.time', 'UpdatedAt', 'CreatedAt',
]; // prettier-ignore
