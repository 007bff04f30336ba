import fc from 'fast-check';
import { expect, test } from 'vitest';
import { slackMessage, teamsMessage, summarizeEvent } from './chat-message.ts';
import type { EventBody } from './event-types.ts';

const hit: EventBody = {
  id: '0199',
  type: 'hit.created',
  timestamp: '2026-01-05T09:00:00.000Z',
  organizationId: 'org',
  revision: 1,
  data: {
    headline: 'ada signed in from a <new> country & more',
    severity: 'high',
    entity: 'ada',
    confidence: 80,
    summary: 'See [here](https://evil.example) <!channel> *now*',
    nextStep: 'Ask ada.',
    detection: { name: 'New country', tags: ['identity'], techniques: ['T1078.004', 'T1110'] },
    openQuestion: 'Who <owns> this?',
  },
};

test('summarizes the detection, its techniques and the open question of a hit', () => {
  expect(summarizeEvent(hit).facts).toEqual(
    expect.arrayContaining([
      ['Detection', 'New country'],
      ['Techniques', 'T1078.004, T1110'],
      ['Undecided', 'Who <owns> this?'],
    ]),
  );
});

type Part = Record<string, unknown>;

/** Returns the value and every object in it. */
function listObjects(value: unknown): Part[] {
  if (value === null || typeof value !== 'object') return [];
  const inner = Object.values(value).flatMap(listObjects);
  return Array.isArray(value) ? inner : [value as Part, ...inner];
}

test('renders a Slack message in the documented shape', () => {
  expect(slackMessage(hit)).toEqual({
    text: 'New hit: ada signed in from a &lt;new&gt; country &amp; more',
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      {
        type: 'header',
        text: { type: 'plain_text', text: 'New hit: ada signed in from a <new> country & more', emoji: false },
      },
      {
        type: 'section',
        fields: [
          'Severity: high',
          'Entity: ada',
          'Confidence: 80',
          'Detection: New country',
          'Techniques: T1078.004, T1110',
          'Undecided: Who <owns> this?',
          'Next: Ask ada.',
        ].map((text) => ({
          type: 'plain_text',
          text,
          emoji: false,
        })),
      },
      {
        type: 'section',
        text: { type: 'plain_text', text: 'See [here](https://evil.example) <!channel> *now*', emoji: false },
      },
      {
        type: 'context',
        elements: [{ type: 'plain_text', text: 'hit.created · 2026-01-05T09:00:00.000Z · 0199', emoji: false }],
      },
    ],
  });
});

test('renders a Teams message as an Adaptive Card without Markdown', () => {
  const { type, attachments } = teamsMessage(hit) as { type: string; attachments: Part[] };
  const [card] = attachments;
  expect([type, attachments.length, card!['contentType']]).toEqual([
    'message',
    1,
    'application/vnd.microsoft.card.adaptive',
  ]);
  expect(card!['content']).toMatchObject({
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
  });
  const body = (card!['content'] as { body: Part[] }).body;
  expect(new Set(body.map((block) => block['type']))).toEqual(new Set(['RichTextBlock']));
  expect(JSON.stringify(body)).toContain('See [here](https://evil.example) <!channel> *now*');
});

test('links a hit, and nothing that another event contains', () => {
  const url = 'https://soc.example/console/hits/1';
  const linked = { ...hit, data: { ...(hit.data as object), url } };
  expect(listObjects(slackMessage(linked)).filter((part) => 'url' in part)).toEqual([
    { type: 'button', text: { type: 'plain_text', text: 'Open', emoji: false }, url },
  ]);
  expect(listObjects(teamsMessage(linked)).filter((part) => 'url' in part)).toEqual([
    { type: 'Action.OpenUrl', title: 'Open', url },
  ]);
  for (const event of [hit, { ...linked, type: 'feed.item.added' }])
    expect(JSON.stringify([slackMessage(event), teamsMessage(event)])).not.toContain('"url"');
});

const text = fc.string({ unit: 'binary', maxLength: 4000 });
test('renders any event as plain text within the limits of Slack and Teams', () => {
  fc.assert(
    fc.property(
      fc.record({ headline: text, summary: text, entity: text, nextStep: text, severity: text, name: text }),
      fc.constantFrom('hit.created', 'run.failed', 'feed.item.added', 'destination.test'),
      (data, type) => {
        const slack = slackMessage({ ...hit, type, data }) as { text: string; blocks: Part[] };
        expect(slack.text).not.toMatch(/[<>]/);
        expect(slack.blocks.length).toBeLessThanOrEqual(50);
        const parts = listObjects(slack.blocks);
        expect(parts.some((part) => part['type'] === 'mrkdwn')).toBe(false);
        for (const part of parts.filter((one) => one['type'] === 'plain_text')) {
          expect([...(part['text'] as string)].length).toBeLessThanOrEqual(2000);
          expect(part['text']).not.toBe('');
        }
        const header = slack.blocks[0]!['text'] as { text: string };
        expect([...header.text].length).toBeLessThanOrEqual(150);
        const card = listObjects(teamsMessage({ ...hit, type, data }));
        expect(card.some((part) => part['type'] === 'TextBlock')).toBe(false);
        expect(JSON.stringify(card[0]).length).toBeLessThan(28_000);
      },
    ),
    { numRuns: 100 },
  );
});
