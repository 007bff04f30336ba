import { z } from 'zod';
import { truncate } from '../chat-message.ts';
import { defineKind, httpApi, incidentEvents, noFields, secretText, type Alert } from './destination-kind.ts';
import { requireText, sendTicket, textAt, toDescription } from './ticket-flow.ts';

/**
 * GitHub issues by the REST API, version 2022-11-28: one issue per resource, whose text contains its key. The text is a code block, so that nothing in a log line becomes a
 * mention, a link or an image.
 */
export const github = defineKind({
  ...httpApi,
  label: 'GitHub issues',
  urlHint:
    'The repository in the API: https://api.github.com/repos/OWNER/NAME, or https://HOST/api/v3/repos/OWNER/NAME.',
  urlPattern: /\/repos\/[\w.-]+\/[\w.-]+\/?$/,
  keepsTickets: true,
  settings: noFields,
  credentials: z.strictObject({
    token: secretText.describe('A token that may read and write issues of the repository.'),
  }),
  defaultEvents: incidentEvents,
  finalStatuses: [422],
  send: (event, { url, credentials, key, ...sending }) =>
    sendTicket(event, sending, (call) => {
      const [, api = '', repository = ''] = /^(.*)\/repos\/([^/]+\/[^/]+)\/*$/.exec(url) ?? [];
      const headers = {
        authorization: `Bearer ${credentials.token}`,
        accept: 'application/vnd.github+json',
        'x-github-api-version': '2022-11-28',
      };
      const issues = (method: string, path: string, body: object) =>
        call({ method, url: `${api}/repos/${repository}/issues${path}`, headers, body });
      const contentOf = (alert: Alert) => ({
        title: truncate(alert.title, 256),
        body: toCodeBlock(toDescription(alert, key)),
      });
      return {
        find: async () => {
          const query = encodeURIComponent(`repo:${repository} is:issue in:body ${key}`);
          const found = await call({ method: 'GET', url: `${api}/search/issues?q=${query}&per_page=1`, headers });
          return textAt(found, 'items', 0, 'number') ?? null;
        },
        create: async (alert) =>
          requireText(
            await issues('POST', '', { ...contentOf(alert), labels: ['tocsin', `severity: ${alert.severity}`] }),
            'number',
          ),
        update: async (reference, alert, from) => {
          const isClosed = alert.state === 'closed';
          const state = { state: isClosed ? 'closed' : 'open', state_reason: isClosed ? 'completed' : 'reopened' };
          const isMoved = isClosed !== (from === 'closed');
          await issues('PATCH', `/${encodeURIComponent(reference)}`, { ...contentOf(alert), ...(isMoved && state) });
        },
      };
    }),
});

/** Returns a code block that no run of backticks in the text can end. */
function toCodeBlock(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
