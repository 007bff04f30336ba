import { z } from 'zod';
import { withoutTrailingSlashes } from '../../lib/outbound-http/addresses.ts';
import { boundedString } from '../../lib/text/bounded-text.ts';
import { truncate } from '../chat-message.ts';
import { defineKind, httpApi, incidentEvents, secretText, type AlertState } from './destination-kind.ts';
import { basicAuth, requireText, sendTicket, textAt, toDescription } from './ticket-flow.ts';

/** The categories of workflow statuses that Jira has on every site, whatever the names of the statuses are. */
const categories: Record<AlertState, string[]> = {
  open: ['new', 'indeterminate'],
  acknowledged: ['indeterminate'],
  closed: ['done'],
};

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
  }),
  credentials: z.strictObject({
    user: boundedString({ min: 1, max: 255 }).describe('The e-mail address of the account.'),
    apiToken: secretText.describe('An API token of the account.'),
  }),
  defaultEvents: incidentEvents,
  finalStatuses: [400],
  send: (event, { url, settings, credentials, key, ...sending }) =>
    sendTicket(event, sending, (call) => {
      const headers = { authorization: basicAuth(credentials.user, credentials.apiToken), accept: 'application/json' };
      const api = (method: string, path: string, body?: object) =>
        call({ method, url: `${withoutTrailingSlashes(url)}/rest/api/3/${path}`, headers, ...(body && { body }) });
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
});

/** Returns a document with a paragraph for each line. Empty text nodes are not valid. */
const toDocument = (text: string): object => ({
  type: 'doc',
  version: 1,
  content: text
    .split('\n')
    .map((line) => ({ type: 'paragraph', content: line === '' ? [] : [{ type: 'text', text: line }] })),
});
