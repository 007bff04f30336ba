import { z } from 'zod';
import { defineKind, httpApi, incidentEvents, readAlert, secretText, type AlertSeverity } from './destination-kind.ts';
import { boundedString } from '../../lib/text/bounded-text.ts';
import { truncate } from '../chat-message.ts';

const severities: Record<AlertSeverity, string> = {
  none: 'info',
  low: 'info',
  medium: 'warning',
  high: 'error',
  critical: 'critical',
};

/**
 * PagerDuty by its Events API v2 (developer.pagerduty.com, "Send an event"): one alert per resource by `dedup_key`, acknowledged and resolved
 * with the incident. An acknowledgment of an alert that does not exist has no effect, so the alert is triggered first.
 */
export const pagerduty = defineKind({
  ...httpApi,
  label: 'PagerDuty',
  urlHint: 'In the EU: https://events.eu.pagerduty.com/v2/enqueue.',
  defaultUrl: 'https://events.pagerduty.com/v2/enqueue',
  keepsTickets: true,
  settings: z.strictObject({
    component: boundedString({ min: 1, max: 200 }).optional().describe('Shown as the component of each alert.'),
  }),
  credentials: z.strictObject({ routingKey: secretText.describe('The integration key of an Events API v2 service.') }),
  defaultEvents: incidentEvents,
  finalStatuses: [400],
  send: async (event, { url, settings, credentials, key, ticket, request }) => {
    const alert = readAlert(event);
    const send = (action: string) =>
      request({
        url,
        body: {
          routing_key: credentials.routingKey,
          event_action: action,
          dedup_key: key,
          ...(action === 'trigger' && {
            client: 'Tocsin',
            ...(alert.link !== null && {
              client_url: alert.link,
              links: [{ href: alert.link, text: 'Open in Tocsin' }],
            }),
            payload: {
              summary: truncate(alert.title, 1024),
              source: 'tocsin',
              severity: severities[alert.severity],
              timestamp: event.timestamp,
              class: event.type,
              ...(settings.component !== undefined && { component: settings.component }),
              custom_details: { ...Object.fromEntries(alert.facts), ...(alert.text !== '' && { Summary: alert.text }) },
            },
          }),
        },
      });
    if (alert.state === 'closed') return send('resolve');
    if (alert.state === 'acknowledged' && ticket?.state === 'acknowledged') return send('acknowledge');
    const triggered = ticket?.state === 'open' && alert.state === 'acknowledged' ? undefined : await send('trigger');
    if (alert.state === 'open' || (triggered && triggered.status !== 202)) return triggered!;
    return send('acknowledge');
  },
});
