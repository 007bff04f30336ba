import { requireScopes } from '../orgs/credentials.ts';
import type { Caller, Scope } from '../http/caller.ts';

/** Every type of outgoing event except `destination.test`, which is sent only on request, with its label in chat messages. */
export const eventLabels = {
  'detection.created': 'Detection created',
  'detection.updated': 'Detection changed',
  'detection.deleted': 'Detection deleted',
  'detection.restored': 'Detection restored',
  'detection.disabled': 'Detection disabled',
  'exception.ending': 'Exception ends within a week',
  'run.completed': 'Run completed',
  'run.failed': 'Run failed',
  'run.unaccepted': 'Run misses acceptance criteria',
  'hit.created': 'New hit',
  'hit.updated': 'Hit changed',
  'incident.created': 'New incident',
  'incident.updated': 'Incident changed',
  'incident.mentioned': 'Comment mentions people',
  'hunt.found': 'Scheduled hunt found something new',
  'review.created': 'Case to review',
  'review.decided': 'Case decided',
  'dataset.drifted': 'Log values of an unexpected type',
  'dataset.silent': 'Log dataset is silent',
  'dataset.reduced': 'Log dataset receives less than usual',
  'dataset.recovered': 'Log dataset receives events as usual again',
  'gap.opened': 'Gap opened',
  'gap.filled': 'Gap filled',
  'suggestion.created': 'Detection suggested',
  'suggestion.accepted': 'Suggestion accepted',
  'suggestion.dismissed': 'Suggestion dismissed',
  'suggestion.restored': 'Suggestion restored',
  'continuous.paused': 'Continuous matching paused',
  'connection.paused': 'Connection paused',
  'connection.resumed': 'Connection resumed',
  'model.paused': 'Model paused',
  'model.resumed': 'Model resumed',
  'quota.nearing': 'Quota nearly used',
  'quota.reached': 'Quota used up',
  'quota.freed': 'Quota has room again',
  'feed.item.added': 'New feed item',
  'feed.item.corrected': 'Feed item corrected',
  'feed.item.retracted': 'Feed item retracted',
  'feed.item.relevant': 'Relevant feed item',
  'feed.item.exposed': 'Feed indicator seen in the logs',
  'feed.digest.ready': 'Weekly digest',
  'feed.source.pulled': 'Feed source has new or changed items',
  'feed.source.failed': 'Feed source failed',
  'feed.source.silent': 'Feed source is silent',
};
export type EventType = keyof typeof eventLabels;
export const eventTypes = Object.keys(eventLabels) as EventType[];

export const isEventType = (text: string): text is EventType => Object.hasOwn(eventLabels, text);

export const eventSeverities = ['none', 'low', 'medium', 'high', 'critical'] as const;

/**
 * A change of a resource, with the complete state after it. `revision` increases with every change of the resource, so
 * receivers can order events. Destinations can filter by `detectionId`, `severity`, `tags` of the detection, and `lists`, the value lists that
 * contain the entity. A filter for which an event has no value does not apply to it.
 */
export type OutgoingEvent = {
  orgId: string;
  type: EventType;
  resourceId: string;
  revision: number;
  data: unknown;
  detectionId?: string;
  severity?: (typeof eventSeverities)[number];
  tags?: readonly string[];
  lists?: readonly string[];
};

/** Returns the body that a webhook receives. It is the same on every attempt. */
export function eventBody(
  event: Pick<OutgoingEvent, 'orgId' | 'revision' | 'data'> & { type: string },
  { id, at }: { id: string; at: Date },
): string {
  const { type, orgId: organizationId, revision, data } = event;
  return JSON.stringify({ id, type, timestamp: at.toISOString(), organizationId, revision, data });
}

export type EventBody = {
  id: string;
  type: string;
  timestamp: string;
  organizationId: string;
  revision: number;
  data: Record<string, unknown>;
};

