import { z } from 'zod';
import { withoutTrailingSlashes } from '../../lib/outbound-http/addresses.ts';
import { asObject, asObjects } from '../../lib/json/json-values.ts';
import { boundedString } from '../../lib/text/bounded-text.ts';
import { truncate } from '../chat-message.ts';
import {
  defineKind,
  httpApi,
  incidentEvents,
  secretText,
  ticketSettings,
  type AlertState,
  type RemoteComment,
  type RemoteTicket,
} from './destination-kind.ts';
import { basicAuth, createReadCall, requireText, sendTicket, textAt, toDescription, type Call } from './ticket-flow.ts';

/** The categories of workflow statuses that Jira has on every site, whatever the names of the statuses are. */
const categories: Record<AlertState, string[]> = {
  open: ['new', 'indeterminate'],
  acknowledged: ['indeterminate'],
  closed: ['done'],
};

const pageSize = 50;
const pagesMax = 20;

/**
 * Jira Cloud by its REST API version 3: one issue per resource, labeled with its key. The workflow of the project decides which transitions exist, so the issue is moved by the first one into a
 * status of the right category, and otherwise stays. Texts are plain text nodes of the Atlassian Document Format.
 */
export const jira = defineKind({
  ...httpApi,
  label: 'Jira',
  urlHint: 'The site, such as https://company.atlassian.net.',
  keepsTickets: true,
  settings: z.strictObject({
    project: boundedString({ min: 1, max: 100 })
      .regex(/^[A-Z][A-Z0-9_]*$/, 'must be the key of a project')
      .describe('The key of the project, such as SEC.'),
    issueType: boundedString({ min: 1, max: 100 }).default('Task').describe('The name of the type of the issues.'),
    ...ticketSettings,
  }),
  credentials: z.strictObject({
    user: boundedString({ min: 1, max: 255 }).describe('The e-mail address of the account.'),
    apiToken: secretText.describe('An API token of the account.'),
  }),
  defaultEvents: incidentEvents,
  finalStatuses: [400],
  send: (event, { url, settings, credentials, key, ...sending }) =>
    sendTicket(event, sending, (call) => {
      const api = connect(url, credentials, call);
      const issue = (reference: string) => `issue/${encodeURIComponent(reference)}`;
      const move = async (reference: string, state: AlertState): Promise<void> => {
        const { transitions } = (await api('GET', `${issue(reference)}/transitions`)) as { transitions?: unknown[] };
        const wanted = categories[state];
        const [next] = (transitions ?? [])
          .filter((one) => wanted.includes(textAt(one, 'to', 'statusCategory', 'key') ?? ''))
          .toSorted((a, b) => rank(a) - rank(b));
        function rank(one: unknown): number {
          return wanted.indexOf(textAt(one, 'to', 'statusCategory', 'key')!);
        }
        if (next) await api('POST', `${issue(reference)}/transitions`, { transition: { id: requireText(next, 'id') } });
      };
      return {
        find: async () => {
          const jql = `project = "${settings.project}" AND labels = "${key}" ORDER BY created ASC`;
          const found = await api('POST', 'search/jql', { jql, fields: ['status'], maxResults: 1 });
          return textAt(found, 'issues', 0, 'key') ?? null;
        },
        create: async (alert) => {
          const fields = {
            project: { key: settings.project },
            issuetype: { name: settings.issueType },
            summary: truncate(alert.title, 255),
            description: toDocument(toDescription(alert, key)),
            labels: ['tocsin', key, `severity-${alert.severity}`],
          };
          return requireText(await api('POST', 'issue', { fields }), 'key');
        },
        update: async (reference, alert, from) => {
          const fields = { summary: truncate(alert.title, 255), description: toDocument(toDescription(alert, key)) };
          await api('PUT', issue(reference), { fields });
          if (alert.state !== from) await move(reference, alert.state);
        },
      };
    }),
  readTickets: ({ url, settings, credentials, request }) => {
    const api = connect(url, credentials, createReadCall(request));
    return {
      listChanged: async (since) => {
        // Dates are read in the time zone of the account, but times before now are the same everywhere.
        const minutes = Math.max(1, Math.ceil((Date.now() - since.getTime()) / 60_000));
        const jql = `project = "${settings.project}" AND labels = "tocsin" AND updated >= "-${minutes}m" ORDER BY updated ASC`;
        const tickets: RemoteTicket[] = [];
        let nextPageToken: string | undefined;
        for (let page = 0; page < pagesMax; page += 1) {
          const body = {
            jql,
            fields: ['status', 'updated'],
            maxResults: pageSize,
            ...(nextPageToken && { nextPageToken }),
          };
          const found = asObject(await api('POST', 'search/jql', body));
          tickets.push(
            ...asObjects(found['issues']).map((issue) => ({
              reference: requireText(issue, 'key'),
              updatedAt: new Date(requireText(issue, 'fields', 'updated')),
              isClosed: textAt(issue, 'fields', 'status', 'statusCategory', 'key') === 'done',
              status: textAt(issue, 'fields', 'status', 'name') ?? '',
            })),
          );
          nextPageToken = textAt(found, 'nextPageToken');
          if (nextPageToken === undefined) return { tickets, isComplete: true };
        }
        return { tickets, isComplete: false };
      },
      listComments: async (reference, { afterId }) => {
        const comments: RemoteComment[] = [];
        for (let page = 0; page < pagesMax; page += 1) {
          const query = `orderBy=-created&maxResults=${pageSize}&startAt=${page * pageSize}`;
          const found = await api('GET', `issue/${encodeURIComponent(reference)}/comment?${query}`);
          const listed = asObjects(asObject(found)['comments']);
          for (const one of listed) {
            const id = Number(requireText(one, 'id'));
            if (id <= afterId) return comments.toReversed();
            // Only some people may read it there, and everybody who sees the incident would read it here.
            if (one['visibility'] !== undefined) continue;
            const author = textAt(one, 'author', 'displayName') ?? 'Anonymous';
            comments.push({ id, author, body: toPlainText(one['body']) });
          }
          if (listed.length < pageSize) break;
        }
        return comments.toReversed();
      },
    };
  },
});

