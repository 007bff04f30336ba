import { z } from 'zod';
import { readAlert, type AlertSeverity } from './destination-kind.ts';
import type { EventBody } from '../event-types.ts';

export const formatSetting = z
  .enum(['own', 'ocsf', 'cloudevents'])
  .default('own')
  .describe('The form of the events: that of this service, OCSF 1.8, or CloudEvents 1.0.');
type Format = z.infer<typeof formatSetting>;

/** Returns an event in a format. The same event is always the same document. */
export function renderEvent(event: EventBody, format: Format = 'own'): object {
  if (format === 'ocsf') return toOcsf(event);
  return format === 'cloudevents' ? toCloudEvent(event) : event;
}

export const contentTypeOf = (format: Format = 'own'): string =>
  format === 'cloudevents' ? 'application/cloudevents+json; charset=utf-8' : 'application/json; charset=utf-8';

/** Returns the event in the structured mode of CloudEvents 1.0 (cloudevents.io). Integers there have 32 bits, so the revision is text. */
function toCloudEvent({ id, type, timestamp, organizationId, revision, data }: EventBody): object {
  const subject = typeof data['id'] === 'string' ? { subject: data['id'] } : {};
  return {
    specversion: '1.0',
    id,
    source: `/tocsin/organizations/${organizationId}`,
    type: `tocsin.${type}`,
    ...subject,
    time: timestamp,
    datacontenttype: 'application/json',
    revision: String(revision),
    data,
  };
}

const severities: Record<AlertSeverity, number> = { none: 1, low: 2, medium: 3, high: 4, critical: 5 };
const hitStatuses: Record<string, number> = { open: 1, false_positive: 3, benign: 3, true_positive: 4, outdated: 5 };
const incidentStates: Record<string, number> = { open: 1, in_progress: 2, closed: 5 };

/**
 * Returns the event in OCSF 1.8.0 (schema.ocsf.io): a Detection Finding (2004) for a hit, an Incident Finding (2005) for an incident, and a Base Event
 * for everything else, for which the schema has no class. Times are milliseconds since 1970.
 */
function toOcsf(event: EventBody): object {
  const { type, data } = event;
  const { title, headline, text, link, severity, state } = readAlert(event);
  const [family, change] = type.split('.');
  const classUid = family === 'hit' ? 2004 : family === 'incident' ? 2005 : 0;
  const activity = classUid === 0 ? 99 : state === 'closed' ? 3 : change === 'created' ? 1 : 2;
  const common = {
    class_uid: classUid,
    category_uid: classUid === 0 ? 0 : 2,
    activity_id: activity,
    ...(classUid === 0 && { activity_name: type }),
    type_uid: classUid * 100 + activity,
    severity_id: severities[severity],
    time: Date.parse(event.timestamp),
    message: headline,
    metadata: {
      version: '1.8.0',
      uid: event.id,
      event_code: type,
      tenant_uid: event.organizationId,
      product: { name: 'Tocsin', vendor_name: 'Tocsin' },
    },
    unmapped: { revision: event.revision, data },
  };
  if (classUid === 0) return common;
  const info = {
    uid: textOf(data['id']) ?? event.id,
    title,
    ...(text !== '' && { desc: text }),
    ...(link !== null && { src_url: link }),
    ...timeFields({
      created_time: data['createdAt'],
      first_seen_time: data['firstSeenAt'] ?? data['firstAt'],
      last_seen_time: data['lastSeenAt'] ?? data['lastAt'],
    }),
  };
  if (classUid === 2005)
    return {
      ...common,
      status_id: incidentStates[textOf(data['state']) ?? ''] ?? 0,
      assignee: { name: textOf(data['owner']) ?? 'Unassigned' },
      ...(text !== '' && { desc: text }),
      ...(link !== null && { src_url: link }),
      finding_info_list: [info],
    };
  const { name, techniques } = (data['detection'] ?? {}) as { name?: unknown; techniques?: unknown };
  const [analytic, uid] = [textOf(name), textOf(data['detectionId'])];
  const attacks = Array.isArray(techniques) ? techniques.filter((one) => typeof one === 'string') : [];
  return {
    ...common,
    status_id: state === 'closed' ? (hitStatuses[textOf(data['status']) ?? ''] ?? 4) : 1,
    is_alert: state !== 'closed',
    ...(typeof data['confidence'] === 'number' && { confidence_score: Math.round(data['confidence']) }),
    finding_info: {
      ...info,
      ...((analytic ?? uid) !== undefined && {
        analytic: { type_id: 1, ...(analytic !== undefined && { name: analytic }), ...(uid !== undefined && { uid }) },
      }),
      ...(attacks.length > 0 && { attacks: attacks.map((technique) => ({ technique: { uid: technique } })) }),
    },
  };
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Returns the fields that are times, in milliseconds. */
const timeFields = (fields: Record<string, unknown>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
      return Number.isNaN(ms) ? [] : [[name, ms]];
    }),
  );
