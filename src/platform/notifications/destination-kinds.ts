import { z } from 'zod';
import { slackMessage, teamsMessage } from './chat-message.ts';
import { defineKind, hitEvents, noFields, type KindDefinition } from './kinds/destination-kind.ts';
import { elasticsearch } from './kinds/elasticsearch.ts';
import { email } from './kinds/email.ts';
import { contentTypeOf, formatSetting, renderEvent } from './kinds/event-format.ts';
import { github } from './kinds/github.ts';
import { jira } from './kinds/jira.ts';
import { opsgenie } from './kinds/opsgenie.ts';
import { otlp } from './kinds/otlp.ts';
import { pagerduty } from './kinds/pagerduty.ts';
import { servicenow } from './kinds/servicenow.ts';
import { splunk } from './kinds/splunk.ts';
import { syslog } from './kinds/syslog.ts';

const plain = {
  defaultUrl: null,
  schemes: null,
  keepsTickets: false,
  settings: noFields,
  credentials: noFields,
  defaultEvents: hitEvents,
  finalStatuses: [],
};

export const destinationKinds = {
  webhook: defineKind({
    ...plain,
    label: 'Webhook',
    urlHint: 'An endpoint of your own: https, or http to a host in TOCSIN_FETCH_ALLOW.',
    isUrlSecret: false,
    isSigned: true,
    settings: z.strictObject({ format: formatSetting }),
    send: (event, { url, settings, sign, request }) => {
      const body = JSON.stringify(renderEvent(event, settings.format));
      return request({ url, body, headers: { 'content-type': contentTypeOf(settings.format), ...sign(body) } });
    },
  }),
  slack: defineKind({
    ...plain,
    label: 'Slack',
    urlHint: 'The address of an incoming webhook of Slack.',
    isUrlSecret: true,
    isSigned: false,
    send: (event, { url, request }) => request({ url, body: slackMessage(event) }),
  }),
  teams: defineKind({
    ...plain,
    label: 'Microsoft Teams',
    urlHint: 'The address of an incoming webhook or a workflow of Teams.',
    isUrlSecret: true,
    isSigned: false,
    send: async (event, { url, request }) => {
      const response = await request({ url, body: teamsMessage(event) });
      // Teams reports its own throttling with status 200.
      return /HTTP error \d{3}/.test(response.text) ? { ...response, problem: response.text } : response;
    },
  }),
  email,
  pagerduty,
  opsgenie,
  jira,
  servicenow,
  github,
  splunk,
  elasticsearch,
  otlp,
  syslog,
} satisfies Record<string, KindDefinition>;

export type DestinationKind = keyof typeof destinationKinds;
export const kindNames = Object.keys(destinationKinds) as DestinationKind[];

/** Returns the definition of a kind. Throws for one that this version does not know, which a newer version may have stored. */
export function kindOf(kind: DestinationKind): KindDefinition {
  if (!Object.hasOwn(destinationKinds, kind)) throw new Error(`This version knows no destination of the kind ${kind}.`);
  return destinationKinds[kind];
}

/** Kinds that keep one alert or ticket per resource. */
export const ticketKinds = kindNames.filter((kind) => kindOf(kind).keepsTickets);

/** Kinds of which people's work on tickets can be read. */
export const readableKinds = kindNames.filter((kind) => kindOf(kind).readTickets !== undefined);

/** Returns an address as clients may see it. */
export const showUrl = (kind: DestinationKind, url: string): string =>
  kindOf(kind).isUrlSecret ? `${new URL(url).origin}/…` : url;
