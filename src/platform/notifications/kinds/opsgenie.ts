import { z } from 'zod';
import { withoutTrailingSlashes } from '../../lib/outbound-http/addresses.ts';
import {
  defineKind,
  httpApi,
  incidentEvents,
  noFields,
  readAlert,
  secretText,
  toLines,
  type AlertSeverity,
} from './destination-kind.ts';
import type { TextResponse } from '../../lib/outbound-http/request-text.ts';
import { truncate } from '../chat-message.ts';

const priorities: Record<AlertSeverity, string> = { none: 'P5', low: 'P4', medium: 'P3', high: 'P2', critical: 'P1' };

/**
 * Opsgenie by its Alert API, which Jira Service Management has as well: one alert per resource by `alias`. A second alert with the alias of an open one only
 * raises its count, so changes are sent as updates of the message, the description and the priority.
 */
export const opsgenie = defineKind({
  ...httpApi,
  label: 'Opsgenie',
  urlHint:
    'In the EU: https://api.eu.opsgenie.com/v2/alerts. Jira Service Management: https://api.atlassian.com/jsm/ops/integration/v2/alerts.',
  defaultUrl: 'https://api.opsgenie.com/v2/alerts',
  keepsTickets: true,
  settings: noFields,
  credentials: z.strictObject({ apiKey: secretText.describe('The key of an API integration.') }),
  defaultEvents: incidentEvents,
  finalStatuses: [422],
  send: async (event, { url, credentials, key, ticket, request }) => {
    const alert = readAlert(event);
    const [message, description] = [truncate(alert.title, 130), truncate(toLines(alert), 15_000)];
    const priority = priorities[alert.severity];
    const call = (method: string, path: string, body: object) =>
      request({
        method,
        url: `${withoutTrailingSlashes(url)}${path && `/${key}/${path}?identifierType=alias`}`,
        headers: { authorization: `GenieKey ${credentials.apiKey}` },
        body: { source: 'Tocsin', ...body },
      });
    const steps: (() => Promise<TextResponse>)[] = [];
    if (alert.state === 'closed') steps.push(() => call('POST', 'close', { note: truncate(alert.headline, 500) }));
    else if (ticket === null || ticket.state === 'closed') {
      const details = Object.fromEntries(alert.facts);
      const tags = ['tocsin', event.type];
      steps.push(() => call('POST', '', { message, alias: key, description, details, tags, priority }));
    } else {
      steps.push(() => call('PUT', 'message', { message }));
      steps.push(() => call('PUT', 'description', { description }));
      steps.push(() => call('PUT', 'priority', { priority }));
    }
    if (alert.state === 'acknowledged' && ticket?.state !== 'acknowledged')
      steps.push(() => call('POST', 'acknowledge', {}));
    let response: TextResponse | undefined;
    for (const step of steps) {
      response = await step();
      if (response.status > 299) break;
    }
    return response!;
  },
});
