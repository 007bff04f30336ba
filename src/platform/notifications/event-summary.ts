import type { EventBody, EventType } from './event-types.ts';

/** What a person reads of an event in a chat: one line, a few facts, and the text below them. Plain text from untrusted sources. */
export type Summary = { headline: string; facts: [name: string, value: string][]; text: string };

const words: Record<EventType | 'output.test', string> = {
  'detection.created': 'Detection created',
  'detection.updated': 'Detection changed',
  'detection.deleted': 'Detection deleted',
  'detection.restored': 'Detection restored',
  'detection.disabled': 'Detection switched off',
  'run.completed': 'Run completed',
  'run.failed': 'Run failed',
  'hit.created': 'New hit',
  'hit.updated': 'Hit changed',
  'connection.paused': 'Connection paused',
  'connection.resumed': 'Connection well again',
  'model.paused': 'Model paused',
  'model.resumed': 'Model resumed',
  'gap.opened': 'Time not examined',
  'gap.filled': 'Gap filled',
  'suggestion.created': 'Detection suggested',
  'suggestion.accepted': 'Suggestion accepted',
  'suggestion.dismissed': 'Suggestion dismissed',
  'suggestion.restored': 'Suggestion restored',
  'feed.item.added': 'New in the feed',
  'feed.item.corrected': 'Corrected in the feed',
  'feed.item.retracted': 'Retracted from the feed',
  'feed.item.relevant': 'Relevant item in the feed',
  'feed.item.exposed': 'Indicator of the feed seen in the logs',
  'feed.source.failed': 'Feed source fails',
  'feed.source.silent': 'Feed source is silent',
  'output.test': 'Test',
};

const factPaths: [label: string, path: string][] = [
  ['Severity', 'severity'],
  ['Severity', 'event.severity'],
  ['Entity', 'entity'],
  ['Confidence', 'confidence'],
  ['Seen', 'lastSeenAt'],
  ['Windows', 'occurrenceCount'],
  ['Status', 'status'],
  ['Category', 'detectionCategory'],
  ['Schedule', 'cronSchedule'],
  ['From', 'from'],
  ['To', 'to'],
  ['Reason', 'reason'],
  ['Reason', 'disabledReason'],
  ['Failure', 'failure.kind'],
  ['Failure', 'lastError'],
  ['Publisher', 'source.publisher'],
  ['Detection', 'detectionId'],
  ['Next', 'nextStep'],
];
const namePaths = ['headline', 'name', 'event.title', 'entity', 'alias', 'id'];
const textPaths = ['summary', 'failure.message', 'event.description', 'rationale', 'description', 'detail', 'message'];

const headlineMax = 140;
const factMax = 300;
const textMax = 2000;

export function summaryOf(event: EventBody): Summary {
  const name = namePaths.map((path) => valueAt(event.data, path)).find((value) => value !== '') ?? '';
  const what = (words as Record<string, string>)[event.type] ?? event.type;
  return {
    headline: cut(name === '' ? what : `${what}: ${name}`, headlineMax),
    facts: factPaths
      .map(([label, path]): [string, string] => [label, cut(valueAt(event.data, path), factMax)])
      .filter(([, value]) => value !== ''),
    text: cut(textPaths.map((path) => valueAt(event.data, path)).find((value) => value !== '') ?? '', textMax),
  };
}

function valueAt(data: unknown, path: string): string {
  let value = data;
  for (const part of path.split('.'))
    value = value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[part] : undefined;
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

function cut(text: string, max: number): string {
  const letters = [...text];
  return letters.length <= max ? text : `${letters.slice(0, max - 1).join('')}…`;
}
