import { slackMessage, teamsMessage } from './chat-message.ts';
import type { EventBody } from '../event-types.ts';
import type { OutputKind } from '../outputs.schema.ts';
import type { Sealed } from '../output-secrets.ts';
import { signatureHeaders } from './sign-webhook.ts';

export type Message = { url: string; headers: Record<string, string>; body: string };

/** What is sent to a destination of a kind. The body depends on the stored event alone: the same bytes on every try. */
export function messageOf(kind: OutputKind, sealed: Sealed, event: { id: string; body: string }, at: Date): Message {
  const { url } = sealed;
  const json = { 'content-type': 'application/json; charset=utf-8' };
  if (kind === 'webhook') {
    return { url, body: event.body, headers: { ...json, ...signatureHeaders(sealed, event.id, at, event.body) } };
  }
  const read = JSON.parse(event.body) as EventBody;
  return { url, headers: json, body: JSON.stringify(kind === 'slack' ? slackMessage(read) : teamsMessage(read)) };
}
