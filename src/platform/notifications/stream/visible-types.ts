import { requireScopes } from '../../orgs/bound-credential.ts';
import type { Caller, Scope } from '../../orgs/caller.ts';
import { eventTypes, type EventType } from '../event-types.ts';

type Resource<Type extends string> = Type extends `${infer Name}.${string}` ? Name : never;

/** The scope that reading the resource of an event needs, by the part of the type before the dot. */
const resourceScopes: Record<Resource<EventType>, Scope> = {
  detection: 'detections:read',
  run: 'detections:read',
  hit: 'hits:read',
  dataset: 'detections:read',
  gap: 'detections:read',
  suggestion: 'detections:read',
  connection: 'detections:read',
  model: 'detections:read',
  quota: 'detections:read',
  feed: 'feed:read',
};

const scopeOf = (type: EventType): Scope => resourceScopes[type.split('.')[0] as Resource<EventType>];

/** Throws 403 unless the caller may read all of these events, so that a destination receives nothing that its author may not read. */
export function requireReadable(caller: Caller, types: readonly EventType[]): void {
  requireScopes(caller, [...new Set(types.map(scopeOf))]);
}

/** Returns the event types that a caller may read, of those that it requests. */
export function listVisibleTypes({ scopes }: Caller, requested: string | undefined): EventType[] {
  const wanted = requested?.split(',');
  return eventTypes.filter((type) => scopes.has(scopeOf(type)) && (wanted === undefined || wanted.includes(type)));
}
