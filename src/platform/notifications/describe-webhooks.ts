import { eventLabels } from './event-types.ts';

const header = (name: string, description: string): object => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
});

const headers = [
  header('webhook-id', 'The ID of the event. The same on every attempt, so that receivers can ignore repetitions.'),
  header('webhook-timestamp', 'Time of the attempt, in seconds since 1970.'),
  header(
    'webhook-signature',
    'Signatures of Standard Webhooks over ID, timestamp and body with the secret of the destination, separated by spaces.',
  ),
];

/** Returns the requests that destinations of the kind `webhook` receive, for the OpenAPI document, by event. */
export const describeWebhooks = (): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries({ ...eventLabels, 'destination.test': 'Test of a destination' }).map(([type, label]) => [
      type,
      {
        post: {
          operationId: `on${type.replaceAll(/(?:^|\.)(.)/g, (_all, first: string) => first.toUpperCase())}`,
          tags: ['events'],
          summary: label,
          description: `Sent to destinations that subscribe to \`${type}\`. \`data\` is the resource after the change. An attempt that fails is repeated with growing pauses.`,
          security: [],
          parameters: headers,
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: {
                  allOf: [{ $ref: '#/components/schemas/Event' }, { properties: { type: { const: type } } }],
                },
              },
            },
          },
          responses: {
            '2XX': { description: 'The event is delivered.' },
            '4XX': { description: 'The attempt failed and is repeated later. 410 disables the destination.' },
          },
        },
      },
    ]),
  );
