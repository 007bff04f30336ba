import type { EventBody } from '../event-types.ts';
import type { OutputSecrets } from '../output-secrets.ts';
import type { OutputKind } from '../outputs.schema.ts';
import { slackMessage, teamsMessage } from './chat-message.ts';
import { signWebhook } from './sign-webhook.ts';

export type DeliveryRequest = { url: string; headers: Record<string, string>; body: string };

/** Renders the request to a destination. The body depends only on the stored event, so it is the same on every attempt. */
export function renderDelivery(
  kind: OutputKind,
  output: OutputSecrets,
  event: { id: string; body: string },
  at: Date,
): DeliveryRequest {
  const { url } = output;
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  if (kind === 'webhook')
    return { url, body: event.body, headers: { ...headers, ...signWebhook(output, event.id, at, event.body) } };
  const parsed = JSON.parse(event.body) as EventBody;
  return { url, headers, body: JSON.stringify(kind === 'slack' ? slackMessage(parsed) : teamsMessage(parsed)) };
}
