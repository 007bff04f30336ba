/** Every type of outgoing event except `output.test`, which is sent only on request. */
export const eventTypes = [
  'detection.created',
  'detection.updated',
  'detection.deleted',
  'detection.restored',
  'detection.disabled',
  'run.completed',
  'run.failed',
  'hit.created',
  'hit.updated',
  'gap.opened',
  'gap.filled',
  'suggestion.created',
  'suggestion.accepted',
  'suggestion.dismissed',
  'suggestion.restored',
  'connection.paused',
  'connection.resumed',
  'model.paused',
  'model.resumed',
  'feed.item.added',
  'feed.item.corrected',
  'feed.item.retracted',
  'feed.item.relevant',
  'feed.item.exposed',
  'feed.source.failed',
  'feed.source.silent',
] as const;
export type EventType = (typeof eventTypes)[number];

export const isEventType = (text: string): text is EventType => (eventTypes as readonly string[]).includes(text);

export const eventSeverities = ['none', 'low', 'medium', 'high', 'critical'] as const;

/**
 * A change of a resource, with the complete state after it. `revision` increases with every change of the resource, so
 * receivers can order events. Destinations can filter by `detectionId` and `severity`.
 */
export type OutgoingEvent = {
  orgId: string;
  type: EventType;
  resourceId: string;
  revision: number;
  data: unknown;
  detectionId?: string;
  severity?: (typeof eventSeverities)[number];
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