type Resource<Type extends string> = Type extends `${infer Name}.${string}` ? Name : never;

/** The subject under which people find the events of a resource, and the scope that reading it needs, by the part of the type before the dot. */
const resources: Record<Resource<EventType>, { subject: string; scope: Scope }> = {
  hit: { subject: 'Hits', scope: 'hits:read' },
  review: { subject: 'Hits', scope: 'hits:read' },
  incident: { subject: 'Incidents', scope: 'hits:read' },
  hunt: { subject: 'Hunts', scope: 'hits:read' },
  run: { subject: 'Runs', scope: 'detections:read' },
  detection: { subject: 'Detections', scope: 'detections:read' },
  exception: { subject: 'Detections', scope: 'detections:read' },
  gap: { subject: 'Coverage', scope: 'detections:read' },
  dataset: { subject: 'Coverage', scope: 'detections:read' },
  suggestion: { subject: 'Suggestions', scope: 'detections:read' },
  feed: { subject: 'Feed', scope: 'feed:read' },
  continuous: { subject: 'Detections', scope: 'detections:read' },
  connection: { subject: 'Service', scope: 'detections:read' },
  model: { subject: 'Service', scope: 'detections:read' },
  quota: { subject: 'Service', scope: 'detections:read' },
};

const resourceOf = (type: EventType) => resources[type.split('.')[0] as Resource<EventType>];

/** Returns whether an event is stored for listening clients. A pull may change any number of items, so that it is one event for them. */
export const isStreamed = (type: EventType): boolean => !/^feed\.item\.(added|corrected|retracted)$/.test(type);

/** Lists the event types that a caller may read, with their labels, by subject. */
export const describeEventTypes = (caller: Caller) => ({
  eventTypes: listVisibleTypes(caller, undefined).map((type) => ({
    type,
    label: eventLabels[type],
    subject: resourceOf(type).subject,
    isStreamed: isStreamed(type),
  })),
});

/** Throws 403 unless the caller may read all of these events, so that a destination receives nothing that its author may not read. */
export function requireReadable(caller: Caller, types: readonly EventType[]): void {
  requireScopes(caller, [...new Set(types.map((type) => resourceOf(type).scope))]);
}

/** Returns the event types that a caller may read, of those that it requests. */
export function listVisibleTypes({ scopes }: Caller, requested: string | undefined): EventType[] {
  const wanted = requested?.split(',');
  return eventTypes.filter(
    (type) => scopes.has(resourceOf(type).scope) && (wanted === undefined || wanted.includes(type)),
  );
}

const header = (name: string, description: string): object => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

const headers = [
  header('webhook-id', 'The ID of the event. The same on every attempt, so that receivers can ignore repetitions.'),
  header('webhook-timestamp', 'Time of the attempt, in seconds since 1970.'),
  header(
    'webhook-signature',
    'Signatures of Standard Webhooks over ID, timestamp and body with the secret of the destination, separated by spaces.',
  ),
];

/** Returns the requests that destinations of the kind `webhook` receive, for the OpenAPI document, by event. */
export const describeWebhooks = (): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries({ ...eventLabels, 'destination.test': 'Test of a destination' }).map(([type, label]) => [
      type,
      {
        post: {
          operationId: `on${type.replaceAll(/(?:^|\.)(.)/g, (_all, first: string) => first.toUpperCase())}`,
          tags: ['events'],
          summary: label,
          description: `Sent to destinations that subscribe to \`${type}\`. \`data\` is the resource after the change. An attempt that fails is repeated with growing pauses.`,
          security: [],
          parameters: headers,
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  allOf: [{ $ref: '#/components/schemas/Event' }, { properties: { type: { const: type } } }],
                },
              },
            },
          },
          responses: {
            '2XX': { description: 'The event is delivered.' },
            '4XX': { description: 'The attempt failed and is repeated later. 410 disables the destination.' },
          },
        },
      },
    ]),
  );
