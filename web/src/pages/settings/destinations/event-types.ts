import type { EventType } from '../../../api/outputs.ts';

/** Every event that a destination can receive, by subject. */
export const eventTypes: Record<string, EventType[]> = {
  Hits: ['hit.created', 'hit.updated'],
  Runs: ['run.completed', 'run.failed'],
  Detections: [
    'detection.created',
    'detection.updated',
    'detection.deleted',
    'detection.restored',
    'detection.disabled',
  ],
  Coverage: ['gap.opened', 'gap.filled', 'dataset.drifted', 'dataset.silent', 'dataset.reduced', 'dataset.recovered'],
  Suggestions: ['suggestion.created', 'suggestion.accepted', 'suggestion.dismissed', 'suggestion.restored'],
  Feed: [
    'feed.item.added',
    'feed.item.corrected',
    'feed.item.retracted',
    'feed.item.relevant',
    'feed.item.exposed',
    'feed.source.failed',
    'feed.source.silent',
  ],
  Service: [
    'connection.paused',
    'connection.resumed',
    'model.paused',
    'model.resumed',
    'quota.nearing',
    'quota.reached',
    'quota.freed',
  ],
};
