import type { EventBody } from '../event-types.ts';
import { summaryOf } from '../event-summary.ts';

/**
 * The message of a Slack incoming webhook (docs.slack.dev, "Sending messages using incoming webhooks"): blocks of `plain_text`, in which
 * nothing that a log row says can become a link or a mention; `text` is the notification, with Slack's three escapes.
 */
export function slackMessage(event: EventBody): object {
  const { headline, facts, text } = summaryOf(event);
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
      { type: 'context', elements: [plain(`${event.type} · ${event.timestamp} · ${event.id}`)] },
    ],
  };
}

/**
 * The message of a Teams incoming webhook or workflow (learn.microsoft.com, "Create Incoming Webhooks"): an Adaptive Card 1.4 of
 * `RichTextBlock`s, since a `TextBlock` reads its text as Markdown.
 */
export function teamsMessage(event: EventBody): object {
  const { headline, facts, text } = summaryOf(event);
  const block = (...inlines: object[]) => ({ type: 'RichTextBlock', inlines });
  const run = (value: string, more: object = {}) => ({ type: 'TextRun', text: value, ...more });
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
        },
      },
    ],
  };
}
