import { z } from 'zod';
import { caCertificate } from '../../lib/schema-parts.ts';
import { formatSetting, renderEvent } from './event-format.ts';
import { defineKind, incidentAndHitEvents, noFields, readAlert, type AlertSeverity } from './destination-kind.ts';

/** Severities of RFC 5424, 6.2.1. */
const severities: Record<AlertSeverity, number> = { none: 6, low: 5, medium: 4, high: 3, critical: 2 };
const local0 = 16;

/**
 * Syslog of RFC 5424 with octet counting: over TLS (RFC 5425), or over TCP (RFC 6587) to hosts in `TOCSIN_FETCH_ALLOW`. The message is the event as JSON. Syslog has no
 * receipts: an event is delivered once the connection has ended without an error. There is no UDP, which loses messages unnoticed and truncates them.
 */
export const syslog = defineKind({
  label: 'Syslog',
  urlHint: 'Host and port, such as tls://syslog.example.com:6514. tcp:// only to a host in TOCSIN_FETCH_ALLOW.',
  defaultUrl: null,
  schemes: { tls: 'https', tcp: 'http' },
  isUrlSecret: false,
  isSigned: false,
  keepsTickets: false,
  settings: z.strictObject({
    format: formatSetting,
    caCertificate,
  }),
  credentials: noFields,
  defaultEvents: incidentAndHitEvents,
  finalStatuses: [],
  send: async (event, { url, settings, write }) => {
    const priority = local0 * 8 + severities[readAlert(event).severity];
    const header = `<${priority}>1 ${event.timestamp} - tocsin - ${event.type} - `;
    // The byte order mark says that the message is UTF-8.
    const message = Buffer.from(`${header}\ufeff${JSON.stringify(renderEvent(event, settings.format))}`);
    await write(url, Buffer.concat([Buffer.from(`${message.length} `), message]), settings.caCertificate);
    return { status: null, text: '', retryAfterMs: undefined };
  },
});
