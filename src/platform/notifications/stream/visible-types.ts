import { requireScopes } from '../../orgs/bound-credential.ts';
import type { Caller, Scope } from '../../orgs/caller.ts';
import { eventTypes, type EventType } from '../event-types.ts';

/** The scope that reading the resource of an event needs. */
function scopeOf(type: EventType): Scope {
  if (type.startsWith('hit.')) return 'hits:read';
  if (type.startsWith('feed.')) return 'feed:read';
  return 'detections:read';
}

/** Throws 403 unless the caller may read all of these events, so that a destination receives nothing that its author may not read. */
export function requireReadable(caller: Caller, types: readonly EventType[]): void {
  requireScopes(caller, [...new Set(types.map(scopeOf))]);
}

/** Returns the event types that a caller may read, of those that it requests. */
export function listVisibleTypes({ scopes }: Caller, requested: string | undefined): EventType[] {
  const wanted = requested?.split(',');
  return eventTypes.filter((type) => scopes.has(scopeOf(type)) && (wanted === undefined || wanted.includes(type)));
}
