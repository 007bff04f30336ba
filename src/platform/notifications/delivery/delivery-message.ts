import { toPublicLink } from '../../lib/public-link.ts';
import type { EventBody } from '../event-types.ts';
import type { OutputSecrets } from '../output-secrets.ts';
import type { OutputKind } from '../outputs.schema.ts';
import { destinationOf } from './destinations.ts';

export type DeliveryRequest = { url: string; headers: Record<string, string>; body: string };

/**
 * Renders the request to a destination. The body depends only on the stored event and the public address of the service, so it is the same on
 * every attempt.
 */
export function renderDelivery(
  { kind, output, publicUrl }: { kind: OutputKind; output: OutputSecrets; publicUrl: string | null },
  event: { id: string; body: string },
  at: Date,
): DeliveryRequest {
  const { url } = output;
  const headers = { 'content-type': 'application/json; charset=utf-8' };
  const parsed = resolveLink(JSON.parse(event.body) as EventBody, publicUrl);
  const destination = destinationOf(kind);
  const body = JSON.stringify(destination.renderBody(parsed));
  return { url, body, headers: { ...headers, ...destination.sign(output, body, { event: parsed, at }) } };
}

/** Returns an event whose `data.url`, which is stored as a path of the service, is a link, or null if the service does not know its address. */
function resolveLink(event: EventBody, publicUrl: string | null): EventBody {
  const { url } = event.data as { url?: unknown };
  if (typeof url !== 'string' || !url.startsWith('/')) return event;
  return { ...event, data: { ...(event.data as object), url: toPublicLink(publicUrl, url) } };
}
