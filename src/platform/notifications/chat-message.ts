import { type EventBody, eventLabels } from './event-types.ts';
import { showLine, showText } from '../lib/text/show-text.ts';

/**
 * Renders the message of a Slack incoming webhook (docs.slack.dev, "Sending messages using incoming webhooks"). Its blocks are
 * `plain_text`, so text from log rows cannot become a link or a mention. `text` is the notification and needs Slack's three escapes.
 */
export function slackMessage(event: EventBody): object {
  const { headline, facts, text, link } = summarizeEvent(event);
  const plain = (value: string) => ({ type: 'plain_text', text: value, emoji: false });
  return {
    text: headline.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(headline) },
      ...(facts.length === 0
        ? []
        : [{ type: 'section', fields: facts.slice(0, 10).map(([name, value]) => plain(`${name}: ${value}`)) }]),
      ...(text === '' ? [] : [{ type: 'section', text: plain(text) }]),
      ...(link === null ? [] : [{ type: 'actions', elements: [{ type: 'button', text: plain('Open'), url: link }] }]),
      { type: 'context', elements: [plain(`${event.type} · ${event.timestamp} · ${event.id}`)] },
    ],
  };
}

/**
 * Renders the message of a Teams incoming webhook or workflow (learn.microsoft.com, "Create Incoming Webhooks"): an Adaptive
 * Card 1.4. It uses `RichTextBlock`, because `TextBlock` interprets its text as Markdown.
 */
export function teamsMessage(event: EventBody): object {
  const { headline, facts, text, link } = summarizeEvent(event);
  const block = (...inlines: object[]) => ({ type: 'RichTextBlock', inlines });
  const run = (value: string, style: object = {}) => ({ type: 'TextRun', text: value, ...style });
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            block(run(headline, { size: 'medium', weight: 'bolder' })),
            ...facts.map(([name, value]) => block(run(`${name}: `, { weight: 'bolder' }), run(value))),
            ...(text === '' ? [] : [block(run(text))]),
            block(run(`${event.type} · ${event.timestamp} · ${event.id}`, { isSubtle: true, size: 'small' })),
          ],
          ...(link === null ? {} : { actions: [{ type: 'Action.OpenUrl', title: 'Open', url: link }] }),
        },
      },
    ],
  };
}

/**
 * An event as a chat message: a headline, facts and a text. All of it is plain text that may come from untrusted sources, with hidden characters shown escaped. `link` is an address of
 * the service itself.
 */
export type EventSummary = {
  headline: string;
  /** Name of the resource, or the headline if it has none. */
  name: string;
  facts: [name: string, value: string][];
  text: string;
  link: string | null;
};

const labels: Record<string, string> = { ...eventLabels, 'destination.test': 'Test' };
const factPaths: [label: string, path: string][] = [
  ['Severity', 'severity'],
  ['Severity', 'event.severity'],
  ['Entities', 'group.hits'],
  ['Entity', 'entity'],
  ['Confidence', 'confidence'],
  ['Seen', 'lastSeenAt'],
  ['Windows', 'occurrenceCount'],
  ['Status', 'status'],
  ['State', 'state'],
  ['Resolution', 'resolution'],
  ['Owner', 'owner'],
  ['Mentioned', 'mentioned'],
  ['By', 'author'],
  ['Hits', 'hits'],
  ['Due', 'dueAt'],
  ['Ends', 'expiresAt'],
  ['Hid', 'matches'],
  ['Category', 'detectionCategory'],
  ['Schedule', 'cronSchedule'],
  ['From', 'from'],
  ['To', 'to'],
  ['Reason', 'reason'],
  ['Reason', 'disabledReason'],
  ['Failure', 'failure.kind'],
  ['Failure', 'lastError'],
  ['Publisher', 'source.publisher'],
  ['Dataset', 'dataset'],
  ['Column', 'column'],
  ['Detection', 'detection.name'],
  ['Detection ID', 'detectionId'],
  ['Techniques', 'detection.techniques'],
  ['Undecided', 'openQuestion'],
  ['Next', 'nextStep'],
];
const namePaths = ['group.headline', 'headline', 'title', 'name', 'event.title', 'entity', 'alias', 'id'];
const textPaths = ['summary', 'failure.message', 'event.description', 'rationale', 'description', 'detail', 'message'];

const headlineMax = 140;
const factMax = 300;
const textMax = 2000;

export function summarizeEvent(event: EventBody): EventSummary {
  const name = namePaths.map((path) => valueAt(event.data, path)).find((value) => value !== '') ?? '';
  const label = labels[event.type] ?? event.type;
  return {
    headline: truncate(showLine(name === '' ? label : `${label}: ${name}`), headlineMax),
    name: truncate(showLine(name === '' ? label : name), headlineMax),
    facts: factPaths
      .map(([factLabel, path]): [string, string] => [factLabel, truncate(showText(valueAt(event.data, path)), factMax)])
      .filter(([, value]) => value !== ''),
    link: /^(?:hit|incident|exception|feed\.digest)\./.test(event.type) ? valueAt(event.data, 'url') || null : null,
    text: truncate(
      showText(textPaths.map((path) => valueAt(event.data, path)).find((value) => value !== '') ?? ''),
      textMax,
    ),
  };
}

function valueAt(data: unknown, path: string): string {
  let value = data;
  for (const part of path.split('.'))
    value = value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[part] : undefined;
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string').join(', ');
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** Returns a text of at most `max` characters. A shortened one ends with an ellipsis. */
export function truncate(text: string, max: number): string {
  const characters = [...text];
  return characters.length <= max ? text : `${characters.slice(0, max - 1).join('')}…`;
}
