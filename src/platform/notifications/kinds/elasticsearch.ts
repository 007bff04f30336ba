import { z } from 'zod';
import { withoutTrailingSlashes } from '../../lib/outbound-http/addresses.ts';
import { boundedString } from '../../lib/text/bounded-text.ts';
import {
  defineKind,
  httpApi,
  incidentAndHitEvents,
  readAlert,
  secretText,
  type KindResponse,
} from './destination-kind.ts';
import type { EventBody } from '../event-types.ts';

const severities = { none: 0, low: 21, medium: 47, high: 73, critical: 99 };

/**
 * Elasticsearch and OpenSearch by their bulk API, which a data stream and an index accept. The ID of the document is that of the event, so a repetition is refused as a
 * conflict, which is a success. Fields are those of ECS. The whole event is text, because the types of its fields depend on its type.
 */
export const elasticsearch = defineKind({
  ...httpApi,
  label: 'Elasticsearch',
  urlHint: 'The address of the cluster, such as https://elastic.example.com:9200.',
  keepsTickets: false,
  settings: z.strictObject({
    index: boundedString({ min: 1, max: 255 })
      .regex(/^[^\s"*\\<|,>/?#A-Z_+-][^\s"*\\<|,>/?#A-Z]*$/, 'must be the name of an index or a data stream')
      .default('logs-tocsin-default')
      .describe('A data stream, an index or an alias.'),
  }),
  credentials: z.strictObject({
    apiKey: secretText.describe('The encoded form of an API key that may create documents in the index.'),
  }),
  defaultEvents: incidentAndHitEvents,
  finalStatuses: [400, 413],
  send: async (event, { url, settings, credentials, request }) => {
    const action = { create: { _index: settings.index, _id: event.id } };
    const response = await request({
      url: `${withoutTrailingSlashes(url)}/_bulk?filter_path=errors,items.*.status,items.*.error`,
      headers: { authorization: `ApiKey ${credentials.apiKey}`, 'content-type': 'application/x-ndjson' },
      body: `${JSON.stringify(action)}\n${JSON.stringify(toDocument(event))}\n`,
    });
    return response.status === 200 ? readItem(response) : response;
  },
});

/** Returns the result of the only item: the status of a bulk request does not include it. */
function readItem(response: KindResponse): KindResponse {
  const problem = { ...response, problem: `not the response of a bulk request: ${response.text}` };
  let body: { errors?: boolean; items?: { create?: { status?: number } }[] };
  try {
    body = JSON.parse(response.text) as typeof body;
  } catch {
    return problem;
  }
  if (body.errors === false) return response;
  const status = body.items?.[0]?.create?.status;
  if (status === undefined) return problem;
  return status === 409 ? response : { ...response, status, problem: response.text };
}

function toDocument(event: EventBody): object {
  const { headline, severity, link, facts, text } = readAlert(event);
  return {
    '@timestamp': event.timestamp,
    ecs: { version: '8.11.0' },
    message: headline,
    event: {
      id: event.id,
      kind: 'alert',
      module: 'tocsin',
      dataset: 'tocsin.events',
      action: event.type,
      severity: severities[severity],
      original: JSON.stringify(event),
      ...(text !== '' && { reason: text }),
      ...(link !== null && { url: link }),
    },
    organization: { id: event.organizationId },
    labels: Object.fromEntries(facts.map(([name, value]) => [name.toLowerCase().replaceAll(' ', '_'), value])),
  };
}
