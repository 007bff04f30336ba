import { z } from 'zod';
import { withoutTrailingSlashes } from '../../lib/outbound-http/addresses.ts';
import { boundedString } from '../../lib/text/bounded-text.ts';
import { truncate } from '../chat-message.ts';
import { defineKind, httpApi, incidentEvents, secretText, type Alert, type AlertSeverity } from './destination-kind.ts';
import { basicAuth, requireText, sendTicket, textAt, toDescription } from './ticket-flow.ts';

/** Impact and urgency, from which ServiceNow computes the priority. */
const levels: Record<AlertSeverity, [impact: string, urgency: string]> = {
  none: ['3', '3'],
  low: ['3', '2'],
  medium: ['2', '2'],
  high: ['2', '1'],
  critical: ['1', '1'],
};

/**
 * ServiceNow by its Table API: one record of the table `incident` per resource, with the key as `correlation_id`. Its states are those that ServiceNow ships: 1 new, 2 in progress, 6
 * resolved. Resolving one requires a code and notes.
 */
export const servicenow = defineKind({
  ...httpApi,
  label: 'ServiceNow',
  urlHint: 'The instance, such as https://company.service-now.com.',
  keepsTickets: true,
  settings: z.strictObject({
    closeCode: boundedString({ min: 1, max: 100 })
      .default('Solution provided')
      .describe('The resolution code of incidents that are closed. It must exist in the instance.'),
    assignmentGroup: boundedString({ min: 1, max: 100 }).optional().describe('Name or sys_id of a group.'),
  }),
  credentials: z.strictObject({
    user: boundedString({ min: 1, max: 255 }).describe('An account that may create and change incidents.'),
    password: secretText.describe('The password of the account.'),
  }),
  defaultEvents: incidentEvents,
  finalStatuses: [400],
  send: (event, { url, settings, credentials, key, ...sending }) =>
    sendTicket(event, sending, (call) => {
      const headers = { authorization: basicAuth(credentials.user, credentials.password), accept: 'application/json' };
      const table = `${withoutTrailingSlashes(url)}/api/now/table/incident`;
      const api = (method: string, path: string, body?: object) =>
        call({ method, url: `${table}${path}`, headers, ...(body && { body }) });
      const fields = 'sysparm_fields=sys_id,number';
      const contentOf = (alert: Alert) => ({
        short_description: truncate(alert.title, 160),
        description: truncate(toDescription(alert, key), 4000),
        impact: levels[alert.severity][0],
        urgency: levels[alert.severity][1],
      });
      const closed = { state: '6', close_code: settings.closeCode, close_notes: 'Closed in Tocsin.' };
      return {
        find: async () => {
          const query = `sysparm_query=${encodeURIComponent(`correlation_id=${key}`)}&${fields}&sysparm_limit=1`;
          return textAt(await api('GET', `?${query}`), 'result', 0, 'sys_id') ?? null;
        },
        create: async (alert) => {
          const group = settings.assignmentGroup === undefined ? {} : { assignment_group: settings.assignmentGroup };
          const body = { ...contentOf(alert), ...group, correlation_id: key, correlation_display: 'Tocsin' };
          return requireText(await api('POST', `?${fields}`, body), 'result', 'sys_id');
        },
        update: async (reference, alert, from) => {
          const state = alert.state === 'closed' ? closed : { state: '2' };
          const body = { ...contentOf(alert), ...(alert.state !== from && state) };
          await api('PATCH', `/${encodeURIComponent(reference)}?${fields}`, body);
        },
      };
    }),
});
