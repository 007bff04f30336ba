import { z } from 'zod';
import { caCertificate } from '../../lib/schema-parts.ts';
import { boundedString } from '../../lib/text/bounded-text.ts';
import { htmlWriter, toHtmlPage } from '../../lib/text/document-writer.ts';
import type { EventBody } from '../event-types.ts';
import { defineKind, incidentEvents, readAlert, toLines, type Alert } from './destination-kind.ts';

const address = boundedString({ max: 254 }, z.email('must be an e-mail address'));
const recipientsMax = 20;

/**
 * E-mail by SMTP (RFC 5321): over TLS, or with STARTTLS. Every message refers to one message ID per resource, which no message has, so that mail programs show the
 * events of an incident as one conversation, whichever of them arrives first.
 */
export const email = defineKind({
  label: 'E-mail (SMTP)',
  urlHint:
    'Host and port of the mail server: smtp://mail.example.com:587 with STARTTLS, or smtps://mail.example.com:465.',
  defaultUrl: null,
  schemes: { smtps: 'https', smtp: 'https' },
  isUrlSecret: false,
  isSigned: false,
  keepsTickets: false,
  settings: z.strictObject({
    from: address.describe('The sender, for whom the server must accept messages.'),
    to: z.array(address).min(1).max(recipientsMax).describe(`Up to ${recipientsMax} recipients.`),
    encryption: z
      .enum(['required', 'none'])
      .default('required')
      .describe('Whether smtp:// demands STARTTLS. `none` needs a host in TOCSIN_FETCH_ALLOW and sends no password.'),
    caCertificate,
  }),
  credentials: z
    .strictObject({
      user: boundedString({ min: 1, max: 255 }).optional().describe('Absent: the server needs no login.'),
      password: boundedString({ min: 1, max: 5000 }).optional().describe('The password of the user.'),
    })
    .refine(({ user, password }) => (user === undefined) === (password === undefined), {
      error: 'user and password belong together',
      path: ['password'],
    }),
  defaultEvents: incidentEvents,
  finalStatuses: [],
  send: async (event, { url, settings, credentials: { user, password }, key, mail }) => {
    const { from, to, encryption, caCertificate: ca } = settings;
    const domain = from.slice(from.lastIndexOf('@') + 1);
    const login = user !== undefined && password !== undefined ? { login: { user, password } } : {};
    const refusal = await mail(
      { address: url, isEncrypted: encryption === 'required', ca, ...login },
      {
        from,
        to,
        ...renderMessage(event),
        date: new Date(event.timestamp),
        messageId: `<${event.id}@${domain}>`,
        thread: `<${key}@${domain}>`,
      },
    );
    const problem = refusal && { problem: refusal.reason, isFinal: refusal.isPermanent };
    return { status: null, text: '', retryAfterMs: undefined, ...problem };
  },
});

function renderMessage(event: EventBody): { subject: string; text: string; html: string } {
  const alert = readAlert(event);
  const { headline, text, facts, link } = alert;
  const { markdown, html } = event.data;
  if (event.type === 'feed.digest.ready' && typeof markdown === 'string' && typeof html === 'string')
    return { subject: headline, text: toPlainText(markdown), html: withoutLinks(html) };
  const origin = `${event.type} · ${event.timestamp} · ${event.id}`;
  const { title, paragraph, list } = htmlWriter;
  const escape = (line: string): string => htmlWriter.escape(line.replaceAll(/\s+/g, ' '));
  const page = toHtmlPage(headline, [
    title(escape(headline)),
    ...(text === '' ? [] : text.split('\n').map((line) => paragraph(escape(line)))),
    ...(facts.length === 0 ? [] : [list(facts.map(([name, value]) => escape(`${name}: ${value}`)))]),
    ...(link === null ? [] : [paragraph(htmlWriter.link('Open in Tocsin', link))]),
    paragraph(escape(origin)),
  ]);
  const lines = [defang(headline), defang(toLines({ ...alert, link: null })), link ?? '', origin];
  return {
    subject: toSubject(event, alert),
    text: `${lines.filter((part) => part !== '').join('\n\n')}\n`,
    html: withoutLinks(page),
  };
}

/** Returns a subject that stays the same while a hit or an incident changes, since Gmail begins another conversation with another subject. */
const toSubject = ({ type }: EventBody, { title }: Alert): string =>
  type.startsWith('incident.') ? `Incident: ${title}` : type.startsWith('hit.') ? `Hit: ${title}` : title;

/** Writes addresses in a text so that mail programs do not turn them into links. */
const defang = (text: string): string => text.replaceAll(/:(?=\/\/)|(?<=\bwww)\./gi, '[$&]');

/** Defangs the texts of an HTML page, in which only addresses of the service are links. */
const withoutLinks = (page: string): string => page.replaceAll(/(?<=>)[^<]+/g, defang);

/** Returns a document of `markdownWriter` without its escapes, some of which keep an address from becoming a link. */
const toPlainText = (markdown: string): string =>
  markdown.replaceAll(/\\(?:(:)|(?<=www\\)(\.))/gi, '[$1$2]').replaceAll(/\\([^\w\s])/g, '$1');
