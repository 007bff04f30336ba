import { z } from 'zod';
import { boundedString } from '../../lib/text/bounded-text.ts';
import { formatSetting, renderEvent } from './event-format.ts';
import { defineKind, httpApi, incidentAndHitEvents, secretText } from './destination-kind.ts';

const name = boundedString({ min: 1, max: 200 });

/** Codes of the collector about the content of an event (help.splunk.com, "Troubleshoot HTTP Event Collector"). The others are about its settings or its load. */
const contentCodes = new Set([5, 6, 12, 13, 15]);

/**
 * Splunk by its HTTP Event Collector. The channel is that of the organization, because tokens with acknowledgment require one. The event's own `id`
 * identifies repetitions.
 */
export const splunk = defineKind({
  ...httpApi,
  label: 'Splunk (HTTP Event Collector)',
  urlHint: 'The endpoint for events, such as https://splunk.example.com:8088/services/collector/event.',
  keepsTickets: false,
  settings: z.strictObject({
    index: name.optional().describe('Absent: the default index of the token.'),
    sourcetype: name.default('tocsin:event').describe('The source type of the events.'),
    format: formatSetting,
  }),
  credentials: z.strictObject({ token: secretText.describe('A token of the HTTP Event Collector.') }),
  defaultEvents: incidentAndHitEvents,
  finalStatuses: [413],
  send: async (event, { url, settings: { format, ...metadata }, credentials, request }) => {
    const response = await request({
      url,
      headers: {
        authorization: `Splunk ${credentials.token}`,
        'x-splunk-request-channel': event.organizationId,
      },
      body: {
        time: Date.parse(event.timestamp) / 1000,
        source: 'tocsin',
        ...metadata,
        event: renderEvent(event, format),
      },
    });
    const code = /"code"\s*:\s*(\d+)/.exec(response.text)?.[1];
    return response.status === 400 && contentCodes.has(Number(code)) ? { ...response, isFinal: true } : response;
  },
});