function connect(url: string, { user, apiToken }: { user: string; apiToken: string }, call: Call) {
  const headers = { authorization: basicAuth(user, apiToken), accept: 'application/json' };
  return (method: string, path: string, body?: object) =>
    call({ method, url: `${withoutTrailingSlashes(url)}/rest/api/3/${path}`, headers, ...(body && { body }) });
}

const blocks = /^(?:paragraph|heading|codeBlock|blockquote|listItem|tableRow|mediaSingle|rule|panel)$/;
const depthMax = 50;

/** Returns the text of a node of the Atlassian Document Format. Blocks are lines, and mentions, emoji, dates, links and statuses are their texts. */
function toPlainText(node: unknown, depth = 0): string {
  const { type, text, content, attrs } = asObject(node);
  if (typeof text === 'string') return text;
  if (type === 'hardBreak') return '\n';
  if (depth > depthMax) return '';
  const inner = asObjects(content).map((one) => toPlainText(one, depth + 1));
  const shown = textAt(attrs, 'text') ?? textAt(attrs, 'shortName') ?? textAt(attrs, 'url') ?? '';
  const whole = inner.length > 0 ? inner.join('') : shown;
  if (depth === 0) return whole.replaceAll(/\n{3,}/g, '\n\n').trim();
  return blocks.test(String(type)) ? `${whole}\n` : whole;
}

/** Returns a document with a paragraph for each line. Empty text nodes are not valid. */
const toDocument = (text: string): object => ({
  type: 'doc',
  version: 1,
  content: text
    .split('\n')
    .map((line) => ({ type: 'paragraph', content: line === '' ? [] : [{ type: 'text', text: line }] })),
});
