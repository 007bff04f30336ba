import type { EventBody } from '../event-types.ts';
import { summarizeEvent } from '../event-summary.ts';

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
