import { z } from 'zod';
import { truncate } from '../chat-message.ts';
import { asObjects } from '../../lib/json/json-values.ts';
import { defineKind, httpApi, incidentEvents, secretText, ticketSettings, type Alert } from './destination-kind.ts';
import { createReadCall, requireText, sendTicket, textAt, toDescription } from './ticket-flow.ts';

const pageSize = 50;
const pagesMax = 20;

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
  settings: z.strictObject(ticketSettings),
  credentials: z.strictObject({
    token: secretText.describe('A token that may read and write issues of the repository.'),
  }),
  defaultEvents: incidentEvents,
  finalStatuses: [422],
  send: (event, { url, credentials, key, ...sending }) =>
    sendTicket(event, sending, (call) => {
      const { api, repository, headers } = connect(url, credentials);
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
  readTickets: ({ url, credentials, request }) => {
    const { api, repository, headers } = connect(url, credentials);
    const call = createReadCall(request);
    // Pull requests are issues as well, which no ticket refers to. Labels are no filter: GitHub drops those that a token may not set.
    const read = async (path: string, since: Date, query: Record<string, string>) => {
      const entries: Record<string, unknown>[] = [];
      const at = since.toISOString().replace(/\.\d+Z$/, 'Z');
      for (let page = 1; page <= pagesMax; page += 1) {
        const part = new URLSearchParams({ ...query, since: at, per_page: String(pageSize), page: String(page) });
        const listed = asObjects(
          await call({ method: 'GET', url: `${api}/repos/${repository}/issues${path}?${part.toString()}`, headers }),
        );
        entries.push(...listed);
        if (listed.length < pageSize) return { entries, isComplete: true };
      }
      return { entries, isComplete: false };
    };
    return {
      listChanged: async (since) => {
        const { entries, isComplete } = await read('', since, { state: 'all', sort: 'updated', direction: 'asc' });
        const tickets = entries.map((issue) => ({
          reference: requireText(issue, 'number'),
          updatedAt: new Date(requireText(issue, 'updated_at')),
          isClosed: textAt(issue, 'state') === 'closed',
          status: (textAt(issue, 'state_reason') ?? textAt(issue, 'state') ?? '').replaceAll('_', ' '),
        }));
        return { tickets, isComplete };
      },
      listComments: async (reference, { since, afterId }) => {
        const { entries } = await read(`/${encodeURIComponent(reference)}/comments`, since, {});
        return entries
          .map((one) => ({
            id: Number(requireText(one, 'id')),
            // The account of a comment may have been deleted.
            author: textAt(one, 'user', 'login') ?? 'ghost',
            body: textAt(one, 'body') ?? '',
          }))
          .filter(({ id }) => id > afterId)
          .toSorted((a, b) => a.id - b.id);
      },
    };
  },
});

function connect(url: string, { token }: { token: string }) {
  const [, api = '', repository = ''] = /^(.*)\/repos\/([^/]+\/[^/]+)\/*$/.exec(url) ?? [];
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
  };
  return { api, repository, headers };
}

/** Returns a code block that no run of backticks in the text can end. */
function toCodeBlock(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
